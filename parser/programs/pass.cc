// Splitting arguments into options, sub-commands and operands.
//
// The words are read once from left to right. The node (program or
// sub-command) in force says how options look. A word of which several
// readings are possible (an undescribed option that may take a value, a word
// that is not known) is a Point: it is taken as the pass's choice says, and
// ReadArguments reads the same words again for the other choices.

#include <algorithm>

#include "parser/programs/pass.h"

namespace gate::parser::programs {
namespace {

// Values that are put in place of themselves, each of which moves the words
// behind it. What stands behind more of them is not known.
constexpr size_t kMaxSplices = 32;

const Argument& UnknownArgument() {
  static const Argument* const kArgument = [] {
    auto* argument = new Argument;
    argument->known = false;
    argument->splits = true;
    return argument;
  }();
  return *kArgument;
}

bool IsDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
}

bool IsAssignment(std::string_view text) {
  const size_t equals = text.find('=');
  return equals != std::string_view::npos && equals > 0;
}

class Walk {
 public:
  Walk(const Tables& tables, Pass* pass) : t_(tables), p_(*pass) {}

  void Run(uint32_t node) {
    speaks_of_acts_ = (t_.nodes[node].flags & Node::kSpeaksOfActs) != 0;
    Enter(node);
    for (i_ = 1; i_ < p_.words.size(); ++i_) Step();
    p_.hides_options = maybe_options_ || HidesOptions(p_);
    for (const uint32_t each : p_.chain)
      p_.hides_more = p_.hides_more ||
                      (maybe_options_ && OptionsDoMore(t_, t_.nodes[each])) ||
                      (more_words_ && OperandsDoMore(t_, p_, t_.nodes[each]));
  }

 private:
  const Node& node() const { return t_.nodes[p_.chain.back()]; }
  bool Has(uint32_t flag) const { return (node().flags & flag) != 0; }

  void Enter(uint32_t node) {
    p_.chain.push_back(node);
    first_operand_ = true;
  }

  // --- patterns ---

  // The names of files that a pattern finds may be options; behind an option
  // that takes a value, all but the first are words of their own.
  void NotePattern(const Argument& a, bool value) {
    if (!a.known || !a.glob) return;
    more_words_ = more_words_ || value || Has(Node::kWrapper);
    maybe_options_ =
        maybe_options_ || Has(Node::kWrapper) || MayFitOption(t_, node(), a);
  }

  // Registers word `index` as a point and returns what to take it for.
  Choice Decide(size_t index, uint8_t choices) {
    p_.points.push_back({static_cast<uint32_t>(index), choices});
    if (index < p_.choices.size() && p_.choices[index] != 0 &&
        (choices >> (p_.choices[index] - 1) & 1) != 0) {
      return static_cast<Choice>(p_.choices[index] - 1);
    }
    for (int c = 0; c < kChoices; ++c) {
      if ((choices >> c & 1) != 0) return static_cast<Choice>(c);
    }
    return kAsOperand;
  }

  // --- looking up options ---

  struct Found {
    uint32_t option = kNone;
    size_t name_size = 0;  // of an attached-value match
  };

  std::span<const OptionName> Names(const Node& n) const {
    return Slice(t_.option_names, n.option_names, n.option_names_count);
  }

  // The option called exactly `name`, or (when `abbreviated`) of which `name`
  // is an unambiguous beginning.
  uint32_t Lookup(std::string_view name, bool abbreviated) const {
    for (size_t depth = p_.chain.size(); depth-- > 0;) {
      const Node& n = t_.nodes[p_.chain[depth]];
      const auto names = Names(n);
      auto it = std::lower_bound(names.begin(), names.end(), name,
                                 [&](const OptionName& a, std::string_view b) {
                                   return t_.image.Text(a.name) < b;
                                 });
      if (it != names.end() && t_.image.Text(it->name) == name) {
        return it->option;
      }
      if (abbreviated && (n.flags & Node::kNoAbbreviation) == 0) {
        uint32_t found = kNone;
        for (; it != names.end() && t_.image.Text(it->name).starts_with(name);
             ++it) {
          if (found != kNone && found != it->option) return kNone;
          found = it->option;
        }
        if (found != kNone) return found;
      }
      if ((node().flags & Node::kInherits) == 0) break;
    }
    return kNone;
  }

  // The longest option name that begins `text` and whose value may be
  // attached (`-Dname`, `-std=c11`).
  Found LookupAttached(std::string_view text) const {
    for (size_t size = text.size(); size > 0; --size) {
      const uint32_t option = Lookup(text.substr(0, size), false);
      if (option == kNone) continue;
      const uint8_t arity = t_.options[option].arity;
      if (arity == Option::kOptional || arity == Option::kRequired) {
        return {option, size};
      }
    }
    return {};
  }

  // --- recording uses ---

  void Record(uint32_t option, size_t word) {
    Use use;
    use.option = option;
    use.word = static_cast<uint32_t>(word);
    use.values = static_cast<uint32_t>(p_.values.size());
    p_.uses.push_back(use);
    if (t_.options[option].stops != 0) options_on_ = false;
  }

  void AddValue(Word word) {
    p_.values.push_back(word);
    ++p_.uses.back().values_count;
    if (t_.options[p_.uses.back().option].splices != 0) Splice(word);
  }

  // The next word as the value of the last recorded option. A word that may
  // become no words or several is a point where that decides what runs.
  void TakeValue() {
    if (i_ + 1 >= p_.words.size()) {
      p_.incomplete = true;
      return;
    }
    const Argument& next = *p_.words[++i_];
    if (!next.known && next.splits) {
      p_.incomplete = true;
      if (Has(Node::kWrapper)) {
        const Choice choice =
            Decide(i_, 1 << kAsOperand | 1 << kAsFlag | 1 << kAsMany);
        if (choice == kAsFlag) return TakeValue();
        AddValue({&next, 0});
        if (choice == kAsMany) AddOperand({&UnknownArgument(), 0});
        return;
      }
    }
    NotePattern(next, true);
    AddValue({&next, 0});
  }

  void Apply(uint32_t option, size_t word) {
    const Option& o = t_.options[option];
    Record(option, word);
    switch (o.arity) {
      case Option::kRequired:
      case Option::kSeparate:
        TakeValue();
        break;
      case Option::kSeveral:
        for (int n = 0; n < o.count; ++n) TakeValue();
        break;
      case Option::kList:
        TakeList();
        break;
      default:
        break;
    }
  }

  void ApplyAttached(uint32_t option, size_t word, uint32_t skip) {
    const Option& o = t_.options[option];
    Record(option, word);
    if (o.arity == Option::kFlag) p_.incomplete = true;  // --flag=value
    AddValue({p_.words[word], skip});
    for (int n = 1; o.arity == Option::kSeveral && n < o.count; ++n) {
      TakeValue();
    }
  }

  // find -exec: words up to `;`, or up to `{} +`.
  void TakeList() {
    const size_t use = p_.uses.size() - 1;
    while (i_ + 1 < p_.words.size()) {
      const Argument& a = *p_.words[++i_];
      if (a.known && a.text == ";") return;
      if (a.known && a.text == "+" && p_.uses[use].values_count > 0) {
        const Word& last = p_.values.back();
        if (last.argument->known && last.argument->text == "{}") {
          p_.values.pop_back();
          --p_.uses[use].values_count;
          p_.uses[use].appends = true;
          return;
        }
      }
      if (!a.known && a.splits) p_.incomplete = true;
      p_.values.push_back({&a, 0});
      ++p_.uses[use].values_count;
    }
    p_.incomplete = true;
  }

  void Splice(Word word) {
    std::vector<std::string> words;
    const std::string_view text =
        std::string_view(word.argument->text).substr(word.skip);
    if (!word.argument->known || ++splices_ > kMaxSplices ||
        !SplitEnvString(text, &words)) {
      p_.split.push_back(word);
      for (size_t k = i_ + 1; k < p_.words.size(); ++k) {
        p_.split.push_back({p_.words[k], 0});
      }
      p_.incomplete = true;
      i_ = p_.words.size();
      return;
    }
    std::vector<const Argument*> made;
    for (std::string& piece : words) {
      Argument argument;
      argument.text = std::move(piece);
      argument.span = word.argument->span;
      p_.owned.push_back(std::move(argument));
      made.push_back(&p_.owned.back());
    }
    p_.words.insert(p_.words.begin() + static_cast<std::ptrdiff_t>(i_ + 1),
                    made.begin(), made.end());
  }

  // --- operands ---

  void AddOperand(Word word) {
    p_.operands.push_back(word);
    first_operand_ = false;
    if (Has(Node::kPosix)) options_on_ = false;
  }

  void Operand(size_t index) {
    const Argument& a = *p_.words[index];
    const Node& n = node();
    if (Has(Node::kAssignments) && p_.operands.empty() &&
        IsAssignment(a.text)) {
      p_.assignments.push_back({&a, 0});
      if (!Has(Node::kInterleaved)) options_on_ = false;
      return;
    }
    if (n.children_count + n.patterns_count != 0 && first_operand_) {
      if (EnterChild(a)) return;
    }
    if (Has(Node::kOldStyle) && first_operand_ && index == 1 && a.known &&
        !a.text.empty()) {
      first_operand_ = false;
      Bundle(index, 0);
      return;
    }
    AddOperand({&a, 0});
  }

  // True when `a` was used up as the sub-command.
  bool EnterChild(const Argument& a) {
    if (a.known && !a.glob) {
      if (const Child* child = FindChild(t_, node(), a.text)) {
        // What a pattern found is called as it stands.
        const bool pattern =
            t_.image.Text(child->name).find('*') != std::string_view::npos;
        p_.subcommand.push_back(pattern ? std::string_view(a.text)
                                        : t_.image.Text(child->canonical));
        Enter(child->node);
        options_on_ = true;
        return true;
      }
      if (Has(Node::kOpen)) return false;
      p_.subcommand.push_back(a.text);
    }
    p_.unresolved = true;
    if (Has(Node::kOpen)) return false;
    p_.incomplete = true;
    first_operand_ = false;
    return true;
  }

  // --- words ---

  void Step() {
    const Argument& a = *p_.words[i_];
    const bool plus = Has(Node::kPlus);
    const auto looks_option = [&](std::string_view text) {
      return !text.empty() && (text[0] == '-' || (plus && text[0] == '+'));
    };
    if (!options_on_) {
      if (!a.known && a.splits && Has(Node::kWrapper)) {
        UnknownOperand(a, 1 << kAsOperand | 1 << kAsFlag | 1 << kAsMany);
      } else {
        Operand(i_);
      }
      return;
    }
    if (!a.known) return UnknownWord(a, looks_option(a.text));
    const std::string_view text = a.text;
    NotePattern(a, false);
    if (a.glob && !looks_option(text)) return Operand(i_);
    if (text == "--" && !Has(Node::kNoDashes)) {
      options_on_ = false;
      p_.after_dashes = p_.operands.size();
      return;
    }
    if (Has(Node::kSingle)) {
      const uint32_t option = LookupWhole(text);
      if (option != kNone) return Apply(option, i_);
    }
    if (text == "-") {
      const uint32_t option = Lookup(text, false);
      return option == kNone ? Operand(i_) : Apply(option, i_);
    }
    if (text.size() < 2 || !looks_option(text)) return Operand(i_);
    if (text.starts_with("--")) return LongOption(text);
    if (node().number_option != kNone && IsDigits(text.substr(1))) {
      Record(node().number_option, i_);
      p_.values.push_back({&a, 1});
      ++p_.uses.back().values_count;
      return;
    }
    if (Has(Node::kSingle)) return SingleDash(text);
    Bundle(i_, 1);
  }

  // Programs with single-dash long options: -name, and --name when that is
  // how it is described or the other way round.
  uint32_t LookupWhole(std::string_view text) const {
    uint32_t option = Lookup(text, false);
    if (option == kNone && text.starts_with("--")) {
      option = Lookup(text.substr(1), false);
    } else if (option == kNone && text.size() > 2 && text[0] == '-') {
      std::string with_two = "-";
      with_two += text;
      option = Lookup(with_two, false);
    }
    return option;
  }

  void SingleDash(std::string_view text) {
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos) {
      const uint32_t option = LookupWhole(text.substr(0, equals));
      if (option != kNone) {
        return ApplyAttached(option, i_, static_cast<uint32_t>(equals + 1));
      }
    }
    const Found found = LookupAttached(text);
    if (found.option != kNone) {
      return ApplyAttached(found.option, i_,
                           static_cast<uint32_t>(found.name_size));
    }
    UnknownOption(equals == std::string_view::npos);
  }

  void LongOption(std::string_view text) {
    const size_t equals = text.find('=');
    const std::string_view name = text.substr(0, equals);
    uint32_t option = Lookup(name, true);
    if (option == kNone && Has(Node::kSingle)) option = LookupWhole(name);
    // Every program may have these, and they run nothing.
    if (option == kNone && (text == "--help" || text == "--version")) return;
    if (option == kNone) {
      return UnknownOption(equals == std::string_view::npos);
    }
    if (equals == std::string_view::npos) return Apply(option, i_);
    ApplyAttached(option, i_, static_cast<uint32_t>(equals + 1));
  }

  // Short options from byte `at` of word `index` on; at 0 for the old style
  // of tar, where every value is the next word.
  void Bundle(size_t index, uint32_t at) {
    const bool old_style = at == 0;
    const std::string_view text = p_.words[index]->text;
    const char dash = old_style ? '-' : text[0];
    while (at < text.size()) {
      const char name[3] = {dash, text[at], '\0'};
      const uint32_t option = Lookup(std::string_view(name, 2), false);
      if (option == kNone) {
        p_.unread = p_.unread || at + 1 < text.size();
        return UnknownOption(at + 1 >= text.size());
      }
      const Option& o = t_.options[option];
      ++at;
      if (Has(Node::kNoBundle) && at < text.size() &&
          (o.arity == Option::kFlag || o.arity == Option::kSeparate)) {
        p_.unread = true;
        return UnknownOption(false);
      }
      Record(option, index);
      switch (o.arity) {
        case Option::kFlag:
          continue;
        case Option::kOptionalDigits: {
          const uint32_t begin = at;
          while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
          if (at > begin && at == text.size()) AddValue(Rest(index, begin));
          continue;
        }
        case Option::kOptional:
          if (old_style) continue;
          if (at < text.size()) AddValue(Rest(index, at));
          return;
        case Option::kRequired:
          if (old_style || at >= text.size()) {
            TakeValue();
            if (old_style) continue;
          } else {
            AddValue(Rest(index, at));
          }
          return;
        case Option::kSeparate:
          TakeValue();
          continue;
        case Option::kSeveral:
          for (int n = 0; n < o.count; ++n) TakeValue();
          continue;
        case Option::kList:
          TakeList();
          return;
        default:
          return;
      }
    }
  }

  Word Rest(size_t index, uint32_t at) const { return {p_.words[index], at}; }

  // A word that looks like an option and is not described.
  void UnknownOption(bool may_take) {
    const bool takes = may_take && i_ + 1 < p_.words.size();
    if (Has(Node::kLoose)) {
      if (!takes) return;
      p_.loose_options.push_back(p_.words[i_]);
      // Whether it takes the next word decides what the sub-command is.
      if (!speaks_of_acts_ || !first_operand_ ||
          node().children_count + node().patterns_count == 0)
        return;
      if (Decide(i_, 1 << kAsFlag | 1 << kAsTaker) == kAsTaker) ++i_;
      return;
    }
    p_.incomplete = true;
    if (!may_take || i_ + 1 >= p_.words.size()) return;
    const Choice choice = Decide(i_, 1 << kAsFlag | 1 << kAsTaker);
    if (choice == kAsTaker) ++i_;
  }

  void UnknownWord(const Argument& a, bool option) {
    const std::string_view prefix = a.text;
    p_.incomplete = true;
    if (option && prefix.size() > 1) return UnknownOptionWord(a, prefix);
    if (!prefix.empty() && !option) {
      if (a.splits) {
        return UnknownOperand(a, 1 << kAsOperand | 1 << kAsMany);
      }
      return Operand(i_);
    }
    uint8_t choices = 1 << kAsOperand | 1 << kAsFlag | 1 << kAsTaker;
    if (a.splits) choices |= 1 << kAsMany;
    UnknownOperand(a, choices);
  }

  // `--opt=$x`, `-o$x`, `--$x`.
  void UnknownOptionWord(const Argument& a, std::string_view prefix) {
    const size_t equals = prefix.find('=');
    uint32_t option = kNone;
    size_t skip = 0;
    if (prefix.starts_with("--") || Has(Node::kSingle)) {
      if (equals != std::string_view::npos) {
        option = Has(Node::kSingle) ? LookupWhole(prefix.substr(0, equals))
                                    : Lookup(prefix.substr(0, equals), true);
        skip = equals + 1;
      }
      if (option == kNone && Has(Node::kSingle)) {
        const Found found = LookupAttached(prefix);
        option = found.option;
        skip = found.name_size;
      }
    } else {
      // -abo$x: flags, then an option that takes the rest.
      size_t at = 1;
      while (at < prefix.size()) {
        const char name[3] = {prefix[0], prefix[at], '\0'};
        const uint32_t found = Lookup(std::string_view(name, 2), false);
        if (found == kNone) break;
        ++at;
        const uint8_t arity = t_.options[found].arity;
        if (arity == Option::kRequired || arity == Option::kOptional) {
          option = found;
          skip = at;
          break;
        }
        Record(found, i_);
      }
    }
    if (option != kNone) {
      ApplyAttached(option, i_, static_cast<uint32_t>(skip));
      if (a.splits && Has(Node::kWrapper) &&
          Decide(i_, 1 << kAsOperand | 1 << kAsMany) == kAsMany) {
        AddOperand({&UnknownArgument(), 0});
      }
      return;
    }
    p_.unread = true;
    ++p_.maybe_options;
    p_.maybe_option = &a;
    uint8_t choices = 1 << kAsFlag;
    if (Has(Node::kWrapper)) choices |= 1 << kAsTaker;
    if (a.splits) choices |= 1 << kAsMany;
    const Choice choice = Decide(i_, choices);
    if (choice == kAsTaker) ++i_;
    if (choice == kAsMany) AddOperand({&UnknownArgument(), 0});
  }

  // A word of which nothing tells whether it is an option. Where operands
  // decide what runs every reading is tried; elsewhere it is an operand, and
  // options that were not seen are possible.
  void UnknownOperand(const Argument& a, uint8_t choices) {
    p_.incomplete = true;
    const bool may_be_option = (choices & 1 << kAsFlag) != 0 && options_on_;
    if (!Has(Node::kWrapper)) {
      if (may_be_option) {
        ++p_.maybe_options;
        p_.maybe_option = &a;
      }
      if (!a.splits) return Operand(i_);
      choices &= 1 << kAsOperand | 1 << kAsFlag | 1 << kAsMany;
    }
    const bool counted = may_be_option && !Has(Node::kWrapper);
    switch (Decide(i_, choices)) {
      case kAsTaker:
        ++i_;
        [[fallthrough]];
      case kAsFlag:
        if (may_be_option && !counted) {
          ++p_.maybe_options;
          p_.maybe_option = nullptr;
        }
        return;
      case kAsMany:
        if (may_be_option && !counted) {
          ++p_.maybe_options;
          p_.maybe_option = nullptr;
        }
        Operand(i_);
        AddOperand({&UnknownArgument(), 0});
        return;
      case kAsOperand:
        Operand(i_);
        return;
    }
  }

  const Tables& t_;
  Pass& p_;
  size_t i_ = 1;
  bool options_on_ = true;
  bool first_operand_ = true;
  bool speaks_of_acts_ = false;
  bool maybe_options_ = false;  // of a pattern
  bool more_words_ = false;     // …that stands where one word is meant
  size_t splices_ = 0;
};

}  // namespace

void ReadPass(const Tables& tables, uint32_t node, Pass* pass) {
  Walk(tables, pass).Run(node);
}

}  // namespace gate::parser::programs
