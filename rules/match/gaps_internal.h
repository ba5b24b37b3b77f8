// Inside rules/gaps*: the automaton of a pattern.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace gate::rules::gaps {

inline constexpr size_t kMaxStates = 20'000;
inline constexpr uint32_t kNone = UINT32_MAX;

struct Set {
  bool negated = false;
  bool not_ascii = false;  // takes every character beyond ASCII
  std::vector<std::pair<char32_t, char32_t>> ranges;

  bool Takes(char32_t c) const {
    if (not_ascii && c >= 0x80) return true;
    const bool inside =
        std::any_of(ranges.begin(), ranges.end(), [c](const auto& range) {
          return range.first <= c && c <= range.second;
        });
    return inside != negated;
  }
  bool TakesBlank() const {
    return Takes(' ') || Takes('\t') || Takes('\n') || Takes('\v') ||
           Takes('\f') || Takes('\r');
  }
  // Some character that is neither a blank nor a dash.
  bool TakesOther() const {
    if (negated || not_ascii) return true;
    return std::any_of(ranges.begin(), ranges.end(), [](const auto& range) {
      for (char32_t c = range.first; c <= range.second; ++c)
        if (c != ' ' && c != '-' && (c < '\t' || c > '\r')) return true;
      return false;
    });
  }
};

struct State {
  enum class Kind : uint8_t { kSplit, kSet, kBegin, kEnd };
  Kind kind = Kind::kSplit;
  uint32_t a = kNone, b = kNone;  // where to
  uint32_t set = 0;
};
using Kind = State::Kind;

// From `begin` to `end`, a split whose `a` is still free.
struct Part {
  uint32_t begin = 0, end = 0;
};

class Automaton {
 public:
  std::vector<State> states;
  std::vector<Set> sets;
  bool given_up = false;

  uint32_t Add(State state) {
    if (states.size() >= kMaxStates) given_up = true;
    if (given_up && !states.empty()) return 0;
    states.push_back(state);
    return static_cast<uint32_t>(states.size() - 1);
  }
  Part Empty() {
    const uint32_t at = Add({});
    return {at, at};
  }
  Part One(Set set) {
    sets.push_back(std::move(set));
    const uint32_t end = Add({});
    const uint32_t at =
        Add({Kind::kSet, end, kNone, static_cast<uint32_t>(sets.size() - 1)});
    return {at, end};
  }
  Part Assert(Kind kind) {
    const uint32_t end = Add({});
    return {Add({kind, end, kNone, 0}), end};
  }
  Part Then(Part first, Part second) {
    states[first.end].a = second.begin;
    return {first.begin, second.end};
  }
  Part Either(Part one, Part other) {
    const uint32_t end = Add({});
    states[one.end].a = end;
    states[other.end].a = end;
    return {Add({Kind::kSplit, one.begin, other.begin, 0}), end};
  }
  Part Star(Part part) {
    const uint32_t end = Add({});
    const uint32_t begin = Add({Kind::kSplit, part.begin, end, 0});
    states[part.end].a = begin;
    return {begin, end};
  }
  Part Plus(Part part) {
    const uint32_t end = Add({});
    states[part.end].a = part.begin;
    states[part.end].b = end;
    return {part.begin, end};
  }
  Part Optional(Part part) { return Either(part, Empty()); }
};

inline Set Anything() {
  Set set;
  set.negated = true;
  return set;
}

inline Set Exactly(char32_t c) {
  Set set;
  set.ranges.push_back({c, c});
  return set;
}

// The syntax of RE2, of a pattern that RE2 has accepted. Sets `given_up` where
// it goes beyond what is followed.
Part ReadRegex(std::u32string_view pattern, Automaton* to);

}  // namespace gate::rules::gaps
