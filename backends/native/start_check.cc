#include "backends/native/start_check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>

#include "backends/native/target.h"
#include "backends/supervise.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr int kMaxInterpreters = 5;  // BINPRM_BUF_SIZE's neighbour in exec.c
constexpr char kHandlers[] = "/proc/sys/fs/binfmt_misc";

std::string ProcPath(pid_t process, const std::string& name) {
  return "/proc/" + std::to_string(process) + "/" + name;
}

// Of files that have no size.
bool Slurp(const std::string& path, size_t limit, std::string* out) {
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

// The interpreters that the kernel's handlers of other formats would start.
std::vector<FileIdentity> Handlers(int root) {
  std::vector<FileIdentity> files;
  DIR* directory = opendir(kHandlers);
  if (directory == nullptr) return files;
  while (const dirent* entry = readdir(directory)) {
    std::string text;
    if (entry->d_name[0] == '.' ||
        !Slurp(std::string(kHandlers) + "/" + entry->d_name, 4096, &text))
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

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + '\0';
  return text;
}

}  // namespace

FileIdentity IdentityOf(const struct stat& info) {
  return {info.st_dev, info.st_ino,
          int64_t{info.st_mtim.tv_sec} * 1000000000 + info.st_mtim.tv_nsec};
}

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
    program.path =
        absolute ? text : (base == "/" ? "/" + rest : base + "/" + rest);
    program.file = target::OpenIn(root, program.path, 0);
    if (program.file) return program;
    program.error = errno;
    // Through a link of /proc, which means another file for each process: to
    // this one, which is not in the sandbox, it leads nowhere.
    entry = OwnEntry(Normalise(program.path, "/"));
    if (entry.empty() && program.error != ELOOP) return program;
  }
  if (!entry.empty()) {
    program.file =
        Fd(open(ProcPath(thread, entry).c_str(), O_PATH | O_CLOEXEC));
    program.path = target::LinkOf(thread, entry.c_str());
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
      case target::Program::kNative:
        expected->files = {IdentityOf(info)};
        expected->command_line = Joined(words);
        return 0;
      case target::Program::kOther:
        expected->files = Handlers(root);
        expected->any_arguments = true;
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
  }
  return ELOOP;
}

bool StartCheck::ReadImage(pid_t process, Image* image) {
  struct stat info = {};
  if (stat(ProcPath(process, "exe").c_str(), &info) != 0) return false;
  image->file = IdentityOf(info);
  std::string text;
  if (!Slurp(ProcPath(process, "stat"), 4096, &text)) {
    errno = ESRCH;
    return false;
  }
  // Field 3 follows the name; 28 is the stack's start, 48 the arguments'.
  size_t at = text.rfind(')');
  for (int field = 3; field <= 48 && at != std::string::npos; ++field) {
    at = text.find(' ', at + 1);
    if (at == std::string::npos) break;
    if (field == 28) image->stack = strtoull(&text[at + 1], nullptr, 10);
    if (field == 48) image->arguments = strtoull(&text[at + 1], nullptr, 10);
  }
  if (!Slurp(ProcPath(process, "cmdline"), 2 * target::kMaxArgumentBytes,
             &image->command_line))
    image->command_line.clear();
  return true;
}

void StartCheck::LetThrough(pid_t thread, Expectation expected) {
  Pending pending;
  pending.thread = thread;
  pending.process = target::ProcessOf(thread);
  if (!ReadImage(pending.process, &pending.before)) pending.before = {};
  pending.expected = std::move(expected);
  pending.since_ms = MonotonicMs();
  pending_.push_back(std::move(pending));
}

StartCheck::Verdict StartCheck::Judge(int root, const Pending& pending,
                                      const Image& now) {
  if (now == pending.before) return Verdict::kNotYet;
  const Expectation& expected = pending.expected;
  if (std::find(expected.files.begin(), expected.files.end(), now.file) ==
      expected.files.end())
    return Verdict::kDiffers;
  // The kernel writes it last, and takes it away first.
  if (now.command_line.empty()) return Verdict::kNotYet;
  if (!expected.any_arguments && now.command_line != expected.command_line)
    return Verdict::kDiffers;
  for (const Expectation::Script& script : expected.scripts) {
    struct stat info = {};
    const Fd fd = target::OpenIn(root, script.path, 0);
    if (fd && fstat(fd.get(), &info) == 0 &&
        IdentityOf(info) != script.identity)
      return Verdict::kDiffers;
  }
  return Verdict::kFits;
}

StartCheck::Verdict StartCheck::Compare(int root, const Pending& pending) {
  // The program may change between two parts of what is read: what differs
  // must do so twice in the same way.
  Image before, now;
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (!ReadImage(pending.process, &now))
      return errno == EACCES || errno == EPERM ? Verdict::kDiffers
                                               : Verdict::kGone;
    const Verdict verdict = Judge(root, pending, now);
    if (verdict != Verdict::kDiffers || now == before) return verdict;
    before = std::move(now);
  }
  return Verdict::kDiffers;
}

// Two threads of a process may start programs at once; one of them wins, and
// must be one that was let through.
std::string StartCheck::CheckProcess(int root, pid_t process, pid_t caller) {
  bool fits = false, over = false;
  const Pending* differs = nullptr;
  for (const Pending& pending : pending_) {
    if (pending.process != process) continue;
    switch (Compare(root, pending)) {
      case Verdict::kNotYet:
        break;
      case Verdict::kGone:
        over = true;
        break;
      case Verdict::kFits:
        fits = true;
        break;
      case Verdict::kDiffers:
        differs = &pending;
        break;
    }
  }
  std::string why;
  if (!fits && !over && differs != nullptr)
    why = "another program was started than the one that was let through as `" +
          differs->expected.path + "`";
  const bool done = fits || over || differs != nullptr;
  std::erase_if(pending_, [&](const Pending& pending) {
    // In the old image still: its own next call says that it failed.
    return pending.process == process && (done || pending.thread == caller);
  });
  return why;
}

std::string StartCheck::Called(int root, pid_t thread) {
  if (pending_.empty()) return "";
  return CheckProcess(root, target::ProcessOf(thread), thread);
}

std::string StartCheck::Tick(int root, int* wait) {
  std::vector<pid_t> processes;
  for (const Pending& pending : pending_)
    if (std::find(processes.begin(), processes.end(), pending.process) ==
        processes.end())
      processes.push_back(pending.process);
  std::string why;
  for (const pid_t process : processes)
    if (std::string found = CheckProcess(root, process, -1); why.empty())
      why = std::move(found);
  *wait = -1;
  const uint64_t now = MonotonicMs();
  for (const Pending& pending : pending_) {
    const auto age =
        static_cast<int>(std::min<uint64_t>(now - pending.since_ms, 4000));
    const int next = std::max(1, age / 4);
    *wait = *wait < 0 ? next : std::min(*wait, next);
  }
  return why;
}

}  // namespace gate::backends
