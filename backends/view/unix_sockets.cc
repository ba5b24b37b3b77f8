#include "backends/view/unix_sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
constexpr size_t kMaxPlaces = 256;              // that one process may mean
constexpr size_t kMaxWords = size_t{64} << 10;  // of its arguments
constexpr size_t kMaxNamed = 3;                 // of those that were not found

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

class Finder {
 public:
  explicit Finder(const SocketSearch& search) : search_(search) {}

  OutsideSockets Run() {
    if (const auto sockets = ReadSockets()) {
      std::map<std::string, size_t> names;
      for (const UnixSocket& socket : *sockets) ++names[socket.name];
      for (const UnixSocket& socket : *sockets)
        if (socket.name.starts_with('/'))
          FindAbsolute(socket, names[socket.name] == 1);
        else
          FindRelative(socket);
    } else {
      GiveUp("the list of the listening sockets outside cannot be read");
    }
    if (search_.look_in_places)
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
  std::optional<std::vector<UnixSocket>> ReadSockets() const {
    std::map<uint64_t, UnixSocket> known;
    std::optional<UnixDump> dump = search_.dump();
    if (!dump || !dump->whole) {
      const Fd fd(open(search_.table, O_RDONLY | O_CLOEXEC));
      if (!fd) return std::nullopt;
      const Result<std::string> table = ReadAll(fd.get(), kMaxTable);
      if (!table) return std::nullopt;
      for (UnixSocket& socket : ParseUnixSockets(*table))
        known[socket.inode] = std::move(socket);
    }
    if (dump)
      for (UnixSocket& socket : dump->sockets)
        known[socket.inode] = std::move(socket);
    std::vector<UnixSocket> sockets;
    for (auto& [inode, socket] : known) sockets.push_back(std::move(socket));
    return sockets;
  }

  // What is at `path`, where that is a socket.
  std::optional<SocketFile> Look(const std::string& path) const {
    std::optional<SocketFile> file = search_.look(path);
    if (file && !S_ISSOCK(file->info.st_mode)) file.reset();
    return file;
  }

  void Take(SocketFile file) {
    numbers_.insert(static_cast<uint32_t>(file.info.st_ino));
    if (!taken_.insert(file.path).second) return;
    found_.paths.push_back(file.path);
    if (file.info.st_nlink > 1) linked_.push_back(std::move(file));
  }
  void Take(const std::string& path) {
    if (std::optional<SocketFile> file = Look(path)) Take(std::move(*file));
  }

  static bool IsBoundTo(const UnixSocket& socket, const SocketFile& file) {
    return socket.file == static_cast<uint32_t>(file.info.st_ino);
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

  // Another may have taken its name since, or have it in another root.
  void FindAbsolute(const UnixSocket& socket, bool alone) {
    if (std::optional<SocketFile> file = Look(socket.name)) {
      const bool found = socket.file ? IsBoundTo(socket, *file) : alone;
      Take(std::move(*file));
      if (found) return;
    }
    const std::string directory(DirName(socket.name));
    if (!search_.covered(directory)) {
      AddLiveIn(directory);
      AddLiveIn(std::string(DirName(directory)));
    }
    if (socket.file && !numbers_.contains(*socket.file) &&
        Sees(socket.device) && !IsHidden(socket) && StillListed(socket.inode))
      Lose(socket.name);
  }

  // Whether something of this file system may be seen inside.
  bool Sees(const std::string& device) const {
    return std::ranges::any_of(search_.mounts, [&](const HostMount& mount) {
      return mount.device == device &&
             (!search_.covered(mount.place) ||
              std::ranges::any_of(search_.places,
                                  [&](const std::string& place) {
                                    return IsWithin(place, mount.place);
                                  }));
    });
  }

  // Of a socket that its name does not lead to: whether it is covered now, or
  // its file was removed or is not told.
  bool IsHidden(const UnixSocket& socket) {
    if (IsSomebodyElses(socket)) return true;
    const auto take = [&](const std::string& path) {
      std::optional<SocketFile> file = Look(path);
      if (!file || !IsBoundTo(socket, *file)) return false;
      Take(std::move(*file));
      return true;
    };
    constexpr std::string_view kProc = "/proc/";
    if (socket.name.starts_with(kProc)) {
      const size_t rest = socket.name.find('/', kProc.size());
      return rest != std::string::npos &&
             (std::ranges::any_of(Processes(),
                                  [&](const Process& process) {
                                    return take(process.link +
                                                socket.name.substr(rest));
                                  }) ||
              IsNamedByItsHolder(socket, take));
    }
    for (const Process& process : Processes()) {
      if (!process.elsewhere || !Holds(process, socket.inode)) continue;
      if (process.root != "/" && take(process.root + socket.name)) return true;
      const auto theirs = ReadMounts(process.number);
      return theirs && std::ranges::any_of(
                           NamesOf(search_.mounts, *theirs, socket.name), take);
    }
    return true;
  }

  struct Process {
    std::string number, link;  // /proc/PID
    std::string working, root;
    bool elsewhere = false;  // its root or its mounts are others than gate's
  };

  // The descriptor that the name goes through may be closed by now: podman's
  // conmon binds /proc/self/fd/N/attach in the directory of its container. The
  // one who listens knows the directory, by its words or its other descriptors.
  template <typename Take>
  bool IsNamedByItsHolder(const UnixSocket& socket, const Take& take) {
    const std::string name(BaseName(socket.name));
    for (const Process& process : Processes()) {
      const std::optional<std::vector<std::string>> files =
          FilesOf(process, socket.inode);
      if (!files) continue;
      std::vector<std::string> places = WordsOf(process);
      places.push_back(process.working);
      places.insert(places.end(), files->begin(), files->end());
      if (places.size() > kMaxPlaces) places.resize(kMaxPlaces);
      for (const std::string& place : places)
        if (place.starts_with('/') &&
            (take(Join(place, name)) ||
             take(Join(std::string(DirName(place)), name))))
          return true;
    }
    return false;
  }

  // The files that this process has open, where the socket is one of them.
  static std::optional<std::vector<std::string>> FilesOf(const Process& process,
                                                         uint64_t inode) {
    DIR* list = opendir((process.link + "/fd").c_str());
    if (list == nullptr) return std::nullopt;
    const std::string socket = "socket:[" + std::to_string(inode) + "]";
    std::vector<std::string> files;
    bool holds = false;
    while (const dirent* entry = readdir(list)) {
      if (entry->d_name[0] == '.') continue;
      std::string file = LinkOf(process.link + "/fd/" + entry->d_name);
      holds = holds || file == socket;
      if (file.starts_with('/') && files.size() < kMaxPlaces)
        files.push_back(std::move(file));
    }
    closedir(list);
    if (!holds) return std::nullopt;
    return files;
  }

  // The paths among its arguments. They are its own to say: what they lead to
  // counts only by the number of its file.
  static std::vector<std::string> WordsOf(const Process& process) {
    std::vector<std::string> words;
    const Fd file(
        open((process.link + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return words;
    const Result<std::string> text = ReadAll(file.get(), kMaxWords);
    if (!text) return words;
    for (size_t begin = 0; begin < text->size();) {
      const size_t end = std::min(text->find('\0', begin), text->size());
      const std::string word = text->substr(begin, end - begin);
      begin = end + 1;
      const size_t path = word.starts_with('-') ? word.find('/') : 0;
      if (path != std::string::npos && word.size() > path &&
          word[path] == '/' && words.size() < kMaxPlaces)
        words.push_back(word.substr(path));
    }
    return words;
  }

  static bool IsSomebodyElses(const UnixSocket& socket) {
    return geteuid() != 0 && socket.owner && *socket.owner != geteuid();
  }

  void FindRelative(const UnixSocket& socket) {
    bool found = false;
    for (const std::string& directory : WorkingDirectories()) {
      const std::string path = Join(directory, socket.name);
      std::optional<SocketFile> file;
      if (!IsLiveSocket(path) || !(file = Look(path))) continue;
      // Of several of that name each has another file.
      found = found || IsBoundTo(socket, *file);
      Take(std::move(*file));
    }
    if (found || (socket.file && TakeByNumber(socket.name, *socket.file)))
      return;
    // Of somebody else's processes an ordinary user sees no working directory:
    // nearly every machine with a mail server has such sockets.
    if (IsSomebodyElses(socket)) return;
    if (StillListed(socket.inode)) Lose(socket.name);
  }

  // What has lost the name it was bound by, where that was.
  bool TakeByNumber(const std::string& name, uint32_t number) {
    bool found = false;
    std::set<std::string> directories;
    for (const std::string& from : WorkingDirectories())
      directories.emplace(DirName(Join(from, name)));
    for (const std::string& directory : directories) {
      DIR* list = opendir(directory.c_str());
      if (list == nullptr) continue;
      while (const dirent* entry = readdir(list)) {
        if (static_cast<uint32_t>(entry->d_ino) != number ||
            (entry->d_type != DT_SOCK && entry->d_type != DT_UNKNOWN))
          continue;
        const std::string path = Join(directory, entry->d_name);
        std::optional<SocketFile> file;
        if (!IsLiveSocket(path) || !(file = Look(path))) continue;
        found = true;
        Take(std::move(*file));
      }
      closedir(list);
    }
    return found;
  }

  // Sockets come and go while they are looked for.
  bool StillListed(uint64_t inode) const {
    const auto sockets = ReadSockets();
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

  // All processes that may be looked at.
  const std::vector<Process>& Processes() {
    if (walked_) return processes_;
    walked_ = true;
    const std::string proc = search_.processes;
    DIR* list = opendir(search_.processes);
    if (list == nullptr) return processes_;
    const std::string mounts = LinkOf(proc + "/self/ns/mnt");
    const std::string root = LinkOf(proc + "/self/root");
    while (const dirent* entry = readdir(list)) {
      if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
      Process process;
      process.number = entry->d_name;
      process.link = proc + "/" + process.number;
      process.working = LinkOf(process.link + "/cwd");
      if (process.working.empty()) continue;
      process.root = LinkOf(process.link + "/root");
      process.elsewhere =
          process.root != root || LinkOf(process.link + "/ns/mnt") != mounts;
      processes_.push_back(std::move(process));
    }
    closedir(list);
    return processes_;
  }
  std::set<std::string> WorkingDirectories() {
    std::set<std::string> directories;
    for (const Process& process : Processes())
      if (process.working.starts_with('/')) directories.insert(process.working);
    return directories;
  }

  static std::string LinkOf(const std::string& path) {
    char text[PATH_MAX];
    const ssize_t size = readlink(path.c_str(), text, sizeof(text));
    return size > 0 ? std::string(text, static_cast<size_t>(size)) : "";
  }

  static bool Holds(const Process& process, uint64_t inode) {
    DIR* list = opendir((process.link + "/fd").c_str());
    if (list == nullptr) return true;  // for all that is known
    const std::string socket = "socket:[" + std::to_string(inode) + "]";
    bool holds = false;
    while (const dirent* entry = readdir(list))
      if (entry->d_name[0] != '.' &&
          LinkOf(process.link + "/fd/" + entry->d_name) == socket) {
        holds = true;
        break;
      }
    closedir(list);
    return holds;
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
  std::set<std::string> taken_, looked_in_;
  std::set<uint32_t> numbers_;  // of the files that were taken
  std::vector<Process> processes_;
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
