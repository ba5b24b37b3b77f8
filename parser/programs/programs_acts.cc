// The acts of one reading: help, rehearsals, and what is not said.

#include <algorithm>

#include "parser/programs/pass.h"

namespace gate::parser::programs {
namespace {

bool FitsOne(std::string_view text, std::string_view values) {
  while (true) {
    const size_t end = values.find('\n');
    if (MatchValue(values.substr(0, end), text, false, nullptr, nullptr))
      return true;
    if (end == std::string_view::npos) return false;
    values.remove_prefix(end + 1);
  }
}

// Whether `use` gives its option for certain, and in a way that counts.
bool Given(const Tables& t, const Pass& pass, const Use& use) {
  const Option& option = t.options[use.option];
  const Argument& at = *pass.words[use.word];
  if (!at.known || at.glob) return false;
  // `-h=false` sets the flag to false.
  if (option.arity == Option::kFlag && at.text.find('=') != std::string::npos)
    return false;
  if (use.values_count > 0) {
    const Word& value = pass.values[use.values];
    const std::string_view text = value.argument->text;
    if (option.special_values.size == 0 || use.values_count > 1 ||
        !value.argument->known || value.argument->glob ||
        !FitsOne(text.substr(std::min<size_t>(value.skip, text.size())),
                 t.image.Text(option.special_values)))
      return false;
  } else if (option.arity == Option::kRequired) {
    return false;
  }
  // An abbreviation may be one of another option, that is not described.
  const std::string_view name =
      std::string_view(at.text).substr(0, at.text.find('='));
  const std::string_view spellings = t.image.Text(option.spellings);
  if (name.starts_with("--") && !IsSpelling(spellings, name) &&
      !IsSpelling(spellings, name.substr(1)))
    return false;
  // It may be the value of the option before it, or stand behind a `--`.
  for (const Argument* before : pass.loose_options)
    if (before == pass.words[use.word - 1]) return false;
  for (uint32_t k = 1; k < use.word; ++k)
    if (!pass.words[k]->known && pass.words[k]->splits) return false;
  return true;
}

// The acts of options that were not seen and that an unknown word may be.
void AddHidden(const Tables& t, const Pass& pass, ActsRead* acts) {
  for (const uint32_t index : pass.chain) {
    const Node& node = t.nodes[index];
    for (const OptionName& name :
         Slice(t.option_names, node.option_names, node.option_names_count)) {
      const Option& option = t.options[name.option];
      for (const EffectRecord& e :
           Slice(t.effects, option.effects, option.effects_count))
        if (static_cast<Role>(e.role) == Role::kAct)
          NoteAct(t, e, /*certain=*/false, acts);
    }
  }
}

}  // namespace

bool HidesOptions(const Pass& pass) {
  return std::any_of(
      pass.words.begin() + 1, pass.words.end(), [&](const Argument* word) {
        return !word->known && (word->splits || (pass.maybe_options > 0 &&
                                                 word->text.starts_with('-')));
      });
}

void NoteAct(const Tables& t, const EffectRecord& e, bool certain,
             ActsRead* acts) {
  const std::string_view detail = t.image.Text(e.detail);
  if (static_cast<Role>(e.role) == Role::kRedirects) {
    if (const auto redirect = RedirectOf(detail))
      acts->redirects |= Bit(*redirect);
  } else if (const auto act = ActOf(detail)) {
    acts->possible |= Bit(*act);
    if (certain) acts->certain |= Bit(*act);
  }
}

void FinishActs(const Tables& t, const Pass& pass, ActsRead* acts) {
  acts->described = true;
  acts->hides_options = pass.hides_options;
  // An undescribed letter of a bundle may take the letters behind it or not.
  if (acts->hides_options || pass.unread) AddHidden(t, pass, acts);
  bool help = false, rehearses = false, performs = false;
  for (const Use& use : pass.uses) {
    const uint8_t special = t.options[use.option].special;
    if (special == Option::kOrdinary) continue;
    const bool given = Given(t, pass, use);
    if (special == Option::kHelp) help = help || given;
    if (special == Option::kVersion)
      help = help || (given && pass.chain.size() == 1 && !pass.unresolved);
    // Of several the last may hold.
    if (special == Option::kRehearse) (given ? rehearses : performs) = true;
    if (special == Option::kUnrehearse) performs = true;
  }
  const uint16_t change = Bit(Act::kChange);
  for (uint16_t* set : {&acts->certain, &acts->possible}) {
    if (!rehearses || performs || (*set & change) == 0) continue;
    *set = static_cast<uint16_t>((*set & ~change) | Bit(Act::kLook));
  }
  if (help) acts->certain = acts->possible = Bit(Act::kLocal);
  if (pass.unresolved || acts->possible == 0) {
    acts->possible |= Bit(Act::kUnknown);
    // What the program does without a sub-command says nothing of one that is
    // not described.
    constexpr auto kHarmless =
        static_cast<uint16_t>(Bit(Act::kLook) | Bit(Act::kLocal));
    if (!help) {
      acts->certain = Bit(Act::kUnknown);
      acts->possible &= static_cast<uint16_t>(~kHarmless);
    }
  }
  // What only may be is not all that there is.
  if (acts->certain == 0) acts->possible |= Bit(Act::kUnknown);
  acts->possible |= acts->certain;
}

}  // namespace gate::parser::programs
