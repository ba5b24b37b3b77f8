#include "backends/native/calls.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>

#include "backends/native/sys.h"
#include "backends/native/target.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::backends {
namespace {

// Linux 6.6; the headers here are older.
constexpr unsigned long kSetFlags = SECCOMP_IOW(4, uint64_t);
constexpr unsigned long kSyncWakeUp = 1;
constexpr uint64_t kPendingMs = 2000;

}  // namespace

Result<Fd> ReceiveListener(int socket, void* message, size_t size,
                           ssize_t* got) {
  iovec part = {message, size};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  do {
    *got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (*got < 0 && errno == EINTR);
  const cmsghdr* item = *got > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
  if (item == nullptr || item->cmsg_type != SCM_RIGHTS)
    return Fail(ErrorCode::kNotFound, "no descriptor came");
  int fd = -1;
  memcpy(&fd, CMSG_DATA(item), sizeof(fd));
  return Fd(fd);
}

int SendListener(int socket, int listener) {
  char byte = 'l';
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(item), &listener, sizeof(listener));
  return sendmsg(socket, &header, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

CallWatch::CallWatch(const Profile& profile, const Command& command,
                     const NativePlan& plan, const Guard& guard)
    : profile_(profile), command_(command), plan_(plan) {
  for (const Bind& bind : guard.binds())
    (bind.read_only ? protected_ : pinned_).push_back(bind.path);
  struct stat info = {};
  if (stat("/proc/self/exe", &info) == 0) self_ = {info.st_dev, info.st_ino};
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
  for (auto& [process, pending] : pending_) CheckPending(process, &pending);
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
  const uint64_t now = MonotonicMs();
  for (auto at = pending_.begin(); at != pending_.end();) {
    const uint64_t age = now - at->second.since_ms;
    if (CheckPending(at->first, &at->second) || age > kPendingMs) {
      at = pending_.erase(at);
      continue;
    }
    const int next = age < 10 ? 1 : 20;
    wait = wait < 0 ? next : std::min(wait, next);
    ++at;
  }
  return wait;
}

// True when there is nothing more to learn.
bool CallWatch::CheckPending(pid_t process, Pending* pending) {
  struct stat info = {};
  const std::string path = "/proc/" + std::to_string(process) + "/exe";
  if (stat(path.c_str(), &info) != 0) return true;  // it has ended
  const File now = {info.st_dev, info.st_ino};
  if (std::find(pending->expected.begin(), pending->expected.end(), now) !=
      pending->expected.end())
    return true;
  if (now == pending->before) return false;  // not yet, or it failed
  EndRun("another program was started than the one that was let through as `" +
         pending->path + "`");
  return true;
}

void CallWatch::EndRun(const std::string& why) {
  if (!ended_.empty()) return;
  ended_ = why;
  Report("exec", "going on: " + why);
  if (kill_) kill_();
}

int CallWatch::Look(const seccomp_notif& call) {
  const auto thread = static_cast<pid_t>(call.pid);
  const auto& args = call.data.args;
  const auto directory = [&](int n) { return static_cast<int>(args[n]); };
  if (!pending_.empty()) {
    const auto at = pending_.find(target::ProcessOf(thread));
    if (at != pending_.end()) {
      // It makes calls again, so its start is over.
      CheckPending(at->first, &at->second);
      pending_.erase(at);
    }
  }
  switch (call.data.nr) {
    case SYS_execve:
    case SYS_execveat:
      return LookAtExec(call);
    case SYS_connect:
      LookAtConnect(call);
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
    if (stat(exe.c_str(), &info) == 0 &&
        File{info.st_dev, info.st_ino} != self_)
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
  event.path = PathOf(thread, at ? static_cast<int>(args[0]) : AT_FDCWD,
                      args[at ? 1 : 0]);
  if (event.path.empty() || !OpenRoot(thread)) {
    // One that is ended while it asks starts nothing, and hid nothing.
    if (StillWaits(call))
      Report("exec", "starting a program whose name cannot be read");
    return EACCES;
  }
  event.complete = target::ReadVector(thread, args[at ? 2 : 1], &event.argv);
  // A shell's search tries many names that are not there.
  const std::vector<File> expected = Expected(event.path);
  if (expected.empty()) return ENOENT;
  ++starts_;
  ExecVerdict verdict;
  if (command_.judge_exec)
    verdict = command_.judge_exec(event);
  else
    verdict.reason = "nothing judges program starts";
  if (!StillWaits(call)) return 0;
  if (!verdict.allow) {
    Report("exec", "starting " + event.path + ": " + verdict.reason);
    return EACCES;
  }
  const auto known = std::find_if(
      programs_.begin(), programs_.end(),
      [&](const StartedProgram& p) { return p.path == event.path; });
  if (known != programs_.end())
    ++known->times;
  else if (programs_.size() < kMaxStartedPrograms)
    programs_.push_back({event.path, 1});
  struct stat info = {};
  const pid_t process = target::ProcessOf(thread);
  const std::string exe = "/proc/" + std::to_string(process) + "/exe";
  Pending pending;
  if (stat(exe.c_str(), &info) == 0) {
    pending.before = {info.st_dev, info.st_ino};
    pending.expected = expected;
    pending.path = event.path;
    pending.since_ms = MonotonicMs();
    if (expected.front().inode != 0)
      pending_.insert_or_assign(process, std::move(pending));
  }
  return 0;
}

// What /proc/PID/exe may be when `path` runs: the file, or the interpreter of
// a script. Inode 0 when that cannot be told (a format that some handler of the
// kernel takes); nothing when there is no such file.
std::vector<CallWatch::File> CallWatch::Expected(const std::string& path) {
  std::string at = path;
  for (int depth = 0; depth < 5; ++depth) {
    const Fd fd = target::OpenIn(root_.get(), at, 0);
    struct stat info = {};
    if (!fd || fstat(fd.get(), &info) != 0) {
      if (depth == 0 && errno != ENOENT && errno != ENOTDIR) return {File{}};
      return {};
    }
    const File file = {info.st_dev, info.st_ino};
    const target::Program program = target::ReadProgram(fd.get(), info);
    if (program.kind == target::Program::kNative) return {file};
    if (program.kind == target::Program::kOther) return {File{}};
    at = program.interpreter;
  }
  return {};
}

void CallWatch::LookAtOpen(const seccomp_notif& call, int directory,
                           uint64_t path, uint64_t flags) {
  const auto thread = static_cast<pid_t>(call.pid);
  const std::string full = PathOf(thread, directory, path);
  if (full.empty() || !OpenRoot(thread)) return;
  const bool follow = (flags & O_NOFOLLOW) == 0;
  if (const Fd there =
          target::OpenIn(root_.get(), full, follow ? 0 : O_NOFOLLOW)) {
    if ((flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) return;
    if (Blocked(there.get(), full)) ReportPath("writing", full);
    return;
  }
  if (errno == EACCES || errno == ENOENT) {
    // Root finds nothing in a hidden directory, others may not look.
    if (Hidden(full)) return ReportPath("writing", full);
    // A link that leads nowhere from here (/dev/stdout) is not judged.
    if ((flags & O_CREAT) != 0 &&
        !target::OpenIn(root_.get(), full, O_NOFOLLOW) && errno == ENOENT &&
        Blocked(std::string(DirName(full))))
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
  if (Blocked(std::string(DirName(full))) ||
      (there && target::IsMountPoint(there.get())))
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
  char text[INET6_ADDRSTRLEN] = {};
  bool loopback = false;
  int port = 0;
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &four.sin_addr, text, sizeof(text));
    loopback =
        (ntohl(four.sin_addr.s_addr) >> 24) == 127 || four.sin_addr.s_addr == 0;
    port = ntohs(four.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
    inet_ntop(AF_INET6, &six.sin6_addr, text, sizeof(text));
    loopback = IN6_IS_ADDR_LOOPBACK(&six.sin6_addr) ||
               IN6_IS_ADDR_UNSPECIFIED(&six.sin6_addr) ||
               (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr) &&
                six.sin6_addr.s6_addr[12] == 127);
    port = ntohs(six.sin6_port);
  } else {
    return;
  }
  if (loopback && profile_.network != Network::kNone) return;
  Report(
      std::string("network: ") + Name(profile_.network),
      std::string("connecting to ") + text + " port " + std::to_string(port));
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

bool CallWatch::Blocked(int there, const std::string& path) const {
  if (target::MayWrite(there)) return false;
  if (errno == EROFS) return true;
  // A hidden path is one that nobody may open.
  return errno == EACCES && Hidden(path);
}

bool CallWatch::Hidden(const std::string& path) const {
  return std::any_of(
      profile_.deny_read.begin(), profile_.deny_read.end(),
      [&](const std::string& hidden) { return IsWithin(path, hidden); });
}

void CallWatch::ReportPath(const char* verb, const std::string& raw) {
  const std::string path = Normalise(raw, "/");
  const auto among = [&](const std::vector<std::string>& places) {
    return std::any_of(
        places.begin(), places.end(),
        [&](const std::string& place) { return IsWithin(path, place); });
  };
  std::string kind = "read-only";
  if (Hidden(path))
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
  static constexpr std::string_view kEditor[] = {".vscode", ".idea", ".zed"};
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
