// Program starts, before they happen: CallWatch for Profile::watch_execs.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <utility>

#include "backends/native/calls/calls.h"
#include "backends/native/calls/target.h"

namespace gate::backends {

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
  event.file = program.real;
  if (program.error != 0) {
    // One that is ended while it asks starts nothing, and hid nothing.
    if (program.opaque && StillWaits(call))
      Report(ViolationKind::kExec,
             "starting a program whose name cannot be followed");
    // A shell's search tries many names that are not there.
    return program.error;
  }
  event.complete = target::ReadVector(thread, args[at ? 2 : 1], &event.argv);
  if (!event.complete && errno == E2BIG) {
    if (StillWaits(call))
      Report(ViolationKind::kExec,
             "starting " + event.path + ": its arguments are too long");
    return E2BIG;
  }
  Expectation expected;
  const int error =
      Expect(root_.get(), program, event.cwd, event.argv, &expected);
  if (error == EACCES)
    Report(ViolationKind::kExec,
           "starting " + event.path + ": it cannot be read");
  if (error != 0) return error;
  event.interpreters = expected.interpreters;
  ++starts_;
  ExecVerdict verdict;
  if (command_.judge_exec)
    verdict = command_.judge_exec(event);
  else
    verdict.reason = "nothing judges program starts";
  // The id is of this call: whoever asks now is the one that was looked at.
  if (!StillWaits(call)) return 0;
  if (!verdict.allow) {
    Report(ViolationKind::kExec,
           "starting " + event.path + ": " + verdict.reason);
    return EACCES;
  }
  if (!starts_going_.LetThrough(
          thread, [&] { return StillWaits(call); }, std::move(expected))) {
    Report(ViolationKind::kExec,
           "starting " + event.path + ": its process cannot be seen");
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

}  // namespace gate::backends
