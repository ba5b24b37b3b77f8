#include "backends/native/calls/start_check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backends/native/calls/target.h"
#include "backends/process/supervise.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr int kMaxInterpreters = 5;  // BINPRM_BUF_SIZE's neighbour in exec.c
constexpr char kHandlers[] = "/proc/sys/fs/binfmt_misc";

std::string ProcPath(pid_t process, const std::string& name) {
  return "/proc/" + std::to_string(process) + "/" + name;
}

// Of files that have no size.
bool ReadUnsized(const std::string& path, size_t limit, std::string* out) {
  const Fd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return false;
  Result<std::string> text = ReadAll(fd.get(), limit);
  if (!text) return false;
  *out = std::move(*text);
  return true;
}

// `text` after `prefix`, when it begins so.
bool Strip(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

// The entry of /proc/PID that a path through /proc names of its own process:
// "exe", "fd/3"; empty for any other.
std::string OwnEntry(std::string_view path) {
  if (!Strip("/proc/self/", &path) && !Strip("/proc/thread-self/", &path)) {
    if (!Strip("/dev/", &path)) return "";
    if (path == "stdin") return "fd/0";
    if (path == "stdout") return "fd/1";
    if (path == "stderr") return "fd/2";
  }
  if (path == "exe") return "exe";
  std::string_view number = path;
  if (!Strip("fd/", &number) || number.empty() || number.size() > 9 ||
      number.find_first_not_of("0123456789") != std::string_view::npos)
    return "";
  return std::string(path);
}

// `path`, where it begins in the working or the root directory that /proc has
// of its own process, as it goes on from there.
std::string FromOwnDirectory(pid_t thread, std::string path) {
  constexpr int kMaxLinks = 40;  // the kernel's own bound
  for (int links = 0; links < kMaxLinks; ++links) {
    std::string_view rest = path;
    pid_t owner = thread;
    if (Strip("/proc/self/", &rest))
      owner = target::ProcessOf(thread);
    else if (!Strip("/proc/thread-self/", &rest))
      break;
    std::string base = "/";  // nobody inside can have another one
    if (Strip("cwd/", &rest))
      base = target::LinkOf(owner, "cwd");
    else if (!Strip("root/", &rest))
      break;
    if (!base.starts_with('/')) break;
    if (base != "/") base += '/';
    path = base.append(rest);
  }
  return path;
}

// The interpreters that the kernel's handlers of other formats would start.
std::vector<FileIdentity> Handlers(int root) {
  std::vector<FileIdentity> files;
  DIR* directory = opendir(kHandlers);
  if (directory == nullptr) return files;
  while (const dirent* entry = readdir(directory)) {
    std::string text;
    if (entry->d_name[0] == '.' ||
        !ReadUnsized(std::string(kHandlers) + "/" + entry->d_name, 4096, &text))
      continue;
    const size_t at = text.find("\ninterpreter ");
    if (at == std::string::npos) continue;
    const size_t begin = at + strlen("\ninterpreter ");
    const std::string path = text.substr(begin, text.find('\n', begin) - begin);
    struct stat info = {};
    if (const Fd fd = target::OpenIn(root, path, 0);
        fd && fstat(fd.get(), &info) == 0)
      files.push_back(IdentityOf(info));
  }
  closedir(directory);
  return files;
}

// The name of what is open, without links. The sandbox's mounts are arranged
// below the same root as the host's.
std::string NameOf(const Fd& file) {
  return target::LinkOf(getpid(), ("fd/" + std::to_string(file.get())).c_str());
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

}  // namespace

NamedProgram FindProgram(int root, pid_t thread, int directory,
                         const std::string& text) {
  NamedProgram program;
  const bool absolute = text.starts_with('/');
  program.used = text;
  std::string entry;
  if (!absolute && directory != AT_FDCWD) {
    // The kernel makes this name up for scripts.
    program.used = "/dev/fd/" + std::to_string(directory);
    if (text.empty())
      entry = "fd/" + std::to_string(directory);
    else
      program.used += "/" + text;
  }
  if (entry.empty()) {
    std::string base;
    if (!absolute)
      base = target::LinkOf(thread,
                            directory == AT_FDCWD
                                ? "cwd"
                                : ("fd/" + std::to_string(directory)).c_str());
    if (text.empty()) {
      program.error = ENOENT;
      return program;
    }
    if (!absolute && !base.starts_with('/')) {
      program.error = EACCES;
      program.opaque = true;
      return program;
    }
    std::string rest = text;
    while (rest.starts_with("./")) rest.erase(0, 2);
    program.path = absolute ? FromOwnDirectory(thread, text)
                            : (base == "/" ? "/" + rest : base + "/" + rest);
    program.file = target::OpenIn(root, program.path, 0);
    if (program.file) {
      program.real = NameOf(program.file);
      return program;
    }
    program.error = errno;
    // Through a link of /proc, which means another file for each process: to
    // this one, which is not in the sandbox, it leads nowhere.
    entry = OwnEntry(Normalise(program.path, "/"));
    if (entry.empty() && program.error != ELOOP) return program;
  }
  if (!entry.empty()) {
    program.file =
        Fd(open(ProcPath(thread, entry).c_str(), O_PATH | O_CLOEXEC));
    program.real = program.path = target::LinkOf(thread, entry.c_str());
  }
  program.opaque = !program.file || !program.path.starts_with('/');
  program.error = program.opaque ? EACCES : 0;
  return program;
}

int Expect(int root, const NamedProgram& program, const std::string& cwd,
           const std::vector<std::string>& argv, Expectation* expected) {
  expected->path = program.path;
  std::vector<std::string> words = argv;
  if (words.empty()) words.emplace_back();  // as the kernel does
  std::string used = program.used, path = program.path;
  Fd next;
  for (int depth = 0; depth <= kMaxInterpreters; ++depth) {
    const Fd& file = depth == 0 ? program.file : next;
    struct stat info = {};
    if (fstat(file.get(), &info) != 0) return EACCES;
    const target::Program kind = target::ReadProgram(file.get(), info);
    switch (kind.kind) {
      case target::Program::kUnreadable:
        return EACCES;
      case target::Program::kOther:
        expected->handlers = Handlers(root);
        return 0;
      case target::Program::kOtherWidth:
        // Which of the two it is, or neither, the kernel decides.
        expected->handlers = Handlers(root);
        [[fallthrough]];
      case target::Program::kNative:
        expected->files = {IdentityOf(info)};
        expected->command_line = Joined(words);
        return 0;
      case target::Program::kScript:
        break;
    }
    expected->scripts.push_back({path, IdentityOf(info)});
    words.front() = used;
    if (!kind.argument.empty()) words.insert(words.begin(), kind.argument);
    words.insert(words.begin(), kind.interpreter);
    used = kind.interpreter;
    path = Normalise(kind.interpreter, cwd);
    next = target::OpenIn(root, path, 0);
    if (!next) return errno == ELOOP ? EACCES : ENOENT;
    expected->interpreters.push_back({path, NameOf(next), words});
  }
  return ELOOP;
}

bool StartCheck::LetThrough(pid_t thread, const Held& held,
                            Expectation expected) {
  Pending pending;
  pending.thread = thread;
  pending.process = target::ProcessOf(thread);
  pending.started = StartOf(pending.process);
  // The thread's own: the first one may have ended.
  const Sight sight = LookAtThread(ProcPath(thread, ""), &pending.before);
  pending.number = StartNumberOf(thread);
  // One that was ended meanwhile starts nothing, and what was read is not its.
  if (!held()) return true;
  if (sight != Sight::kWhole || pending.started == 0) return false;
  DropEarlier(pending.process, pending.started);
  pending.expected = std::move(expected);
  pending.since_ms = MonotonicMs();
  pending_.push_back(std::move(pending));
  return true;
}

// Of one that had the process's number before it.
void StartCheck::DropEarlier(pid_t process, uint64_t started) {
  if (started == 0) return;
  std::erase_if(pending_, [&](const Pending& pending) {
    return pending.process == process && pending.started != started;
  });
}

bool StartCheck::Fits(int root, const Expectation& expected,
                      const ProcessImage& now) {
  const auto among = [&](const std::vector<FileIdentity>& files) {
    return std::find(files.begin(), files.end(), now.file) != files.end();
  };
  if (!among(expected.handlers) &&
      (!among(expected.files) || now.command_line != expected.command_line))
    return false;
  return std::all_of(expected.scripts.begin(), expected.scripts.end(),
                     [&](const Expectation::Script& script) {
                       struct stat info = {};
                       const Fd fd = target::OpenIn(root, script.path, 0);
                       // One that has removed itself is not there to be
                       // another.
                       return !fd || fstat(fd.get(), &info) != 0 ||
                              IdentityOf(info) == script.identity;
                     });
}

StartCheck::Verdict StartCheck::JudgeHeld(int root, const Pending& pending,
                                          pid_t caller,
                                          const ProcessImage& now) {
  if (now.SameStart(pending.before)) {
    // The start is over once its thread makes another call, under its own
    // number or under the process's.
    const bool over = caller == pending.thread ||
                      (caller == pending.process &&
                       access(ProcPath(pending.process,
                                       "task/" + std::to_string(pending.thread))
                                  .c_str(),
                              F_OK) != 0 &&
                       errno == ENOENT);
    if (!over) return Verdict::kNotYet;
    if (StartNumberOf(caller) == pending.number) return Verdict::kFailed;
  }
  return Fits(root, pending.expected, now) ? Verdict::kFits : Verdict::kDiffers;
}

// Two threads of a process may start programs at once; one of them wins, and
// must be one that was let through. `verdicts` are those of the process.
std::string StartCheck::Settle(pid_t process,
                               const std::vector<Verdict>& verdicts) {
  const auto has = [&](Verdict verdict) {
    return std::find(verdicts.begin(), verdicts.end(), verdict) !=
           verdicts.end();
  };
  const bool fits = has(Verdict::kFits), differs = has(Verdict::kDiffers);
  std::string why;
  size_t n = 0;
  std::erase_if(pending_, [&](const Pending& pending) {
    if (pending.process != process) return false;
    const Verdict verdict = verdicts[n++];
    if (verdict == Verdict::kDiffers && !fits && why.empty())
      why =
          "another program was started than the one that was let through as "
          "`" +
          pending.expected.path + "`";
    return fits || differs || verdict == Verdict::kFailed;
  });
  return why;
}

std::string StartCheck::Called(int root, pid_t thread, const Held& held) {
  if (pending_.empty()) return "";
  const pid_t process = target::ProcessOf(thread);
  if (std::none_of(pending_.begin(), pending_.end(),
                   [&](const Pending& p) { return p.process == process; }))
    return "";
  const uint64_t started = StartOf(process);
  ProcessImage now;
  const Sight sight = LookAtThread(ProcPath(thread, ""), &now);
  // It goes on with nothing; what becomes of the process the clock will tell.
  if (!held()) return "";
  DropEarlier(process, started);
  std::vector<Verdict> verdicts;
  for (const Pending& pending : pending_)
    if (pending.process == process)
      verdicts.push_back(sight == Sight::kWhole
                             ? JudgeHeld(root, pending, thread, now)
                             : Verdict::kDiffers);
  if (!held()) return "";
  return Settle(process, verdicts);
}

std::string StartCheck::StayDark(pid_t process) {
  const uint64_t now = MonotonicMs();
  for (Pending& pending : pending_) {
    if (pending.process != process) continue;
    if (pending.dark_looks++ == 0) pending.dark_since_ms = now;
    if (pending.dark_looks >= kDarkLooks &&
        now - pending.dark_since_ms >= kDarkMs)
      return "what was started as `" + pending.expected.path +
             "` cannot be looked at";
  }
  return "";
}

std::string StartCheck::TickProcess(int root, pid_t process, uint64_t started) {
  // The first look may be of two states, and the second of the later one; the
  // third finds what the second has found.
  constexpr int kLooks = 3;
  ProcessImage before, now;
  std::vector<Verdict> verdicts;
  for (int look = 0; look < kLooks; ++look) {
    const Sight sight = LookAtProcess(process, started, &now);
    if (sight == Sight::kEnded) {
      std::erase_if(pending_,
                    [&](const Pending& p) { return p.process == process; });
      return "";
    }
    if (sight == Sight::kNone || sight == Sight::kFailed)
      return StayDark(process);
    verdicts.clear();
    bool differs = false;
    for (Pending& pending : pending_) {
      if (pending.process != process) continue;
      pending.dark_looks = 0;
      Verdict verdict = Verdict::kNotYet;
      if (sight == Sight::kRefused)
        verdict = Verdict::kDiffers;
      else if (sight == Sight::kWhole && !now.SameStart(pending.before))
        verdict = Fits(root, pending.expected, now) ? Verdict::kFits
                                                    : Verdict::kDiffers;
      differs = differs || verdict == Verdict::kDiffers;
      verdicts.push_back(verdict);
    }
    if (!differs || sight == Sight::kRefused ||
        (look > 0 && now.SameStart(before)))
      break;
    before = std::move(now);
    now = {};
  }
  return Settle(process, verdicts);
}

std::string StartCheck::Tick(int root, int* wait) {
  std::vector<std::pair<pid_t, uint64_t>> processes;
  for (const Pending& pending : pending_)
    if (std::none_of(processes.begin(), processes.end(),
                     [&](const auto& p) { return p.first == pending.process; }))
      processes.emplace_back(pending.process, pending.started);
  std::string why;
  for (const auto& [process, started] : processes)
    if (std::string found = TickProcess(root, process, started); why.empty())
      why = std::move(found);
  *wait = -1;
  const uint64_t now = MonotonicMs();
  for (const Pending& pending : pending_) {
    const auto age = static_cast<int>(
        std::min<uint64_t>(now - pending.since_ms, 4 * kMaxWaitMs));
    const int next = std::max(1, age / 4);
    *wait = *wait < 0 ? next : std::min(*wait, next);
  }
  return why;
}

}  // namespace gate::backends
