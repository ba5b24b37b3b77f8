// Effects and flows of a line against what a rule says of them.
#include <algorithm>

#include "rules/glob.h"
#include "rules/match.h"

namespace gate::rules {

// A pattern of numbers alone (10.*) means addresses, and no name with letters
// that begins so (10.0.0.1.example.org).
Tri Matcher::FitsHost(std::string_view pattern, std::string_view host) {
  if (pattern.find_first_of("0123456789") == 0 &&
      pattern.find_first_not_of("0123456789.*?") == std::string_view::npos &&
      std::ranges::any_of(host, [](char c) { return c >= 'a' && c <= 'z'; }))
    return Tri::kNo;
  return Fits(pattern, host);
}

Tri Matcher::Effect(const Node& node) {
  const bool any = node.y == kAnyEffect;
  if (!any && (subject_->effect_kinds & node.mask) == 0) return Tri::kNo;
  Tri best = Tri::kNo;
  for (uint32_t i = 0; i < analysis_.effects.size(); ++i) {
    const parser::Effect& effect = analysis_.effects[i];
    const uint32_t owner = effect.invocation < analysis_.invocations.size()
                               ? effect.invocation
                               : UINT32_MAX;
    // A connection that the shell itself opens belongs to the line, and so to
    // every command of it, for rules that tighten.
    const bool of_line = owner == UINT32_MAX && !strict_ &&
                         effect.kind == parser::EffectKind::kNetwork;
    if (!any && owner != subject_->number && !of_line) continue;
    if (only_effect_ != UINT32_MAX && only_effect_ != i) continue;
    best = Or(best, OneEffect(node, i));
    if (best == Tri::kYes) break;
  }
  return best;
}

Tri Matcher::OneEffect(const Node& node, uint32_t index) {
  ++steps_;
  const parser::Effect& effect = analysis_.effects[index];
  if ((node.mask & (1u << static_cast<unsigned>(effect.kind))) == 0)
    return Tri::kNo;
  const auto asked = [&](int shift, bool value) {
    const int want = (node.flags >> shift) & 3;
    return want == 0 || (want == 2) == value;
  };
  if (!asked(kRecursiveShift, effect.recursive) ||
      !asked(kCertainShift, effect.certain) ||
      !asked(kListensShift, effect.listens) ||
      !asked(kRedirectShift,
             effect.from_redirect ||
                 (effect.kind == parser::EffectKind::kNetwork &&
                  effect.invocation >= analysis_.invocations.size())))
    return Tri::kNo;
  Tri result = Tri::kYes;
  const bool read = effect.kind == parser::EffectKind::kRead;
  const bool move = effect.kind == parser::EffectKind::kMove;
  const bool spread = effect.recursive || move;
  const auto place = [&](const parser::Argument& path, uint32_t slot) {
    Tri here = Tri::kYes;
    if (node.a.count > 0) {
      here = paths_.MatchAny(*view_, node.a, {&path, spread && !read, slot});
      // Reading a whole tree may come across what lies in it.
      if (here == Tri::kNo && read && spread)
        here = And(Tri::kPossible,
                   paths_.MatchAny(*view_, node.a, {&path, true, UINT32_MAX}));
    }
    if (node.b.count > 0 && here != Tri::kNo)
      here = And(here, Not(paths_.MatchAny(*view_, node.b,
                                           {&path, false, UINT32_MAX, true})));
    return here;
  };
  if (node.a.count > 0 || node.b.count > 0) {
    result = place(effect.path, index * 2);
    // A move also writes where it goes to.
    if (move && node.x != kSourceOnly && node.a.count > 0)
      result = Or(result, place(effect.target, index * 2 + 1));
    if (result == Tri::kNo) return result;
  }
  if (node.c.count > 0) {
    result =
        And(result, paths_.MatchAny(*view_, node.c,
                                    {&effect.target, false, index * 2 + 1}));
    if (result == Tri::kNo) return result;
  }
  if (node.f.count > 0) {
    Tri named = effect.path.known ? Tri::kNo : Tri::kPossible;
    if (effect.path.known)
      for (const ImageText& text : view_->In(view_->strings, node.f))
        named = Or(named, Fits(view_->Text(text), effect.path.text));
    result = And(result, named);
  }
  const auto host_in = [&](Range range) {
    if (effect.host.empty()) return Tri::kPossible;
    Tri best = Tri::kNo;
    for (const ImageText& text : view_->In(view_->strings, range))
      best = Or(best, FitsHost(view_->Text(text), effect.host));
    return best;
  };
  if (node.d.count > 0) result = And(result, host_in(node.d));
  if (node.e.count > 0) result = And(result, Not(host_in(node.e)));
  return result;
}

Tri Matcher::Flow(const Node& node) {
  if ((subject_->flow_kinds & node.mask) == 0) return Tri::kNo;
  Tri best = Tri::kNo;
  for (const parser::Flow& flow : analysis_.flows) {
    ++steps_;
    if ((node.mask & (1u << static_cast<unsigned>(flow.kind))) == 0) continue;
    if ((node.flags & kAnyFlow) == 0 && subject_->number != UINT32_MAX &&
        flow.source_invocation != subject_->number &&
        flow.sink_invocation != subject_->number)
      continue;
    if (node.c.count > 0 &&
        flow.sink_invocation < analysis_.invocations.size() &&
        Names(node.c, analysis_.invocations[flow.sink_invocation].program,
              false) == Tri::kYes)
      continue;
    Tri result = Tri::kYes;
    const PathValue value{&flow.source, false, UINT32_MAX};
    const bool none = flow.source.known && flow.source.text.empty();
    if (node.a.count > 0)
      result = none ? Tri::kPossible : paths_.MatchAny(*view_, node.a, value);
    if (node.b.count > 0)
      result = And(result, none ? Tri::kPossible
                                : Not(paths_.MatchAny(*view_, node.b, value)));
    best = Or(best, result);
  }
  return best;
}

// A later command of the same pipeline talks to another machine.
Tri Matcher::Sends() const {
  if (invocation_ == nullptr || invocation_->pipeline == UINT32_MAX)
    return Tri::kNo;
  for (const parser::Effect& effect : analysis_.effects) {
    if (effect.kind != parser::EffectKind::kNetwork &&
        effect.kind != parser::EffectKind::kRemoteState)
      continue;
    if (effect.invocation >= analysis_.invocations.size() ||
        effect.invocation <= subject_->number)
      continue;
    if (analysis_.invocations[effect.invocation].pipeline ==
        invocation_->pipeline)
      return Tri::kYes;
  }
  return Tri::kNo;
}

}  // namespace gate::rules
