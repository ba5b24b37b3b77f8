#include "backends/run_note.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "backends/guard.h"
#include "backends/guardian.h"

namespace gate::backends {
namespace {

constexpr size_t kMaxNote = size_t{128} << 20;
constexpr int kWaitForEndMs = 2000;
// After this long nothing of a killed run is left that could still be ending.
constexpr time_t kSettledSeconds = 3;
constexpr char kLockName[] = "lock";
constexpr std::string_view kAgain = ".again";

// Whether the gate that made `name` ("NAMESPACE-PID-NUMBER") is surely gone.
bool MakerIsGone(const std::string& name) {
  const std::string own = OwnerTag();
  const std::string space = own.substr(0, own.find('-') + 1);
  if (!name.starts_with(space)) return false;
  const long pid = strtol(name.c_str() + space.size(), nullptr, 10);
  return pid > 0 && kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

// Waits for the end of `runner`, a child of a gate that is gone, and says
// whether it has come.
bool HasEnded(pid_t runner) {
  if (runner <= 0) return false;
  const Fd process(static_cast<int>(syscall(SYS_pidfd_open, runner, 0u)));
  if (!process) return errno == ESRCH;
  pollfd end = {process.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&end, 1, kWaitForEndMs);
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

void Finish(const std::string& directory, const std::string& name, Fd note,
            std::vector<Violation>* done) {
  const std::string path = directory + "/" + name;
  struct stat info = {};
  if (fstat(note.get(), &info) != 0 || info.st_nlink == 0) return;
  // Nobody else has any business there.
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & 077) != 0) {
    unlink(path.c_str());
    return;
  }
  const Result<std::string> content = ReadAll(note.get(), kMaxNote);
  pid_t runner = 0;
  std::optional<Guard> guard;
  if (content) guard = Guard::FromNote(*content, &runner);
  if (!guard) {
    // Nothing started with it, unless it is still being written.
    if (MakerIsGone(name)) unlink(path.c_str());
    return;
  }
  const bool ended = HasEnded(runner);
  Outcome outcome;
  guard->Sweep(&outcome);
  for (Violation& violation : outcome.violations) {
    violation.detail += " (of a run whose gate was killed)";
    done->push_back(std::move(violation));
  }
  if (ended || (name.ends_with(kAgain) &&
                info.st_ctim.tv_sec + kSettledSeconds <= time(nullptr))) {
    unlink(path.c_str());
  } else if (!name.ends_with(kAgain)) {
    rename(path.c_str(), (path + std::string(kAgain)).c_str());
  }
}

}  // namespace

Result<RunNote> RunNote::Write(const std::string& directory,
                               std::string_view content) {
  RunNote note;
  const std::string head = directory + "/" + OwnerTag() + "-";
  for (unsigned number = 0; !note.lock_; ++number) {
    note.path_ = head + std::to_string(number);
    note.lock_ =
        Fd(open(note.path_.c_str(),
                O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (note.lock_) break;
    if (errno == ENOENT && number == 0) {
      GATE_CHECK(MakeDirectories(directory, 0700));
    } else if (errno != EEXIST || number > 100) {
      return FailErrno("cannot note what is protected in " + directory);
    }
  }
  // Locked first: a complete note without a lock is a dead gate's.
  if (flock(note.lock_.get(), LOCK_EX) != 0)
    return FailErrno("cannot lock " + note.path_);
  GATE_CHECK(WriteAll(note.lock_.get(), content));
  return note;
}

RunNote& RunNote::operator=(RunNote&& other) noexcept {
  if (lock_) unlink(path_.c_str());
  lock_ = std::move(other.lock_);
  path_ = std::move(other.path_);
  return *this;
}

RunNote::~RunNote() {
  if (lock_) unlink(path_.c_str());
}

std::vector<Violation> FinishKilledRuns(const std::string& directory) {
  std::vector<Violation> done;
  DIR* list = opendir(directory.c_str());
  if (list == nullptr) return done;
  std::vector<std::string> names;
  while (const dirent* entry = readdir(list))
    if (entry->d_name[0] != '.' && std::string_view(entry->d_name) != kLockName)
      names.emplace_back(entry->d_name);
  closedir(list);
  if (names.empty()) return done;
  // One at a time, and the others wait: what is put back must be there before
  // anybody takes it for what was there.
  const Fd turn(open((directory + "/" + kLockName).c_str(),
                     O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  while (turn && flock(turn.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  for (const std::string& name : names) {
    Fd note(open((directory + "/" + name).c_str(),
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!note || flock(note.get(), LOCK_EX | LOCK_NB) != 0) continue;
    Finish(directory, name, std::move(note), &done);
  }
  return done;
}

}  // namespace gate::backends
