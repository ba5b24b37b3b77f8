#include "backends/protect/cleanup_watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gate::backends {
namespace {

std::string Namespace() {
  struct stat info = {};
  return stat("/proc/self/ns/pid", &info) == 0 ? std::to_string(info.st_ino)
                                               : "0";
}

}  // namespace

std::string OwnerTag() { return Namespace() + "-" + std::to_string(getpid()); }

Result<CleanupWatchdog> CleanupWatchdog::Start(
    const std::string& prune, const std::string& remove,
    const std::vector<std::string>& words,
    const std::vector<std::string>& environment) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return FailErrno("cannot make a pipe");
  CleanupWatchdog watchdog;
  watchdog.reader_ = Fd(pipes[0]);
  watchdog.leash_ = Fd(pipes[1]);
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  SpawnRequest request;
  // A number that is not one never counts as gone.
  const std::string script =
      "owner=" + Namespace() +
      "\n"
      "gone() { case $1 in ''|*[!0-9]*) return 1;; esac; "
      "[ ! -e \"/proc/$1\" ]; }\n"
      "{ " +
      prune +
      "\n} </dev/null\n"
      "word=; read -r word\n"
      "[ \"$word\" = dismiss ] && exit 0\n"
      "remove() { " +
      remove +
      "\n}\n"
      "remove \"$@\" </dev/null\n"
      "[ \"$word\" ] || { sleep 2; remove \"$@\" </dev/null; }\n"
      "[ \"$word\" != again ] || { (sleep 2; remove \"$@\") </dev/null & }\n"
      "exit 0";
  request.argv = {"/bin/sh", "-c", script, "gate-guardian"};
  request.argv.insert(request.argv.end(), words.begin(), words.end());
  request.environment = environment;
  request.cwd = "/";
  request.io = {watchdog.reader_.get(), null.get(), null.get()};
  request.own_session = true;
  const Spawned spawned = Spawn(request);
  if (spawned.error != 0)
    return Fail(
        ErrorCode::kUnavailable,
        std::string("cannot start the guardian: ") + strerror(spawned.error));
  watchdog.pid_ = spawned.pid;
  return watchdog;
}

CleanupWatchdog::~CleanupWatchdog() { Remove(); }

void CleanupWatchdog::End(const char* word) {
  if (!leash_) return;
  (void)WriteAll(leash_.get(), word);
  leash_.reset();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

void CleanupWatchdog::Remove() { End("remove\n"); }
void CleanupWatchdog::RemoveUnfinished() { End("again\n"); }
void CleanupWatchdog::Dismiss() { End("dismiss\n"); }

}  // namespace gate::backends
