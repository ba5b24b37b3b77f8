#include "git/index.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/paths.h"

namespace gate {
namespace {

// Of a sparse index; a large repository of packages has some thousands.
constexpr size_t kMaxCollapsed = 10'000;
constexpr size_t kHeader = 12;
constexpr size_t kMode = 24;            // where it stands in an entry
constexpr size_t kHashAt = 40;          // and the hash, before the flags
constexpr uint32_t kExtended = 0x4000;  // two more bytes of flags
constexpr uint32_t kNameMask = 0x0fff;  // all set: as long as up to its NUL
constexpr uint32_t kAssumeValid = 0x8000;
constexpr uint32_t kStage = 0x3000;
constexpr uint32_t kMoreFlags = 0x6000;     // git dies of any other of them
constexpr uint32_t kSkipWorktree = 0x4000;  // of those
constexpr uint32_t kTypeMask = 0170000;
constexpr uint32_t kDirectory = 0040000;  // with no other bit
constexpr uint32_t kRegular = 0100000;
constexpr uint32_t kSymbolicLink = 0120000;
constexpr uint32_t kGitlink = 0160000;

uint32_t Big(std::string_view bytes, size_t at, size_t count = 4) {
  uint32_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// varint.c, decode_varint(). SIZE_MAX for what is longer than any name needs.
size_t VariableNumber(std::string_view bytes, size_t* at) {
  size_t value = 0;
  for (int count = 0; *at < bytes.size() && count < 5; ++count) {
    const auto byte = static_cast<unsigned char>(bytes[(*at)++]);
    value = (count == 0 ? 0 : (value + 1) << 7) | (byte & 0x7f);
    if ((byte & 0x80) == 0) return value;
  }
  return SIZE_MAX;
}

struct Entry {
  uint32_t mode = 0, flags = 0, more_flags = 0;
  size_t kept = 0;        // of the name before: so much begins this one
  std::string_view rest;  // of the name
  size_t end = 0;
};

class Index {
 public:
  Index(std::string_view bytes, GitHash hash)
      : bytes_(bytes), hash_(static_cast<size_t>(hash)) {}

  // Calls visit(at, entry) for each entry, in order, until it returns false.
  // False when git would read these bytes otherwise, or not at all.
  template <class Visit>
  bool Walk(Visit&& visit) {
    if (bytes_.size() < kHeader + hash_ || !bytes_.starts_with("DIRC"))
      return false;
    // The last bytes are a checksum, which only `git fsck` compares.
    bytes_.remove_suffix(hash_);
    version_ = Big(bytes_, 4);
    if (version_ < 2 || version_ > 4 || !FindTable()) return false;
    size_t at = kHeader, length = 0, block = 0;
    uint32_t left_of_block = 0;
    Entry entry;
    for (uint32_t left = Big(bytes_, 8); left > 0; --left) {
      if (!Read(at, length, &entry)) return false;
      if (!blocks_.empty()) {
        if (left_of_block == 0) {
          // A thread begins here and knows no name before.
          if (block + 8 > blocks_.size() || Big(blocks_, block) != at ||
              entry.kept != 0)
            return false;
          left_of_block = Big(blocks_, block + 4);
          if (left_of_block == 0) return false;
          block += 8;
        }
        --left_of_block;
      }
      if (!visit(at, entry)) return true;
      length = entry.kept + entry.rest.size();
      at = entry.end;
    }
    if (left_of_block != 0 || block != blocks_.size()) return false;
    return Extensions(at);
  }

  const std::string& shared() const { return shared_; }
  bool sparse() const { return sparse_; }

 private:
  // read-cache.c, create_from_disk().
  bool Read(size_t at, size_t length_before, Entry* entry) const {
    size_t name = at + kHashAt + hash_ + 2;
    if (name > bytes_.size()) return false;
    entry->mode = Big(bytes_, at + kMode);
    entry->flags = Big(bytes_, name - 2, 2);
    entry->more_flags = 0;
    if ((entry->flags & kExtended) != 0) {
      if (name + 2 > bytes_.size()) return false;
      entry->more_flags = Big(bytes_, name, 2);
      if ((entry->more_flags & ~kMoreFlags) != 0) return false;
      name += 2;
    }
    entry->kept = 0;
    if (version_ == 4) {
      const size_t cut = VariableNumber(bytes_, &name);
      if (cut > length_before) return false;
      entry->kept = length_before - cut;
    }
    const char* const begin = bytes_.data() + name;
    const size_t room = bytes_.size() - name;
    size_t length = entry->flags & kNameMask;
    if (length == kNameMask) {
      const void* const nul = std::memchr(begin, '\0', room);
      if (nul == nullptr) return false;
      length = static_cast<size_t>(static_cast<const char*>(nul) - begin);
    } else {
      if (length < entry->kept) return false;
      length -= entry->kept;
      // git takes any bytes, NULs too. Its own names end at the first one.
      if (length >= room ||
          std::memchr(begin, '\0', length + 1) != begin + length)
        return false;
    }
    entry->rest = bytes_.substr(name, length);
    // Up to version 3 an entry is filled to a multiple of eight by 1 to 8
    // bytes, which nobody looks at.
    entry->end = version_ == 4 ? name + length + 1
                               : at + ((name + length - at + 8) & ~size_t{7});
    return entry->end <= bytes_.size();
  }

  // Where extensions begin (EOIE) and where blocks of entries do (IEOT) is
  // said at the end of the file, for threads (read_eoie_extension). That place
  // counts, whatever the bytes belong to.
  bool FindTable() {
    constexpr size_t kHashes[] = {static_cast<size_t>(GitHash::kSha1),
                                  static_cast<size_t>(GitHash::kSha256)};
    for (const size_t hash : kHashes) {
      const size_t size = 4 + hash;
      if (bytes_.size() < kHeader + 8 + size) continue;
      const size_t at = bytes_.size() - 8 - size;
      if (bytes_.substr(at, 4) != "EOIE" || Big(bytes_, at + 4) != size)
        continue;
      if (table_ != 0) return false;
      table_ = at;
      extensions_ = Big(bytes_, at + 8);
    }
    if (table_ == 0) return true;
    size_t at = extensions_;
    while (at < table_) {
      if (table_ - at < 8) return false;
      const size_t size = Big(bytes_, at + 4);
      if (size > table_ - at - 8) return false;
      if (bytes_.substr(at, 4) == "IEOT") {
        // A version, then an offset and a count for each block.
        if (size < 12 || size % 8 != 4 || Big(bytes_, at + 8) != 1)
          return false;
        blocks_ = bytes_.substr(at + 12, size - 4);
        return true;
      }
      at += 8 + size;
    }
    return true;
  }

  // Each has a name and a length. git ignores what it does not know, but not
  // with a small first letter. `link` names another file with entries; `sdir`
  // says that there are directories among them.
  bool Extensions(size_t at) {
    if (table_ != 0 && extensions_ != at) return false;
    bool split = false;
    while (at < bytes_.size()) {
      if (bytes_.size() - at < 8) return false;
      const std::string_view name = bytes_.substr(at, 4);
      const size_t size = Big(bytes_, at + 4);
      if (size > bytes_.size() - at - 8) return false;
      const std::string_view data = bytes_.substr(at + 8, size);
      if (name == "link") {
        if (split || size < hash_) return false;
        split = true;
        Share(data.substr(0, hash_));
      } else if (name == "EOIE") {
        if (at != table_) return false;
      } else if (name == "IEOT") {
        if (data.data() + 4 != blocks_.data()) return false;
      } else if (name == "sdir") {
        sparse_ = true;
      } else if (name[0] < 'A' || name[0] > 'Z') {
        return false;
      }
      at += 8 + size;
    }
    return true;
  }

  // An object name of zeros stands for none.
  void Share(std::string_view object) {
    if (object.find_first_not_of('\0') == std::string_view::npos) return;
    constexpr std::string_view kDigits = "0123456789abcdef";
    shared_ = "sharedindex.";
    for (const char c : object) {
      shared_ += kDigits[static_cast<unsigned char>(c) >> 4];
      shared_ += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }

  std::string_view bytes_;
  const size_t hash_;
  uint32_t version_ = 0;
  size_t table_ = 0, extensions_ = 0;  // 0: no table
  std::string_view blocks_;
  std::string shared_;
  bool sparse_ = false;
};

// Whether `name` is a path below the work tree, by its letters.
bool IsBelow(std::string_view name) {
  return !name.empty() && "/" + std::string(name) == Normalise(name, "/");
}

// Whether none of these directories is there, nor anything in their place.
bool AreAbsent(const std::vector<std::string>& names,
               const std::string& worktree) {
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    struct stat info = {};
    return ::lstat((worktree + "/" + name).c_str(), &info) != 0 &&
           (errno == ENOENT || errno == ENOTDIR);
  });
}

}  // namespace

Gitlinks GitlinksIn(std::string_view bytes, GitHash hash, std::string* shared) {
  shared->clear();
  Index index(bytes, hash);
  bool links = false, other = false;
  const bool read = index.Walk([&](size_t, const Entry& entry) {
    const uint32_t type = entry.mode & kTypeMask;
    links |= type == kGitlink;
    other |= type != kRegular && type != kSymbolicLink && !links;
    return !links && !other;
  });
  if (links) return Gitlinks::kSome;
  if (!read || other) return Gitlinks::kUnknown;
  *shared = index.shared();
  return Gitlinks::kNone;
}

std::optional<std::vector<std::string>> CollapsedIn(std::string_view bytes,
                                                    GitHash hash) {
  Index index(bytes, hash);
  std::vector<std::string> found;
  std::string name;
  bool plain = true;
  const bool read = index.Walk([&](size_t, const Entry& entry) {
    name.resize(std::min(name.size(), entry.kept));
    name += entry.rest;
    const uint32_t type = entry.mode & kTypeMask;
    if (type == kRegular || type == kSymbolicLink) return true;
    plain = entry.mode == kDirectory && (entry.flags & kStage) == 0 &&
            entry.more_flags == kSkipWorktree && name.ends_with('/') &&
            found.size() < kMaxCollapsed;
    if (plain) found.push_back(name.substr(0, name.size() - 1));
    plain = plain && IsBelow(found.back());
    return plain;
  });
  if (!read || !plain || !index.sparse() || !index.shared().empty())
    return std::nullopt;
  return found;
}

Gitlinks FindGitlinks(const std::string& path, GitHash hash,
                      const std::string& worktree) {
  auto text = ReadFile(path, kMaxGitIndexBytes);
  if (!text) {
    return text.error().code == ErrorCode::kNotFound ? Gitlinks::kNone
                                                     : Gitlinks::kUnknown;
  }
  std::string shared;
  const Gitlinks found = GitlinksIn(*text, hash, &shared);
  if (found == Gitlinks::kUnknown && !worktree.empty()) {
    const auto collapsed = CollapsedIn(*text, hash);
    if (collapsed && AreAbsent(*collapsed, worktree)) return Gitlinks::kNone;
  }
  if (found != Gitlinks::kNone || shared.empty()) return found;
  text = ReadFile(std::string(DirName(path)) + "/" + shared, kMaxGitIndexBytes);
  if (!text) return Gitlinks::kUnknown;
  std::string next;
  const Gitlinks base = GitlinksIn(*text, hash, &next);
  return base == Gitlinks::kNone && !next.empty() ? Gitlinks::kUnknown : base;
}

std::optional<IndexedFile> FindIndexed(std::string_view bytes, GitHash hash,
                                       std::string_view name) {
  Index index(bytes, hash);
  std::optional<IndexedFile> found;
  bool usable = true;
  std::string last;
  uint32_t last_stage = 0;
  const bool read = index.Walk([&](size_t at, const Entry& entry) {
    const uint32_t stage = entry.flags & kStage;
    const std::string before = last;
    last.resize(std::min(last.size(), entry.kept));
    last += entry.rest;
    // git finds names by halving, which needs their order.
    const int order = before.compare(last);
    if (at != kHeader && (order > 0 || (order == 0 && last_stage >= stage)))
      usable = false;
    last_stage = stage;
    if (last != name) return usable;
    if (stage != 0 || (entry.mode & kTypeMask) != kRegular ||
        (entry.flags & kAssumeValid) != 0 || entry.more_flags != 0)
      usable = false;
    found = IndexedFile{Big(bytes, at),      Big(bytes, at + 4),
                        Big(bytes, at + 8),  Big(bytes, at + 12),
                        Big(bytes, at + 20), Big(bytes, at + 36)};
    return usable;
  });
  if (!read || !usable || !index.shared().empty()) return std::nullopt;
  return found;
}

}  // namespace gate
