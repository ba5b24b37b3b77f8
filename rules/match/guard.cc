#include "rules/match/guard.h"

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

Guard Both(const Guard& a, const Guard& b) {
  // A subject has one program.
  return {a.programs & b.programs, Fewer(a.facts, b.facts),
          Fewer(a.words, b.words), Fewer(a.letters, b.letters)};
}

Guard Either(const Guard& a, const Guard& b) {
  return {a.programs | b.programs, a.facts | b.facts, a.words | b.words,
          a.letters | b.letters};
}

}  // namespace gate::rules
