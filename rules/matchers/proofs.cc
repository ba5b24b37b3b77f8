#include "rules/matchers/proofs.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/text.h"
#include "rules/glob.h"

namespace gate::rules {
namespace {

// A name, or a pattern of names, of the second covers that of the first.
bool NameWithin(std::string_view inner, std::string_view outer) {
  if (inner == outer) return true;
  return HasWildcard(outer) && GlobWithin(inner, outer);
}

std::string PathKey(const RuleView& view, const PathRecord& path) {
  return std::to_string(static_cast<int>(path.base)) + "/" +
         std::to_string(static_cast<int>(path.shape)) + "/" +
         std::string(view.Text(path.text));
}

}  // namespace

Texts TextsOf(const RuleView& view, Range range) {
  Texts texts;
  for (const FlatText& text : view.In(view.strings, range))
    texts.push_back(view.Text(text));
  return texts;
}

bool Subset(const Texts& inner, const Texts& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](std::string_view one) {
    return Contains(outer, one);
  });
}

bool IsPlain(std::string_view word) {
  return !word.empty() &&
         word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
             "WXYZ0123456789_-./:@%+=,") == std::string_view::npos;
}

bool NamesWithin(const Texts& inner, const Texts& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](std::string_view a) {
    return std::any_of(outer.begin(), outer.end(),
                       [&](std::string_view b) { return NameWithin(a, b); });
  });
}

bool PathsWithin(const RuleView& inner_view, Range inner,
                 const RuleView& outer_view, Range outer) {
  const auto outers = outer_view.In(outer_view.paths, outer);
  for (const PathRecord& path : inner_view.In(inner_view.paths, inner)) {
    const std::string_view text = inner_view.Text(path.text);
    const bool covered =
        std::any_of(outers.begin(), outers.end(), [&](const PathRecord& over) {
          if (PathKey(inner_view, path) == PathKey(outer_view, over))
            return true;
          const std::string_view top = outer_view.Text(over.text);
          return over.shape == PathShape::kSubtree && over.base == path.base &&
                 (path.shape == PathShape::kSubtree ||
                  path.shape == PathShape::kExact) &&
                 (text == top ||
                  (text.starts_with(top) && text[top.size()] == '/'));
        });
    if (!covered) return false;
  }
  return true;
}

std::vector<std::string> GlobForms(std::string_view pattern) {
  std::vector<std::string> forms = {std::string(pattern)};
  if (pattern.ends_with(" *"))
    forms.emplace_back(pattern.substr(0, pattern.size() - 2));
  return forms;
}

std::string Quoted(std::string_view text) { return "`" + Visible(text) + "`"; }

bool IsAssignment(std::string_view word) {
  const size_t equals = word.find('=');
  return equals != std::string_view::npos && equals > 0 &&
         std::all_of(
             word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
             [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      (c >= '0' && c <= '9') || c == '_';
             });
}

// `inner` as a text in which `*` and `?` are characters that only a wildcard
// of `outer` takes.
bool GlobWithin(std::string_view inner, std::string_view outer) {
  struct Element {
    char c = 0;
    char kind = 'c';  // or '*', '?'
  };
  const auto read = [](std::string_view glob) {
    std::vector<Element> elements;
    for (size_t i = 0; i < glob.size(); ++i) {
      if (glob[i] == '\\' && i + 1 < glob.size())
        elements.push_back({glob[++i], 'c'});
      else if (glob[i] == '*' || glob[i] == '?')
        elements.push_back({0, glob[i]});
      else
        elements.push_back({glob[i], 'c'});
    }
    return elements;
  };
  const auto text = read(inner), pattern = read(outer);
  std::vector<char> now(pattern.size() + 1, 0), next;
  const auto spread = [&](std::vector<char>& states) {
    for (size_t i = 0; i < pattern.size(); ++i)
      if (states[i] && pattern[i].kind == '*') states[i + 1] = 1;
  };
  now[0] = 1;
  spread(now);
  for (const Element& element : text) {
    next.assign(pattern.size() + 1, 0);
    for (size_t i = 0; i < pattern.size(); ++i) {
      if (!now[i]) continue;
      if (pattern[i].kind == '*')
        next[i] = 1;
      else if (element.kind != '*' &&
               (pattern[i].kind == '?' ||
                (element.kind == 'c' && pattern[i].c == element.c)))
        next[i + 1] = 1;
    }
    spread(next);
    now.swap(next);
  }
  return now[pattern.size()] != 0;
}

}  // namespace gate::rules
