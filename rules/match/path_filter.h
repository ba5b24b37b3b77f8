// A first look at a path pattern: a few integers say of most patterns that a
// path is none of theirs, before any text is compared. What is not ruled out
// here is decided by PathMatcher (rules/match/paths.h), which alone says yes.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "parser/analysis.h"
#include "rules/rule.h"

namespace gate::rules {

// What `$HOME` and the others stand for. Empty: patterns with it match no
// path, except an unknown one unless MayBeAbsent.
using PathBases = std::array<std::string_view, kPathBases>;

// Sets head, tail and letters of `record`. `text`: the pattern behind its
// base, or the name of kName and kSuffix; `needs` as in PathRecord. Classes
// are never ruled out.
void FillFilter(std::string_view text, std::string_view needs,
                PathRecord* record);

// One path of the line. Views of what it is made from.
class PathFilter {
 public:
  PathFilter() = default;
  PathFilter(const parser::Argument& path, bool spread, const PathBases& bases);

  // True only if PathMatcher::Match says kNo for this path and pattern.
  bool Excludes(const PathRecord& record) const {
    const size_t base = static_cast<size_t>(record.base);
    if ((record.letters & ~letters_) != 0) return true;
    if (record.shape == PathShape::kName || record.shape == PathShape::kSuffix)
      return ((record.tail ^ tail_) & tail_known_ & Bytes(record.tail_size)) !=
             0;
    if (record.shape == PathShape::kClass) return false;
    if ((out_ >> base & 1u) != 0) return true;
    if ((unsure_ >> base & 1u) != 0) return false;
    return ((record.head ^ heads_[base]) & heads_known_[base] &
            Bytes(record.head_size)) != 0 ||
           (ends_exactly_ && ((record.tail ^ tail_) & tail_known_ &
                              Bytes(record.tail_size)) != 0);
  }

 private:
  static uint64_t Bytes(uint8_t count) {
    return count >= 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * count)) - 1;
  }

  std::array<uint64_t, kPathBases> heads_{}, heads_known_{};
  uint64_t tail_ = 0, tail_known_ = 0;
  uint64_t letters_ = ~uint64_t{0};
  uint32_t out_ = 0;     // bit: nothing under this base can match
  uint32_t unsure_ = 0;  // bit: it is not known where this base is
  bool ends_exactly_ = false;
};

}  // namespace gate::rules
