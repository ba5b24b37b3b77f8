// One pass over a program's arguments: which words are options, values,
// sub-commands and operands, under one choice for every word that can be
// several of these. Internal to programs_*.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "parser/programs.h"
#include "parser/programs/image.h"

namespace gate::parser::programs {

// A word from `skip` on (the value in `-ofile`, `--opt=value`).
struct Word {
  const Argument* argument = nullptr;
  uint32_t skip = 0;
};

// What a word of which more than one reading is possible is taken for.
enum Choice : uint8_t {
  kAsOperand,  // one operand, or one value where a value is due
  kAsFlag,     // an option without value; nothing where a value is due
  kAsTaker,    // an option whose value is the next word
  kAsMany,     // an operand or value followed by more, unknown operands
};
inline constexpr int kChoices = 4;

struct Point {
  uint32_t word = 0;    // index into Pass::words
  uint8_t choices = 0;  // bit per Choice
};

struct Use {
  uint32_t option = kNone;
  uint32_t values = 0;
  uint32_t values_count = 0;
  uint32_t word = 0;
  bool appends = false;  // kList that ended in `+`
};

struct Pass {
  std::vector<const Argument*> words;  // argv, with splices
  std::deque<Argument> owned;
  std::vector<uint8_t> choices;  // by word; shorter means default
  std::vector<Point> points;

  std::vector<uint32_t> chain;  // nodes, the program first
  std::vector<std::string_view> subcommand;
  std::vector<Word> operands;
  size_t after_dashes = SIZE_MAX;  // operands before `--`
  std::vector<Word> values;
  std::vector<Use> uses;
  std::vector<Word> assignments;
  std::vector<Word> split;  // a value that could not be split
  // Operands that may instead be options (the reading takes them as operands
  // and options that were not seen are possible).
  uint32_t maybe_options = 0;
  const Argument* maybe_option = nullptr;  // the last of them
  bool incomplete = false;
  // The sub-command is not described, or not known.
  bool unresolved = false;
  // Options taken for flags that are not described and have a word behind them.
  std::vector<const Argument*> loose_options;
  // A pattern may find the name of an option, or an unknown word become one. A
  // quoted one that does not begin with a dash is taken for no option.
  bool hides_options = false;
  bool unread = false;  // Reading::unread
  // A pattern stands where the names it finds may be words that do more than
  // reading.
  bool hides_more = false;
};

// Reads pass->words (filled, [0] is the program) with pass->choices.
void ReadPass(const Tables& tables, uint32_t node, Pass* pass);

// programs_acts.cc. Adds the act or redirection of `effect`, a record of Role
// kAct or kRedirects; makes of all that were added what the reading says: help
// and rehearsals count, and nothing said is Act::kUnknown.
// Whether an unknown word of `pass` may be any option.
bool HidesOptions(const Pass& pass);
void NoteAct(const Tables& tables, const EffectRecord& effect, bool certain,
             ActsRead* acts);
void FinishActs(const Tables& tables, const Pass& pass, ActsRead* acts);

// Adds what `pass` means to `arguments`.
void CollectFindings(const Tables& tables, const Pass& pass,
                     ArgumentAnalysis* arguments);

// Finds equal argument effects (but for `certain` and the span) in a growing
// list: by looking at all while there are few, by their hashes when there are
// many.
class ArgumentEffectIndex {
 public:
  explicit ArgumentEffectIndex(std::vector<ArgumentEffect>* effects);
  // The place of an argument effect that means the same; SIZE_MAX when there is
  // none.
  size_t Find(const ArgumentEffect& argument_effect);

 private:
  static constexpr size_t kFew = 24;
  struct Hash {
    const ArgumentEffectIndex* index;
    size_t operator()(size_t place) const;
  };
  struct Same {
    const ArgumentEffectIndex* index;
    bool operator()(size_t a, size_t b) const;
  };
  const ArgumentEffect& At(size_t place) const;

  std::vector<ArgumentEffect>* findings_;
  const ArgumentEffect* probe_ = nullptr;  // stands at place SIZE_MAX
  size_t indexed_ = 0;
  std::unordered_set<size_t, Hash, Same> places_;
};

// Whether `text` fits `pattern`: literal characters, `*` any run, `%` any run
// without slash, either in parentheses to capture it. `capture` receives the
// first capture's range, or the whole text's. Time O(pattern x text).
bool MatchValue(std::string_view pattern, std::string_view text,
                bool ignore_case, size_t* capture_begin, size_t* capture_end);

// Whether a text of which only the beginning is known may fit; `sure` when
// every such text fits, `capture_begin` is where its capture starts then.
bool MayMatchValue(std::string_view pattern, std::string_view prefix,
                   bool ignore_case, bool* sure, size_t* capture_begin);

// Whether the pattern `word` may find a file that `node` takes for an option.
bool MayFitOption(const Tables& tables, const Node& node, const Argument& word);
// Whether operands of `node` do more than reading with the options that `pass`
// has; with any options.
bool OperandsDoMore(const Tables& tables, const Pass& pass, const Node& node);
bool OptionsDoMore(const Tables& tables, const Node& node);

// `text` split as `env -S` does; false when it needs the environment or is
// not well formed.
bool SplitEnvString(std::string_view text, std::vector<std::string>* words);

}  // namespace gate::parser::programs
