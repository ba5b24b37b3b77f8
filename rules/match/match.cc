// A rule's matcher is a small tree. Its truth is three-valued because words
// and paths of a command may be unknown: `possible` means that the rule
// matches if something unknown turns out so. What the caller makes of that
// depends on the rule (engine/evaluate.cc).
#include "rules/match.h"

#include <algorithm>

#include "rules/glob.h"

namespace gate::rules {
namespace {

// Node visits of one evaluation; far above what real policies need.
constexpr uint64_t kMaxSteps = 20'000'000;

constexpr std::string_view kSystemBins[] = {
    "/bin/",  "/usr/bin/",  "/usr/local/bin/",
    "/sbin/", "/usr/sbin/", "/usr/local/sbin/"};

bool SetsVariables(std::string_view program) {
  constexpr std::string_view kNames[] = {"export",   "declare", "typeset",
                                         "readonly", "local",   "env"};
  return std::find(std::begin(kNames), std::end(kNames), program) !=
         std::end(kNames);
}

}  // namespace

Matcher::Matcher(const Policy::Impl& policy, const parser::Analysis& analysis,
                 const Facts& facts, OptionReader reader)
    : policy_(policy),
      analysis_(analysis),
      facts_(facts),
      reader_(reader),
      paths_(policy, facts.bases, facts.first_looks, facts.secrets) {}

Verdict Matcher::Match(const LoadedLayer& layer, uint32_t rule,
                       const Subject& subject, bool strict) {
  layer_ = &layer;
  view_ = &layer.view;
  subject_ = &subject;
  invocation_ = subject.invocation;
  strict_ = strict;
  error_ = false;
  const uint32_t scope = view_->rules[rule].scope;
  const uint32_t here = invocation_ != nullptr ? kPerInvocation : kPerLine;
  if ((scope & here) == 0) return {};
  const Tri tri = Eval(view_->rules[rule].match);
  return {tri, error_};
}

bool Matcher::HoldsButForOptions(const LoadedLayer& layer, uint32_t rule,
                                 const Subject& subject) {
  doubted_options_fail_ = true;
  const Verdict verdict = Match(layer, rule, subject, false);
  doubted_options_fail_ = false;
  return verdict.tri == Tri::kYes;
}

bool Matcher::CoversEffect(const LoadedLayer& layer, uint32_t rule,
                           const Subject& subject, uint32_t effect) {
  const uint16_t kind = static_cast<uint16_t>(
      1u << static_cast<unsigned>(analysis_.effects[effect].kind));
  if ((layer.view.rules[rule].effects & kind) == 0) return false;
  only_effect_ = effect;
  const Verdict verdict = Match(layer, rule, subject, true);
  only_effect_ = UINT32_MAX;
  return verdict.tri == Tri::kYes && !verdict.error;
}

Tri Matcher::Eval(uint32_t index) {
  if (OutOfSteps()) return Tri::kPossible;
  if (index >= view_->nodes.size()) {
    error_ = true;
    return Tri::kPossible;
  }
  const Node& node = view_->nodes[index];
  switch (node.kind) {
    case NodeKind::kNever:
      return Tri::kNo;
    case NodeKind::kAll:
      return All(node);
    case NodeKind::kAny:
      return Any(node);
    case NodeKind::kUnless: {
      // What takes a rule back must surely hold; what keeps an allow from
      // holding need only be possible.
      strict_ = !strict_;
      const Tri inner = Any(node);
      strict_ = !strict_;
      return Not(inner);
    }
    case NodeKind::kPrefix:
      return Prefix(node);
    case NodeKind::kGlob:
      return Glob(node);
    case NodeKind::kRegex:
      return RegexNode(node);
    case NodeKind::kLine:
      return Line(node);
    case NodeKind::kProgram:
      return Program(node);
    case NodeKind::kSubcommand:
      return Subcommand(node);
    case NodeKind::kOptions: {
      const Tri tri = Options(node);
      // `strict_` is set below an odd number of `unless` of such a rule.
      if (doubted_options_fail_ && strict_ && tri == Tri::kPossible)
        return Tri::kNo;
      return tri;
    }
    case NodeKind::kOperands:
      return Operands(node);
    case NodeKind::kOnlyDoes:
      return OnlyDoes(node);
    case NodeKind::kAct:
      return Act(node);
    case NodeKind::kRedirects:
      return Redirects(node);
    case NodeKind::kEffect:
      return Effect(node);
    case NodeKind::kFlow:
      return Flow(node);
    case NodeKind::kSends:
      return Sends();
    case NodeKind::kEnv:
      return Env(node);
    case NodeKind::kVia:
      return Via(node);
    case NodeKind::kUnknown:
      return Unknown(node);
    case NodeKind::kCwd:
    case NodeKind::kProject: {
      parser::Argument place;
      place.text =
          node.kind == NodeKind::kCwd
              ? std::string(facts_.cwd)
              : std::string(
                    facts_.bases[static_cast<size_t>(PathBase::kWorkspace)]);
      if (place.text.empty()) return Tri::kPossible;
      return paths_.MatchAny(*view_, node.a, {&place, false, UINT32_MAX});
    }
    case NodeKind::kAgent:
      return facts_.agent.empty() ? Tri::kPossible
                                  : Names(node.a, facts_.agent, true);
    case NodeKind::kBranch:
      return facts_.branch_known ? Names(node.a, facts_.branch, true)
                                 : Tri::kPossible;
    case NodeKind::kInteractive:
      return rules::Of(facts_.interactive == (node.flags != 0));
    case NodeKind::kInspected:
      return rules::Of(facts_.inspected == (node.flags != 0));
  }
  error_ = true;
  return Tri::kPossible;
}

bool Matcher::OutOfSteps() {
  if (++steps_ <= kMaxSteps) return false;
  error_ = true;
  return true;
}

Tri Matcher::Fits(std::string_view pattern, std::string_view text) {
  const Tri tri = TextGlob(pattern, text);
  if (tri == Tri::kPossible) error_ = true;
  return tri;
}

Tri Matcher::All(const Node& node) {
  if (facts_.first_looks)
    for (const Prefilter& prefilter : view_->In(view_->link_prefilters, node.a))
      if (prefilter.Excludes(subject_->bits)) return Tri::kNo;
  Tri result = Tri::kYes;
  for (const uint32_t link : view_->In(view_->links, node.a)) {
    result = And(result, Eval(link));
    if (result == Tri::kNo) break;
  }
  return result;
}

Tri Matcher::Any(const Node& node) {
  const auto links = view_->In(view_->links, node.a);
  const auto prefilters = view_->In(view_->link_prefilters, node.a);
  Tri result = Tri::kNo;
  for (size_t i = 0; i < links.size(); ++i) {
    if (facts_.first_looks && prefilters[i].Excludes(subject_->bits)) continue;
    result = Or(result, Eval(links[i]));
    if (result == Tri::kYes) break;
  }
  return result;
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

bool Matcher::FirstWordIsPlain() const { return IsCalledByName(*invocation_); }

bool Matcher::FirstWordIs(std::string_view word) const {
  if (word.find('/') != std::string_view::npos)
    return !invocation_->argv.empty() && invocation_->argv[0].known &&
           invocation_->argv[0].text == word;
  if (strict_ && !FirstWordIsPlain()) return false;
  return invocation_->program == word;
}

Tri Matcher::Program(const Node& node) {
  if (invocation_ == nullptr || invocation_->program.empty()) return Tri::kNo;
  if (strict_ && !FirstWordIsPlain()) return Tri::kNo;
  return Names(node.a, invocation_->program, node.flags == kHasPattern);
}

Tri Matcher::Names(Range names, std::string_view value, bool globs) {
  for (const FlatText& text : view_->In(view_->strings, names)) {
    const std::string_view name = view_->Text(text);
    if (name.size() == value.size() &&
        (name.empty() || (name[0] == value[0] && name == value)))
      return Tri::kYes;
    // As a pattern, a name without wildcards is no more than that.
    if (globs)
      if (const Tri tri = Fits(name, value); tri != Tri::kNo) return tri;
  }
  return Tri::kNo;
}

Tri Matcher::Prefix(const Node& node) {
  if (invocation_ == nullptr || invocation_->argv.empty()) return Tri::kNo;
  const auto positions = view_->In(view_->positions, node.a);
  if (positions.empty()) return Tri::kNo;
  bool first = false;
  for (const FlatText& text : view_->In(view_->strings, positions[0]))
    first = first || FirstWordIs(view_->Text(text));
  if (!first) return Tri::kNo;
  if (positions.size() == 1) return Tri::kYes;
  Tri best = PrefixAt(node, 1);
  if (strict_ || best == Tri::kYes) return best;
  // A rule that tightens also holds behind options: git -C x push.
  const uint32_t starts = SubcommandStarts(*invocation_);
  for (size_t i = 2; i < 30 && best != Tri::kYes; ++i)
    if (starts & (1u << i)) best = Or(best, PrefixAt(node, i));
  if (StartsGoOn(starts))
    for (size_t i = kFollowedWords;
         i < invocation_->argv.size() && best != Tri::kYes; ++i) {
      if (OutOfSteps()) return Tri::kPossible;
      best = Or(best, PrefixAt(node, i));
    }
  if (best == Tri::kYes || invocation_->subcommand.empty()) return best;
  // And by the sub-command as the program's description reads it, when the
  // rule says no more than that.
  Tri canonical = Tri::kYes;
  for (size_t i = 1; i < positions.size(); ++i) {
    bool same = false;
    if (i - 1 < invocation_->subcommand.size())
      for (const FlatText& text : view_->In(view_->strings, positions[i]))
        same = same || view_->Text(text) == invocation_->subcommand[i - 1];
    if (!same) canonical = Tri::kNo;
  }
  return Or(best, canonical);
}

// The words from argv[start] on against the positions after the first.
Tri Matcher::PrefixAt(const Node& node, size_t start) {
  const auto positions = view_->In(view_->positions, node.a);
  const auto& argv = invocation_->argv;
  Tri result = Tri::kYes;
  for (size_t i = 1; i < positions.size(); ++i) {
    const size_t at = start + i - 1;
    if (at >= argv.size()) return Tri::kNo;
    const parser::Argument& word = argv[at];
    Tri here = Tri::kNo;
    for (const FlatText& text : view_->In(view_->strings, positions[i])) {
      const std::string_view wanted = view_->Text(text);
      if (word.known && !word.glob) {
        here = Or(here, rules::Of(word.text == wanted));
      } else if (!word.known && wanted.starts_with(word.text) &&
                 wanted.ends_with(word.suffix) &&
                 // An unknown operand is not taken for an option.
                 !(word.text.empty() && !word.splits && wanted[0] == '-')) {
        here = Or(here, Tri::kPossible);
      }
    }
    result = And(result, here);
    if (result == Tri::kNo) return result;
    if (!word.known && word.splits) return Tri::kPossible;
  }
  return result;
}

Tri Matcher::Subcommand(const Node& node) {
  if (invocation_ == nullptr) return Tri::kNo;
  const auto words_match = [](std::string_view wanted, auto&& word_at) {
    for (size_t i = 0;; ++i) {
      const size_t end = std::min(wanted.find(' '), wanted.size());
      if (!word_at(i, wanted.substr(0, end))) return false;
      if (end == wanted.size()) return true;
      wanted.remove_prefix(end + 1);
    }
  };
  const auto& argv = invocation_->argv;
  const auto& canonical = invocation_->subcommand;
  // Behind an accept-list of options the sub-command is the first operands.
  if (strict_ && node.e.begin != UINT32_MAX &&
      node.e.begin < view_->nodes.size()) {
    std::vector<const parser::Argument*> operands;
    const Tri only = Only(view_->nodes[node.e.begin], &operands);
    Tri best = Tri::kNo;
    for (const FlatText& text : view_->In(view_->strings, node.a))
      best =
          Or(best, rules::Of(words_match(
                       view_->Text(text), [&](size_t i, std::string_view word) {
                         return i < operands.size() && operands[i]->known &&
                                operands[i]->text == word;
                       })));
    return And(best, only);
  }
  Tri best = Tri::kNo;
  for (const FlatText& text : view_->In(view_->strings, node.a)) {
    const std::string_view wanted = view_->Text(text);
    // Descriptions put sub-commands that do alike under one name, so what must
    // surely hold has to stand among the words as well.
    if (words_match(wanted, [&](size_t i, std::string_view word) {
          return i < canonical.size() && canonical[i] == word &&
                 (!strict_ || std::any_of(
                                  argv.begin(), argv.end(),
                                  [&](const parser::Argument& have) {
                                    return have.known && have.text == word;
                                  }));
        }))
      return Tri::kYes;
    const uint32_t starts = SubcommandStarts(*invocation_);
    const size_t end =
        StartsGoOn(starts) && !strict_ ? std::max<size_t>(argv.size(), 30) : 30;
    for (size_t start = 1; start < end && best != Tri::kYes; ++start) {
      const bool beyond =
          start >= kFollowedWords && !strict_ && StartsGoOn(starts);
      if (!beyond && (starts & (1u << start)) == 0) continue;
      if (OutOfSteps()) return Tri::kPossible;
      // A word behind an option may be the option's value.
      if (strict_ && start > 1 &&
          (argv.size() < start || !argv[start - 1].text.starts_with('-') ||
           argv[start - 1].text.find('=') == std::string::npos))
        continue;
      bool unknown = false;
      if (words_match(wanted, [&](size_t i, std::string_view word) {
            if (start + i >= argv.size()) return false;
            const parser::Argument& have = argv[start + i];
            if (have.known) return have.text == word;
            unknown = true;
            return word.starts_with(have.text) && word.ends_with(have.suffix);
          }))
        best = Or(best, unknown ? Tri::kPossible : Tri::kYes);
    }
  }
  return best;
}

Matcher::Prepared& Matcher::Prepare() {
  if (prepared_.size() < analysis_.invocations.size())
    prepared_.resize(analysis_.invocations.size());
  return prepared_[subject_->number];
}

Tri Matcher::Via(const Node& node) {
  if (invocation_ == nullptr) return Tri::kNo;
  Tri best = Tri::kNo;
  for (const parser::Via& step : invocation_->via) {
    best = Or(best, Names(node.a, step.kind, true));
    // "function $program": the function calls itself. A program of the same
    // name, as in `ls() { command ls -l "$@"; }`, is none.
    constexpr std::string_view kFunction = "function ";
    if (invocation_->builtin && step.kind.starts_with(kFunction) &&
        std::string_view(step.kind).substr(kFunction.size()) ==
            invocation_->program)
      best = Or(best, Names(node.a, "function $program", false));
  }
  return best;
}

Tri Matcher::Unknown(const Node& node) {
  return rules::Of((subject_->unknown_codes & node.mask) != 0);
}

Tri Matcher::Env(const Node& node) {
  if (invocation_ == nullptr) return Tri::kNo;
  const auto fits = [&](Range patterns, std::string_view value) {
    Tri best = Tri::kNo;
    for (const FlatText& text : view_->In(view_->strings, patterns)) {
      std::string_view pattern = view_->Text(text), rest = value;
      if (constexpr std::string_view kBase = "$WORKSPACE";
          pattern.starts_with(kBase)) {
        const std::string_view place =
            facts_.bases[static_cast<size_t>(PathBase::kWorkspace)];
        if (place.empty() || !rest.starts_with(place)) continue;
        pattern.remove_prefix(kBase.size());
        rest.remove_prefix(place.size());
      }
      best = Or(best, Fits(pattern, rest));
    }
    return best;
  };
  const auto judge = [&](std::string_view name, std::string_view value,
                         bool known) {
    const Tri named = Names(node.a, name, true);
    if (named == Tri::kNo || (node.b.count == 0 && node.c.count == 0))
      return named;
    if (!known) return Tri::kPossible;
    Tri result = named;
    if (node.b.count > 0) result = And(result, fits(node.b, value));
    return And(result, Not(fits(node.c, value)));
  };
  Tri best = Tri::kNo;
  for (const parser::EnvironmentSetting& setting : invocation_->environment)
    best =
        Or(best, judge(setting.name, setting.value.text, setting.value.known));
  if (SetsVariables(invocation_->program)) {
    for (size_t i = 1; i < invocation_->argv.size(); ++i) {
      const parser::Argument& word = invocation_->argv[i];
      const size_t equals = word.text.find('=');
      if (equals == std::string::npos || equals == 0) continue;
      std::string_view name = std::string_view(word.text).substr(0, equals);
      if (name.ends_with('+')) name.remove_suffix(1);
      best =
          Or(best, judge(name, std::string_view(word.text).substr(equals + 1),
                         word.known && equals + 1 < word.text.size()));
    }
  }
  return best;
}

}  // namespace gate::rules
