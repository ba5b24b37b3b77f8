#include "backends/native/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "backends/native/sockets.h"
#include "backends/native/sys.h"
#include "backends/native/target.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::backends {
namespace {

// Linux 6.6; the headers here are older.
constexpr unsigned long kSetFlags = SECCOMP_IOW(4, uint64_t);
constexpr unsigned long kSyncWakeUp = 1;
constexpr int kTcpAbi = 4;  // from which on Landlock refuses TCP

// Whether no directory can get another meaning by it.
bool LeavesDirectories(int number) {
#ifdef __x86_64__
  if (number == SYS_open || number == SYS_creat || number == SYS_mkdir ||
      number == SYS_chmod)
    return true;
#endif
  return number == SYS_openat || number == SYS_mkdirat ||
         number == SYS_fchmodat || number == SYS_set_tid_address;
}

// One message, and how many descriptors came with it. -1 with errno.
ssize_t Receive(int socket, void* message, size_t size, int* files,
                int* count) {
  iovec part = {message, size};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  *count = 0;
  const cmsghdr* item = got > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
  if (item == nullptr || item->cmsg_type != SCM_RIGHTS) return got;
  const size_t bytes = item->cmsg_len - CMSG_LEN(0);
  *count = static_cast<int>(bytes / sizeof(int));
  memcpy(files, CMSG_DATA(item), bytes);
  return got;
}

}  // namespace

Result<Fd> ReceiveListener(int socket, void* message, size_t size,
                           ssize_t* got) {
  int files[kMaxDescriptors], count = 0;
  *got = Receive(socket, message, size, files, &count);
  if (count == 0) return Fail(ErrorCode::kNotFound, "no descriptor came");
  return Fd(files[0]);  // only one is ever sent
}

int SendDescriptors(int socket, const int* files, int count) {
  const size_t size = static_cast<size_t>(count) * sizeof(int);
  char byte = 'l';
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(size);
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(item), files, size);
  return sendmsg(socket, &header, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

int ReceiveDescriptors(int socket, int* files, int count) {
  char byte = 0;
  int all[kMaxDescriptors], came = 0;
  const ssize_t got = Receive(socket, &byte, 1, all, &came);
  if (got < 0) return -1;
  if (came != count) {
    errno = EPROTO;
    return -1;
  }
  memcpy(files, all, static_cast<size_t>(count) * sizeof(int));
  return 0;
}

int SendListener(int socket, int listener) {
  return SendDescriptors(socket, &listener, 1);
}

CallWatch::CallWatch(const Profile& profile, const Command& command,
                     const NativePlan& plan, const Guard& guard)
    : profile_(profile), command_(command), plan_(plan) {
  for (const Bind& bind : guard.binds())
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
        {"more", std::to_string(more_) + " other attempts"});
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
  if (error != 0)
    answer.error = -error;
  else
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
  Report("exec", "going on: " + why);
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
      LookAtEntry(call, directory(0), args[1], true, "deleting");
      break;
    case SYS_mkdirat:
      LookAtEntry(call, directory(0), args[1], false, "making");
      break;
    case SYS_symlinkat:
      LookAtEntry(call, directory(1), args[2], false, "making");
      break;
    case SYS_linkat:
      LookAtEntry(call, directory(2), args[3], false, "making");
      break;
    case SYS_renameat2:
#ifdef SYS_renameat
    case SYS_renameat:
#endif
      LookAtEntry(call, directory(0), args[1], true, "moving");
      LookAtEntry(call, directory(2), args[3], true, "replacing");
      break;
    case SYS_fchmodat:
    case 452:  // fchmodat2
      LookAtTarget(call, directory(0), args[1], "changing the mode of");
      break;
    case SYS_truncate:
      LookAtTarget(call, AT_FDCWD, args[0], "writing");
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
      LookAtEntry(call, AT_FDCWD, args[0], true, "deleting");
      break;
    case SYS_mkdir:
      LookAtEntry(call, AT_FDCWD, args[0], false, "making");
      break;
    case SYS_symlink:
    case SYS_link:
      LookAtEntry(call, AT_FDCWD, args[1], false, "making");
      break;
    case SYS_rename:
      LookAtEntry(call, AT_FDCWD, args[0], true, "moving");
      LookAtEntry(call, AT_FDCWD, args[1], true, "replacing");
      break;
    case SYS_chmod:
      LookAtTarget(call, AT_FDCWD, args[0], "changing the mode of");
      break;
#endif
    default:
      break;
  }
  return 0;
}

bool CallWatch::IsFirstExec(const seccomp_notif& call) {
  // Process 1 is a copy of this process, so its strings lie where ours do.
  const auto thread = static_cast<pid_t>(call.pid);
  if (call.data.nr != SYS_execve || (first_ != 0 && first_ != thread))
    return false;
  const auto& programs = plan_.programs;
  for (int i = first_index_ + 1; i < static_cast<int>(programs.size()); ++i) {
    const char* program = programs[static_cast<size_t>(i)];
    if (call.data.args[0] != reinterpret_cast<uint64_t>(program)) continue;
    struct stat info = {};
    const std::string exe = "/proc/" + std::to_string(thread) + "/exe";
    // Before its exec it is gate itself, which an ordinary user's gate may
    // not even look at.
    if (stat(exe.c_str(), &info) == 0 && IdentityOf(info) != self_)
      return false;
    first_ = thread;
    first_index_ = i;
    return true;
  }
  return false;
}

bool CallWatch::StillWaits(const seccomp_notif& call) const {
  uint64_t id = call.id;
  return ioctl(listener_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

int CallWatch::LookAtExec(const seccomp_notif& call) {
  if (!profile_.watch_execs || IsFirstExec(call)) return 0;
  const auto thread = static_cast<pid_t>(call.pid);
  const bool at = call.data.nr == SYS_execveat;
  const auto& args = call.data.args;
  ExecEvent event;
  event.cwd = target::LinkOf(thread, "cwd");
  std::string text;
  NamedProgram program;
  program.error = EACCES;
  program.opaque = true;
  if (target::ReadString(thread, args[at ? 1 : 0], &text) && OpenRoot(thread))
    program = FindProgram(root_.get(), thread,
                          at ? static_cast<int>(args[0]) : AT_FDCWD, text);
  event.path = program.path;
  if (program.error != 0) {
    // One that is ended while it asks starts nothing, and hid nothing.
    if (program.opaque && StillWaits(call))
      Report("exec", "starting a program whose name cannot be followed");
    // A shell's search tries many names that are not there.
    return program.error;
  }
  event.complete = target::ReadVector(thread, args[at ? 2 : 1], &event.argv);
  if (!event.complete && errno == E2BIG) {
    if (StillWaits(call))
      Report("exec", "starting " + event.path + ": its arguments are too long");
    return E2BIG;
  }
  Expectation expected;
  const int error =
      Expect(root_.get(), program, event.cwd, event.argv, &expected);
  if (error == EACCES)
    Report("exec", "starting " + event.path + ": it cannot be read");
  if (error != 0) return error;
  ++starts_;
  ExecVerdict verdict;
  if (command_.judge_exec)
    verdict = command_.judge_exec(event);
  else
    verdict.reason = "nothing judges program starts";
  // The id is of this call: whoever asks now is the one that was looked at.
  if (!StillWaits(call)) return 0;
  if (!verdict.allow) {
    Report("exec", "starting " + event.path + ": " + verdict.reason);
    return EACCES;
  }
  if (!starts_going_.LetThrough(
          thread, [&] { return StillWaits(call); }, std::move(expected))) {
    Report("exec", "starting " + event.path + ": its process cannot be seen");
    return EACCES;
  }
  const auto known = std::find_if(
      programs_.begin(), programs_.end(),
      [&](const StartedProgram& p) { return p.path == event.path; });
  if (known != programs_.end())
    ++known->times;
  else if (programs_.size() < kMaxStartedPrograms)
    programs_.push_back({event.path, 1});
  return 0;
}

void CallWatch::LookAtOpen(const seccomp_notif& call, int directory,
                           uint64_t path, uint64_t flags) {
  const auto thread = static_cast<pid_t>(call.pid);
  const std::string full = PathOf(thread, directory, path);
  if (full.empty() || !OpenRoot(thread)) return;
  const bool follow = (flags & O_NOFOLLOW) == 0;
  constexpr uint64_t kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
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
    if (Blocked(there.get(), full)) ReportPath("writing", full);
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
  const std::string full = PathOf(thread, directory, path);
  if (full.empty() || full == "/" || !OpenRoot(thread)) return;
  const Fd there = target::OpenIn(root_.get(), full, O_NOFOLLOW);
  // What is to be made and is there, or is to be removed and is not, fails by
  // itself.
  if (removes ? !there && strcmp(verb, "replacing") != 0 : bool(there)) return;
  if (DirectoryBlocked(full) || (there && target::IsMountPoint(there.get())))
    ReportPath(verb, full);
}

void CallWatch::LookAtTarget(const seccomp_notif& call, int directory,
                             uint64_t path, const char* verb) {
  const auto thread = static_cast<pid_t>(call.pid);
  const std::string full = PathOf(thread, directory, path);
  if (!full.empty() && OpenRoot(thread) && Blocked(full))
    ReportPath(verb, full);
}

void CallWatch::LookAtConnect(const seccomp_notif& call) {
  const auto thread = static_cast<pid_t>(call.pid);
  sockaddr_storage address = {};
  const size_t size = std::min<uint64_t>(call.data.args[2], sizeof(address));
  if (target::Read(thread, call.data.args[1], &address, size) != size) return;
  if (address.ss_family == AF_UNIX) {
    const auto& local = reinterpret_cast<const sockaddr_un&>(address);
    if (size <= sizeof(sa_family_t) || local.sun_path[0] == '\0') return;
    const std::string name(
        local.sun_path,
        strnlen(local.sun_path, std::min(size - offsetof(sockaddr_un, sun_path),
                                         sizeof(local.sun_path))));
    const std::string full = Normalise(name, target::LinkOf(thread, "cwd"));
    struct stat outside = {}, inside = {};
    if (!OpenRoot(thread) || stat(full.c_str(), &outside) != 0 ||
        !S_ISSOCK(outside.st_mode))
      return;
    const Fd there = target::OpenIn(root_.get(), full, 0);
    if (there && fstat(there.get(), &inside) == 0 && S_ISSOCK(inside.st_mode))
      return;
    Report("hidden", "connecting to " + full);
    return;
  }
  if (profile_.network == Network::kOpen) return;
  const auto where = Internet(address);
  if (!where || (where->loopback && profile_.network != Network::kNone)) return;
  Report(std::string("network: ") + Name(profile_.network),
         "connecting to " + where->text);
}

void CallWatch::LookAtBind(const seccomp_notif& call) {
  // Without a network no interface has an address. Of all addresses together a
  // datagram socket gets a port all the same; for TCP Landlock refuses it.
  if (profile_.network != Network::kNone) return;
  const auto thread = static_cast<pid_t>(call.pid);
  sockaddr_storage address = {};
  const size_t size = std::min<uint64_t>(call.data.args[2], sizeof(address));
  if (target::Read(thread, call.data.args[1], &address, size) != size) return;
  const auto where = Internet(address);
  if (!where) return;
  if (where->any && (plan_.abi < kTcpAbi ||
                     !IsStream(thread, static_cast<int>(call.data.args[0]))))
    return;
  Report(std::string("network: ") + Name(profile_.network),
         "listening on " + where->text);
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

// Whether writing to what is there is refused by a read-only mount, and not
// already by its permissions.
bool CallWatch::Blocked(const std::string& path) const {
  const Fd there = target::OpenIn(root_.get(), path, 0);
  return there && Blocked(there.get(), path);
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

bool CallWatch::Blocked(int there, const std::string& path) const {
  if (target::MayWrite(there)) return false;
  if (errno == EROFS) return true;
  // A hidden path is one that nobody may open.
  return errno == EACCES && Hidden(path);
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
  std::string kind = "read-only";
  if (hidden || Hidden(path))
    kind = "hidden";
  else if (among(protected_))
    kind = std::string("protected: ") + ProtectedKind(path);
  else if (std::find(pinned_.begin(), pinned_.end(), path) != pinned_.end())
    kind = "holds protected paths";
  Report(kind, std::string(verb) + " " + path);
}

void CallWatch::Report(const std::string& kind, const std::string& detail) {
  if (reported_.contains(detail)) return;
  if (violations_.size() >= kMaxReported) {
    ++more_;
    return;
  }
  reported_.insert(detail);
  violations_.push_back({kind, detail});
}

const char* ProtectedKind(const std::string& path) {
  static constexpr std::string_view kShell[] = {
      ".bashrc",       ".bash_profile", ".bash_login", ".bash_logout",
      ".bash_aliases", ".profile",      ".zshrc",      ".zprofile",
      ".zshenv",       ".zlogin",       ".zlogout",    ".kshrc",
      ".cshrc",        ".tcshrc",       ".login",      ".inputrc",
      "fish",          ".envrc",        ".direnvrc",   ".bashrc.d"};
  static constexpr std::string_view kGit[] = {".git", ".gitconfig", "hooks",
                                              "git"};
  static constexpr std::string_view kAgent[] = {
      ".claude",   ".claude.json", ".codex",          ".cursor",
      ".gemini",   ".opencode",    "opencode.json",   "opencode.jsonc",
      ".continue", ".windsurf",    ".aider.conf.yml", ".amp",
      ".mcp.json", ".gate"};
  static constexpr std::string_view kEditor[] = {
      ".vscode", ".idea",         ".zed",    ".helix",
      ".exrc",   ".devcontainer", ".nvimrc", ".devcontainer.json"};
  static constexpr std::string_view kTool[] = {
      ".npmrc", ".yarnrc", ".pypirc", ".ripgreprc", ".gdbinit", ".lldbinit"};
  size_t begin = 0;
  while (begin < path.size()) {
    size_t end = path.find('/', begin);
    if (end == std::string::npos) end = path.size();
    const std::string_view part(path.data() + begin, end - begin);
    const auto in = [&](const auto& names) {
      return std::find(std::begin(names), std::end(names), part) !=
             std::end(names);
    };
    if (part.starts_with('.') || end == path.size()) {
      if (in(kShell)) return "shell-startup";
      if (in(kAgent)) return "agent-settings";
      if (in(kGit)) return "git";
      if (in(kEditor)) return "editor";
      if (in(kTool)) return "tool-settings";
    }
    begin = end + 1;
  }
  return "path";
}

}  // namespace gate::backends
