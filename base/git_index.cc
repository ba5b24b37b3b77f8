#include "base/git_index.h"

#include <cstdint>
#include <string_view>

#include "base/file.h"

namespace gate {
namespace {

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr size_t kHeader = 12;
constexpr size_t kHash = 20;
constexpr size_t kMode = 24;            // where it stands in an entry
constexpr size_t kFlags = 40 + kHash;   // and the flags
constexpr size_t kFixed = kFlags + 2;   // before the name
constexpr uint32_t kExtended = 0x4000;  // two more bytes of flags
constexpr uint32_t kTypeMask = 0170000;
constexpr uint32_t kGitlink = 0160000;

uint32_t Big(std::string_view bytes, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Where the entry at `at` ends; 0 when it is cut off.
size_t EndOfEntry(std::string_view index, size_t at, uint32_t version) {
  if (index.size() - at < kFixed) return 0;
  size_t name = at + kFixed;
  if (Big(index, at + kFlags, 2) & kExtended) name += 2;
  if (version == 4) {
    // How much of the previous name falls away: a number whose last byte has
    // no high bit.
    while (name < index.size() && (index[name] & 0x80) != 0) ++name;
    ++name;
  }
  const size_t nul = index.find('\0', name);
  if (nul == std::string_view::npos) return 0;
  // Up to version 3 an entry is filled to a multiple of eight by 1 to 8 NULs.
  return version == 4 ? nul + 1 : at + ((nul - at + 8) & ~size_t{7});
}

// Git's own variable-length number at `*at`; moves behind it.
size_t VariableNumber(std::string_view index, size_t* at) {
  size_t value = 0;
  for (int bytes = 0; *at < index.size() && bytes < 5; ++bytes) {
    const auto byte = static_cast<unsigned char>(index[(*at)++]);
    value = (bytes == 0 ? 0 : (value + 1) << 7) | (byte & 0x7f);
    if ((byte & 0x80) == 0) return value;
  }
  return SIZE_MAX;
}

}  // namespace

std::optional<IndexedFile> FindIndexed(std::string_view index,
                                       std::string_view name) {
  constexpr uint32_t kRegular = 0100000;
  constexpr uint32_t kStage = 0x3000;
  if (index.size() < kHeader + kHash || !index.starts_with("DIRC"))
    return std::nullopt;
  const uint32_t version = Big(index, 4, 4);
  if (version < 2 || version > 4) return std::nullopt;
  std::string last;  // version 4: names follow from the one before
  size_t at = kHeader;
  for (uint32_t left = Big(index, 8, 4); left > 0; --left) {
    const size_t end = EndOfEntry(index, at, version);
    if (end == 0 || end > index.size()) return std::nullopt;
    const uint32_t flags = Big(index, at + kFlags, 2);
    size_t begin = at + kFixed + (flags & kExtended ? 2 : 0);
    if (version == 4) {
      const size_t cut = VariableNumber(index, &begin);
      if (cut > last.size() || begin >= end) return std::nullopt;
      last.resize(last.size() - cut);
    } else {
      last.clear();
    }
    last += index.substr(begin, index.find('\0', begin) - begin);
    if (last == name) {
      if ((flags & kStage) != 0 ||
          (Big(index, at + kMode, 4) & kTypeMask) != kRegular)
        return std::nullopt;
      return IndexedFile{Big(index, at, 4),      Big(index, at + 4, 4),
                         Big(index, at + 8, 4),  Big(index, at + 12, 4),
                         Big(index, at + 20, 4), Big(index, at + 36, 4)};
    }
    at = end;
  }
  return std::nullopt;
}

Gitlinks FindGitlinks(const std::string& path) {
  const auto text = ReadFile(path, kMaxBytes);
  if (!text) {
    return text.error().code == ErrorCode::kNotFound ? Gitlinks::kNone
                                                     : Gitlinks::kUnknown;
  }
  const std::string_view index = *text;
  if (index.size() < kHeader + kHash || !index.starts_with("DIRC"))
    return Gitlinks::kUnknown;
  const uint32_t version = Big(index, 4, 4);
  if (version < 2 || version > 4) return Gitlinks::kUnknown;
  size_t at = kHeader;
  for (uint32_t left = Big(index, 8, 4); left > 0; --left) {
    const size_t end = EndOfEntry(index, at, version);
    if (end == 0 || end > index.size()) return Gitlinks::kUnknown;
    const uint32_t type = Big(index, at + kMode, 4) & kTypeMask;
    if (type == kGitlink) return Gitlinks::kSome;
    at = end;
  }
  // Extensions follow, each with a name and a length, then the hash. `link`
  // names another file with entries.
  while (at + kHash < index.size()) {
    if (index.size() - at < 8 + kHash) return Gitlinks::kUnknown;
    if (index.substr(at, 4) == "link") return Gitlinks::kUnknown;
    const size_t size = Big(index, at + 4, 4);
    if (size > index.size() - at - 8 - kHash) return Gitlinks::kUnknown;
    at += 8 + size;
  }
  return at + kHash == index.size() ? Gitlinks::kNone : Gitlinks::kUnknown;
}

}  // namespace gate
