// ProtectedPaths's note: all that its sweep needs, written before the run.
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <type_traits>

#include "backends/protect/quarantine.h"
#include "backends/protected_paths.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr std::string_view kJournalHead = "gate.run-note/6\n";
constexpr std::string_view kTail = kJournalTail;

class Writer {
 public:
  template <typename Number>
    requires std::is_integral_v<Number>
  void operator()(Number& number) {
    const auto value = static_cast<int64_t>(number);
    char bytes[sizeof(value)];
    memcpy(bytes, &value, sizeof(value));
    text.append(bytes, sizeof(bytes));
  }
  void operator()(std::string& value) {
    size_t size = value.size();
    (*this)(size);
    text += value;
  }
  template <typename Item, typename Each>
  void List(std::vector<Item>& items, Each each) {
    size_t size = items.size();
    (*this)(size);
    for (Item& item : items) each(item);
  }
  std::string text;
};

class Reader {
 public:
  explicit Reader(std::string_view text) : rest(text) {}
  template <typename Number>
    requires std::is_integral_v<Number>
  void operator()(Number& number) {
    int64_t value = 0;
    if (rest.size() < sizeof(value)) {
      good = false;
      return;
    }
    memcpy(&value, rest.data(), sizeof(value));
    rest.remove_prefix(sizeof(value));
    number = static_cast<Number>(value);
  }
  void operator()(std::string& value) {
    size_t size = 0;
    (*this)(size);
    if (size > rest.size()) good = false;
    if (!good) return;
    value.assign(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  template <typename Item, typename Each>
  void List(std::vector<Item>& items, Each each) {
    size_t size = 0;
    (*this)(size);
    while (good && size-- > 0) each(items.emplace_back());
  }
  std::string_view rest;
  bool good = true;
};

}  // namespace

// What other runs read: it comes first.
template <typename Archive>
void ProtectedPaths::ThroughStart(Archive& archive) {
  for (timespec* stamp : {&start_, &since_}) {
    archive(stamp->tv_sec);
    archive(stamp->tv_nsec);
  }
  archive.List(roots_, [&](std::string& text) { archive(text); });
}

template <typename Archive>
void ProtectedPaths::Through(Archive& archive) {
  const auto texts = [&](std::vector<std::string>& list) {
    archive.List(list, [&](std::string& text) { archive(text); });
  };
  const auto set = [&](std::set<std::string>& of) {
    std::vector<std::string> list(of.begin(), of.end());
    texts(list);
    of.insert(list.begin(), list.end());
  };
  ThroughStart(archive);
  archive(git_only_);
  archive(workspace_);
  archive(quarantine_);
  archive(runs_);
  for (auto* list : {&made_, &bases_, &names_, &hook_places_, &ways_,
                     &user_hooks_, &own_hooks_, &private_, &unheld_})
    texts(*list);
  set(bound_);
  set(git_directories_);
  archive.List(absent_, [&](Absent& one) {
    archive(one.base);
    archive(one.relative);
    archive(one.named);
  });
  archive.List(links_, [&](Link& one) {
    archive(one.path);
    archive(one.target);
  });
  archive.List(configs_, [&](GitConfig& one) {
    archive(one.path);
    archive(one.existed);
    archive(one.readable);
    archive(one.content);
    archive(one.mode);
  });
  archive.List(absent_hooks_, [&](Hooks& one) { archive(one.path); });
  archive.List(hook_files_, [&](HookFile& one) {
    archive(one.path);
    archive(one.content);
    archive(one.mode);
  });
  archive.List(saved_files_, [&](KeptPlace& place) {
    archive(place.base);
    archive(place.name);
    archive.List(place.files, [&](KeptFile& one) {
      archive(one.path);
      archive(one.relative);
      archive(one.content);
      archive(one.mode);
    });
  });
  for (auto* list : {&memory_, &below_})
    archive.List(*list, [&](KeptFile& one) {
      archive(one.path);
      archive(one.relative);
      archive(one.content);
      archive(one.mode);
    });
  archive.List(root_ids_, [&](RootId& one) {
    archive(one.path);
    archive(one.device);
    archive(one.inode);
  });
  texts(read_only_);
  texts(forgotten_);
  archive(below_end_);
  archive(overlapped_);
  archive(unsure_);
  std::vector<std::pair<std::string, std::string>> trusted(trusted_.begin(),
                                                           trusted_.end());
  archive.List(trusted, [&](std::pair<std::string, std::string>& one) {
    archive(one.first);
    archive(one.second);
  });
  trusted_.insert(trusted.begin(), trusted.end());
}

// Whether another run that writes below `roots` can have put something where
// this one looks, or this one can put it there.
bool ProtectedPaths::Meets(const std::vector<std::string>& roots) const {
  const auto meets = [&](const std::string& place) {
    return !place.empty() &&
           std::any_of(roots.begin(), roots.end(), [&](const auto& root) {
             return IsWithin(root, place) || IsWithin(place, root);
           });
  };
  return meets(workspace_) ||
         std::any_of(git_directories_.begin(), git_directories_.end(), meets) ||
         std::any_of(hook_places_.begin(), hook_places_.end(), meets);
}

bool ProtectedPaths::MeetsRun(const ProtectedPaths& other) const {
  return Meets(other.roots_) || other.Meets(roots_);
}

Status ProtectedPaths::LookAtOthers(const std::string& directory) {
  // A run that goes on may have made, before this one began, what this one
  // moves out of its reach; or this one may move it about while the other looks
  // for it. So this one answers for it as well, and the run that ends last for
  // all of them: each start counts those that the other runs count.
  const auto read = [&](std::string_view text, ProtectedPaths* other) {
    if (!text.starts_with(kJournalHead)) return false;
    Reader reader(text.substr(kJournalHead.size()));
    pid_t runner = 0;
    reader(runner);
    other->ThroughStart(reader);
    return reader.good;
  };
  GATE_TRY(const std::vector<JournalHead> heads,
           ReadJournalHeads(directory, [&](std::string_view text) {
             ProtectedPaths other;
             return read(text, &other);
           }));
  std::vector<ProtectedPaths> others;
  std::set<std::string> gone = std::move(notes_before_);
  notes_before_.clear();
  for (const JournalHead& head : heads) {
    std::erase_if(gone, [&](const std::string& name) {
      return head.name.starts_with(name) || name.starts_with(head.name);
    });
    ProtectedPaths other;
    timespec start = head.written;
    if (read(head.text, &other)) {
      pid_t runner = 0;
      std::optional<ProtectedPaths> whole = FromNote(head.text, &runner);
      // Its workspace is known by all of the note only.
      if (!MeetsRun(whole ? *whole : other)) continue;
      start = other.since_;
      if (whole)
        others.push_back(std::move(*whole));
      else
        unsure_ = true;
    }
    overlapped_ = true;
    // Of another version's, what it made itself: that is younger than its note.
    if (start.tv_sec < since_.tv_sec ||
        (start.tv_sec == since_.tv_sec && start.tv_nsec < since_.tv_nsec))
      since_ = start;
  }
  // One that ended meanwhile may have put back what was seen here before.
  if (!gone.empty()) unsure_ = true;
  if (!overlapped_) return {};
  for (const std::string& name :
       NoteNames(directory).value_or(std::vector<std::string>())) {
    if (!name.starts_with(kEndedRun)) continue;
    pid_t runner = 0;
    if (const auto text =
            ReadFile(directory + "/" + name, kJournalHeadBytes, false))
      if (std::optional<ProtectedPaths> ended = FromNote(*text, &runner);
          ended && MeetsRun(*ended))
        others.push_back(std::move(*ended));
  }
  Inherit(others);
  return {};
}

void ProtectedPaths::Inherit(const std::vector<ProtectedPaths>& others) {
  // What those runs have changed by now was seen here as if it had been there.
  std::map<std::string, std::string> before;
  for (const ProtectedPaths& other : others) {
    if (other.unsure_) continue;
    for (const auto* list : {&other.memory_, &other.below_})
      for (const KeptFile& one : *list) before.emplace(one.path, one.content);
    for (const HookFile& one : other.hook_files_)
      before.emplace(one.path, one.content);
    for (const KeptPlace& place : other.saved_files_)
      for (const KeptFile& one : place.files)
        before.emplace(one.path, one.content);
  }
  // False: what was at `path` before is not known.
  const auto recall = [&](const std::string& path, std::string* content) {
    if (const auto known = before.find(path); known != before.end()) {
      *content = known->second;
      return true;
    }
    struct stat info = {};
    return StatPath(path, &info) && !Changed(info);
  };
  const auto recall_all = [&](auto* list) {
    std::erase_if(*list,
                  [&](auto& one) { return !recall(one.path, &one.content); });
  };
  recall_all(&memory_);
  recall_all(&below_);
  recall_all(&hook_files_);
  for (KeptPlace& place : saved_files_) recall_all(&place.files);
  for (GitConfig& mine : configs_) {
    if (!mine.readable) continue;
    struct stat info = {};
    bool known = !StatPath(mine.path, &info) || !Changed(info);
    for (const ProtectedPaths& other : others)
      for (const GitConfig& theirs : other.configs_)
        if (mine.path == theirs.path && theirs.readable) {
          mine.existed = theirs.existed;
          mine.content = theirs.content;
          known = true;
        }
    if (!known) mine.content = WithoutProgramEntries(mine.content, nullptr);
  }
}

bool ProtectedPaths::OthersGoOn(const std::string& directory) const {
  const Result<std::vector<JournalHead>> heads =
      ReadJournalHeads(directory, [](std::string_view) { return true; });
  if (!heads) return true;
  return std::any_of(heads->begin(), heads->end(),
                     [&](const JournalHead& head) {
                       if (head.name.find(kEnding) != std::string::npos)
                         return false;
                       pid_t runner = 0;
                       const std::optional<ProtectedPaths> other =
                           FromNote(head.text, &runner);
                       return !other || MeetsRun(*other);
                     });
}

void ProtectedPaths::LearnFromOthers() {
  if (runs_.empty()) return;
  const std::vector<std::string> names =
      NoteNames(runs_).value_or(std::vector<std::string>());
  for (const std::string& name : names) {
    const std::string path = runs_ + "/" + name;
    if (path == note_.path() || path == own_note_) continue;
    const Result<std::string> text = ReadFile(path, kJournalHeadBytes, false);
    pid_t runner = 0;
    std::optional<ProtectedPaths> other;
    if (text) other = FromNote(*text, &runner);
    if (!other || !MeetsRun(*other)) continue;
    overlapped_ = true;
    // What it remembers is of before any run that it met (see Inherit).
    if (!other->unsure_)
      others_.push_back(std::make_unique<ProtectedPaths>(std::move(*other)));
  }
}

bool ProtectedPaths::EndAmongOthers() {
  if (!note_) return true;
  const auto names = NoteNames(runs_);
  const std::string own(BaseName(note_.path()));
  // Alone: whoever starts from here on has nothing of this run to look at.
  if (names &&
      std::all_of(names->begin(), names->end(),
                  [&](const std::string& name) { return name == own; }))
    return true;
  note_.End();
  LearnFromOthers();
  if (!overlapped_) return true;
  if (!OthersGoOn(runs_)) return true;
  // One file for all runs of a workspace, so that they do not pile up.
  constexpr size_t kDigits = 32;
  std::string what = workspace_;
  for (const std::string& root : roots_) what += '\0' + root;
  const std::string path = runs_ + "/" + std::string(kEndedRun) +
                           Hex(Sha256(what)).substr(0, kDigits);
  const Fd turn = TakeTurn(runs_);
  const timespec own_since = since_;
  if (const Result<std::string> text =
          ReadFile(path, kJournalHeadBytes, false)) {
    pid_t runner = 0;
    if (const std::optional<ProtectedPaths> other = FromNote(*text, &runner);
        other && (other->since_.tv_sec < since_.tv_sec ||
                  (other->since_.tv_sec == since_.tv_sec &&
                   other->since_.tv_nsec < since_.tv_nsec)))
      since_ = other->since_;
  }
  Writer writer;
  writer.text = kJournalHead;
  pid_t runner = 0;
  writer(runner);
  Through(writer);
  writer.text += kTail;
  since_ = own_since;
  if (const Status left = ReplaceFile(path, writer.text); !left)
    Report(ViolationKind::kProtectedPath,
           workspace_ +
               ": whoever of the runs here ends last cannot look at "
               "it once more: " +
               left.error().message);
  return false;
}

Status ProtectedPaths::Note(const Profile& profile, pid_t runner) {
  if (profile.runs_dir.empty() || roots_.empty()) return {};
  GATE_CHECK(LookAtOthers(profile.runs_dir));
  Writer writer;
  writer.text = kJournalHead;
  writer(runner);
  Through(writer);
  writer.text += kTail;
  GATE_TRY(RunJournal note, RunJournal::Write(profile.runs_dir, writer.text));
  note_ = std::move(note);
  return {};
}

Result<ProtectedPaths> ProtectedPaths::Begin(const Profile& profile,
                                             const std::string& cwd,
                                             bool held) {
  ProtectedPaths protected_paths = Snapshot(profile, cwd);
  for (const Bind& bind : protected_paths.binds_)
    if (!held && bind.read_only) protected_paths.unheld_.push_back(bind.path);
  if (!protected_paths.refusal().empty())
    return Fail(ErrorCode::kUnavailable, protected_paths.refusal());
  GATE_CHECK(protected_paths.Note(profile));
  return protected_paths;
}

std::optional<ProtectedPaths> ProtectedPaths::FromNote(std::string_view note,
                                                       pid_t* runner) {
  if (!note.starts_with(kJournalHead) || !note.ends_with(kTail))
    return std::nullopt;
  Reader reader(note.substr(kJournalHead.size()));
  ProtectedPaths protected_paths;
  reader(*runner);
  protected_paths.Through(reader);
  if (!reader.good || reader.rest != kTail) return std::nullopt;
  protected_paths.finishing_ = true;
  return protected_paths;
}

bool ProtectedPaths::SweepRunning(const std::string& path, Outcome* outcome) {
  const Result<std::string> text = ReadFile(path, kMaxJournalBytes, false);
  pid_t runner = 0;
  std::optional<ProtectedPaths> protected_paths;
  if (text) protected_paths = FromNote(*text, &runner);
  if (!protected_paths) return false;
  protected_paths->own_note_ = path;
  protected_paths->SweepMeanwhile(outcome);
  return true;
}

bool ProtectedPaths::LeftByKilled(const std::string& path,
                                  const std::string& content,
                                  const Result<std::string>& text) const {
  if (!finishing_) return false;
  struct stat info = {};
  if (text) return text->size() < content.size() && content.starts_with(*text);
  return !StatPath(path, &info) && errno == ENOENT &&
         StatPath(std::string(DirName(path)), &info);
}

}  // namespace gate::backends
