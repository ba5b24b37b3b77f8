#include "backends/run_journal.h"

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

#include <algorithm>
#include <utility>

#include "backends/protect/cleanup_watchdog.h"
#include "backends/protected_paths.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::backends {
namespace {

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

// Nobody else has any business in the directory.
bool IsOurs(const struct stat& info) {
  return S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & 077) == 0;
}

void Finish(const std::string& directory, const std::string& name, Fd note,
            std::vector<Violation>* done) {
  const std::string path = directory + "/" + name;
  struct stat info = {};
  if (fstat(note.get(), &info) != 0 || info.st_nlink == 0) return;
  if (!IsOurs(info)) {
    unlink(path.c_str());
    return;
  }
  const Result<std::string> content = ReadAll(note.get(), kMaxJournalBytes);
  pid_t runner = 0;
  std::optional<ProtectedPaths> protected_paths;
  if (content) protected_paths = ProtectedPaths::FromNote(*content, &runner);
  if (!protected_paths) {
    // Nothing started with it, unless it is still being written.
    if (MakerIsGone(name)) unlink(path.c_str());
    return;
  }
  const bool ended = HasEnded(runner);
  Outcome outcome;
  protected_paths->VerifyAndRestore(&outcome);
  if (!outcome.sweep_end.empty())
    outcome.violations.push_back(
        {ViolationKind::kProtectedPath,
         "not looked at what lies deeper: the search ended " +
             outcome.sweep_end});
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

Result<std::vector<std::string>> NoteNames(const std::string& directory) {
  std::vector<std::string> names;
  DIR* list = opendir(directory.c_str());
  if (list == nullptr) {
    if (errno == ENOENT) return names;
    return FailErrno("cannot read the notes of other runs in " + directory);
  }
  errno = 0;
  while (const dirent* entry = readdir(list))
    if (entry->d_name[0] != '.' && std::string_view(entry->d_name) != kLockName)
      names.emplace_back(entry->d_name);
  const int error = errno;
  closedir(list);
  errno = error;
  if (error != 0)
    return FailErrno("cannot read the notes of other runs in " + directory);
  return names;
}

namespace {

// The note at `path`. No text where there is none, or none of a run that has
// started; false with errno where that cannot be told.
bool ReadJournalHead(const std::string& path, Fd* note, JournalHead* head) {
  struct stat info = {};
  if (lstat(path.c_str(), &info) != 0) return errno == ENOENT;
  if (!IsOurs(info)) return true;
  *note =
      Fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!*note) return errno == ENOENT;
  if (fstat(note->get(), &info) != 0) return false;
  constexpr auto kTailSize = static_cast<off_t>(kJournalTail.size());
  if (!IsOurs(info) || info.st_nlink == 0 || info.st_size < kTailSize)
    return true;
  char tail[kJournalTail.size()];
  const ssize_t end =
      pread(note->get(), tail, sizeof(tail), info.st_size - kTailSize);
  if (end < 0) return false;
  if (std::string_view(tail, static_cast<size_t>(end)) != kJournalTail)
    return true;  // still being written
  std::string text(
      std::min(static_cast<size_t>(info.st_size), kJournalHeadBytes), '\0');
  const ssize_t got = pread(note->get(), text.data(), text.size(), 0);
  if (got < 0) return false;
  text.resize(static_cast<size_t>(got));
  head->text = std::move(text);
  head->written = info.st_mtim;
  return true;
}

}  // namespace

Result<std::vector<JournalHead>> ReadJournalHeads(
    const std::string& directory,
    const std::function<bool(std::string_view)>& understood) {
  GATE_TRY(const std::vector<std::string> names, NoteNames(directory));
  std::vector<JournalHead> heads;
  for (const std::string& name : names) {
    if (name.starts_with(kEndedRun)) continue;
    const std::string path = directory + "/" + name;
    JournalHead head;
    head.name = name;
    Fd note;
    bool read = ReadJournalHead(path, &note, &head);
    // Renamed by whoever ends or finishes it.
    for (const std::string& by : {std::string(kEnding), std::string(kAgain),
                                  std::string(kEnding) + std::string(kAgain)})
      if (read && head.text.empty() && !note && !name.ends_with(kAgain))
        read = ReadJournalHead(path + by, &note, &head);
    if (!read) return FailErrno("cannot read the note of another run, " + path);
    if (head.text.empty()) continue;
    // Whoever holds this lock for a moment keeps nobody from finishing it:
    // nobody could.
    if (!understood(head.text) && flock(note.get(), LOCK_SH | LOCK_NB) == 0)
      continue;
    heads.push_back(std::move(head));
  }
  return heads;
}

Result<RunJournal> RunJournal::Write(const std::string& directory,
                                     std::string_view content) {
  RunJournal note;
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

RunJournal& RunJournal::operator=(RunJournal&& other) noexcept {
  if (lock_) unlink(path_.c_str());
  lock_ = std::move(other.lock_);
  path_ = std::move(other.path_);
  return *this;
}

RunJournal::~RunJournal() { Remove(); }

void RunJournal::Remove() {
  if (!lock_) return;
  unlink(path_.c_str());
  lock_ = {};
}

void RunJournal::End() {
  if (!lock_) return;
  const std::string ending = path_ + std::string(kEnding);
  if (rename(path_.c_str(), ending.c_str()) == 0) path_ = ending;
}

Status ReplaceFile(const std::string& path, std::string_view content) {
  constexpr size_t kRandom = 8;
  const std::string temporary =
      std::string(DirName(path)) + "/." + Hex(RandomBytes(kRandom)) + ".tmp";
  const Fd file(open(temporary.c_str(),
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                     0600));
  if (!file) return FailErrno("cannot make " + temporary);
  Status written = WriteAll(file.get(), content);
  if (written && rename(temporary.c_str(), path.c_str()) != 0)
    written = FailErrno("cannot replace " + path);
  if (!written) unlink(temporary.c_str());
  return written;
}

Fd TakeTurn(const std::string& directory) {
  Fd turn(open((directory + "/" + kLockName).c_str(),
               O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  while (turn && flock(turn.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return turn;
}

void FinishEndedRuns(const std::string& directory,
                     std::vector<Violation>* done) {
  const std::vector<std::string> names =
      NoteNames(directory).value_or(std::vector<std::string>());
  for (const std::string& name : names) {
    if (!name.starts_with(kEndedRun)) continue;
    const std::string path = directory + "/" + name;
    const Result<std::string> content = ReadFile(path, kMaxJournalBytes, false);
    pid_t runner = 0;
    std::optional<ProtectedPaths> protected_paths;
    if (content) protected_paths = ProtectedPaths::FromNote(*content, &runner);
    if (protected_paths) {
      if (protected_paths->OthersGoOn(directory)) continue;
      Outcome outcome;
      protected_paths->VerifyAndRestore(&outcome);
      for (Violation& violation : outcome.violations) {
        violation.detail += " (of a run that ended while others went on)";
        done->push_back(std::move(violation));
      }
    }
    unlink(path.c_str());
  }
}

namespace {

void FinishIfKilled(const std::string& directory, const std::string& name,
                    std::vector<Violation>* done) {
  if (name.starts_with(kEndedRun)) return;
  Fd note(open((directory + "/" + name).c_str(),
               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!note || flock(note.get(), LOCK_EX | LOCK_NB) != 0) return;
  Finish(directory, name, std::move(note), done);
}

}  // namespace

std::vector<Violation> FinishKilledRun(const std::string& directory,
                                       const std::string& name) {
  std::vector<Violation> done;
  const Fd turn = TakeTurn(directory);
  FinishIfKilled(directory, name, &done);
  return done;
}

std::vector<Violation> RecoverKilledRuns(const std::string& directory) {
  std::vector<Violation> done;
  const std::vector<std::string> names =
      NoteNames(directory).value_or(std::vector<std::string>());
  if (names.empty()) return done;
  // One at a time, and the others wait: what is put back must be there before
  // anybody takes it for what was there.
  const Fd turn = TakeTurn(directory);
  for (const std::string& name : names) FinishIfKilled(directory, name, &done);
  FinishEndedRuns(directory, &done);
  return done;
}

}  // namespace gate::backends
