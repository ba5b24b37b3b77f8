#include "backends/protect/tree_index.h"

#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>

#include "backends/listing.h"
#include "backends/run_journal.h"
#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr std::string_view kIndexHead = "gate.tree-index/1\n";
constexpr size_t kMaxFile = size_t{256} << 20;
// More than a tick of any kernel (CONFIG_HZ is 100 at least), twice.
constexpr long kTickNs = 20'000'000;

struct Head {
  uint64_t key_size = 0, entries = 0, names_size = 0, sum = 0;
};

// Against a file that a crash of the machine left in part, not against anybody.
uint64_t SumOf(std::string_view bytes) {
  uint64_t sum = 0x9e3779b97f4a7c15u;
  for (size_t at = 0; at < bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, bytes.data() + at, std::min(sizeof(word), bytes.size() - at));
    sum = (sum ^ word) * 0xff51afd7ed558ccdu;
    sum ^= sum >> 32;
  }
  return sum;
}

}  // namespace

bool StampsHere(const std::string& directory) {
  struct statfs info = {};
  if (statfs(directory.c_str(), &info) != 0) return false;
  switch (static_cast<uint32_t>(info.f_type)) {
    case 0x0000ef53:  // ext2, ext3, ext4
    case 0x58465342:  // XFS
    case 0x9123683e:  // btrfs
    case 0x01021994:  // tmpfs
    case 0xf2f52010:  // F2FS
      return true;
    default:
      return false;
  }
}

TreeIndex TreeIndex::Load(const std::string& path, std::string_view key) {
  TreeIndex index;
  const Result<std::string> text = ReadFile(path, kMaxFile, false);
  if (!text || !text->starts_with(kIndexHead)) return index;
  std::string_view rest = std::string_view(*text).substr(kIndexHead.size());
  Head head;
  if (rest.size() < sizeof(head)) return index;
  memcpy(&head, rest.data(), sizeof(head));
  rest.remove_prefix(sizeof(head));
  if (head.key_size != key.size() || head.entries > kMaxFile / sizeof(Entry) ||
      head.names_size > kMaxFile ||
      rest.size() !=
          head.key_size + head.entries * sizeof(Entry) + head.names_size ||
      !rest.starts_with(key) || SumOf(rest) != head.sum)
    return index;
  rest.remove_prefix(key.size());
  std::vector<Entry> entries(head.entries);
  if (!entries.empty())
    memcpy(entries.data(), rest.data(), head.entries * sizeof(Entry));
  rest.remove_prefix(head.entries * sizeof(Entry));
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    // Children come after their parent, so that no way leads in a circle.
    if (uint64_t{entry.name_at} + entry.name_size > rest.size() ||
        uint64_t{entry.first} + entry.count > entries.size() ||
        (entry.count != 0 && entry.first <= i))
      return index;
  }
  index.entries_ = std::move(entries);
  index.names_ = rest;
  return index;
}

bool TreeIndex::Answers(uint32_t entry, const struct stat& info) const {
  const Entry& one = entries_[entry];
  return one.inode != 0 && one.inode == info.st_ino &&
         one.device == info.st_dev && one.changed_s == info.st_ctim.tv_sec &&
         one.changed_ns == static_cast<uint64_t>(info.st_ctim.tv_nsec) &&
         S_ISDIR(info.st_mode);
}

bool TreeIndex::IsNamed(uint32_t entry) const {
  return entries_[entry].named != 0;
}

std::string_view TreeIndex::NameOf(uint32_t entry) const {
  return std::string_view(names_).substr(entries_[entry].name_at,
                                         entries_[entry].name_size);
}

uint32_t TreeIndex::Find(uint32_t entry, std::string_view name) const {
  uint32_t low = entries_[entry].first, high = low + entries_[entry].count;
  const uint32_t end = high;
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (NameOf(middle) < name)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && NameOf(low) == name ? low : kNone;
}

void TreeIndex::Begin() {
  entries_.assign(1, {});
  names_.clear();
  clock_gettime(CLOCK_REALTIME_COARSE, &settled_);
  settled_.tv_nsec -= kTickNs;
  if (settled_.tv_nsec < 0) {
    settled_.tv_nsec += 1'000'000'000;
    --settled_.tv_sec;
  }
}

uint32_t TreeIndex::SetChildren(uint32_t entry,
                                const std::vector<std::string>& names) {
  const auto first = static_cast<uint32_t>(entries_.size());
  entries_[entry].first = first;
  entries_[entry].count = static_cast<uint32_t>(names.size());
  for (const std::string& name : names) {
    Entry& child = entries_.emplace_back();
    child.name_at = static_cast<uint32_t>(names_.size());
    child.name_size = static_cast<uint32_t>(name.size());
    names_ += name;
  }
  return first;
}

void TreeIndex::Fill(uint32_t entry, const struct stat& info, bool named) {
  const timespec& changed = info.st_ctim;
  Entry& one = entries_[entry];
  const bool settled = changed.tv_sec != settled_.tv_sec
                           ? changed.tv_sec < settled_.tv_sec
                           : changed.tv_nsec < settled_.tv_nsec;
  one.inode = settled ? info.st_ino : 0;
  one.device = info.st_dev;
  one.changed_s = changed.tv_sec;
  one.changed_ns = static_cast<uint32_t>(changed.tv_nsec);
  one.named = named ? 1 : 0;
}

void TreeIndex::FillFrom(uint32_t entry, const TreeIndex& other, uint32_t its) {
  Entry& one = entries_[entry];
  const Entry& from = other.entries_[its];
  one.device = from.device;
  one.inode = from.inode;
  one.changed_s = from.changed_s;
  one.changed_ns = from.changed_ns;
  one.named = from.named;
}

Status TreeIndex::Save(const std::string& path, std::string_view key) const {
  std::string text(kIndexHead);
  text.append(sizeof(Head), '\0');
  const size_t begin = text.size();
  text += key;
  text.append(reinterpret_cast<const char*>(entries_.data()),
              entries_.size() * sizeof(Entry));
  text += names_;
  const Head head = {key.size(), entries_.size(), names_.size(),
                     SumOf(std::string_view(text).substr(begin))};
  memcpy(text.data() + kIndexHead.size(), &head, sizeof(head));
  const std::string directory(DirName(path));
  GATE_CHECK(MakeDirectories(directory, 0700));
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0)
    for (const std::string& name : NamesIn(directory)) {
      const std::string old = directory + "/" + name;
      if (lstat(old.c_str(), &info) == 0 &&
          info.st_mtim.tv_sec + kKeptDays * 86400 < time(nullptr))
        unlink(old.c_str());
    }
  // What a crash leaves is found out, and waiting for the disk with every run
  // would cost more than one search.
  return ReplaceFile(path, text);
}

}  // namespace gate::backends
