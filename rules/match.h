// One rule against one command of the line, or against the line.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parser/analysis.h"
#include "rules/index.h"
#include "rules/match/paths.h"
#include "rules/match/tri.h"
#include "rules/policy_impl.h"

namespace gate::rules {

// What rules may ask besides the line itself. Views of the caller's request.
struct Facts {
  PathBases bases{};
  std::span<const std::string> secrets;  // of the class `secret`, too
  std::string_view cwd, agent, branch;
  std::string_view line;     // as it was written
  bool branch_known = true;  // false: it may be any branch
  bool interactive = false;
  bool inspected = false;
  // False: nothing is ruled out by a first look, neither matchers by their
  // Prefilter, nor regexes by their atoms, nor paths by PathFilter. The answer
  // is the same; tests hold it to it.
  bool first_looks = true;
};

// Reads the options of an invocation whose analysis has them not.
using OptionReader = parser::OptionsRead (*)(const parser::Invocation&);

// What a match says, beside three truths: kError, a budget was exhausted.
struct Verdict {
  Tri tri = Tri::kNo;
  bool error = false;
};

// How much of a rule that missed would have held, for people.
struct NearMiss {
  uint32_t held = 0, parts = 0;  // conditions; each word of a prefix is one
  std::string failed;            // names of those that do not hold
};

// True when argv[0] is a bare name or names a system directory, so that the
// program is what its name says and not a file of the workspace.
bool IsCalledByName(const parser::Invocation& invocation);

// Not thread-safe: one Matcher for one evaluation.
class Matcher {
 public:
  Matcher(const Policy::Impl& policy, const parser::Analysis& analysis,
          const Facts& facts, OptionReader reader);

  // `strict`: the rule loosens, so what it says must hold as written: a
  // program named without directories must be found by PATH or in a system
  // directory, and a prefix stands at the very start of the words.
  Verdict Match(const LoadedLayer& layer, uint32_t rule, const Subject& subject,
                bool strict);

  // For a rule that tightens and that Match calls possible: whether all it asks
  // for is certain, and in doubt are only options that its `unless` names.
  // Costs one more Match.
  bool HoldsButForOptions(const LoadedLayer& layer, uint32_t rule,
                          const Subject& subject);

  // Numbers of the effects of invocation `owner`, or of those that belong to
  // none of the line's. The first call costs O(effects), each other O(1).
  std::span<const uint32_t> EffectsOf(uint32_t owner);

  // For a rule that Match said no to.
  NearMiss ExplainMiss(const LoadedLayer& layer, uint32_t rule,
                       const Subject& subject, bool strict);

  // Whether the allow rule `rule` allows effect number `effect` of `subject`
  // by speaking of it, and not only the command that has it.
  bool CoversEffect(const LoadedLayer& layer, uint32_t rule,
                    const Subject& subject, uint32_t effect);

 private:
  void Count(uint32_t node, NearMiss* out);  // nearness.cc

  struct Prepared {  // per invocation, made when first asked for
    bool lines_made = false;
    std::string line, line_by_name;
    // The line with nothing quoted, for rules that tighten: what needs quotes
    // must not hide a word from them. Empty where quotes make no difference.
    std::string bare, bare_by_name;
    // Made when first asked for: LinesToTry with gaps (rules/match/gaps.h);
    // empty when every word is known.
    bool gapped_made = false;
    std::vector<std::u32string> gapped;
    // The words in lower case, for RegexRecord::atoms; empty when a character
    // might have a lower case that is not its own.
    bool lower_made = false;
    std::string lower;
    // The lines in lower case, for those atoms that have a quote.
    bool lower_lines_made = false;
    std::string lower_lines;
    const parser::OptionsRead* options = nullptr;
    std::optional<parser::OptionsRead> own_options;
    // The characters of words that may be options, as bits of c & 63.
    bool letters_made = false;
    uint64_t letters = 0;
  };

  Tri Eval(uint32_t node);
  Tri All(const Node& node);
  Tri Any(const Node& node);
  Tri Prefix(const Node& node);
  Tri PrefixAt(const Node& node, size_t start);
  Tri Glob(const Node& node);
  Tri RegexNode(const Node& node);
  bool MayMatch(const RegexRecord& record, Prepared* prepared);
  const std::vector<std::u32string>& Gapped(Prepared* prepared);
  bool TriesGaps(const Node& node, std::string_view pattern, bool regex,
                 Prepared* prepared);
  Tri Line(const Node& node);
  Tri Program(const Node& node);
  Tri Subcommand(const Node& node);
  Tri Options(const Node& node);
  Tri HasOption(std::string_view name, bool beyond);
  Tri LiteralOption(std::string_view name,
                    std::optional<std::string_view> wanted_value, bool beyond);
  bool MayHaveOption(std::string_view name);
  Tri Only(const Node& node, std::vector<const parser::Argument*>* operands);
  Tri Operands(const Node& node);
  Tri Written(const parser::Argument& word, uint32_t regex);
  Tri OnlyDoes(const Node& node);
  Tri Act(const Node& node);
  Tri Redirects(const Node& node);
  const parser::OptionsRead& ReadOptions();
  Tri Effect(const Node& node);
  Tri OneEffect(const Node& node, uint32_t index);
  Tri Flow(const Node& node);
  Tri Sends();
  Tri Env(const Node& node);
  Tri Via(const Node& node);
  Tri Unknown(const Node& node);
  Tri Names(Range names, std::string_view value, bool globs);
  // TextGlob; that its budget ran out is an error, not a possibility.
  Tri Fits(std::string_view pattern, std::string_view text);
  Tri FitsHost(std::string_view pattern, std::string_view host);
  bool OutOfSteps();  // counts one, too
  bool FirstWordIsPlain() const;
  bool FirstWordIs(std::string_view word) const;
  Prepared& Prepare();
  void MakeLines(Prepared* prepared);
  std::string LowerWords() const;
  // The texts of `prepared` that a glob or regex is tried on here.
  std::array<const std::string*, 4> LinesToTry(const Prepared& prepared) const;

  const Policy::Impl& policy_;
  const parser::Analysis& analysis_;
  const Facts& facts_;
  OptionReader reader_;
  PathMatcher paths_;
  std::vector<Prepared> prepared_;
  // Made when first asked for. Effects by the invocation that has them, those
  // of the line last; where each invocation's begin.
  std::vector<uint32_t> effects_, effects_begin_;
  // By pipeline: the last of its commands that talks to another machine.
  std::optional<std::unordered_map<uint32_t, uint32_t>> senders_;
  uint64_t steps_ = 0;

  // The arguments of the current Match call.
  const LoadedLayer* layer_ = nullptr;
  const RuleView* view_ = nullptr;
  const Subject* subject_ = nullptr;
  const parser::Invocation* invocation_ = nullptr;
  bool strict_ = false;
  // Set by HoldsButForOptions: options of an `unless` that are only possible
  // are not there.
  bool doubted_options_fail_ = false;
  uint32_t only_effect_ = UINT32_MAX;  // look at this effect only
  bool error_ = false;
  // What patterns of the whole line say, by the pattern.
  std::unordered_map<const RegexRecord*, Tri> found_in_line_;
  // Facts::line in lower case, made when first asked for; empty when it is not
  // all ASCII.
  bool line_lowered_ = false;
  std::string line_lower_;
};

}  // namespace gate::rules
