// `effect`: what a command does. `any_effect`: what any command of the line
// does.
#include <algorithm>

#include "rules/compile/compiler.h"
#include "rules/glob.h"
#include "rules/match/context.h"
#include "rules/matchers/matcher.h"
#include "rules/matchers/proofs.h"
#include "rules/matchers/samples.h"
#include "rules/names.h"

namespace gate::rules {
namespace effect_matcher {
namespace {

enum Wanted : uint8_t { kDoNotCare, kMustNotHold, kMustHold };

struct EffectNode {
  Range paths, not_paths, targets;  // paths
  Range hosts, not_hosts, names;    // strings
  uint16_t mask = 0;                // parser::EffectKind
  // Wanted.
  uint8_t recursive = kDoNotCare;
  uint8_t certain = kDoNotCare;
  uint8_t listens = kDoNotCare;
  uint8_t from_redirect = kDoNotCare;
  uint8_t source_only = 0;  // of a move, look at what goes away only
};

CompiledMatch Read(Compiler& compiler, CompilingFile& file,
                   const TreeNode& node) {
  if (!compiler.Is(file, node, Compiler::Type::kObject, "effect"))
    return compiler.Never();
  EffectNode made;
  const auto flag = [&](const TreeNode& member, uint8_t* wanted) {
    if (compiler.Is(file, member, Compiler::Type::kBool,
                    "an effect's property"))
      *wanted = member.truth ? kMustHold : kMustNotHold;
  };
  CompiledMatch match;
  match.keys.always = false;
  for (const TreeNode& member : file.tree.children(node)) {
    const std::string_view key = member.key;
    if (key == "kind") {
      for (const std::string_view kind :
           compiler.StringList(file, member, "kind")) {
        const auto found = FindName(EffectNames(), kind);
        if (!found) {
          compiler.Problem(
              file, member.begin, "rule-bad-value",
              "`" + std::string(kind) + "` is no kind of effect",
              "read, write, delete, move, permission, network, "
              "privilege, signal, execute_file, persistence, system, "
              "remote_state");
          continue;
        }
        made.mask = static_cast<uint16_t>(made.mask | (1u << *found));
        match.keys.buckets.push_back(kEffectBuckets +
                                     static_cast<uint32_t>(*found));
      }
    } else if (key == "path") {
      made.paths = compiler.AddPaths(file, member, "path");
    } else if (key == "not_path") {
      made.not_paths = compiler.AddPaths(file, member, "not_path");
    } else if (key == "target") {
      made.targets = compiler.AddPaths(file, member, "target");
    } else if (key == "name") {
      made.names =
          compiler.AddStrings(compiler.StringList(file, member, "name"));
    } else if (key == "host") {
      made.hosts = compiler.AddHosts(compiler.StringList(file, member, "host"));
    } else if (key == "not_host") {
      made.not_hosts =
          compiler.AddHosts(compiler.StringList(file, member, "not_host"));
    } else if (key == "recursive") {
      flag(member, &made.recursive);
    } else if (key == "certain") {
      flag(member, &made.certain);
    } else if (key == "listens") {
      flag(member, &made.listens);
    } else if (key == "source_only") {
      if (compiler.Flag(file, member)) made.source_only = 1;
    } else if (key == "from_redirect") {
      flag(member, &made.from_redirect);
    } else {
      compiler.UnknownKey(
          file, member, "effect",
          "kind name path not_path target host not_host recursive certain "
          "listens from_redirect source_only");
    }
  }
  if (made.mask == 0)
    compiler.Problem(file, node.begin, "rule-missing-key",
                     "the effect has no `kind`");
  match.effects = made.mask;
  if (node.key == "any_effect") {
    // Of any command of the line: known only when all are looked at.
    match.effects = 0;
    match.keys = {};
  }
  match.scope = kPerInvocation | kPerLine;
  match.node = compiler.AddNode(
      node.key == "any_effect" ? NodeKind::kAnyEffect : NodeKind::kEffect,
      made);
  return match;
}

Prefilter MakePrefilter(const Compiler&, const Node& node) {
  Prefilter prefilter;
  prefilter.facts =
      uint64_t{node.As<EffectNode>().mask}
      << (node.kind == NodeKind::kAnyEffect ? kAnyEffectFacts : kEffectFacts);
  return prefilter;
}

// A pattern of numbers alone (10.*) means addresses, and no name with letters
// that begins so (10.0.0.1.example.org).
Tri FitsHost(MatchContext& context, std::string_view pattern,
             std::string_view host) {
  if (pattern.find_first_of("0123456789") == 0 &&
      pattern.find_first_not_of("0123456789.*?") == std::string_view::npos &&
      std::ranges::any_of(host, [](char c) { return c >= 'a' && c <= 'z'; }))
    return Tri::kNo;
  return context.Fits(pattern, host);
}

Tri MatchOne(MatchContext& context, const EffectNode& own, uint32_t index) {
  ++context.steps;
  const parser::Effect& effect = context.analysis.effects[index];
  if ((own.mask & (1u << static_cast<unsigned>(effect.kind))) == 0)
    return Tri::kNo;
  const auto asked = [](uint32_t wanted, bool value) {
    return wanted == kDoNotCare || (wanted == kMustHold) == value;
  };
  if (!asked(own.recursive, effect.recursive) ||
      !asked(own.certain, effect.certain) ||
      !asked(own.listens, effect.listens) ||
      !asked(own.from_redirect,
             effect.from_redirect ||
                 (effect.kind == parser::EffectKind::kNetwork &&
                  effect.invocation >= context.analysis.invocations.size())))
    return Tri::kNo;
  Tri result = Tri::kYes;
  const bool read = effect.kind == parser::EffectKind::kRead;
  const bool move = effect.kind == parser::EffectKind::kMove;
  const bool spread = effect.recursive || move;
  const auto place = [&](const parser::Argument& path, uint32_t slot) {
    Tri here = Tri::kYes;
    if (own.paths.count > 0) {
      here = context.paths.MatchAny(*context.view, own.paths,
                                    {&path, spread && !read, slot});
      // Reading a whole tree may come across what lies in it.
      if (here == Tri::kNo && read && spread)
        here = And(Tri::kPossible,
                   context.paths.MatchAny(*context.view, own.paths,
                                          {&path, true, UINT32_MAX}));
    }
    if (own.not_paths.count > 0 && here != Tri::kNo)
      here = And(here,
                 Not(context.paths.MatchAny(*context.view, own.not_paths,
                                            {&path, false, UINT32_MAX, true})));
    return here;
  };
  if (own.paths.count > 0 || own.not_paths.count > 0) {
    result = place(effect.path, index * 2);
    // A move also writes where it goes to.
    if (move && own.source_only == 0 && own.paths.count > 0)
      result = Or(result, place(effect.target, index * 2 + 1));
    if (result == Tri::kNo) return result;
  }
  if (own.targets.count > 0) {
    result = And(
        result, context.paths.MatchAny(*context.view, own.targets,
                                       {&effect.target, false, index * 2 + 1}));
    if (result == Tri::kNo) return result;
  }
  if (own.names.count > 0) {
    Tri named = effect.path.known ? Tri::kNo : Tri::kPossible;
    if (effect.path.known)
      for (const FlatText& text : context.Strings(own.names))
        named =
            Or(named, context.Fits(context.view->Text(text), effect.path.text));
    result = And(result, named);
  }
  const auto host_in = [&](Range range) {
    if (effect.host.empty()) return Tri::kPossible;
    Tri best = Tri::kNo;
    for (const FlatText& text : context.Strings(range))
      best = Or(best, FitsHost(context, context.view->Text(text), effect.host));
    return best;
  };
  if (own.hosts.count > 0) result = And(result, host_in(own.hosts));
  if (own.not_hosts.count > 0)
    result = And(result, Not(host_in(own.not_hosts)));
  return result;
}

Tri Match(MatchContext& context, const Node& node) {
  const auto& own = node.As<EffectNode>();
  const bool any = node.kind == NodeKind::kAnyEffect;
  if (!any && (context.subject->effect_kinds & own.mask) == 0) return Tri::kNo;
  Tri best = Tri::kNo;
  const auto look = [&](uint32_t i) {
    if (context.only_effect != UINT32_MAX && context.only_effect != i) return;
    best = Or(best, MatchOne(context, own, i));
  };
  if (any) {
    for (uint32_t i = 0;
         i < context.analysis.effects.size() && best != Tri::kYes; ++i)
      look(i);
    return best;
  }
  for (const uint32_t i : context.EffectsOf(context.subject->number)) {
    if (best == Tri::kYes) return best;
    look(i);
  }
  // A connection that the shell itself opens belongs to the line, and so to
  // every command of it, for rules that tighten.
  if (context.strict ||
      context.subject->number >= context.analysis.invocations.size())
    return best;
  for (const uint32_t i : context.EffectsOf(UINT32_MAX)) {
    if (best == Tri::kYes) return best;
    if (context.analysis.effects[i].kind == parser::EffectKind::kNetwork)
      look(i);
  }
  return best;
}

bool IsWithin(NodeRef inner, NodeRef outer) {
  if (!SameKind(inner, outer)) return false;
  const auto& in = At(inner).As<EffectNode>();
  const auto& out = At(outer).As<EffectNode>();
  if ((in.mask & ~out.mask) != 0) return false;
  if (out.source_only != 0 && in.source_only == 0) return false;
  const auto differs = [](uint32_t i, uint32_t o) {
    return o != kDoNotCare && o != i;
  };
  if (differs(in.recursive, out.recursive) ||
      differs(in.certain, out.certain) || differs(in.listens, out.listens) ||
      differs(in.from_redirect, out.from_redirect))
    return false;
  const auto paths = [&](Range i, Range o) {
    return o.count == 0 ||
           (i.count > 0 && PathsWithin(*inner.view, i, *outer.view, o));
  };
  const auto texts = [&](Range i, Range o) {
    return o.count == 0 ||
           (i.count > 0 &&
            NamesWithin(TextsOf(*inner.view, i), TextsOf(*outer.view, o)));
  };
  return paths(in.paths, out.paths) && paths(in.targets, out.targets) &&
         texts(in.hosts, out.hosts) && texts(in.names, out.names) &&
         PathsWithin(*outer.view, out.not_paths, *inner.view, in.not_paths) &&
         Subset(TextsOf(*outer.view, out.not_hosts),
                TextsOf(*inner.view, in.not_hosts));
}

constexpr uint32_t Bit(parser::EffectKind kind) {
  return 1u << static_cast<unsigned>(kind);
}

std::optional<std::string> ExplainNever(const RuleView& view,
                                        const Node& node) {
  const auto& own = node.As<EffectNode>();
  // Only connections have hosts, and they have no path.
  if (own.hosts.count > 0 &&
      (own.mask & Bit(parser::EffectKind::kNetwork)) == 0)
    return "only the effect `network` has a `host`";
  for (const Range range : {own.hosts, own.not_hosts})
    for (const std::string_view host : TextsOf(view, range))
      if (host.find('/') != std::string_view::npos)
        return "a host has no scheme and no path, unlike " + Quoted(host);
  return std::nullopt;
}

void Sample(const RuleView& view, const Node& node, const Draft& draft,
            const DraftSink& add) {
  using parser::EffectKind;
  const auto& own = node.As<EffectNode>();
  const auto paths = view.In(view.paths, own.paths);
  const std::string path = paths.empty() ? "x" : PathInstance(view, paths[0]);
  const Texts hosts = TextsOf(view, own.hosts);
  const std::string host = hosts.empty() ? "example.org" : Instance(hosts[0]);
  const std::pair<EffectKind, std::string> commands[] = {
      {EffectKind::kRead, "cat " + path},
      {EffectKind::kWrite, "cp x " + path},
      {EffectKind::kDelete, "rm -rf " + path},
      {EffectKind::kMove, "mv " + path + " x"},
      {EffectKind::kPermission, "chmod 777 " + path},
      {EffectKind::kNetwork, "curl https://" + host + "/"},
      {EffectKind::kPrivilege, "sudo id"},
      {EffectKind::kSignal, "kill 1"}};
  Draft with = draft;
  if (with.whole.empty() && !path.empty())
    for (const auto& [kind, command] : commands)
      if (with.whole.empty() && (own.mask & Bit(kind)) != 0)
        with.whole = command;
  add(with);
}

}  // namespace
}  // namespace effect_matcher

constinit const MatcherType kEffectMatcher = {
    .key = "effect",
    .read = &effect_matcher::Read,
    .prefilter = &effect_matcher::MakePrefilter,
    .match = &effect_matcher::Match,
    .within = &effect_matcher::IsWithin,
    .why_never = &effect_matcher::ExplainNever,
    .sample = &effect_matcher::Sample};

constinit const MatcherType kAnyEffectMatcher = {
    .key = "any_effect",
    .read = &effect_matcher::Read,
    .prefilter = &effect_matcher::MakePrefilter,
    .match = &effect_matcher::Match,
    .within = &effect_matcher::IsWithin,
    .why_never = &effect_matcher::ExplainNever,
    .sample = &effect_matcher::Sample};

}  // namespace gate::rules
