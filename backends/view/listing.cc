#include "backends/listing.h"

#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "backends/protect/quarantine.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr size_t kBuffer = 16384;  // some 400 names
constexpr int kMaxReads = 4;

// File systems that list every name they have.
bool ListsAll(int fd) {
  struct statfs info = {};
  if (fstatfs(fd, &info) != 0) return false;
  switch (static_cast<uint32_t>(info.f_type)) {
    case 0x0000ef53:  // ext2, ext3, ext4
    case 0x58465342:  // XFS
    case 0x9123683e:  // btrfs
    case 0x01021994:  // tmpfs
    case 0x794c7630:  // overlay
    case 0xf2f52010:  // F2FS
      return true;
    default:
      return false;
  }
}

unsigned char Lower(unsigned char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<unsigned char>(c - 'A' + 'a') : c;
}

size_t HashOf(std::string_view name) {
  uint32_t hash = 2166136261u;
  for (const char c : name)
    hash = (hash ^ Lower(static_cast<unsigned char>(c))) * 16777619u;
  return (hash ^ hash >> 16) & 4095u;
}

}  // namespace

void Listing::Add(std::string_view name) {
  // A directory that ignores case may ignore other differences as well.
  for (const char c : name)
    if (static_cast<unsigned char>(c) >= 0x80) certain_ = false;
  hashes_.set(HashOf(name));
}

Listing Listing::Of(const std::string& directory, size_t files) {
  Listing listing;
  const Fd path = OpenPath(directory);
  if (!path) return listing;
  const Fd fd(openat(path.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return listing;
  const bool all = ListsAll(fd.get());
  if (!all && files == 0) return listing;
  listing.certain_ = all;
  bool sockets = !all;
  alignas(dirent64) char buffer[kBuffer];
  for (int i = 0; i < kMaxReads; ++i) {
    const ssize_t got = getdents64(fd.get(), buffer, sizeof(buffer));
    if (got == 0) {
      listing.sockets_ = sockets;
      return listing;
    }
    if (got < 0) break;
    for (ssize_t at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      const bool unknown = entry->d_type == DT_UNKNOWN;
      listing.Add(entry->d_name);
      if ((entry->d_type == DT_REG || unknown) && listing.files_.size() < files)
        listing.files_.emplace_back(entry->d_name);
      sockets = sockets || unknown || entry->d_type == DT_SOCK;
      at += entry->d_reclen;
    }
  }
  listing.certain_ = false;  // not read to its end
  return listing;
}

bool Listing::MayHold(std::string_view path) const {
  for (const char c : path)
    if (static_cast<unsigned char>(c) >= 0x80) return true;
  return !certain_ || hashes_[HashOf(path.substr(0, path.find('/')))];
}

bool NegativeEntryCache::MayExist(std::string_view path) const {
  return std::none_of(places_.begin(), places_.end(), [&](const Place& place) {
    const size_t size = place.directory.size();
    return place.listing && path.size() > size + 1 && path[size] == '/' &&
           path.starts_with(place.directory) &&
           !place.listing->MayHold(path.substr(size + 1));
  });
}

void NegativeEntryCache::NoteMissing(std::string_view path) {
  const std::string_view parent = DirName(path);
  if (parent.size() < 2) return;
  auto place =
      std::find_if(places_.begin(), places_.end(),
                   [&](const Place& each) { return each.directory == parent; });
  if (place == places_.end()) {
    if (places_.size() >= kMaxDirectories) return;
    place = places_.insert(places_.end(), {std::string(parent), 0, {}});
  }
  if (!place->listing && ++place->missing >= kMissesToList)
    place->listing = Listing::Of(place->directory);
}

Directory OpenDirectory(const std::string& path) {
  Fd fd = OpenToList(path);
  if (!fd) return nullptr;
  Directory list(fdopendir(fd.get()));
  if (list) fd.release();
  return list;
}

std::vector<std::string> LinksBelow(const std::string& directory) {
  constexpr size_t kMaxDirectories = 16;
  int left = 256;
  std::vector<std::string> links;
  std::vector<std::string> open = {directory};
  for (size_t i = 0; i < open.size() && i < kMaxDirectories; ++i) {
    const Directory list(opendir(open[i].c_str()));
    if (!list) continue;
    while (const dirent* entry = readdir(list.get())) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (--left < 0) return links;
      if (entry->d_type == DT_LNK || entry->d_type == DT_DIR)
        (entry->d_type == DT_DIR ? open : links)
            .push_back(open[i] + "/" + entry->d_name);
    }
  }
  return links;
}

std::vector<std::string> NamesIn(const std::string& directory, size_t most,
                                 bool* opened) {
  std::vector<std::string> names;
  std::string below;
  const int from = HeldFrom(directory, &below);
  Fd fd(openat(from, below.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  Directory list(fd ? fdopendir(fd.get()) : nullptr);
  if (list) fd.release();
  // Closed by its mode, or deeper than a path may be.
  if (!list && (errno == EACCES || errno == ENAMETOOLONG))
    list = OpenDirectory(directory);
  if (opened != nullptr) *opened = list != nullptr;
  if (!list) return names;
  while (const dirent* entry = readdir(list.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
    if (names.size() > most) break;
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace gate::backends
