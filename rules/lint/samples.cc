// What single matchers say: the programs they are about, why they never match,
// and commands that they may match.
#include <algorithm>

#include "base/text.h"
#include "rules/glob.h"
#include "rules/relations.h"

namespace gate::rules {
namespace {

using Names = std::vector<std::string_view>;

constexpr int kMaxDepth = 32;

Names TextsOf(const RuleView& view, Range range) {
  Names texts;
  for (const FlatText& text : view.In(view.strings, range))
    texts.push_back(view.Text(text));
  return texts;
}

// The members of nested `all`, one by one.
void Flatten(NodeRef ref, std::vector<uint32_t>* out, int depth = 0) {
  if (ref.node >= ref.view->nodes.size() || depth > kMaxDepth) return;
  const Node& node = ref.view->nodes[ref.node];
  if (node.kind != NodeKind::kAll) return out->push_back(ref.node);
  for (const uint32_t link : ref.view->In(ref.view->links, node.a))
    Flatten({ref.view, link}, out, depth + 1);
}

std::optional<Names> Programs(NodeRef ref, int depth) {
  const RuleView& view = *ref.view;
  if (depth > kMaxDepth || ref.node >= view.nodes.size()) return std::nullopt;
  const Node& node = view.nodes[ref.node];
  Names names;
  const auto literal = [&](std::string_view word) {
    names.push_back(word);
    return !word.empty() && !HasWildcard(word);
  };
  switch (node.kind) {
    case NodeKind::kAll: {
      std::optional<Names> least;
      for (const uint32_t link : view.In(view.links, node.a)) {
        auto of = Programs({&view, link}, depth + 1);
        if (of && (!least || of->size() < least->size())) least = std::move(of);
      }
      return least;
    }
    case NodeKind::kAny:
      for (const uint32_t link : view.In(view.links, node.a)) {
        const auto of = Programs({&view, link}, depth + 1);
        if (!of) return std::nullopt;
        names.insert(names.end(), of->begin(), of->end());
      }
      return names;
    case NodeKind::kProgram:
      for (const std::string_view name : TextsOf(view, node.a))
        if (!literal(name)) return std::nullopt;
      return names;
    case NodeKind::kPrefix: {
      const auto positions = view.In(view.positions, node.a);
      if (positions.empty()) return std::nullopt;
      for (const std::string_view word : TextsOf(view, positions[0]))
        names.push_back(word.substr(word.rfind('/') + 1));
      return names;
    }
    case NodeKind::kGlob:
      for (const std::string_view glob : TextsOf(view, node.a))
        if (!literal(FirstLiteralWord(glob, false))) return std::nullopt;
      return names;
    case NodeKind::kRegex:
      if (node.x >= view.regexes.size() ||
          !literal(
              FirstLiteralWord(view.Text(view.regexes[node.x].pattern), true)))
        return std::nullopt;
      return names;
    default:
      return std::nullopt;
  }
}

// Gate keeps NAME=value apart from the command that it stands before.
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

std::optional<std::string> LeafNever(NodeRef ref) {
  const RuleView& view = *ref.view;
  const Node& node = view.nodes[ref.node];
  const auto quoted = [](std::string_view text) {
    return "`" + Visible(text) + "`";
  };
  switch (node.kind) {
    case NodeKind::kPrefix:
      for (const std::string_view word :
           TextsOf(view, view.In(view.positions, node.a)[0]))
        if (word.find(' ') != std::string_view::npos)
          return "no program is called " + quoted(word) +
                 "; each word of a prefix is a string of its own";
        else if (IsAssignment(word))
          return quoted(word) + " is an assignment, which `env` matches";
      return std::nullopt;
    case NodeKind::kProgram:
      for (const std::string_view word : TextsOf(view, node.a))
        if (word.find(' ') != std::string_view::npos)
          return "no program is called " + quoted(word);
      return std::nullopt;
    case NodeKind::kGlob:
      for (const std::string_view glob : TextsOf(view, node.a))
        if (IsAssignment(glob.substr(0, glob.find(' '))))
          return "a command does not begin with an assignment, which `env` "
                 "matches, unlike " +
                 quoted(glob);
        else if (glob.starts_with(' ') || (glob.ends_with(' ')) ||
                 (glob.find("  ") != std::string_view::npos &&
                  glob.find('\'') == std::string_view::npos))
          return "the command has one blank between words and none around "
                 "them, unlike " +
                 quoted(glob);
      return std::nullopt;
    case NodeKind::kRegex: {
      if (node.x >= view.regexes.size()) return std::nullopt;
      const std::string_view pattern = view.Text(view.regexes[node.x].pattern);
      if (pattern.find("(?") != std::string_view::npos &&
          pattern.find("(?i)") == std::string_view::npos &&
          pattern.find("(?:") == std::string_view::npos)
        return std::nullopt;
      bool set = false;
      for (size_t i = 0; i + 1 < pattern.size(); ++i) {
        const char c = pattern[i], next = pattern[i + 1];
        if (c == '\\') {
          ++i;
          continue;
        }
        if (c == '[') set = true;
        if (c == ']') set = false;
        if (set) continue;
        const auto is_text = [](char x) {
          return (x >= 'a' && x <= 'z') || (x >= 'A' && x <= 'Z') ||
                 (x >= '0' && x <= '9') || x == ' ' || x == '_' || x == '/' ||
                 x == '-';
        };
        if ((c == '$' && is_text(next)) || (is_text(c) && next == '^'))
          return "in " + quoted(pattern) + " text stands where the command " +
                 (c == '$' ? "has ended" : "has not begun");
      }
      return std::nullopt;
    }
    case NodeKind::kOptions: {
      const Names any = TextsOf(view, node.a), all = TextsOf(view, node.b),
                  none = TextsOf(view, node.c), only = TextsOf(view, node.d);
      const auto in = [](const Names& names, std::string_view name) {
        return std::find(names.begin(), names.end(), name) != names.end();
      };
      for (const std::string_view name : all) {
        if (in(none, name))
          return quoted(name) + " is in `all_of` and in `none_of`";
        if (!only.empty() && !in(only, name) &&
            !in(only, std::string(name) + ":"))
          return quoted(name) + " is in `all_of` and not in `only`";
      }
      if (!any.empty() &&
          std::all_of(any.begin(), any.end(),
                      [&](std::string_view name) { return in(none, name); }))
        return "all of `any_of` is in `none_of`";
      for (const Names& names : {any, all, none})
        for (const std::string_view name : names)
          if (!name.starts_with('-') && !name.starts_with('+'))
            return quoted(name) + " is no option: one begins with a dash";
      return std::nullopt;
    }
    case NodeKind::kOperands:
      if (node.y < node.x)
        return "`min` " + std::to_string(node.x) + " is more than `max` " +
               std::to_string(node.y);
      return std::nullopt;
    case NodeKind::kEffect: {
      // Only connections have hosts, and they have no path.
      constexpr uint16_t kNetwork = 1u << 5;
      if (node.d.count > 0 && (node.mask & kNetwork) == 0)
        return "only the effect `network` has a `host`";
      for (const Range range : {node.d, node.e})
        for (const std::string_view host : TextsOf(view, range))
          if (host.find('/') != std::string_view::npos)
            return "a host has no scheme and no path, unlike " + quoted(host);
      return std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::string> Never(NodeRef ref, int depth) {
  const RuleView& view = *ref.view;
  if (ref.node >= view.nodes.size() || depth > kMaxDepth) return std::nullopt;
  const Node& node = view.nodes[ref.node];
  if (node.kind == NodeKind::kAny) {
    for (const uint32_t link : view.In(view.links, node.a))
      if (auto why = Never({&view, link}, depth + 1))
        return "in one of the matches of `any`: " + *why;
    return std::nullopt;
  }
  if (node.kind == NodeKind::kUnless) return std::nullopt;
  if (node.kind != NodeKind::kAll) return LeafNever(ref);
  std::vector<uint32_t> parts;
  Flatten(ref, &parts);
  for (const uint32_t part : parts)
    if (auto why = Never({&view, part}, depth + 1)) return why;
  for (size_t i = 0; i < parts.size(); ++i) {
    const Node& one = view.nodes[parts[i]];
    for (size_t j = 0; j < i; ++j)
      if (Disjoint({&view, parts[i]}, {&view, parts[j]}))
        return "one condition is about other programs than another";
    if (one.kind != NodeKind::kUnless) continue;
    for (const uint32_t link : view.In(view.links, one.a))
      for (size_t j = 0; j < parts.size(); ++j)
        if (j != i && view.nodes[parts[j]].kind != NodeKind::kUnless &&
            Within({&view, parts[j]}, {&view, link}))
          return "`unless` takes back all that another condition asks for";
  }
  return std::nullopt;
}

// A command in the making.
struct Draft {
  std::string program, subcommand, options, operands;
  std::string whole;  // of a glob or an effect, when nothing else is said
};

std::string Instance(std::string_view glob) {
  std::string out;
  for (size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\' && i + 1 < glob.size())
      out += glob[++i];
    else
      out += glob[i] == '*' || glob[i] == '?' ? 'x' : glob[i];
  }
  return out;
}

std::string PathInstance(const RuleView& view, const PathRecord& path) {
  const std::string text(view.Text(path.text));
  std::string base;
  if (path.base == PathBase::kHome) base = "~";
  if (path.base == PathBase::kWorkspace) base = ".";
  switch (path.shape) {
    case PathShape::kClass:
      if (path.class_index < view.classes.size()) {
        const auto paths =
            view.In(view.paths, view.classes[path.class_index].paths);
        if (!paths.empty() && paths[0].shape != PathShape::kClass)
          return PathInstance(view, paths[0]);
      }
      return text == "workspace"      ? "x"
             : text == "outside"      ? "~/x"
             : text == "private-temp" ? "/tmp/x"
                                      : "";
    case PathShape::kExact:
      return base + text;
    case PathShape::kSubtree:
      return base + text + "/x";
    case PathShape::kName:
      return text;
    case PathShape::kSuffix:
      return "x" + text;
    case PathShape::kGlob:
      return base + Instance(text);
  }
  return "";
}

std::string EffectInstance(const RuleView& view, const Node& node) {
  const auto paths = view.In(view.paths, node.a);
  const std::string path = paths.empty() ? "x" : PathInstance(view, paths[0]);
  const auto hosts = TextsOf(view, node.d);
  const std::string host = hosts.empty() ? "example.org" : Instance(hosts[0]);
  if (path.empty()) return "";
  if (node.mask & (1u << 0)) return "cat " + path;
  if (node.mask & (1u << 1)) return "cp x " + path;
  if (node.mask & (1u << 2)) return "rm -rf " + path;
  if (node.mask & (1u << 3)) return "mv " + path + " x";
  if (node.mask & (1u << 4)) return "chmod 777 " + path;
  if (node.mask & (1u << 5)) return "curl https://" + host + "/";
  if (node.mask & (1u << 6)) return "sudo id";
  if (node.mask & (1u << 7)) return "kill 1";
  return "";
}

void Add(std::string* to, std::string_view word) {
  *to += ' ';
  *to += word;
}

class Sampler {
 public:
  Sampler(const RuleView& view, size_t most) : view_(view), most_(most) {}

  std::vector<std::string> Run(uint32_t node) {
    Walk({node}, Draft{}, 0);
    return std::move(found_);
  }

 private:
  // `todo`: nodes that must all hold.
  void Walk(std::vector<uint32_t> todo, Draft draft, int depth) {
    if (found_.size() >= most_ || depth > kMaxDepth) return;
    if (todo.empty()) return Finish(draft);
    const uint32_t index = todo.back();
    todo.pop_back();
    if (index >= view_.nodes.size()) return;
    const Node& node = view_.nodes[index];
    const auto first = [&](Range range) {
      const Names texts = TextsOf(view_, range);
      return texts.empty() ? std::string() : std::string(texts[0]);
    };
    const auto go = [&](const Draft& with) { Walk(todo, with, depth + 1); };
    switch (node.kind) {
      case NodeKind::kAll:
        for (const uint32_t link : view_.In(view_.links, node.a))
          todo.push_back(link);
        return Walk(std::move(todo), std::move(draft), depth + 1);
      case NodeKind::kAny:
        for (const uint32_t link : view_.In(view_.links, node.a)) {
          std::vector<uint32_t> with = todo;
          with.push_back(link);
          Walk(std::move(with), draft, depth + 1);
        }
        return;
      case NodeKind::kPrefix: {
        const auto positions = view_.In(view_.positions, node.a);
        // The first alternatives, then each of the others in its place.
        for (size_t vary = 0; vary < positions.size(); ++vary) {
          const Names others = TextsOf(view_, positions[vary]);
          for (size_t k = vary == 0 ? 0 : 1; k < others.size(); ++k) {
            Draft with = draft;
            with.program = vary == 0 ? others[k] : first(positions[0]);
            for (size_t i = 1; i < positions.size(); ++i)
              Add(&with.subcommand,
                  ShellQuote(i == vary ? others[k] : first(positions[i])));
            go(with);
          }
        }
        return;
      }
      case NodeKind::kProgram:
        for (const std::string_view program : TextsOf(view_, node.a)) {
          Draft with = draft;
          with.program = Instance(program);
          go(with);
        }
        return;
      case NodeKind::kGlob:
        for (const std::string_view glob : TextsOf(view_, node.a)) {
          Draft with = draft;
          with.whole = Instance(glob);
          go(with);
        }
        return;
      case NodeKind::kRegex:
        draft.whole = FromRegex(node);
        return go(draft);
      case NodeKind::kSubcommand:
        Add(&draft.subcommand, first(node.a));
        return go(draft);
      case NodeKind::kOptions:
        if (node.a.count > 0) Add(&draft.options, first(node.a));
        for (const std::string_view option : TextsOf(view_, node.b))
          Add(&draft.options, option);
        return go(draft);
      case NodeKind::kOperands:
        if (node.a.count > 0)
          Add(&draft.operands, ShellQuote(Instance(first(node.a))));
        else if (node.d.count > 0)
          Add(&draft.operands,
              PathInstance(view_, view_.In(view_.paths, node.d)[0]));
        else
          for (uint32_t i = 0; i < std::min(node.x, 3u); ++i)
            Add(&draft.operands, "x");
        return go(draft);
      case NodeKind::kEffect:
        if (draft.whole.empty()) draft.whole = EffectInstance(view_, node);
        return go(draft);
      default:
        return go(draft);
    }
  }

  // A text that a plain pattern matches; empty for any other pattern.
  std::string FromRegex(const Node& node) const {
    if (node.x >= view_.regexes.size()) return "";
    const std::string_view pattern = view_.Text(view_.regexes[node.x].pattern);
    std::string out;
    for (size_t i = 0; i < pattern.size(); ++i) {
      const char c = pattern[i];
      const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
      if (c == '^' || c == '$') continue;
      if (c == '\\' && next == 's') {
        out += ' ';
        i += i + 2 < pattern.size() && pattern[i + 2] == '+' ? 2 : 1;
      } else if (c == '\\' && next == 'b') {
        ++i;
      } else if (c == '\\' && !(next >= 'a' && next <= 'z')) {
        out += next;
        ++i;
      } else if (c == '.') {
        out += 'x';
        if (next == '*' || next == '+') ++i;
      } else if (c == '\\' || c == '(' || c == '[' || c == '|' || c == '*' ||
                 c == '+' || c == '?' || c == '{') {
        return "";
      } else {
        out += c;
      }
    }
    return out;
  }

  void Finish(const Draft& draft) {
    std::string line = draft.whole;
    if (!draft.program.empty() &&
        (line.empty() || !line.starts_with(draft.program)))
      line = draft.program;
    if (line.empty()) return;
    line += draft.subcommand + draft.options + draft.operands;
    if (std::find(found_.begin(), found_.end(), line) == found_.end())
      found_.push_back(std::move(line));
  }

  const RuleView& view_;
  size_t most_;
  std::vector<std::string> found_;
};

}  // namespace

std::optional<std::vector<std::string_view>> ProgramsOf(NodeRef ref) {
  return Programs(ref, 0);
}

bool Disjoint(NodeRef a, NodeRef b) {
  const auto of_a = Programs(a, 0), of_b = Programs(b, 0);
  if (!of_a || !of_b || of_a->empty() || of_b->empty()) return false;
  return std::none_of(of_a->begin(), of_a->end(), [&](std::string_view name) {
    return std::find(of_b->begin(), of_b->end(), name) != of_b->end();
  });
}

std::optional<std::string> WhyNever(NodeRef ref) { return Never(ref, 0); }

bool HasKind(NodeRef ref, NodeKind kind) {
  std::vector<uint32_t> todo = {ref.node};
  for (size_t steps = 0; !todo.empty() && steps < 10000; ++steps) {
    const uint32_t index = todo.back();
    todo.pop_back();
    if (index >= ref.view->nodes.size()) continue;
    const Node& node = ref.view->nodes[index];
    if (node.kind == kind) return true;
    if (node.kind == NodeKind::kAll || node.kind == NodeKind::kAny)
      for (const uint32_t link : ref.view->In(ref.view->links, node.a))
        todo.push_back(link);
  }
  return false;
}

std::vector<std::string> Samples(NodeRef ref, size_t most) {
  return Sampler(*ref.view, most).Run(ref.node);
}

}  // namespace gate::rules
