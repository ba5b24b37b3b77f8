// A rule's matcher is a small tree. Its truth is three-valued because words
// and paths of a command may be unknown: `possible` means that the rule
// matches if something unknown turns out so. What the caller makes of that
// depends on the rule (engine/evaluate.cc).
#include "rules/match.h"

#include <algorithm>
#include <numeric>

#include "rules/glob.h"
#include "rules/matchers/matcher.h"

namespace gate::rules {
namespace {

// Node visits of one evaluation; far above what real policies need.
constexpr uint64_t kMaxSteps = 20'000'000;

constexpr std::string_view kSystemBins[] = {
    "/bin/",  "/usr/bin/",  "/usr/local/bin/",
    "/sbin/", "/usr/sbin/", "/usr/local/sbin/"};

}  // namespace

Verdict Matcher::Match(const LoadedLayer& layer, uint32_t rule,
                       const Subject& subject, bool strict) {
  MatchContext& c = context_;
  c.layer = &layer;
  c.view = &layer.view;
  c.subject = &subject;
  c.invocation = subject.invocation;
  c.strict = strict;
  c.error = false;
  const uint32_t scope = c.view->rules[rule].scope;
  const uint32_t here = c.invocation != nullptr ? kPerInvocation : kPerLine;
  if ((scope & here) == 0) return {};
  const Tri tri = c.Eval(c.view->rules[rule].match);
  return {tri, c.error};
}

bool Matcher::HoldsButForOptions(const LoadedLayer& layer, uint32_t rule,
                                 const Subject& subject) {
  context_.doubted_options_fail = true;
  const Verdict verdict = Match(layer, rule, subject, false);
  context_.doubted_options_fail = false;
  return verdict.tri == Tri::kYes;
}

bool Matcher::CoversEffect(const LoadedLayer& layer, uint32_t rule,
                           const Subject& subject, uint32_t effect) {
  const uint16_t kind = static_cast<uint16_t>(
      1u << static_cast<unsigned>(context_.analysis.effects[effect].kind));
  if ((layer.view.rules[rule].effects & kind) == 0) return false;
  context_.only_effect = effect;
  const Verdict verdict = Match(layer, rule, subject, true);
  context_.only_effect = UINT32_MAX;
  return verdict.tri == Tri::kYes && !verdict.error;
}

Tri MatchContext::Eval(uint32_t index) {
  if (OutOfSteps()) return Tri::kPossible;
  if (index < view->nodes.size()) {
    const Node& node = view->nodes[index];
    if (const MatcherType* matcher = MatcherOf(node.kind))
      return matcher->match(*this, node);
  }
  error = true;
  return Tri::kPossible;
}

bool MatchContext::OutOfSteps() {
  if (++steps <= kMaxSteps) return false;
  error = true;
  return true;
}

Tri MatchContext::Fits(std::string_view pattern, std::string_view text) {
  const Tri tri = TextGlob(pattern, text);
  if (tri == Tri::kPossible) error = true;
  return tri;
}

Tri MatchContext::Names(Range names, std::string_view value, bool globs) {
  for (const FlatText& text : Strings(names)) {
    const std::string_view name = view->Text(text);
    if (name.size() == value.size() &&
        (name.empty() || (name[0] == value[0] && name == value)))
      return Tri::kYes;
    // As a pattern, a name without wildcards is no more than that.
    if (globs)
      if (const Tri tri = Fits(name, value); tri != Tri::kNo) return tri;
  }
  return Tri::kNo;
}

bool IsCalledByName(const parser::Invocation& invocation) {
  if (invocation.argv.empty() || !invocation.argv[0].known) return false;
  const std::string_view word = invocation.argv[0].text;
  const size_t slash = word.rfind('/');
  if (slash == std::string_view::npos) return true;
  const std::string_view directory = word.substr(0, slash + 1);
  return std::find(std::begin(kSystemBins), std::end(kSystemBins), directory) !=
         std::end(kSystemBins);
}

bool MatchContext::FirstWordIsPlain() const {
  return IsCalledByName(*invocation);
}

PreparedInvocation& MatchContext::Prepare() {
  if (prepared.size() < analysis.invocations.size())
    prepared.resize(analysis.invocations.size());
  return prepared[subject->number];
}

const parser::OptionsRead& MatchContext::ReadOptions() {
  PreparedInvocation& here = Prepare();
  if (here.options == nullptr) {
    if (invocation->read) {
      here.options = &*invocation->read;
    } else {
      here.options = &here.own_options.emplace(
          reader != nullptr ? reader(*invocation) : parser::OptionsRead{});
    }
  }
  return *here.options;
}

std::span<const uint32_t> MatchContext::EffectsOf(uint32_t owner) {
  const size_t count = analysis.invocations.size();
  const auto place = [&](uint32_t number) {
    return std::min<size_t>(number, count);
  };
  if (effects_begin.empty()) {
    effects_begin.assign(count + 2, 0);
    for (const parser::Effect& effect : analysis.effects)
      ++effects_begin[place(effect.invocation) + 1];
    std::partial_sum(effects_begin.begin(), effects_begin.end(),
                     effects_begin.begin());
    effects.resize(analysis.effects.size());
    std::vector<uint32_t> next = effects_begin;
    for (uint32_t i = 0; i < analysis.effects.size(); ++i)
      effects[next[place(analysis.effects[i].invocation)]++] = i;
  }
  const uint32_t begin = effects_begin[place(owner)];
  return std::span<const uint32_t>(effects).subspan(
      begin, effects_begin[place(owner) + 1] - begin);
}

}  // namespace gate::rules
