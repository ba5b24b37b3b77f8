#include "backends/native/calls/calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "backends/native/calls/sockets.h"
#include "backends/native/calls/target.h"
#include "backends/process/sys.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

// Linux 6.6; the headers here are older.
constexpr unsigned long kSetFlags = SECCOMP_IOW(4, uint64_t);
constexpr unsigned long kSyncWakeUp = 1;

// Whether no directory can get another meaning by it.
bool LeavesDirectories(int number) {
#ifdef __x86_64__
  if (number == SYS_open || number == SYS_creat || number == SYS_mkdir ||
      number == SYS_chmod || number == SYS_chown || number == SYS_lchown)
    return true;
#endif
  return number == SYS_openat || number == SYS_mkdirat ||
         number == SYS_fchmodat || number == SYS_fchownat ||
         number == SYS_set_tid_address;
}

// What a connection is that `network` does not give.
ViolationKind Beyond(Network network) {
  switch (network) {
    case Network::kLoopback:
      return ViolationKind::kLoopbackOnly;
    case Network::kDomains:
      return ViolationKind::kListedDomainsOnly;
    case Network::kNone:
    case Network::kOpen:
      break;
  }
  return ViolationKind::kNoNetwork;
}

}  // namespace

CallWatch::CallWatch(const Profile& profile, const Command& command,
                     const NativePlan& plan,
                     const ProtectedPaths& protected_paths)
    : profile_(profile), command_(command), plan_(plan) {
  for (const Bind& bind : protected_paths.binds())
    (bind.read_only ? protected_ : pinned_).push_back(bind.path);
  struct stat info = {};
  if (stat("/proc/self/exe", &info) == 0) self_ = IdentityOf(info);
}

void CallWatch::SetListener(Fd listener) {
  listener_ = std::move(listener);
  // Both sides take turns, so the next one should run on the same processor.
  ioctl(listener_.get(), kSetFlags, kSyncWakeUp);
}

void CallWatch::Join(Watch* watch) {
  kill_ = watch->kill;
  watch->served.push_back(
      {[this] { return pollfd{listener_ ? listener_.get() : -1, POLLIN, 0}; },
       [this](short events) {
         if (events & POLLIN)
           Serve();
         else
           listener_.reset();  // nobody is left who could call
       }});
  watch->tick = [this] { return Tick(); };
}

void CallWatch::Finish(Outcome* outcome) {
  Tick();
  outcome->violations.insert(outcome->violations.end(), violations_.begin(),
                             violations_.end());
  if (more_ > 0)
    outcome->violations.push_back(
        {ViolationKind::kMore, std::to_string(more_) + " other attempts"});
  outcome->programs = std::move(programs_);
  outcome->starts = starts_;
  if (ended_.empty()) return;
  outcome->status = OutcomeStatus::kViolation;
  outcome->signal = SIGKILL;
  outcome->reason = ended_;
}

void CallWatch::Serve() {
  seccomp_notif call = {};
  if (ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_RECV, &call) != 0) return;
  const int error = Look(call);
  // Nobody goes on in a run that ends; its end takes a moment.
  if (!ended_.empty()) return;
  seccomp_notif_resp answer = {};
  answer.id = call.id;
  if (error > 0)
    answer.error = -error;
  else if (error != kDone)
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

int CallWatch::Tick() {
  int wait = -1;
  if (root_) EndRun(starts_going_.Tick(root_.get(), &wait));
  return wait;
}

void CallWatch::EndRun(const std::string& why) {
  if (why.empty() || !ended_.empty()) return;
  ended_ = why;
  Report(ViolationKind::kExec, "going on: " + why);
  if (kill_) kill_();
}

int CallWatch::Look(const seccomp_notif& call) {
  const auto thread = static_cast<pid_t>(call.pid);
  const auto& args = call.data.args;
  const auto directory = [&](int n) { return static_cast<int>(args[n]); };
  if (root_)
    EndRun(starts_going_.Called(root_.get(), thread,
                                [&] { return StillWaits(call); }));
  if (!LeavesDirectories(call.data.nr)) writable_.clear();
  switch (call.data.nr) {
    case SYS_execve:
    case SYS_execveat:
      return LookAtExec(call);
    case SYS_kill:
      return LookAtSignal(call);
    case SYS_connect:
      LookAtConnect(call);
      break;
    case SYS_bind:
      LookAtBind(call);
      break;
    case SYS_openat:
      LookAtOpen(call, directory(0), args[1], args[2]);
      break;
    case SYS_unlinkat:
      LookAtRemoval(call, directory(0), args[1], (args[2] & AT_REMOVEDIR) != 0);
      break;
    case SYS_mknodat:
    case SYS_mkdirat:
      LookAtEntry(call, directory(0), args[1], false, "making");
      break;
    case SYS_symlinkat:
      LookAtEntry(call, directory(1), args[2], false, "making");
      break;
    case SYS_linkat:
      LookAtLink(call, directory(0), args[1], directory(2), args[3], args[4]);
      break;
    case SYS_renameat2:
      LookAtRename(call, directory(0), args[1], directory(2), args[3], args[4]);
      break;
#ifdef SYS_renameat
    case SYS_renameat:
      LookAtRename(call, directory(0), args[1], directory(2), args[3], 0);
      break;
#endif
    case SYS_fchmodat:
    case 452:  // fchmodat2
      LookAtTarget(call, directory(0), args[1], "changing the mode of");
      break;
    case SYS_fchownat:
      LookAtOwner(call, directory(0), args[1], args[2],
                  (args[4] & AT_SYMLINK_NOFOLLOW) == 0);
      break;
    case SYS_truncate:
      // Of nothing else is there a length.
      if (static_cast<int64_t>(args[1]) >= 0)
        LookAtTarget(call, AT_FDCWD, args[0], "writing", S_IFREG);
      break;
#ifdef __x86_64__
    case SYS_open:
      LookAtOpen(call, AT_FDCWD, args[0], args[1]);
      break;
    case SYS_creat:
      LookAtOpen(call, AT_FDCWD, args[0], O_CREAT | O_WRONLY | O_TRUNC);
      break;
    case SYS_unlink:
    case SYS_rmdir:
      LookAtRemoval(call, AT_FDCWD, args[0], call.data.nr == SYS_rmdir);
      break;
    case SYS_mkdir:
    case SYS_mknod:
      LookAtEntry(call, AT_FDCWD, args[0], false, "making");
      break;
    case SYS_link:
      LookAtLink(call, AT_FDCWD, args[0], AT_FDCWD, args[1], 0);
      break;
    case SYS_symlink:
      LookAtEntry(call, AT_FDCWD, args[1], false, "making");
      break;
    case SYS_rename:
      LookAtRename(call, AT_FDCWD, args[0], AT_FDCWD, args[1], 0);
      break;
    case SYS_chmod:
      LookAtTarget(call, AT_FDCWD, args[0], "changing the mode of");
      break;
    case SYS_chown:
    case SYS_lchown:
      LookAtOwner(call, AT_FDCWD, args[0], args[1], call.data.nr == SYS_chown);
      break;
#endif
    default:
      break;
  }
  return 0;
}

int CallWatch::LookAtSignal(const seccomp_notif& call) {
  const auto number = static_cast<pid_t>(call.data.args[0]);
  if (!command_.relay_signal || number <= 1 ||
      !OpenRoot(static_cast<pid_t>(call.pid)))
    return 0;
  // The sandbox's own /proc has its processes and no other, threads as well.
  if (target::OpenIn(root_.get(), "/proc/" + std::to_string(number), 0))
    return 0;
  if (errno != ENOENT || !StillWaits(call)) return 0;
  const int error =
      command_.relay_signal(number, static_cast<int>(call.data.args[1]));
  // Of one that is nowhere the kernel says so itself.
  if (error == 0) return kDone;
  return error == ESRCH ? 0 : error;
}

bool CallWatch::StillWaits(const seccomp_notif& call) const {
  uint64_t id = call.id;
  return ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void CallWatch::LookAtOpen(const seccomp_notif& call, int directory,
                           uint64_t path, uint64_t flags) {
  const auto thread = static_cast<pid_t>(call.pid);
  const std::string full = PathOf(thread, directory, path);
  if (full.empty() || !OpenRoot(thread)) return;
  const bool follow = (flags & O_NOFOLLOW) == 0;
  constexpr uint64_t kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  if ((flags & O_PATH) != 0) flags &= ~kWrites;
  if ((flags & kWrites) == 0) {
    if (profile_.report_reads && MeetsHidden(full, follow))
      ReportPath("reading", full, /*hidden=*/true);
    return;
  }
  constexpr uint64_t kMakesOnly = O_CREAT | O_EXCL;
  const bool in_writable = !writable_.empty() && DirName(full) == writable_;
  if ((flags & kMakesOnly) == kMakesOnly && in_writable) return;
  if (const Fd there =
          target::OpenIn(root_.get(), full, follow ? 0 : O_NOFOLLOW)) {
    if ((flags & kMakesOnly) == kMakesOnly) return;
    // A directory holds what has no name; it is not written itself.
    struct stat info = {};
    const bool unnamed = (flags & O_TMPFILE) == O_TMPFILE;
    if (fstat(there.get(), &info) == 0 && unnamed == S_ISDIR(info.st_mode) &&
        (unnamed || (flags & O_DIRECTORY) == 0) && Blocked(there.get(), full))
      ReportPath("writing", full);
    return;
  }
  if (errno == EACCES || errno == ENOENT) {
    // Root finds nothing in a hidden directory, others may not look.
    if (Hidden(full)) return ReportPath("writing", full);
    // A link that leads nowhere from here (/dev/stdout) is not judged.
    if ((flags & O_CREAT) != 0 && !in_writable &&
        !target::OpenIn(root_.get(), full, O_NOFOLLOW) && errno == ENOENT &&
        DirectoryBlocked(full))
      ReportPath("making", full);
  }
}

void CallWatch::LookAtEntry(const seccomp_notif& call, int directory,
                            uint64_t path, bool removes, const char* verb) {
  const auto thread = static_cast<pid_t>(call.pid);
  LookAtEntry(thread, PathOf(thread, directory, path), removes, verb);
}

void CallWatch::LookAtEntry(pid_t thread, const std::string& full, bool removes,
                            const char* verb) {
  if (full.empty() || full == "/" || !OpenRoot(thread)) return;
  const Fd there = target::OpenIn(root_.get(), full, O_NOFOLLOW);
  // What is to be made and is there, or is to be removed and is not, fails by
  // itself.
  if (removes != bool(there)) return;
  if (DirectoryBlocked(full) || (there && target::IsMountPoint(there.get())))
    ReportPath(verb, full);
}

CallWatch::Entry CallWatch::EntryAt(pid_t thread, int directory,
                                    uint64_t path) {
  const std::string full = PathOf(thread, directory, path);
  if (full.empty() || !OpenRoot(thread)) return Entry::kUnknown;
  const Fd there = target::OpenIn(root_.get(), full, O_NOFOLLOW);
  struct stat info = {};
  if (!there)
    return errno == ENOENT || errno == ENOTDIR ? Entry::kAbsent
                                               : Entry::kUnknown;
  if (fstat(there.get(), &info) != 0) return Entry::kUnknown;
  return S_ISDIR(info.st_mode) ? Entry::kDirectory : Entry::kOther;
}

bool CallWatch::HoldsSomething(const std::string& path) const {
  if (!root_) return false;
  const Fd there = target::OpenIn(root_.get(), path, O_NOFOLLOW);
  if (!there) return false;
  DIR* list = opendir(("/proc/self/fd/" + std::to_string(there.get())).c_str());
  if (list == nullptr) return false;
  bool some = false;
  while (const dirent* entry = readdir(list)) {
    const std::string_view name = entry->d_name;
    some = name != "." && name != "..";
    if (some) break;
  }
  closedir(list);
  return some;
}

void CallWatch::LookAtRemoval(const seccomp_notif& call, int directory,
                              uint64_t path, bool is_directory) {
  const Entry there = EntryAt(static_cast<pid_t>(call.pid), directory, path);
  if (there == (is_directory ? Entry::kOther : Entry::kDirectory)) return;
  if (is_directory &&
      HoldsSomething(PathOf(static_cast<pid_t>(call.pid), directory, path)))
    return;
  LookAtEntry(call, directory, path, true, "deleting");
}

void CallWatch::LookAtLink(const seccomp_notif& call, int from_directory,
                           uint64_t from, int directory, uint64_t path,
                           uint64_t flags) {
  const Entry old =
      (flags & AT_EMPTY_PATH) != 0
          ? Entry::kUnknown
          : EntryAt(static_cast<pid_t>(call.pid), from_directory, from);
  if (old == Entry::kAbsent || old == Entry::kDirectory) return;
  LookAtEntry(call, directory, path, false, "making");
}

void CallWatch::LookAtRename(const seccomp_notif& call, int from_directory,
                             uint64_t from, int directory, uint64_t path,
                             uint64_t flags) {
  constexpr uint64_t kNoReplace = 1, kExchange = 2;
  const auto thread = static_cast<pid_t>(call.pid);
  if (EntryAt(thread, from_directory, from) == Entry::kAbsent) return;
  const Entry there = EntryAt(thread, directory, path);
  if (flags != 0) {
    if ((flags & kExchange) != 0 && there == Entry::kAbsent) return;
    if ((flags & kNoReplace) != 0 &&
        (there == Entry::kDirectory || there == Entry::kOther))
      return;
  }
  LookAtEntry(call, from_directory, from, true, "moving");
  const bool replaces = there == Entry::kDirectory || there == Entry::kOther;
  LookAtEntry(call, directory, path, replaces,
              replaces ? "replacing" : "making");
}

void CallWatch::LookAtTarget(const seccomp_notif& call, int directory,
                             uint64_t path, const char* verb, mode_t type) {
  const auto thread = static_cast<pid_t>(call.pid);
  const std::string full = PathOf(thread, directory, path);
  if (full.empty() || !OpenRoot(thread)) return;
  const Fd there = target::OpenIn(root_.get(), full, 0);
  struct stat info = {};
  if (!there || (type != 0 && (fstat(there.get(), &info) != 0 ||
                               (info.st_mode & S_IFMT) != type)))
    return;
  if (Blocked(there.get(), full)) ReportPath(verb, full);
}

void CallWatch::LookAtOwner(const seccomp_notif& call, int directory,
                            uint64_t path, uint64_t owner, bool follow) {
  const auto thread = static_cast<pid_t>(call.pid);
  const std::string full = PathOf(thread, directory, path);
  if (full.empty() || !OpenRoot(thread)) return;
  const Fd there = target::OpenIn(root_.get(), full, follow ? 0 : O_NOFOLLOW);
  struct stat info = {};
  if (!there || fstat(there.get(), &info) != 0) return;
  // But for root only its owner may, and only keep it.
  const auto wanted = static_cast<uid_t>(owner);
  if (geteuid() != 0 &&
      (info.st_uid != geteuid() ||
       (wanted != static_cast<uid_t>(-1) && wanted != info.st_uid)))
    return;
  if (Blocked(there.get(), full)) ReportPath("changing the owner of", full);
}

void CallWatch::LookAtConnect(const seccomp_notif& call) {
  const auto thread = static_cast<pid_t>(call.pid);
  sockaddr_storage address = {};
  const size_t size = std::min<uint64_t>(call.data.args[2], sizeof(address));
  if (target::Read(thread, call.data.args[1], &address, size) != size) return;
  if (address.ss_family == AF_UNIX) {
    const std::string full = LocalPath(thread, address, size);
    if (full.empty()) return;
    struct stat outside = {}, inside = {};
    if (!OpenRoot(thread) || stat(full.c_str(), &outside) != 0 ||
        !S_ISSOCK(outside.st_mode))
      return;
    const Fd there = target::OpenIn(root_.get(), full, 0);
    if (there && fstat(there.get(), &inside) == 0 && S_ISSOCK(inside.st_mode))
      return;
    Report(ViolationKind::kHidden, "connecting to " + full);
    return;
  }
  if (profile_.network == Network::kOpen) return;
  const auto where = Internet(address);
  if (!where || where->loopback) return;
  Report(Beyond(profile_.network), "connecting to " + where->text);
}

void CallWatch::LookAtBind(const seccomp_notif& call) {
  const auto thread = static_cast<pid_t>(call.pid);
  sockaddr_storage address = {};
  const size_t size = std::min<uint64_t>(call.data.args[2], sizeof(address));
  if (target::Read(thread, call.data.args[1], &address, size) != size) return;
  if (const std::string full = LocalPath(thread, address, size); !full.empty())
    return LookAtEntry(thread, full, false, "making");
  // The loopback of its own is the only interface with an address.
  if (profile_.network == Network::kOpen) return;
  const auto where = Internet(address);
  if (!where || where->loopback || where->multicast) return;
  Report(Beyond(profile_.network), "listening on " + where->text);
}

bool CallWatch::OpenRoot(pid_t thread) {
  // One for all: nobody inside can change its root or its mounts.
  if (root_) return true;
  const std::string path = "/proc/" + std::to_string(thread) + "/root";
  root_ = Fd(open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return bool(root_);
}

std::string CallWatch::PathOf(pid_t thread, int directory, uint64_t path) {
  std::string text;
  if (!target::ReadString(thread, path, &text)) return "";
  if (text.starts_with('/')) return text;
  const std::string base =
      directory == AT_FDCWD
          ? target::LinkOf(thread, "cwd")
          : target::LinkOf(thread, ("fd/" + std::to_string(directory)).c_str());
  if (!base.starts_with('/')) return "";
  while (text.starts_with("./")) text.erase(0, 2);
  return text.empty() ? base : (base == "/" ? "/" : base + "/") + text;
}

bool CallWatch::DirectoryBlocked(const std::string& path) {
  const std::string_view directory = DirName(path);
  if (!writable_.empty() && directory == writable_) return false;
  const Fd there = target::OpenIn(root_.get(), std::string(directory), 0);
  if (!there) return false;
  if (Blocked(there.get(), std::string(directory))) return true;
  writable_ = directory;
  return false;
}

// Whether writing to what is there is refused by a read-only mount, and not
// already by its permissions.
bool CallWatch::Blocked(int there, const std::string& path) const {
  if (target::MayWrite(there)) return RefusedFifo(there);
  // Outside it may be another's: then it would have failed there as well.
  if (errno == EROFS)
    return faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0 ||
           errno != EACCES;
  // A hidden path is one that nobody may open.
  return errno == EACCES && Hidden(path);
}

// A read-only mount does not keep a FIFO from being written; Landlock does,
// outside of the writable roots.
bool CallWatch::RefusedFifo(int there) const {
  struct stat info = {};
  if (plan_.abi == 0 || fstat(there, &info) != 0 || !S_ISFIFO(info.st_mode))
    return false;
  const std::string path =
      target::LinkOf(getpid(), ("fd/" + std::to_string(there)).c_str());
  return path.starts_with('/') && !plan_.write_everything &&
         std::none_of(plan_.landlock.begin(), plan_.landlock.end(),
                      [&](const LandlockRoot& root) {
                        return IsWithin(path, root.path);
                      });
}

// Whether opening `path` ends at what stands in a hidden path's place, by
// whatever links it leads there.
bool CallWatch::MeetsHidden(std::string path, bool follow) {
  if (!knows_hidden_) {
    knows_hidden_ = true;
    for (const std::string& place : profile_.deny_read) {
      struct stat info = {};
      const Fd there = target::OpenIn(root_.get(), place, 0);
      if (there && fstat(there.get(), &info) == 0 &&
          target::IsMountPoint(there.get()))
        hidden_.insert({info.st_dev, info.st_ino});
    }
  }
  if (hidden_.empty()) return false;
  while (!path.empty()) {
    const Fd there = target::OpenIn(root_.get(), path, follow ? 0 : O_NOFOLLOW);
    struct stat info = {};
    if (there)
      return fstat(there.get(), &info) == 0 &&
             hidden_.contains({info.st_dev, info.st_ino});
    if (errno != EACCES && errno != ENOENT) return false;
    // Below a hidden directory there is nothing; so look at what it is in.
    path.resize(path.rfind('/'));
    follow = true;
  }
  return false;
}

bool CallWatch::Hidden(const std::string& path) const {
  return std::any_of(
      profile_.deny_read.begin(), profile_.deny_read.end(),
      [&](const std::string& hidden) { return IsWithin(path, hidden); });
}

void CallWatch::ReportPath(const char* verb, const std::string& raw,
                           bool hidden) {
  const std::string path = Normalise(raw, "/");
  const auto among = [&](const std::vector<std::string>& places) {
    return std::any_of(
        places.begin(), places.end(),
        [&](const std::string& place) { return IsWithin(path, place); });
  };
  ViolationKind kind = ViolationKind::kReadOnly;
  if (hidden || Hidden(path))
    kind = ViolationKind::kHidden;
  else if (among(protected_))
    kind = ProtectedKind(path);
  else if (std::find(pinned_.begin(), pinned_.end(), path) != pinned_.end())
    kind = ViolationKind::kPinned;
  Report(kind, std::string(verb) + " " + path);
}

void CallWatch::Report(ViolationKind kind, const std::string& detail) {
  if (reported_.contains(detail)) return;
  if (violations_.size() >= kMaxReported) {
    ++more_;
    return;
  }
  reported_.insert(detail);
  violations_.push_back({kind, detail});
}

}  // namespace gate::backends
