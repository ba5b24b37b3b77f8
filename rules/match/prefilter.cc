#include "rules/match/prefilter.h"

#include <bit>

namespace gate::rules {
namespace {

// A subject may have several of the bits, so that one of each set does not
// mean one of both. The smaller set rules out more.
template <class Bits>
Bits Fewer(Bits a, Bits b) {
  return std::popcount(b) < std::popcount(a) ? b : a;
}

}  // namespace

Prefilter Both(const Prefilter& a, const Prefilter& b) {
  // A subject has one program.
  return {a.programs & b.programs, Fewer(a.facts, b.facts),
          Fewer(a.words, b.words), Fewer(a.letters, b.letters)};
}

Prefilter Either(const Prefilter& a, const Prefilter& b) {
  return {a.programs | b.programs, a.facts | b.facts, a.words | b.words,
          a.letters | b.letters};
}

}  // namespace gate::rules
