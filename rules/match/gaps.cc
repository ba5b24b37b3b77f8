// A Thompson automaton. Over known characters it goes as any other; over a gap
// it goes wherever some text could take it. Where the syntax of a pattern goes
// beyond what is followed here, an edge takes more than it should: that errs
// on the side of a possible match.
#include "rules/match/gaps.h"

#include <algorithm>
#include <vector>

#include "base/text.h"
#include "rules/match/gaps_internal.h"

namespace gate::rules {
namespace {

using gaps::Anything;
using gaps::Automaton;
using gaps::Exactly;
using gaps::Kind;
using gaps::kNone;
using gaps::Part;
using gaps::Set;
using gaps::State;

constexpr uint64_t kMaxWork = uint64_t{1} << 20;  // visits of states

// One walk of an automaton over a text.
class Walk {
 public:
  Walk(const Automaton& automaton, std::u32string_view text)
      : automaton_(automaton), text_(text), in_(automaton.states.size(), 0) {
    known_begin_ = known_end_ = text.size();
    for (size_t i = 0; i < text.size(); ++i) {
      if (IsGap(text[i])) continue;
      known_begin_ = std::min(known_begin_, i);
      known_end_ = i + 1;
    }
    if (known_begin_ == text.size()) known_end_ = 0;
  }

  uint64_t work() const { return work_; }

  // `everywhere`: a match may begin at any character, and end before the end.
  bool Reaches(Part part, bool everywhere) {
    for (size_t i = 0; i <= text_.size(); ++i) {
      if (i == 0 || everywhere) Enter(part.begin, i);
      if (work_ > kMaxWork) return true;
      if (in_[part.end] != 0 && (everywhere || i == text_.size())) return true;
      if (i == text_.size()) return false;
      if (IsGap(text_[i])) {
        Gap(i, part, everywhere);
        if (everywhere && in_[part.end] != 0) return true;
      } else {
        Step(text_[i], i + 1);
      }
    }
    return false;
  }

 private:
  // Of a gap: which characters may follow.
  enum Phase : uint8_t { kStart = 1, kBehindDash = 2, kInside = 4 };

  static bool IsGap(char32_t c) { return c == kAnyGap || c == kOperandGap; }
  bool BeginHolds(size_t at) const { return at <= known_begin_; }
  bool EndHolds(size_t at) const { return at >= known_end_; }

  // Puts `state`, and what it leads to without a character, among the current.
  void Enter(uint32_t state, size_t at) { Close(state, at, 1, &in_, &now_); }

  void Close(uint32_t state, size_t at, uint8_t mark, std::vector<uint8_t>* in,
             std::vector<uint32_t>* list) {
    todo_.push_back(state);
    while (!todo_.empty()) {
      const uint32_t i = todo_.back();
      todo_.pop_back();
      if (i == kNone || ((*in)[i] & mark) != 0) continue;
      ++work_;
      if ((*in)[i] == 0 || mark != 1) list->push_back(i);
      (*in)[i] = static_cast<uint8_t>((*in)[i] | mark);
      const State& here = automaton_.states[i];
      if (here.kind == Kind::kSplit) {
        todo_.push_back(here.a);
        todo_.push_back(here.b);
      } else if ((here.kind == Kind::kBegin && BeginHolds(at)) ||
                 (here.kind == Kind::kEnd && EndHolds(at))) {
        todo_.push_back(here.a);
      }
    }
  }

  void Step(char32_t c, size_t at) {
    std::vector<uint32_t> before;
    before.swap(now_);
    for (const uint32_t i : before) in_[i] = 0;
    for (const uint32_t i : before) {
      ++work_;
      const State& here = automaton_.states[i];
      if (here.kind == Kind::kSet && automaton_.sets[here.set].Takes(c))
        Enter(here.a, at);
    }
  }

  // Everything that some text in place of the gap leads to, nothing included.
  void Gap(size_t at, Part part, bool everywhere) {
    const bool any = text_[at] == kAnyGap;
    std::vector<uint8_t> phases(automaton_.states.size(), 0);
    std::vector<uint32_t> list;
    // Behind the gap a begin holds that holds before it, and an end that does
    // not hold before it may.
    const auto enter = [&](uint32_t state, Phase phase) {
      Close(state, at + 1, phase, &phases, &list);
    };
    const std::vector<uint32_t> before = now_;
    // Behind a known part of its word a dash is no option's, but another dash
    // before it makes one.
    const Phase first = at > 0 && text_[at - 1] == '-'   ? kBehindDash
                        : at > 0 && text_[at - 1] != ' ' ? kInside
                                                         : kStart;
    for (const uint32_t i : before) enter(i, any ? kInside : first);
    for (size_t next = 0; next < list.size() && work_ <= kMaxWork; ++next) {
      const uint32_t i = list[next];
      const uint8_t phase = phases[i];
      if (everywhere) enter(part.begin, kInside);
      ++work_;
      const State& here = automaton_.states[i];
      if (here.kind != Kind::kSet) continue;
      const Set& set = automaton_.sets[here.set];
      if (set.TakesOther()) enter(here.a, kInside);
      if (set.TakesBlank()) enter(here.a, any ? kInside : kStart);
      if (set.Takes('-') && (any || (phase & kInside) != 0))
        enter(here.a, any ? kInside : kBehindDash);
    }
    for (const uint32_t i : list) {
      if (in_[i] == 0) now_.push_back(i);
      in_[i] = 1;
    }
  }

  const Automaton& automaton_;
  std::u32string_view text_;
  std::vector<uint8_t> in_;  // by state: whether it is among `now_`
  std::vector<uint32_t> now_, todo_;
  size_t known_begin_ = 0, known_end_ = 0;
  uint64_t work_ = 0;
};

}  // namespace

void AppendText(std::string_view text, std::u32string* out) {
  const std::string good = IsUtf8(text) ? std::string(text) : ToUtf8(text);
  for (size_t i = 0; i < good.size();) {
    const auto byte = static_cast<unsigned char>(good[i]);
    const size_t width = byte < 0x80   ? 1
                         : byte < 0xE0 ? 2
                         : byte < 0xF0 ? 3
                                       : 4;
    char32_t c = width == 1 ? byte : byte & (0xFFu >> (width + 1));
    for (size_t k = 1; k < width && i + k < good.size(); ++k)
      c = c << 6 | (static_cast<unsigned char>(good[i + k]) & 0x3Fu);
    out->push_back(c);
    i += width;
  }
}

bool GlobMayMatch(std::string_view pattern, std::u32string_view text,
                  uint64_t* work) {
  std::u32string wanted;
  AppendText(pattern, &wanted);
  Automaton automaton;
  Part part = automaton.Empty();
  for (size_t i = 0; i < wanted.size() && !automaton.given_up; ++i) {
    Part next;
    if (wanted[i] == '*') {
      if (i > 0 && wanted[i - 1] == '*') continue;
      next = automaton.Star(automaton.One(Anything()));
    } else if (wanted[i] == '?') {  // one byte, so a part of a character
      next = automaton.Optional(automaton.One(Anything()));
    } else {
      if (wanted[i] == '\\' && i + 1 < wanted.size()) ++i;
      next = automaton.One(Exactly(wanted[i]));
    }
    part = automaton.Then(part, next);
  }
  *work += automaton.states.size();
  if (automaton.given_up) return true;
  Walk walk(automaton, text);
  const bool reaches = walk.Reaches(part, false);
  *work += walk.work();
  return reaches;
}

bool RegexMayMatch(std::string_view pattern, std::u32string_view text,
                   uint64_t* work) {
  std::u32string wanted;
  AppendText(pattern, &wanted);
  Automaton automaton;
  const Part part = gaps::ReadRegex(wanted, &automaton);
  *work += automaton.states.size();
  if (automaton.given_up) return true;
  Walk walk(automaton, text);
  const bool reaches = walk.Reaches(part, true);
  *work += walk.work();
  return reaches;
}

}  // namespace gate::rules
