#include "rules/match/path_filter.h"

#include <algorithm>

namespace gate::rules {
namespace {

constexpr size_t kBytes = 8;

uint64_t First(std::string_view text) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < std::min(text.size(), kBytes); ++i)
    bytes |= uint64_t{static_cast<unsigned char>(text[i])} << (8 * i);
  return bytes;
}

uint64_t Last(std::string_view text) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < std::min(text.size(), kBytes); ++i)
    bytes |= uint64_t{static_cast<unsigned char>(text[text.size() - 1 - i])}
             << (8 * i);
  return bytes;
}

uint64_t Known(size_t count) {
  return count >= kBytes ? ~uint64_t{0} : (uint64_t{1} << (8 * count)) - 1;
}

uint64_t Letters(std::string_view text) {
  uint64_t letters = 0;
  for (const char c : text) letters |= uint64_t{1} << (c & 63);
  return letters;
}

uint8_t Size(std::string_view text) {
  return static_cast<uint8_t>(std::min(text.size(), kBytes));
}

}  // namespace

void FillFilter(std::string_view text, std::string_view needs,
                PathRecord* record) {
  const auto set_tail = [&](std::string_view tail) {
    record->tail = Last(tail);
    record->tail_size = Size(tail);
  };
  const auto set_head = [&](std::string_view head) {
    record->head = First(head);
    record->head_size = Size(head);
  };
  switch (record->shape) {
    case PathShape::kClass:
      return;
    case PathShape::kName:
    case PathShape::kSuffix:
      return set_tail(text);
    case PathShape::kExact:
      set_tail(text);
      return set_head(text);
    case PathShape::kSubtree:
      return set_head(text);
    case PathShape::kGlob: {
      record->letters = Letters(needs);
      // The slash before a final "**" may be missing.
      std::string_view fixed =
          text.substr(0, std::min(text.find_first_of("*?\\"), text.size()));
      if (fixed.ends_with('/')) fixed.remove_suffix(1);
      return set_head(fixed);
    }
  }
}

PathFilter::PathFilter(const parser::Argument& path, bool spread,
                       const PathBases& bases) {
  std::string_view begin = path.text, end = path.text;
  const bool plain = path.known && !path.glob;
  // What is done to all of a directory is done to the directory, and of a path
  // of which nothing is known nothing can be said.
  if (path.known && path.glob && spread) return;
  if (!path.known && path.suffix.empty() && path.text.size() <= 1) return;
  if (!path.known) {
    end = path.suffix;
  } else if (path.glob) {
    constexpr std::string_view kSpecial = "*?[]\\";
    begin =
        begin.substr(0, std::min(begin.find_first_of(kSpecial), begin.size()));
    const size_t last = end.find_last_of(kSpecial);
    if (last != std::string_view::npos) end.remove_prefix(last + 1);
    // What a backslash precedes is the character itself.
    if (last != std::string_view::npos && path.text[last] == '\\') end = {};
  }
  const bool whole = plain && !spread;
  if (whole) letters_ = Letters(path.text);
  ends_exactly_ = !spread;
  tail_ = Last(end);
  tail_known_ = plain ? ~uint64_t{0} : Known(end.size());
  for (size_t i = 0; i < bases.size(); ++i) {
    const std::string_view base = bases[i];
    const bool none = i == static_cast<size_t>(PathBase::kNone);
    if (!none && base.empty()) {
      const bool out = path.known || MayBeAbsent(static_cast<PathBase>(i));
      (out ? out_ : unsure_) |= 1u << i;
      continue;
    }
    if (!begin.starts_with(base)) {
      // It may be above the base, or its unknown part may lead there.
      if (whole || !base.starts_with(begin)) out_ |= 1u << i;
      continue;
    }
    const std::string_view rest = begin.substr(base.size());
    heads_[i] = First(rest);
    heads_known_[i] = whole ? ~uint64_t{0} : Known(rest.size());
  }
}

}  // namespace gate::rules
