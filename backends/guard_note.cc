// The guard's note: all that its sweep needs, written before the run.
#include <string.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <type_traits>

#include "backends/guard.h"
#include "backends/quarantine.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr std::string_view kHead = "gate.run-note/3\n";
constexpr std::string_view kTail = kNoteTail;

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
void Guard::ThroughStart(Archive& archive) {
  for (timespec* stamp : {&start_, &since_}) {
    archive(stamp->tv_sec);
    archive(stamp->tv_nsec);
  }
  archive.List(roots_, [&](std::string& text) { archive(text); });
}

template <typename Archive>
void Guard::Through(Archive& archive) {
  const auto texts = [&](std::vector<std::string>& list) {
    archive.List(list, [&](std::string& text) { archive(text); });
  };
  const auto set = [&](std::set<std::string>& of) {
    std::vector<std::string> list(of.begin(), of.end());
    texts(list);
    of.insert(list.begin(), list.end());
  };
  ThroughStart(archive);
  archive(git_line_);
  archive(workspace_);
  archive(quarantine_);
  for (auto* list : {&bases_, &names_, &hook_places_, &ways_, &persons_hooks_,
                     &own_hooks_, &private_, &unheld_})
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
  archive.List(kept_, [&](KeptPlace& place) {
    archive(place.base);
    archive(place.name);
    archive.List(place.files, [&](KeptFile& one) {
      archive(one.path);
      archive(one.relative);
      archive(one.content);
      archive(one.mode);
    });
  });
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
bool Guard::Meets(const std::vector<std::string>& roots) const {
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

Status Guard::LookAtOthers(const std::string& directory) {
  // A run that goes on may have made, before this one began, what this one
  // moves out of its reach; or this one may move it about while the other looks
  // for it. So this one answers for it as well, and the run that ends last for
  // all of them: each start counts those that the other runs count.
  const auto since = [&](std::string_view text) -> std::optional<timespec> {
    if (!text.starts_with(kHead)) return std::nullopt;
    Reader reader(text.substr(kHead.size()));
    Guard other;
    pid_t runner = 0;
    reader(runner);
    other.ThroughStart(reader);
    if (!reader.good) return std::nullopt;
    return Meets(other.roots_) ? other.since_ : since_;
  };
  GATE_TRY(const std::vector<NoteHead> heads,
           ReadNoteHeads(directory, [&](std::string_view text) {
             return since(text).has_value();
           }));
  for (const NoteHead& head : heads) {
    // Of another version's, what it made itself: that is younger than its note.
    const timespec start = since(head.text).value_or(head.written);
    if (start.tv_sec < since_.tv_sec ||
        (start.tv_sec == since_.tv_sec && start.tv_nsec < since_.tv_nsec))
      since_ = start;
  }
  return {};
}

Status Guard::Note(const Profile& profile, pid_t runner) {
  if (profile.runs_dir.empty() || roots_.empty()) return {};
  GATE_CHECK(LookAtOthers(profile.runs_dir));
  Writer writer;
  writer.text = kHead;
  writer(runner);
  Through(writer);
  writer.text += kTail;
  GATE_TRY(RunNote note, RunNote::Write(profile.runs_dir, writer.text));
  note_ = std::move(note);
  return {};
}

Result<Guard> Guard::Begin(const Profile& profile, const std::string& cwd,
                           bool held) {
  Guard guard = Record(profile, cwd);
  for (const Bind& bind : guard.binds_)
    if (!held && bind.read_only) guard.unheld_.push_back(bind.path);
  if (!guard.refusal().empty())
    return Fail(ErrorCode::kUnavailable, guard.refusal());
  GATE_CHECK(guard.Note(profile));
  return guard;
}

std::optional<Guard> Guard::FromNote(std::string_view note, pid_t* runner) {
  if (!note.starts_with(kHead) || !note.ends_with(kTail)) return std::nullopt;
  Reader reader(note.substr(kHead.size()));
  Guard guard;
  reader(*runner);
  guard.Through(reader);
  if (!reader.good || reader.rest != kTail) return std::nullopt;
  guard.finishing_ = true;
  return guard;
}

bool Guard::LeftByKilled(const std::string& path, const std::string& content,
                         const Result<std::string>& text) const {
  if (!finishing_) return false;
  struct stat info = {};
  if (text) return text->size() < content.size() && content.starts_with(*text);
  return !StatPath(path, &info) && errno == ENOENT &&
         StatPath(std::string(DirName(path)), &info);
}

}  // namespace gate::backends
