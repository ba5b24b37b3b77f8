// Patterns over values of options and operands, and env -S splitting.

#include <fnmatch.h>

#include <algorithm>
#include <cctype>
#include <string>

#include "parser/programs/pass.h"

namespace gate::parser::programs {
namespace {

// The element of a pattern at `at`: a literal, or a run that may be captured.
struct Element {
  char literal = '\0';
  bool run = false;
  bool no_slash = false;
  bool captures = false;
  size_t next = 0;
};

Element ElementAt(std::string_view pattern, size_t at) {
  Element e;
  const bool paren = pattern[at] == '(' && at + 2 < pattern.size() &&
                     pattern[at + 2] == ')' &&
                     (pattern[at + 1] == '*' || pattern[at + 1] == '%');
  const char c = paren ? pattern[at + 1] : pattern[at];
  if (c == '*' || c == '%') {
    e.run = true;
    e.no_slash = c == '%';
    e.captures = paren;
    e.next = at + (paren ? 3 : 1);
    return e;
  }
  e.literal = c;
  e.next = at + 1;
  return e;
}

bool SameChar(char a, char b, bool ignore_case) {
  if (a == b) return true;
  return ignore_case && std::tolower(static_cast<unsigned char>(a)) ==
                            std::tolower(static_cast<unsigned char>(b));
}

}  // namespace

// The usual greedy glob: on a mismatch the last run grows by one character.
bool MatchValue(std::string_view pattern, std::string_view text,
                bool ignore_case, size_t* capture_begin, size_t* capture_end) {
  size_t p = 0, t = 0;
  size_t run_next = std::string_view::npos, run_text = 0;
  bool run_no_slash = false, run_captures = false;
  size_t begin = 0, end = std::string_view::npos;
  bool captured = false;
  for (;;) {
    if (p < pattern.size()) {
      const Element e = ElementAt(pattern, p);
      if (e.run) {
        if (run_captures && !captured) {
          if (run_next == p) end = t;  // no literal stands between the runs
          captured = true;
        }
        run_next = e.next;
        run_text = t;
        run_no_slash = e.no_slash;
        run_captures = e.captures && !captured;
        if (run_captures) begin = t;
        p = e.next;
        continue;
      }
      if (t < text.size() && SameChar(e.literal, text[t], ignore_case)) {
        if (run_captures && !captured && p == run_next) end = t;
        p = e.next;
        ++t;
        continue;
      }
    } else if (t == text.size()) {
      if (run_captures && run_next == pattern.size()) end = t;
      break;
    }
    // Mismatch: grow the last run.
    if (run_next == std::string_view::npos || run_text >= text.size()) {
      return false;
    }
    if (run_no_slash && text[run_text] == '/') return false;
    ++run_text;
    t = run_text;
    p = run_next;
  }
  const bool any = end != std::string_view::npos;
  if (capture_begin != nullptr) *capture_begin = any ? begin : 0;
  if (capture_end != nullptr) *capture_end = any ? end : text.size();
  return true;
}

bool MayMatchValue(std::string_view pattern, std::string_view prefix,
                   bool ignore_case, bool* sure, size_t* capture_begin) {
  *sure = false;
  *capture_begin = 0;
  size_t p = 0, t = 0;
  while (p < pattern.size()) {
    const Element e = ElementAt(pattern, p);
    if (e.run) {
      // Only `LITERAL(*)` at the end of a pattern fits whatever follows.
      *sure = !e.no_slash && e.next == pattern.size();
      *capture_begin = e.captures ? t : 0;
      return true;
    }
    if (t == prefix.size()) return true;
    if (!SameChar(e.literal, prefix[t], ignore_case)) return false;
    p = e.next;
    ++t;
  }
  return t == prefix.size();
}

// coreutils env.c: blanks separate, quotes group, backslash escapes; `#` at
// the start of a word is a comment, `\c` ends, ${NAME} is expanded.
bool SplitEnvString(std::string_view text, std::vector<std::string>* words) {
  std::string word;
  bool open = false;
  char quote = '\0';
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && (c == ' ' || (c >= '\t' && c <= '\r'))) {
      if (open) words->push_back(std::move(word));
      word.clear();
      open = false;
      continue;
    }
    if (c == '#' && quote == '\0' && !open) return true;
    if (c == '$' && quote != '\'') return false;
    if ((c == '\'' || c == '"') && (quote == '\0' || quote == c)) {
      quote = quote == '\0' ? c : '\0';
      open = true;
      continue;
    }
    if (c == '\\') {
      if (i + 1 >= text.size()) return false;
      const char n = text[i + 1];
      if (quote == '\'' && n != '\'' && n != '\\') {
        word += c;
        open = true;
        continue;
      }
      ++i;
      switch (n) {
        case '"':
        case '#':
        case '$':
        case '\'':
        case '\\':
          word += n;
          break;
        case 'f':
          word += '\f';
          break;
        case 'n':
          word += '\n';
          break;
        case 'r':
          word += '\r';
          break;
        case 't':
          word += '\t';
          break;
        case 'v':
          word += '\v';
          break;
        case '_':
          if (quote == '"') {
            word += ' ';
            break;
          }
          if (open) words->push_back(std::move(word));
          word.clear();
          open = false;
          continue;
        case 'c':
          if (quote == '"') return false;
          if (open) words->push_back(std::move(word));
          return true;
        default:
          return false;
      }
      open = true;
      continue;
    }
    word += c;
    open = true;
  }
  if (quote != '\0') return false;
  if (open) words->push_back(std::move(word));
  return true;
}

namespace {

bool DoesMore(const EffectRecord& effect) {
  const Role role = static_cast<Role>(effect.role);
  return role != Role::kRead && role != Role::kListRead &&
         role != Role::kDirectory && role != Role::kAct &&
         role != Role::kRedirects;
}

// Whether every way to meet `condition` has an option that was not given.
bool NeedsAnother(const Tables& tables, const Pass& pass,
                  const Condition& condition) {
  bool all = condition.count > 0, needs = true;
  for (const Term& term :
       Slice(tables.terms, condition.begin, condition.count)) {
    if (term.begins != 0) {
      all = all && needs;
      needs = false;
    }
    const bool option =
        term.kind == Term::kOption || term.kind == Term::kOptionValue;
    needs = needs || (option && term.negated == 0 &&
                      std::none_of(pass.uses.begin(), pass.uses.end(),
                                   [&](const Use& use) {
                                     return use.option == term.option;
                                   }));
  }
  return all && needs;
}

}  // namespace

bool MayFitOption(const Tables& tables, const Node& node,
                  const Argument& word) {
  const std::string& text = word.text;
  const bool plus = (node.flags & Node::kPlus) != 0;
  if (text.empty() ||
      (std::string_view("-*?[@!\\").find(text[0]) == std::string_view::npos &&
       !text.starts_with("+(") && !(plus && text[0] == '+')))
    return false;
  // Where options are whole words, one of them has to fit.
  if ((node.flags & Node::kSingle) == 0 || text.find('(') != std::string::npos)
    return true;
  for (const OptionName& name :
       Slice(tables.option_names, node.option_names, node.option_names_count)) {
    const std::string option(tables.image.Text(name.name));
    if (::fnmatch(text.c_str(), option.c_str(), 0) == 0) return true;
  }
  return false;
}

bool OperandsDoMore(const Tables& tables, const Pass& pass, const Node& node) {
  const auto effects = Slice(tables.effects, node.effects, node.effects_count);
  return std::any_of(
      effects.begin(), effects.end(), [&](const EffectRecord& effect) {
        return DoesMore(effect) && !NeedsAnother(tables, pass, effect.when);
      });
}

bool OptionsDoMore(const Tables& tables, const Node& node) {
  const auto effects = Slice(tables.effects, node.effects, node.effects_count);
  if (std::any_of(effects.begin(), effects.end(), DoesMore)) return true;
  for (const OptionName& name :
       Slice(tables.option_names, node.option_names, node.option_names_count)) {
    const Option& option = tables.options[name.option];
    const auto own =
        Slice(tables.effects, option.effects, option.effects_count);
    if (std::any_of(own.begin(), own.end(), DoesMore)) return true;
  }
  return false;
}

}  // namespace gate::parser::programs
