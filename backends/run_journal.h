// What outlives a gate that is killed during a run: a note of what its
// ProtectedPaths would have done afterwards. Whoever starts next does it.
//
// A note is a file of its own in `runs` of the state directory, locked as long
// as its gate lives, and removed when the run has ended as it should. It is
// written before the start; one that is not complete is of a run that never
// started. It holds copies of protected files, and nobody but their owner reads
// it.
#pragma once

#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// What the last bytes of a complete note are.
inline constexpr std::string_view kJournalTail = "\nend";

class RunJournal {
 public:
  RunJournal() = default;  // none
  static Result<RunJournal> Write(const std::string& directory,
                                  std::string_view content);
  RunJournal(RunJournal&& other) = default;
  RunJournal& operator=(RunJournal&& other) noexcept;
  ~RunJournal();  // removes it

  // Says that nothing of the run is left; others that end do not wait for it.
  void End();
  void Remove();
  // In one of two processes that hold it since a fork: the other one's it is.
  void Leave() { lock_ = {}; }
  explicit operator bool() const { return static_cast<bool>(lock_); }
  const std::string& path() const { return path_; }

 private:
  Fd lock_;
  std::string path_;
};

// A note whose run may have started: its beginning, kJournalHeadBytes at most.
struct JournalHead {
  std::string text, name;
  timespec written = {};  // nothing of the run is older
};
inline constexpr size_t kJournalHeadBytes = size_t{16} << 20;
inline constexpr size_t kMaxJournalBytes = size_t{128} << 20;
// Ends the name of a note whose run is over, and which is being swept.
inline constexpr std::string_view kEnding = ".ending";
// Begins that of a note that whoever ends last has to look at once more.
inline constexpr std::string_view kEndedRun = "ended-";

// The notes in `directory`, of runs that go on and of killed ones that nobody
// has finished; but of what `understood` does not take only those of runs that
// go on, since nobody finishes the others. Read after the start of a run was
// stamped and before it is noted itself, what is not among them has ended, or
// starts later.
Result<std::vector<JournalHead>> ReadJournalHeads(
    const std::string& directory,
    const std::function<bool(std::string_view)>& understood);

// The names of all notes, those that ReadJournalHeads leaves out as well.
Result<std::vector<std::string>> NoteNames(const std::string& directory);

// Replaces a file of gate's own, so that a reader sees the old or the new
// content; after a crash of the machine it may hold neither.
Status ReplaceFile(const std::string& path, std::string_view content);

// Held while one gate looks at what several runs left. Empty: it cannot be
// made, and nobody waits.
Fd TakeTurn(const std::string& directory);

// Sweeps by the notes that runs left which ended while others went on, where no
// run that meets them goes on, and removes them.
void FinishEndedRuns(const std::string& directory,
                     std::vector<Violation>* done);

// Does what killed gates left undone, before anything looks at their places
// again, and says what it did. Waits for the end of what they started, as far
// as that is known, some seconds at most; where it is not known, the next call
// that comes later looks a second time. Next to nothing where there is nothing.
std::vector<Violation> RecoverKilledRuns(const std::string& directory);
// Does so for the note `name` alone.
std::vector<Violation> FinishKilledRun(const std::string& directory,
                                       const std::string& name);

}  // namespace gate::backends
