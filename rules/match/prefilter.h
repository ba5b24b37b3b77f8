// A first look at a matcher: four ANDs say of most that a subject is none of
// theirs, before their tree is walked. What is not ruled out here is decided
// by Matcher (rules/match.h), which alone says yes.
//
// A prefilter is a necessary condition, in sets that are folded into a few
// bits: it may let through what does not match, and never rules out what
// matches or may match, whether read strictly or not.
#pragma once

#include <cstdint>
#include <string_view>

#include "parser/analysis.h"

namespace gate::rules {

// What a subject has, folded as in Prefilter. As it stands it rules nothing
// out.
struct SubjectBits {
  uint64_t programs = ~uint64_t{0};
  uint64_t facts = ~uint64_t{0};
  uint32_t words = ~uint32_t{0};
  uint32_t letters = ~uint32_t{0};
};

// Each member: one of these bits has to be among the subject's. In an image
// beside each link and each rule (rules/rule.h).
struct Prefilter {
  uint64_t programs = ~uint64_t{0};  // the program's name, or that it has none
  uint64_t facts = ~uint64_t{0};     // Fact bits
  uint32_t words = ~uint32_t{0};     // a word that may be the sub-command
  uint32_t letters = ~uint32_t{0};   // characters of options

  bool Excludes(const SubjectBits& marks) const {
    return (programs & marks.programs) == 0 || (facts & marks.facts) == 0 ||
           (words & marks.words) == 0 || (letters & marks.letters) == 0;
  }
};

// Bits of `facts`, by their numbers.
enum Fact : uint32_t {
  kEffectFacts = 0,                                  // of this subject
  kAnyEffectFacts = kEffectFacts + 12,               // of the whole line
  kFlowFacts = kAnyEffectFacts + 12,                 // of the whole line
  kUnknownFacts = kFlowFacts + 4,                    // of the whole line
  kEnvFact = kUnknownFacts + parser::kUnknownCodes,  // it sets variables
  kViaFact,                                          // it is run by another
  kOddNameFact,                                      // OddName of its program
  kNoFact = 63,  // of every subject, so that "whatever" is all bits
};

// Marks that every command has, and the line itself.
inline constexpr uint64_t kNamelessMark = uint64_t{1} << 62;
inline constexpr uint64_t kLineMark = uint64_t{1} << 63;
inline constexpr uint64_t kCommandMarks = ~kLineMark;

inline constexpr uint32_t NameHash(std::string_view name) {
  // Long words differ early or in their length.
  uint32_t hash = 2166136261u ^ static_cast<uint32_t>(name.size());
  for (const char c : name.substr(0, 24))
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash ^ (hash >> 15);
}
// Names that few programs have. A pattern that takes only such names is ruled
// out for all others.
inline constexpr bool OddByte(char c) {
  return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '+' ||
           c == '-');
}
inline constexpr bool OddName(std::string_view program) {
  for (const char c : program)
    if (OddByte(c)) return true;
  return program.starts_with('-');
}
inline constexpr uint64_t ProgramMark(std::string_view program) {
  return uint64_t{1} << (NameHash(program) % 62);
}
inline constexpr uint32_t WordMark(std::string_view word) {
  return uint32_t{1} << ((NameHash(word) >> 8) % 31);
}
inline constexpr uint32_t LetterMark(char letter) {
  const uint32_t hash = static_cast<unsigned char>(letter) * 0x9E3779B1u;
  return uint32_t{1} << ((hash >> 16) % 31);
}
// Every subject's words and letters have it, as its facts have kNoFact.
inline constexpr uint32_t kNoMark = uint32_t{1} << 31;

// The prefilter of a matcher in which all parts, or one of them, must match.
// Start with Prefilter{} and with kNothing.
Prefilter Both(const Prefilter& a, const Prefilter& b);
Prefilter Either(const Prefilter& a, const Prefilter& b);
inline constexpr Prefilter kNothing{0, 0, 0, 0};

}  // namespace gate::rules
