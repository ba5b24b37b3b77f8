#include "rules/relations.h"

#include <algorithm>

#include "rules/glob.h"

namespace gate::rules {
namespace {

using Names = std::vector<std::string_view>;

Names TextsOf(const RuleView& view, Range range) {
  Names texts;
  for (const FlatText& text : view.In(view.strings, range))
    texts.push_back(view.Text(text));
  return texts;
}

bool Has(const Names& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool Subset(const Names& inner, const Names& outer) {
  return std::all_of(inner.begin(), inner.end(),
                     [&](std::string_view one) { return Has(outer, one); });
}

bool Meets(const Names& a, const Names& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](std::string_view one) { return Has(b, one); });
}

// Words that ShellQuote leaves as they are, so that a prefix and a glob see
// the same text.
bool IsPlain(std::string_view word) {
  return !word.empty() &&
         word.find_first_not_of(
             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUV"
             "WXYZ0123456789_-./:@%+=,") == std::string_view::npos;
}

std::string_view BaseNameOf(std::string_view word) {
  return word.substr(word.rfind('/') + 1);
}

// A name, or a pattern of names, of the second covers that of the first.
bool NameWithin(std::string_view inner, std::string_view outer) {
  if (inner == outer) return true;
  return HasWildcard(outer) && GlobWithin(inner, outer);
}

bool NamesWithin(const Names& inner, const Names& outer) {
  return std::all_of(inner.begin(), inner.end(), [&](std::string_view a) {
    return std::any_of(outer.begin(), outer.end(),
                       [&](std::string_view b) { return NameWithin(a, b); });
  });
}

std::string PathKey(const RuleView& view, const PathRecord& path) {
  return std::to_string(static_cast<int>(path.base)) + "/" +
         std::to_string(static_cast<int>(path.shape)) + "/" +
         std::string(view.Text(path.text));
}

// Each path of `inner` is one of `outer`, or lies in a directory of it.
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

// The alternatives of a glob: "git push *" also is "git push".
std::vector<std::string> GlobForms(std::string_view pattern) {
  std::vector<std::string> forms = {std::string(pattern)};
  if (pattern.ends_with(" *"))
    forms.emplace_back(pattern.substr(0, pattern.size() - 2));
  return forms;
}

// The words that a glob surely begins with.
Names LeadingWords(std::string_view glob) {
  Names words;
  while (!glob.empty()) {
    const size_t end = std::min(glob.find(' '), glob.size());
    if (!IsPlain(glob.substr(0, end))) break;
    words.push_back(glob.substr(0, end));
    glob.remove_prefix(std::min(end + 1, glob.size()));
  }
  return words;
}

class Prover {
 public:
  bool Within(NodeRef inner, NodeRef outer);

 private:
  bool Leaf(NodeRef inner, NodeRef outer);
  bool PrefixWithin(NodeRef inner, NodeRef outer);
  bool GlobsWithin(NodeRef inner, NodeRef outer);
  bool OptionsWithin(NodeRef inner, NodeRef outer);
  bool OperandsWithin(NodeRef inner, NodeRef outer);
  bool EffectWithin(NodeRef inner, NodeRef outer);
  static const Node& At(NodeRef ref) { return ref.view->nodes[ref.node]; }
  static auto Links(NodeRef ref) {
    return ref.view->In(ref.view->links, At(ref).a);
  }

  int steps_ = 0;
};

bool Prover::Within(NodeRef inner, NodeRef outer) {
  if (++steps_ > kMaxProofSteps) return false;
  if (inner.node >= inner.view->nodes.size() ||
      outer.node >= outer.view->nodes.size())
    return false;
  const Node& in = At(inner);
  const Node& out = At(outer);
  const auto any_link = [&](NodeRef of, auto&& holds) {
    const auto links = Links(of);
    return std::any_of(links.begin(), links.end(), [&](uint32_t link) {
      return holds(NodeRef{of.view, link});
    });
  };
  const auto every_link = [&](NodeRef of, auto&& holds) {
    const auto links = Links(of);
    return std::all_of(links.begin(), links.end(), [&](uint32_t link) {
      return holds(NodeRef{of.view, link});
    });
  };
  if (out.kind == NodeKind::kAll)
    return every_link(outer, [&](NodeRef o) { return Within(inner, o); });
  if (in.kind == NodeKind::kAny)
    return every_link(inner, [&](NodeRef i) { return Within(i, outer); });
  if (out.kind == NodeKind::kAny &&
      any_link(outer, [&](NodeRef o) { return Within(inner, o); }))
    return true;
  if (in.kind == NodeKind::kAll)
    return any_link(inner, [&](NodeRef i) { return Within(i, outer); });
  if (in.kind == NodeKind::kUnless && out.kind == NodeKind::kUnless)
    // What the outer one takes back must be taken back by the inner one.
    return every_link(outer, [&](NodeRef o) {
      return any_link(inner, [&](NodeRef i) { return Within(o, i); });
    });
  if (in.kind == NodeKind::kNever) return true;
  return Leaf(inner, outer);
}

bool Prover::Leaf(NodeRef inner, NodeRef outer) {
  const Node& in = At(inner);
  const Node& out = At(outer);
  const auto texts = [](NodeRef ref, Range range) {
    return TextsOf(*ref.view, range);
  };
  const auto first_word = [](NodeRef ref) {
    const Node& node = At(ref);
    return node.x < ref.view->regexes.size()
               ? FirstLiteralWord(
                     ref.view->Text(ref.view->regexes[node.x].pattern), true)
               : std::string_view();
  };
  switch (out.kind) {
    case NodeKind::kPrefix:
      if (in.kind == NodeKind::kPrefix) return PrefixWithin(inner, outer);
      if (in.kind == NodeKind::kProgram) {
        const auto positions = outer.view->In(outer.view->positions, out.a);
        const Names names = texts(inner, in.a);
        return positions.size() == 1 && in.flags == 0 &&
               Subset(names, texts(outer, positions[0]));
      }
      if (in.kind == NodeKind::kGlob) return GlobsWithin(inner, outer);
      return false;
    case NodeKind::kProgram: {
      const Names names = texts(outer, out.a);
      if (in.kind == NodeKind::kProgram)
        return NamesWithin(texts(inner, in.a), names);
      if (in.kind == NodeKind::kPrefix) {
        const auto positions = inner.view->In(inner.view->positions, in.a);
        if (positions.empty()) return false;
        Names programs = texts(inner, positions[0]);
        for (std::string_view& name : programs) name = BaseNameOf(name);
        return NamesWithin(programs, names);
      }
      if (in.kind == NodeKind::kGlob) {
        const Names globs = texts(inner, in.a);
        return std::all_of(
            globs.begin(), globs.end(), [&](std::string_view glob) {
              const std::string_view word = FirstLiteralWord(glob, false);
              return !word.empty() && NamesWithin({word}, names);
            });
      }
      if (in.kind == NodeKind::kRegex) {
        const std::string_view word = first_word(inner);
        return !word.empty() && NamesWithin({word}, names);
      }
      return false;
    }
    case NodeKind::kSubcommand: {
      const Names names = texts(outer, out.a);
      if (out.e.begin != UINT32_MAX) return false;
      if (in.kind == NodeKind::kSubcommand)
        return in.e.begin == UINT32_MAX && Subset(texts(inner, in.a), names);
      if (in.kind == NodeKind::kPrefix) {
        const auto positions = inner.view->In(inner.view->positions, in.a);
        return positions.size() > 1 &&
               Subset(texts(inner, positions[1]), names);
      }
      return false;
    }
    case NodeKind::kGlob:
      return GlobsWithin(inner, outer);
    case NodeKind::kRegex:
    case NodeKind::kLine:
      return in.kind == out.kind && in.x < inner.view->regexes.size() &&
             out.x < outer.view->regexes.size() &&
             inner.view->Text(inner.view->regexes[in.x].pattern) ==
                 outer.view->Text(outer.view->regexes[out.x].pattern);
    case NodeKind::kOptions:
      return in.kind == out.kind && OptionsWithin(inner, outer);
    case NodeKind::kOperands:
      return in.kind == out.kind && OperandsWithin(inner, outer);
    case NodeKind::kOnlyDoes:
      return in.kind == out.kind && (in.mask & ~out.mask) == 0;
    case NodeKind::kAct:
      return in.kind == out.kind && in.flags == out.flags &&
             (in.mask & ~out.mask) == 0;
    case NodeKind::kRedirects:
      return in.kind == out.kind && (in.mask & ~out.mask) == 0;
    case NodeKind::kEffect:
      return in.kind == out.kind && EffectWithin(inner, outer);
    case NodeKind::kFlow:
      return in.kind == out.kind && in.flags == out.flags &&
             (in.mask & ~out.mask) == 0 &&
             (out.a.count == 0 ||
              (in.a.count > 0 &&
               PathsWithin(*inner.view, in.a, *outer.view, out.a))) &&
             PathsWithin(*outer.view, out.b, *inner.view, in.b) &&
             Subset(texts(outer, out.c), texts(inner, in.c));
    case NodeKind::kUnknown:
      return in.kind == out.kind && (in.mask & ~out.mask) == 0;
    case NodeKind::kSends:
      return in.kind == out.kind;
    case NodeKind::kInteractive:
    case NodeKind::kInspected:
      return in.kind == out.kind && in.flags == out.flags;
    case NodeKind::kVia:
    case NodeKind::kAgent:
    case NodeKind::kBranch:
      return in.kind == out.kind &&
             Subset(texts(inner, in.a), texts(outer, out.a));
    case NodeKind::kEnv:
      return in.kind == out.kind &&
             Subset(texts(inner, in.a), texts(outer, out.a)) &&
             (out.b.count == 0 ||
              (in.b.count > 0 &&
               Subset(texts(inner, in.b), texts(outer, out.b)))) &&
             Subset(texts(outer, out.c), texts(inner, in.c));
    case NodeKind::kCwd:
    case NodeKind::kProject:
      return in.kind == out.kind &&
             PathsWithin(*inner.view, in.a, *outer.view, out.a);
    case NodeKind::kAll:
    case NodeKind::kAny:
    case NodeKind::kUnless:
    case NodeKind::kNever:
      return false;
  }
  return false;
}

bool Prover::PrefixWithin(NodeRef inner, NodeRef outer) {
  const auto in = inner.view->In(inner.view->positions, At(inner).a);
  const auto out = outer.view->In(outer.view->positions, At(outer).a);
  if (out.size() > in.size()) return false;
  for (size_t i = 0; i < out.size(); ++i)
    if (!Subset(TextsOf(*inner.view, in[i]), TextsOf(*outer.view, out[i])))
      return false;
  return true;
}

// A prefix or a glob within a prefix or a glob.
bool Prover::GlobsWithin(NodeRef inner, NodeRef outer) {
  const Node& in = At(inner);
  const Node& out = At(outer);
  std::vector<std::string> globs;
  if (in.kind == NodeKind::kGlob) {
    for (const std::string_view text : TextsOf(*inner.view, in.a))
      globs.emplace_back(text);
  } else if (in.kind == NodeKind::kProgram) {
    for (const std::string_view text : TextsOf(*inner.view, in.a)) {
      if (!IsPlain(text)) return false;
      globs.push_back(std::string(text) + " *");
    }
  } else if (in.kind == NodeKind::kPrefix) {
    // Only its first word: a rule that tightens also holds where the others
    // stand behind options.
    const auto positions = inner.view->In(inner.view->positions, in.a);
    if (positions.empty()) return false;
    for (const std::string_view text : TextsOf(*inner.view, positions[0])) {
      if (!IsPlain(text) || text.find('/') != std::string_view::npos)
        return false;
      globs.push_back(std::string(text) + " *");
    }
  } else {
    return false;
  }
  if (out.kind == NodeKind::kPrefix) {
    const auto positions = outer.view->In(outer.view->positions, out.a);
    return std::all_of(
        globs.begin(), globs.end(), [&](const std::string& glob) {
          const std::vector<std::string> forms = GlobForms(glob);
          return std::all_of(
              forms.begin(), forms.end(), [&](const std::string& form) {
                const Names words = LeadingWords(form);
                if (words.size() < positions.size()) return false;
                for (size_t i = 0; i < positions.size(); ++i)
                  if (!Has(TextsOf(*outer.view, positions[i]), words[i]))
                    return false;
                return true;
              });
        });
  }
  const Names outers = TextsOf(*outer.view, out.a);
  for (const std::string& glob : globs)
    for (const std::string& form : GlobForms(glob)) {
      const bool covered =
          std::any_of(outers.begin(), outers.end(), [&](std::string_view over) {
            const std::vector<std::string> over_forms = GlobForms(over);
            return std::any_of(
                over_forms.begin(), over_forms.end(),
                [&](const std::string& o) { return GlobWithin(form, o); });
          });
      if (!covered) return false;
    }
  return true;
}

bool Prover::OptionsWithin(NodeRef inner, NodeRef outer) {
  const Node& in = At(inner);
  const Node& out = At(outer);
  const auto i = [&](Range range) { return TextsOf(*inner.view, range); };
  const auto o = [&](Range range) { return TextsOf(*outer.view, range); };
  if (out.flags != in.flags) return false;
  if (out.a.count > 0 && !(in.a.count > 0 && Subset(i(in.a), o(out.a))) &&
      !Meets(i(in.b), o(out.a)))
    return false;
  if (!Subset(o(out.b), i(in.b)) || !Subset(o(out.c), i(in.c))) return false;
  return out.d.count == 0 || (in.d.count > 0 && Subset(i(in.d), o(out.d)));
}

bool Prover::OperandsWithin(NodeRef inner, NodeRef outer) {
  const Node& in = At(inner);
  const Node& out = At(outer);
  // Which words are operands depends on the accept-list beside it.
  const auto only = [](NodeRef ref) {
    const uint32_t at = At(ref).e.begin;
    return at < ref.view->nodes.size()
               ? TextsOf(*ref.view, ref.view->nodes[at].d)
               : Names();
  };
  if (only(inner) != only(outer)) return false;
  const auto i = [&](Range range) { return TextsOf(*inner.view, range); };
  const auto o = [&](Range range) { return TextsOf(*outer.view, range); };
  if (out.a.count > 0 && !(in.a.count > 0 && NamesWithin(i(in.a), o(out.a))))
    return false;
  if (out.b.count > 0 && i(in.b) != o(out.b)) return false;
  if (!Subset(o(out.c), i(in.c))) return false;
  if (out.d.count > 0 &&
      !(in.d.count > 0 && PathsWithin(*inner.view, in.d, *outer.view, out.d)))
    return false;
  if (out.f.count > 0 &&
      !(in.f.count > 0 &&
        inner.view->Text(inner.view->regexes[in.f.begin].pattern) ==
            outer.view->Text(outer.view->regexes[out.f.begin].pattern)))
    return false;
  return out.x <= in.x && out.y >= in.y;
}

bool Prover::EffectWithin(NodeRef inner, NodeRef outer) {
  const Node& in = At(inner);
  const Node& out = At(outer);
  if ((in.mask & ~out.mask) != 0 || in.y != out.y) return false;
  if (out.x != UINT32_MAX && out.x != in.x) return false;
  for (const int shift :
       {kRecursiveShift, kCertainShift, kListensShift, kRedirectShift}) {
    const int want = (out.flags >> shift) & 3;
    if (want != 0 && want != ((in.flags >> shift) & 3)) return false;
  }
  const auto paths = [&](Range i, Range o) {
    return o.count == 0 ||
           (i.count > 0 && PathsWithin(*inner.view, i, *outer.view, o));
  };
  const auto texts = [&](Range i, Range o) {
    return o.count == 0 ||
           (i.count > 0 &&
            NamesWithin(TextsOf(*inner.view, i), TextsOf(*outer.view, o)));
  };
  return paths(in.a, out.a) && paths(in.c, out.c) && texts(in.d, out.d) &&
         texts(in.f, out.f) &&
         PathsWithin(*outer.view, out.b, *inner.view, in.b) &&
         Subset(TextsOf(*outer.view, out.e), TextsOf(*inner.view, in.e));
}

}  // namespace

bool Within(NodeRef inner, NodeRef outer) {
  return Prover().Within(inner, outer);
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
