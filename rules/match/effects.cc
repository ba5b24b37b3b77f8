// Effects and flows of a line against what a rule says of them.
#include <algorithm>
#include <numeric>

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

std::span<const uint32_t> Matcher::EffectsOf(uint32_t owner) {
  const size_t count = analysis_.invocations.size();
  const auto place = [&](uint32_t invocation) {
    return std::min<size_t>(invocation, count);
  };
  if (effects_begin_.empty()) {
    effects_begin_.assign(count + 2, 0);
    for (const parser::Effect& effect : analysis_.effects)
      ++effects_begin_[place(effect.invocation) + 1];
    std::partial_sum(effects_begin_.begin(), effects_begin_.end(),
                     effects_begin_.begin());
    effects_.resize(analysis_.effects.size());
    std::vector<uint32_t> next = effects_begin_;
    for (uint32_t i = 0; i < analysis_.effects.size(); ++i)
      effects_[next[place(analysis_.effects[i].invocation)]++] = i;
  }
  const uint32_t begin = effects_begin_[place(owner)];
  return std::span<const uint32_t>(effects_).subspan(
      begin, effects_begin_[place(owner) + 1] - begin);
}

Tri Matcher::Effect(const Node& node) {
  const bool any = node.y == kAnyEffect;
  if (!any && (subject_->effect_kinds & node.mask) == 0) return Tri::kNo;
  Tri best = Tri::kNo;
  const auto look = [&](uint32_t i) {
    if (only_effect_ != UINT32_MAX && only_effect_ != i) return;
    best = Or(best, OneEffect(node, i));
  };
  if (any) {
    for (uint32_t i = 0; i < analysis_.effects.size() && best != Tri::kYes; ++i)
      look(i);
    return best;
  }
  for (const uint32_t i : EffectsOf(subject_->number)) {
    if (best == Tri::kYes) return best;
    look(i);
  }
  // A connection that the shell itself opens belongs to the line, and so to
  // every command of it, for rules that tighten.
  if (strict_ || subject_->number >= analysis_.invocations.size()) return best;
  for (const uint32_t i : EffectsOf(UINT32_MAX)) {
    if (best == Tri::kYes) return best;
    if (analysis_.effects[i].kind == parser::EffectKind::kNetwork) look(i);
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
      for (const FlatText& text : view_->In(view_->strings, node.f))
        named = Or(named, Fits(view_->Text(text), effect.path.text));
    result = And(result, named);
  }
  const auto host_in = [&](Range range) {
    if (effect.host.empty()) return Tri::kPossible;
    Tri best = Tri::kNo;
    for (const FlatText& text : view_->In(view_->strings, range))
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
Tri Matcher::Sends() {
  if (invocation_ == nullptr || invocation_->pipeline == UINT32_MAX)
    return Tri::kNo;
  if (!senders_) {
    senders_.emplace();
    for (const parser::Effect& effect : analysis_.effects) {
      if ((effect.kind != parser::EffectKind::kNetwork &&
           effect.kind != parser::EffectKind::kRemoteState) ||
          effect.invocation >= analysis_.invocations.size())
        continue;
      uint32_t& last =
          (*senders_)[analysis_.invocations[effect.invocation].pipeline];
      last = std::max(last, effect.invocation);
    }
  }
  const auto last = senders_->find(invocation_->pipeline);
  return last != senders_->end() && last->second > subject_->number ? Tri::kYes
                                                                    : Tri::kNo;
}

}  // namespace gate::rules
