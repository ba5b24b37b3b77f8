#include "rules/index.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

namespace gate::rules {
namespace {

void Add(const RuleView& view, Range range, std::vector<uint32_t>* out) {
  const auto rules = view.In(view.bucket_rules, range);
  out->insert(out->end(), rules.begin(), rules.end());
}

// Compares `key` with first + ' ' + second, or with first alone.
int Compare(std::string_view key, std::string_view first,
            const std::string_view* second) {
  const int head = key.substr(0, first.size()).compare(first);
  if (head != 0) return head;
  key.remove_prefix(first.size());
  if (second == nullptr) return key.empty() ? 0 : 1;
  if (key.empty()) return -1;
  if (key[0] != ' ') return static_cast<unsigned char>(key[0]) < ' ' ? -1 : 1;
  return key.substr(1).compare(*second);
}

// `keys`: where to look.
void AddKey(const RuleView& view, std::span<const KeyRecord> keys,
            std::string_view first, const std::string_view* second,
            std::vector<uint32_t>* out) {
  const auto found = std::lower_bound(
      keys.begin(), keys.end(), 0, [&](const KeyRecord& record, int) {
        return Compare(view.Text(record.key), first, second) < 0;
      });
  if (found != keys.end() && Compare(view.Text(found->key), first, second) == 0)
    Add(view, found->rules, out);
}

// The keys "program …", which lie side by side.
std::span<const KeyRecord> KeysOf(const RuleView& view,
                                  std::string_view program) {
  const std::string_view empty;
  const auto begin = std::lower_bound(
      view.programs.begin(), view.programs.end(), 0,
      [&](const KeyRecord& record, int) {
        return Compare(view.Text(record.key), program, &empty) < 0;
      });
  const auto end = std::partition_point(
      begin, view.programs.end(), [&](const KeyRecord& record) {
        const std::string_view key = view.Text(record.key);
        return key.size() > program.size() && key.starts_with(program) &&
               key[program.size()] == ' ';
      });
  return {begin, end};
}

// Of words that may be the sub-command: where Matcher looks for one.
uint32_t WordMarks(const parser::Invocation& invocation) {
  const auto& argv = invocation.argv;
  const uint32_t starts = SubcommandStarts(invocation);
  if (StartsGoOn(starts) && argv.size() > kFollowedWords) return ~uint32_t{0};
  uint32_t marks = kNoMark;
  for (uint32_t i = 1; i < argv.size() && i < 30; ++i) {
    if ((starts & (1u << i)) == 0) continue;
    // What an accept-list reads as a bundle of options may end so.
    if (!argv[i].known || argv[i].text.ends_with('=')) return ~uint32_t{0};
    marks |= WordMark(argv[i].text);
  }
  if (!invocation.subcommand.empty())
    marks |= WordMark(invocation.subcommand[0]);
  return marks;
}

// Characters of words that may be options, however they are spelled, and the
// first ones of all their names in the program's description.
uint32_t LetterMarks(const parser::Invocation& invocation) {
  if (!invocation.read || invocation.read->unread) return ~uint32_t{0};
  uint32_t marks = kNoMark;
  const auto& argv = invocation.argv;
  for (size_t i = 1; i < argv.size(); ++i) {
    if (!argv[i].known) return ~uint32_t{0};
    if (!argv[i].text.starts_with('-')) continue;
    for (const char c : argv[i].text) marks |= LetterMark(c);
  }
  for (const std::string_view names : invocation.read->options) {
    for (size_t at = 0; at < names.size();) {
      const size_t end = std::min(names.find(' ', at), names.size());
      const std::string_view name = names.substr(at, end - at);
      if (name.size() < 2) return ~uint32_t{0};
      marks |=
          LetterMark(name[1] == '-' && name.size() > 2 ? name[2] : name[1]);
      at = end + 1;
    }
  }
  return marks;
}

}  // namespace

uint32_t SubcommandStarts(const parser::Invocation& invocation) {
  const auto& argv = invocation.argv;
  uint32_t starts = 1u << 1;
  for (uint32_t i = 1; i < argv.size() && i < kFollowedWords; ++i) {
    if ((starts & (1u << i)) == 0) continue;
    const parser::Argument& word = argv[i];
    const bool option =
        !word.text.empty() && (word.text[0] == '-' || word.text[0] == '+');
    if (!option) continue;
    starts |= 1u << (i + 1);
    if (word.known && word.text.find('=') == std::string::npos)
      starts |= 1u << (i + 2);
  }
  return starts;
}

SubjectBits MakeSubjectBits(const Subject& subject, uint16_t any_kinds) {
  SubjectBits marks;
  marks.facts = uint64_t{1} << kNoFact |
                uint64_t{subject.effect_kinds} << kEffectFacts |
                uint64_t{any_kinds} << kAnyEffectFacts |
                uint64_t{subject.flow_kinds} << kFlowFacts |
                uint64_t{subject.unknown_codes} << kUnknownFacts |
                uint64_t{subject.has_env} << kEnvFact;
  if (subject.invocation == nullptr) {
    marks.programs = kLineMark;
    return marks;
  }
  const parser::Invocation& invocation = *subject.invocation;
  if (!invocation.via.empty()) marks.facts |= uint64_t{1} << kViaFact;
  if (OddName(invocation.program)) marks.facts |= uint64_t{1} << kOddNameFact;
  marks.programs = invocation.program.empty() ? kNamelessMark
                                              : ProgramMark(invocation.program);
  marks.words = WordMarks(invocation);
  marks.letters = LetterMarks(invocation);
  return marks;
}

void FindCandidates(const RuleView& view, const Subject& subject, Reach reach,
                    std::vector<uint32_t>* out) {
  const size_t before = out->size();
  if (reach == Reach::kAll) {
    for (uint32_t i = 0; i < view.rules.size(); ++i) out->push_back(i);
    return;
  }
  Add(view, view.buckets[kAlwaysBucket], out);
  const auto add_bits = [&](uint32_t bits, uint32_t first) {
    for (; bits != 0; bits &= bits - 1)
      Add(view,
          view.buckets[first + static_cast<uint32_t>(__builtin_ctz(bits))],
          out);
  };
  add_bits(subject.effect_kinds, kEffectBuckets);
  add_bits(subject.flow_kinds, kFlowBuckets);
  add_bits(subject.unknown_codes, kUnknownBuckets);
  if (subject.invocation != nullptr && !subject.invocation->via.empty())
    Add(view, view.buckets[kViaBucket], out);
  if (subject.has_env) Add(view, view.buckets[kEnvBucket], out);
  if (subject.invocation != nullptr && !subject.invocation->program.empty()) {
    const parser::Invocation& invocation = *subject.invocation;
    const std::string_view program = invocation.program;
    AddKey(view, view.programs, program, nullptr, out);
    const std::span<const KeyRecord> keys = KeysOf(view, program);
    const uint32_t starts = keys.empty() ? 0 : SubcommandStarts(invocation);
    bool unknown =
        reach == Reach::kNear ||
        (StartsGoOn(starts) && invocation.argv.size() > kFollowedWords);
    for (uint32_t i = 1; i < invocation.argv.size() && i < 30; ++i) {
      if ((starts & (1u << i)) == 0) continue;
      const parser::Argument& word = invocation.argv[i];
      if (!word.known) {
        unknown = true;
        continue;
      }
      const std::string_view second = word.text;
      AddKey(view, keys, program, &second, out);
    }
    if (!invocation.subcommand.empty()) {
      const std::string_view second = invocation.subcommand[0];
      AddKey(view, keys, program, &second, out);
    }
    if (unknown)
      for (const KeyRecord& key : keys) Add(view, key.rules, out);
  }
  std::sort(out->begin() + static_cast<std::ptrdiff_t>(before), out->end());
  out->erase(std::unique(out->begin() + static_cast<std::ptrdiff_t>(before),
                         out->end()),
             out->end());
}

}  // namespace gate::rules
