#include "backends/unix_sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr size_t kMaxTable = size_t{8} << 20;
constexpr size_t kMaxEntries = 65536;  // of a directory
constexpr size_t kMaxInPlace = 4096;   // of one of SocketSearch::places
constexpr size_t kMaxDirectories = 256;
constexpr size_t kMaxNamed = 3;  // of those that were not found

// Newer than the headers (Linux 5.3).
constexpr uint32_t kShowUid = 0x40;
constexpr uint16_t kUid = 7;

// The number at the beginning of `*line`, which `end` must follow, in that
// base; blanks before it are passed over.
bool TakeNumber(std::string_view* line, int base, char end, uint64_t* number) {
  while (line->starts_with(' ')) line->remove_prefix(1);
  const char* last = line->data() + line->size();
  const auto [at, error] = std::from_chars(line->data(), last, *number, base);
  if (error != std::errc()) return false;
  if (at == last ? end != ' ' : *at != end) return false;
  line->remove_prefix(static_cast<size_t>(at - line->data()));
  if (end != ' ') line->remove_prefix(1);
  return true;
}

struct Entry {
  UnixSocket socket;
  bool connectable = false;
};

// A line of the table: ADDRESS: REFERENCES PROTOCOL FLAGS TYPE STATE INODE
// NAME. Nothing for what is none, but the rest of the name before it.
std::optional<Entry> ParseEntry(std::string_view line) {
  uint64_t ignored = 0, type = 0, state = 0;
  Entry entry;
  if (line.starts_with(' ') || !TakeNumber(&line, 16, ':', &ignored))
    return std::nullopt;
  for (uint64_t* number : {&ignored, &ignored, &ignored, &type, &state})
    if (!TakeNumber(&line, 16, ' ', number)) return std::nullopt;
  if (!TakeNumber(&line, 10, ' ', &entry.socket.inode)) return std::nullopt;
  if (!line.empty()) entry.socket.name = line.substr(1);
  // A stream that is connected has the name of the socket that accepted it.
  constexpr uint64_t kConnected = 3;
  entry.connectable = type == SOCK_DGRAM || state != kConnected;
  return entry;
}

// What the kernel says of one socket.
struct Bound {
  uint32_t file = 0;  // the low half of its file's inode
  uid_t owner = 0;
};
std::optional<Bound> AskKernel(uint64_t inode) {
  const Fd kernel(
      socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!kernel || inode > UINT32_MAX) return std::nullopt;
  struct {
    nlmsghdr header;
    unix_diag_req request;
  } question = {};
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.request.sdiag_family = AF_UNIX;
  question.request.udiag_states = UINT32_MAX;
  question.request.udiag_ino = static_cast<uint32_t>(inode);
  question.request.udiag_show = UDIAG_SHOW_VFS | kShowUid;
  question.request.udiag_cookie[0] = question.request.udiag_cookie[1] =
      UINT32_MAX;
  if (send(kernel.get(), &question, sizeof(question), 0) !=
      static_cast<ssize_t>(sizeof(question)))
    return std::nullopt;
  alignas(nlmsghdr) char answer[4096];
  const ssize_t got = recv(kernel.get(), answer, sizeof(answer), MSG_DONTWAIT);
  constexpr size_t kHead = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(unix_diag_msg));
  nlmsghdr header = {};
  if (got < static_cast<ssize_t>(kHead)) return std::nullopt;
  memcpy(&header, answer, sizeof(header));
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY) return std::nullopt;
  Bound bound;
  bool file = false, owner = false;
  for (size_t at = kHead; at + sizeof(nlattr) <= static_cast<size_t>(got);) {
    nlattr attribute = {};
    memcpy(&attribute, answer + at, sizeof(attribute));
    const size_t size = attribute.nla_len;
    if (size < NLA_HDRLEN || at + size > static_cast<size_t>(got)) break;
    const char* value = answer + at + NLA_HDRLEN;
    if (attribute.nla_type == UNIX_DIAG_VFS &&
        size >= NLA_HDRLEN + sizeof(unix_diag_vfs)) {
      unix_diag_vfs vfs = {};
      memcpy(&vfs, value, sizeof(vfs));
      bound.file = vfs.udiag_vfs_ino;
      file = true;
    } else if (attribute.nla_type == kUid &&
               size >= NLA_HDRLEN + sizeof(bound.owner)) {
      memcpy(&bound.owner, value, sizeof(bound.owner));
      owner = true;
    }
    at += NLA_ALIGN(size);
  }
  if (!file || !owner) return std::nullopt;
  return bound;
}

class Finder {
 public:
  explicit Finder(const SocketSearch& search) : search_(search) {}

  OutsideSockets Run() {
    if (const auto sockets = ReadTable()) {
      std::map<std::string, std::vector<uint64_t>> names;
      for (const UnixSocket& socket : *sockets)
        names[socket.name].push_back(socket.inode);
      for (const auto& [name, inodes] : names)
        if (name.starts_with('/'))
          FindAbsolute(name, inodes.size());
        else
          FindRelative(name, inodes);
    } else {
      GiveUp("the list of the listening sockets outside cannot be read");
    }
    for (const std::string& place : search_.places) AddLiveIn(place, true);
    TakeLinks();
    if (lost_ > 0) {
      std::string names;
      for (const std::string& name : lost_names_)
        names += (names.empty() ? "" : ", ") + name;
      if (lost_ > lost_names_.size()) names += ", …";
      GiveUp(std::to_string(lost_) +
             " listening sockets outside could not be located (" + names + ")");
    }
    return std::move(found_);
  }

 private:
  std::optional<std::vector<UnixSocket>> ReadTable() const {
    const Fd fd(open(search_.table, O_RDONLY | O_CLOEXEC));
    if (!fd) return std::nullopt;
    const Result<std::string> table = ReadAll(fd.get(), kMaxTable);
    if (!table) return std::nullopt;
    return ParseUnixSockets(*table);
  }

  // Takes what is at `path`. False when it is no socket.
  bool Take(const std::string& path) {
    std::optional<SocketFile> file = search_.look(path);
    if (!file || !S_ISSOCK(file->info.st_mode)) return false;
    if (!taken_.insert(file->path).second) return true;
    found_.paths.push_back(file->path);
    if (file->info.st_nlink > 1) linked_.push_back(std::move(*file));
    return true;
  }

  // The other names of what was taken.
  void TakeLinks() {
    for (size_t i = 0; i < linked_.size(); ++i) {  // it grows
      const std::string directory(DirName(linked_[i].path));
      AddLiveIn(directory);
      AddLiveIn(std::string(DirName(directory)));
    }
    std::map<std::pair<dev_t, ino_t>, nlink_t> names;
    for (const SocketFile& file : linked_)
      ++names[{file.info.st_dev, file.info.st_ino}];
    for (const SocketFile& file : linked_) {
      nlink_t& known = names[{file.info.st_dev, file.info.st_ino}];
      if (known < file.info.st_nlink) Lose(file.path);
      known = file.info.st_nlink;  // said once
    }
  }

  void FindAbsolute(const std::string& name, size_t sockets) {
    // Of two with one name, one has lost it to the other.
    if (Take(name) && sockets == 1) return;
    const std::string directory(DirName(name));
    if (search_.covered(directory)) return;
    AddLiveIn(directory);
    AddLiveIn(std::string(DirName(directory)));
  }

  void FindRelative(const std::string& name,
                    const std::vector<uint64_t>& inodes) {
    size_t found = 0;
    for (const std::string& directory : WorkingDirectories()) {
      const std::string path = Join(directory, name);
      if (IsLiveSocket(path) && Take(path)) ++found;
    }
    if (found >= inodes.size()) return;
    for (const uint64_t inode : inodes) {
      const std::optional<Bound> bound = AskKernel(inode);
      // Of somebody else's processes an ordinary user sees no working
      // directory: nearly every machine with a mail server has such sockets.
      if (bound && geteuid() != 0 && bound->owner != geteuid()) continue;
      if (bound && TakeByNumber(name, bound->file)) continue;
      if (StillListed(inode)) Lose(name);
    }
  }

  // What has lost the name it was bound by, where that was.
  bool TakeByNumber(const std::string& name, uint32_t number) {
    for (const std::string& from : WorkingDirectories()) {
      const std::string directory(DirName(Join(from, name)));
      DIR* list = opendir(directory.c_str());
      if (list == nullptr) continue;
      bool found = false;
      while (const dirent* entry = readdir(list)) {
        if (static_cast<uint32_t>(entry->d_ino) != number ||
            (entry->d_type != DT_SOCK && entry->d_type != DT_UNKNOWN))
          continue;
        const std::string path = Join(directory, entry->d_name);
        if (IsLiveSocket(path) && Take(path)) found = true;
      }
      closedir(list);
      if (found) return true;
    }
    return false;
  }

  // Sockets come and go while they are looked for.
  bool StillListed(uint64_t inode) const {
    const auto sockets = ReadTable();
    return !sockets || std::any_of(sockets->begin(), sockets->end(),
                                   [&](const UnixSocket& socket) {
                                     return socket.inode == inode;
                                   });
  }

  // Takes the sockets in `directory` that something listens on.
  void AddLiveIn(const std::string& directory, bool place = false) {
    if (!looked_in_.insert(directory).second) return;
    if (looked_in_.size() > kMaxDirectories) {
      if (looked_in_.size() == kMaxDirectories + 1)
        GiveUp("too many directories to look for sockets in");
      return;
    }
    DIR* list = opendir(directory.c_str());
    if (list == nullptr) {
      if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP || place ||
          (errno == EACCES && access(directory.c_str(), X_OK) != 0))
        return;
      return GiveUp("`" + directory + "` cannot be looked through for sockets");
    }
    size_t seen = 0;
    std::vector<std::string> live;
    while (const dirent* entry = readdir(list)) {
      if (++seen > (place ? kMaxInPlace : kMaxEntries)) break;
      if (entry->d_type != DT_SOCK && entry->d_type != DT_UNKNOWN) continue;
      std::string path = Join(directory, entry->d_name);
      if (IsLiveSocket(path)) live.push_back(std::move(path));
    }
    closedir(list);
    for (const std::string& path : live) Take(path);
    if (seen > kMaxEntries)
      GiveUp("`" + directory + "` is too large to be looked through");
  }

  // Of all processes that may be looked at.
  const std::set<std::string>& WorkingDirectories() {
    if (walked_) return working_;
    walked_ = true;
    DIR* list = opendir(search_.processes);
    if (list == nullptr) return working_;
    char text[PATH_MAX];
    while (const dirent* entry = readdir(list)) {
      if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
      const std::string link =
          std::string(search_.processes) + "/" + entry->d_name + "/cwd";
      const ssize_t size = readlink(link.c_str(), text, sizeof(text));
      if (size > 0 && text[0] == '/')
        working_.emplace(text, static_cast<size_t>(size));
    }
    closedir(list);
    return working_;
  }

  static std::string Join(const std::string& directory, std::string_view name) {
    return (directory == "/" ? "/" : directory + "/") + std::string(name);
  }

  void Lose(const std::string& name) {
    ++lost_;
    if (lost_names_.size() < kMaxNamed) lost_names_.push_back(name);
  }
  void GiveUp(const std::string& why) {
    found_.unknown += (found_.unknown.empty() ? "" : "; ") + why;
  }

  const SocketSearch& search_;
  OutsideSockets found_;
  std::set<std::string> taken_, looked_in_, working_;
  std::vector<SocketFile> linked_;
  bool walked_ = false;
  size_t lost_ = 0;
  std::vector<std::string> lost_names_;
};

}  // namespace

std::vector<UnixSocket> ParseUnixSockets(std::string_view table) {
  std::vector<Entry> entries;
  bool first = true;
  while (!table.empty()) {
    const size_t end = table.find('\n');
    const std::string_view line = table.substr(0, end);
    table.remove_prefix(end == std::string_view::npos ? table.size() : end + 1);
    if (std::optional<Entry> entry = ParseEntry(line))
      entries.push_back(std::move(*entry));
    else if (!first && !entries.empty())
      entries.back().socket.name.append("\n").append(line);
    first = false;
  }
  std::vector<UnixSocket> sockets;
  for (Entry& entry : entries)
    // What begins so is in no file.
    if (entry.connectable && !entry.socket.name.empty() &&
        !entry.socket.name.starts_with('@'))
      sockets.push_back(std::move(entry.socket));
  return sockets;
}

bool IsLiveSocket(const std::string& path) {
  const Fd file(open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat info = {};
  if (!file || fstat(file.get(), &info) != 0 || !S_ISSOCK(info.st_mode))
    return false;
  const Fd asks(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!asks) return true;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // Its own path may be too long for an address.
  const std::string name = "/proc/self/fd/" + std::to_string(file.get());
  memcpy(address.sun_path, name.c_str(), name.size() + 1);
  return connect(asks.get(), reinterpret_cast<const sockaddr*>(&address),
                 sizeof(address)) == 0 ||
         (errno != ECONNREFUSED && errno != EACCES);
}

OutsideSockets FindUnixSockets(const SocketSearch& search) {
  return Finder(search).Run();
}

}  // namespace gate::backends
