// From one pass over the arguments to argument effects: conditions, ranges of
// operands, captures.

#include <algorithm>
#include <array>
#include <unordered_map>

#include "parser/programs/pass.h"

namespace gate::parser::programs {
namespace {

enum class Truth : uint8_t { kNo, kMaybe, kYes };

Truth Not(Truth t) {
  if (t == Truth::kMaybe) return t;
  return t == Truth::kYes ? Truth::kNo : Truth::kYes;
}

// Whether the argument effects of a role hold one run of words rather than one
// each.
bool TakesRun(Role role) {
  switch (role) {
    case Role::kCommand:
    case Role::kShellCode:
    case Role::kForeignCode:
    case Role::kSplitCommand:
    case Role::kScriptFile:
    case Role::kStdinCode:
    case Role::kLoadCode:
      return true;
    default:
      return false;
  }
}

// Characters that make a shell do more than start words.
bool HasShellCharacters(std::string_view text) {
  return text.find_first_of("|&;<>()$`\\\"'*?[#~=%!{}\n\t ") !=
         std::string_view::npos;
}

}  // namespace

ArgumentEffectIndex::ArgumentEffectIndex(std::vector<ArgumentEffect>* effects)
    : findings_(effects), places_(0, Hash{this}, Same{this}) {}

const ArgumentEffect& ArgumentEffectIndex::At(size_t place) const {
  return place == SIZE_MAX ? *probe_ : (*findings_)[place];
}

size_t ArgumentEffectIndex::Hash::operator()(size_t place) const {
  const ArgumentEffect& argument_effect = index->At(place);
  size_t hash = static_cast<size_t>(argument_effect.role) + 1;
  for (const Argument& word : argument_effect.words) {
    hash = hash * 1099511628211u + std::hash<std::string>()(word.text) +
           word.span.begin;
  }
  return hash;
}

bool ArgumentEffectIndex::Same::operator()(size_t left, size_t right) const {
  const ArgumentEffect& a = index->At(left);
  const ArgumentEffect& b = index->At(right);
  return a.role == b.role && a.recursive == b.recursive &&
         a.appends_unknown == b.appends_unknown &&
         a.from_stdin == b.from_stdin && a.placeholder == b.placeholder &&
         a.detail == b.detail && a.words == b.words;
}

size_t ArgumentEffectIndex::Find(const ArgumentEffect& argument_effect) {
  probe_ = &argument_effect;
  if (findings_->size() <= kFew) {
    const Same same{this};
    for (size_t k = 0; k < findings_->size(); ++k) {
      if (same(k, SIZE_MAX)) return k;
    }
    return SIZE_MAX;
  }
  for (; indexed_ < findings_->size(); ++indexed_) places_.insert(indexed_);
  const auto it = places_.find(SIZE_MAX);
  return it == places_.end() ? SIZE_MAX : *it;
}

namespace {

class Collector {
 public:
  Collector(const Tables& tables, const Pass& pass, ArgumentAnalysis* arguments)
      : t_(tables), p_(pass), r_(*arguments), index_(&arguments->effects) {}

  void Run() {
    const Node& leaf = t_.nodes[p_.chain.back()];
    for (const Use& use : p_.uses) {
      const Option& option = t_.options[use.option];
      r_.options.push_back(t_.image.Text(option.spellings));
      const auto values = std::span<const Word>(p_.values).subspan(
          use.values, use.values_count);
      for (const EffectRecord& e :
           Slice(t_.effects, option.effects, option.effects_count)) {
        use_ = &use;
        Emit(e, values, SpanOf(use));
      }
      use_ = nullptr;
    }
    for (const Word& word : p_.assignments) {
      ArgumentEffect argument_effect = Make(Role::kSetVariable, true);
      argument_effect.words.push_back(Text(word));
      argument_effect.span = word.argument->span;
      r_.effects.push_back(std::move(argument_effect));
    }
    if (!p_.split.empty()) {
      ArgumentEffect argument_effect = Make(Role::kSplitCommand, true);
      for (const Word& word : p_.split)
        argument_effect.words.push_back(Text(word));
      argument_effect.span = p_.split.front().argument->span;
      r_.effects.push_back(std::move(argument_effect));
    }
    for (const EffectRecord& e :
         Slice(t_.effects, leaf.effects, leaf.effects_count)) {
      Emit(e, {}, p_.words[0]->span);
    }
    if ((t_.nodes[p_.chain.front()].flags & Node::kSpeaksOfActs) != 0)
      FinishActs(t_, p_, &r_.acts);
    r_.reads_stdin |= Holds(leaf.reads_stdin);
    r_.prints_input |= Holds(leaf.prints_input);
    r_.prints_network |= Holds(leaf.prints_network);
    r_.decodes |= Holds(leaf.decodes);
  }

 private:
  static ArgumentEffect Make(Role role, bool certain) {
    ArgumentEffect argument_effect;
    argument_effect.role = role;
    argument_effect.certain = certain;
    return argument_effect;
  }

  Argument Text(const Word& word) const {
    Argument argument = *word.argument;
    if (word.skip != 0) {
      argument.text.erase(0, word.skip);
      if (argument.glob) {
        argument.glob = argument.text.find_first_of("*?[") != std::string::npos;
      }
    }
    return argument;
  }

  Span SpanOf(const Use& use) const {
    Span span = p_.words[use.word]->span;
    for (uint32_t v = 0; v < use.values_count; ++v) {
      const Span s = p_.values[use.values + v].argument->span;
      span.begin = std::min(span.begin, s.begin);
      span.end = std::max(span.end, s.end);
    }
    return span;
  }

  const Use* LastUse(uint32_t option) const {
    if (p_.uses.size() > kFewUses) {
      if (last_uses_.empty()) {
        for (const Use& use : p_.uses) last_uses_[use.option] = &use;
      }
      const auto it = last_uses_.find(option);
      return it == last_uses_.end() ? nullptr : it->second;
    }
    for (size_t k = p_.uses.size(); k-- > 0;) {
      if (p_.uses[k].option == option) return &p_.uses[k];
    }
    return nullptr;
  }

  // --- acts ---

  static bool IsActs(const EffectRecord& e) {
    const Role role = static_cast<Role>(e.role);
    return role == Role::kAct || role == Role::kRedirects;
  }

  // Of an effect whose condition holds: whether its words do. Every word that
  // fits counts; a pattern of file names is as good as not known.
  void EmitActs(const EffectRecord& e, std::span<const Word> words,
                bool certain) {
    if (e.pattern.size == 0) return NoteAct(t_, e, certain, &r_.acts);
    for (const Word& word : words) {
      Argument text = Text(word);
      bool sure = certain;
      if (text.glob) {
        text.known = text.glob = false;
        text.text.resize(
            std::min(text.text.find_first_of("*?[\\"), text.text.size()));
      }
      if (ApplyPattern(e, &text, &sure)) NoteAct(t_, e, sure, &r_.acts);
    }
  }

  // --- conditions ---

  // Whether a word fits one of the newline-separated globs.
  Truth FitsAny(const Argument& word, uint32_t skip, FlatText values) const {
    std::string_view rest = t_.image.Text(values);
    Truth truth = Truth::kNo;
    const std::string_view text = std::string_view(word.text).substr(
        std::min<size_t>(skip, word.text.size()));
    while (true) {
      const size_t end = rest.find('\n');
      const std::string_view glob = rest.substr(0, end);
      if (word.known && !word.glob) {
        if (MatchValue(glob, text, false, nullptr, nullptr)) {
          return Truth::kYes;
        }
      } else {
        bool sure = false;
        size_t begin = 0;
        const size_t wild = word.glob ? text.find_first_of("*?[") : text.size();
        if (MayMatchValue(glob, text.substr(0, wild), false, &sure, &begin)) {
          if (sure) return Truth::kYes;
          truth = Truth::kMaybe;
        }
      }
      if (end == std::string_view::npos) return truth;
      rest.remove_prefix(end + 1);
    }
  }

  // Effects of each of many options ask the same of all words.
  Truth EvaluateTerm(const Term& term) const {
    if (p_.uses.size() + p_.operands.size() <= kFewUses) return Look(term);
    auto& seen = terms_[unseen_ == Truth::kNo ? 0 : 1];
    const auto [it, fresh] = seen.try_emplace(&term, Truth::kNo);
    if (fresh) it->second = Look(term);
    return it->second;
  }

  Truth Look(const Term& term) const {
    switch (term.kind) {
      case Term::kOption: {
        if (LastUse(term.option) != nullptr) return Truth::kYes;
        return unseen_;
      }
      case Term::kOptionValue: {
        Truth truth = unseen_;
        for (const Use& use : p_.uses) {
          if (use.option != term.option) continue;
          for (uint32_t v = 0; v < use.values_count; ++v) {
            const Word& w = p_.values[use.values + v];
            truth = std::max(truth, FitsAny(*w.argument, w.skip, term.values));
          }
        }
        return truth;
      }
      case Term::kOperands: {
        const int64_t n = static_cast<int64_t>(p_.operands.size());
        const bool holds = term.op == '='   ? n == term.number
                           : term.op == '<' ? n < term.number
                                            : n > term.number;
        return holds ? Truth::kYes : Truth::kNo;
      }
      case Term::kOperandValue: {
        Truth truth = Truth::kNo;
        for (size_t k = 0; k < p_.operands.size(); ++k) {
          if (term.number != 0 && static_cast<size_t>(term.number) != k + 1) {
            continue;
          }
          const Word& w = p_.operands[k];
          truth = std::max(truth, FitsAny(*w.argument, w.skip, term.values));
        }
        return truth;
      }
      default:
        return Truth::kNo;
    }
  }

  Truth Evaluate(const Condition& condition) const {
    const auto terms = Slice(t_.terms, condition.begin, condition.count);
    if (terms.empty()) {
      return condition.count == 0 ? Truth::kYes : Truth::kMaybe;
    }
    Truth any = Truth::kNo, all = Truth::kYes;
    for (size_t k = 0; k < terms.size(); ++k) {
      if (k > 0 && terms[k].begins != 0) {
        any = std::max(any, all);
        all = Truth::kYes;
      }
      Truth truth = EvaluateTerm(terms[k]);
      if (terms[k].negated != 0) truth = Not(truth);
      all = std::min(all, truth);
    }
    return std::max(any, all);
  }

  bool Holds(const Condition& condition) const {
    return EvaluateBoth(condition) != Truth::kNo;
  }

  // What the condition is when every word of which that is not known is an
  // operand; kMaybe when it holds only if one of them is an option.
  Truth EvaluateBoth(const Condition& condition) const {
    unseen_ = Truth::kNo;
    const Truth truth = Evaluate(condition);
    if (truth != Truth::kNo || p_.maybe_options == 0) return truth;
    unseen_ = Truth::kMaybe;
    return Evaluate(condition);
  }

  // --- effects ---

  std::span<const Word> Operands(const EffectRecord& e) const {
    const std::span<const Word> all = p_.operands;
    if ((e.flags & EffectRecord::kAfterDashes) != 0) {
      if (p_.after_dashes > all.size()) return {};
      return all.subspan(p_.after_dashes);
    }
    const int64_t n = static_cast<int64_t>(all.size());
    const int64_t from = e.from > 0 ? e.from - 1 : n + e.from;
    const int64_t to = e.to > 0 ? e.to - 1 : n + e.to;
    const int64_t first = std::max<int64_t>(from, 0);
    const int64_t last = std::min(to, n - 1);
    if (first > last || (e.from < 0 && from < 0 && e.to < 0 && to < 0)) {
      return {};
    }
    return all.subspan(static_cast<size_t>(first),
                       static_cast<size_t>(last - first + 1));
  }

  // Applies the pattern of `e`; false when the word does not fit. Clears
  // `*certain` when that is not known.
  bool ApplyPattern(const EffectRecord& e, Argument* word,
                    bool* certain) const {
    const std::string_view pattern = t_.image.Text(e.pattern);
    if (pattern.empty()) return true;
    const bool ignore_case = (e.flags & EffectRecord::kIgnoreCase) != 0;
    const bool negative = (e.flags & EffectRecord::kNegative) != 0;
    size_t begin = 0, end = 0;
    if (word->known) {
      const bool fits =
          MatchValue(pattern, word->text, ignore_case, &begin, &end);
      if (negative) return !fits;
      if (!fits) return false;
      word->text = word->text.substr(begin, end - begin);
      return true;
    }
    bool sure = false;
    const bool may =
        MayMatchValue(pattern, word->text, ignore_case, &sure, &begin);
    if (negative) {
      if (sure) return false;
      if (may) *certain = false;
      return true;
    }
    if (!may) return false;
    if (sure) {
      word->text.erase(0, begin);
      return true;
    }
    *certain = false;
    word->text.clear();
    word->suffix.clear();
    return true;
  }

  void AddLiterals(const EffectRecord& e, Span span,
                   std::vector<Argument>* words) const {
    std::string_view rest = t_.image.Text(e.literal);
    while (!rest.empty()) {
      const size_t end = rest.find(' ');
      Argument argument;
      argument.text = rest.substr(0, end);
      argument.span = span;
      words->push_back(std::move(argument));
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  }

  // A file that goes into the directory that an option names.
  void PutInside(const EffectRecord& e, Argument* word) const {
    if (e.in_option == kNone) return;
    Argument directory;
    if (e.in_option == kLastOperand) {
      if (p_.operands.size() < 2) return;
      directory = Text(p_.operands.back());
    } else {
      const Use* use = LastUse(e.in_option);
      if (use == nullptr || use->values_count == 0) return;
      directory = Text(p_.values[use->values]);
    }
    if (!directory.known || directory.glob) {
      if (word->known) {
        word->suffix = directory.suffix + "/" + word->text;
      }
      word->known = word->glob = false;
      word->text = directory.text.substr(0, directory.text.rfind('/') + 1);
      return;
    }
    if (directory.text.empty()) return;
    if (!directory.text.ends_with("/")) directory.text += '/';
    word->text.insert(0, directory.text);
  }

  static Argument Join(const std::vector<Argument>& words) {
    Argument joined;
    if (!words.empty()) {
      joined.span = words.front().span;
      joined.span.end = std::max(joined.span.end, words.back().span.end);
    }
    for (size_t k = 0; k < words.size(); ++k) {
      if (k > 0) joined.text += ' ';
      joined.text += words[k].text;
      if (words[k].known && !words[k].glob) continue;
      joined.known = false;
      joined.suffix = k + 1 == words.size() ? words[k].suffix : "";
      break;
    }
    return joined;
  }

  void Emit(const EffectRecord& e, std::span<const Word> values, Span span) {
    unseen_ = Truth::kNo;
    const Truth truth = IsActs(e) && !p_.hides_options ? Evaluate(e.when)
                                                       : EvaluateBoth(e.when);
    if (truth == Truth::kNo) return;
    bool certain =
        truth == Truth::kYes && (e.flags & EffectRecord::kPossible) == 0;
    const Role role = static_cast<Role>(e.role);
    const bool ranged =
        (e.flags & (EffectRecord::kRange | EffectRecord::kAfterDashes)) != 0;
    std::span<const Word> chosen = ranged ? Operands(e) : values;
    if (IsActs(e)) {
      if (!ranged || !chosen.empty()) EmitActs(e, chosen, certain);
      return;
    }
    if (!ranged && (e.flags & EffectRecord::kLast) != 0 && !chosen.empty())
      chosen = chosen.last(1);
    // `pwsh -c CODE` has no operands, but the word of its option.
    if (ranged && chosen.empty() && e.first_option == kNone) return;
    const bool literal = (e.flags & EffectRecord::kLiteral) != 0;
    // An option whose optional value was left out names nothing.
    if (!ranged && use_ != nullptr && chosen.empty() && !literal &&
        t_.options[use_->option].arity != Option::kFlag) {
      return;
    }
    std::vector<Argument> words;
    if (e.first_option != kNone) {
      const Use* use = LastUse(e.first_option);
      if (use == nullptr || use->values_count == 0) return;
      words.push_back(Text(p_.values[use->values]));
    }
    const bool each = !TakesRun(role) || (ranged && e.pattern.size != 0);
    if (each) {
      if (chosen.empty() || literal) {
        if (use_ != nullptr && use_->values_count == 0 &&
            t_.image.Text(e.pattern).size() != 0) {
          return;
        }
        AddLiterals(e, span, &words);
        Push(e, role, std::move(words), certain, span, true);
        return;
      }
      // One argument effect a word; of several values the first is meant, or
      // the last.
      const size_t count = ranged ? chosen.size() : 1;
      for (size_t k = 0; k < count; ++k) {
        const Word& word = chosen[k];
        if (unseen_ == Truth::kMaybe && p_.maybe_options == 1 &&
            word.argument == p_.maybe_option && !word.argument->splits) {
          continue;  // it cannot be the option and the operand
        }
        Argument text = Text(word);
        bool sure = certain;
        if (!ApplyPattern(e, &text, &sure)) continue;
        const Span where = text.span;
        const bool made = e.naming != 0;
        if (made && !NameFile(static_cast<Naming>(e.naming), &text)) continue;
        PutInside(e, &text);
        Push(e, role, {std::move(text)}, sure, where, made);
      }
      return;
    }
    AddLiterals(e, span, &words);
    bool first = true;
    for (const Word& word : chosen) {
      Argument text = Text(word);
      if (first && !ApplyPattern(e, &text, &certain)) return;
      first = false;
      words.push_back(std::move(text));
    }
    if (chosen.empty() && e.pattern.size != 0) return;
    if (!chosen.empty()) {
      span = chosen.front().argument->span;
      span.end = std::max(span.end, chosen.back().argument->span.end);
    }
    const uint32_t shape = EffectRecord::kVerbatim | EffectRecord::kCoded;
    if ((e.flags & shape) != 0) {
      const bool coded =
          std::any_of(words.begin(), words.end(), [](const Argument& word) {
            return !word.known || word.glob ||
                   (word.text != "{}" && HasShellCharacters(word.text));
          });
      if (coded != ((e.flags & EffectRecord::kCoded) != 0)) return;
    }
    if ((e.flags & EffectRecord::kJoin) != 0) {
      Argument joined = Join(words);
      words.clear();
      words.push_back(std::move(joined));
    }
    Push(e, role, std::move(words), certain, span, literal && chosen.empty());
  }

  void Push(const EffectRecord& e, Role role, std::vector<Argument> words,
            bool certain, Span span, bool fixed = false) {
    ArgumentEffect argument_effect;
    argument_effect.fixed = fixed;
    argument_effect.role = role;
    argument_effect.words = std::move(words);
    argument_effect.recursive = (e.flags & EffectRecord::kRecursive) != 0;
    argument_effect.certain = certain;
    argument_effect.appends_unknown = (e.flags & EffectRecord::kAppend) != 0;
    argument_effect.from_stdin = (e.flags & EffectRecord::kStdin) != 0;
    argument_effect.placeholder = std::string(t_.image.Text(e.placeholder));
    if (use_ != nullptr && use_->appends) {
      argument_effect.appends_unknown = true;
      argument_effect.placeholder.clear();
    }
    if (e.placeholder_option != kNone) {
      const Use* use = LastUse(e.placeholder_option);
      if (use != nullptr && use->values_count > 0) {
        const Argument text = Text(p_.values[use->values]);
        argument_effect.placeholder = text.text;
        // An unknown placeholder may stand anywhere in any word.
        if (!text.known) {
          for (Argument& word : argument_effect.words) {
            word.known = false;
            word.text.clear();
          }
        }
      }
    }
    argument_effect.detail = std::string(t_.image.Text(e.detail));
    argument_effect.modifier = ModifierOf(argument_effect.detail);
    argument_effect.span = span;
    // Two conditions may say the same; the certain one holds.
    const size_t same = index_.Find(argument_effect);
    if (same != SIZE_MAX) {
      r_.effects[same].certain |= argument_effect.certain;
      return;
    }
    r_.effects.push_back(std::move(argument_effect));
  }

  const Tables& t_;
  const Pass& p_;
  ArgumentAnalysis& r_;
  ArgumentEffectIndex index_;
  const Use* use_ = nullptr;
  // What an option that was not seen is for the condition being evaluated.
  mutable Truth unseen_ = Truth::kNo;
  // Above this many, uses and terms are found by tables: linear in the words.
  static constexpr size_t kFewUses = 16;
  mutable std::unordered_map<uint32_t, const Use*> last_uses_;
  mutable std::array<std::unordered_map<const Term*, Truth>, 2> terms_;
};

}  // namespace

void CollectFindings(const Tables& tables, const Pass& pass,
                     ArgumentAnalysis* arguments) {
  Collector(tables, pass, arguments).Run();
}

}  // namespace gate::parser::programs
