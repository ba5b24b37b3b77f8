// The search of the workspace after the run: from directory to directory, by
// what the last search wrote down (backends/protect/tree_index.h).
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "backends/protect/protected_walk.h"
#include "backends/protect/quarantine.h"
#include "backends/protected_paths.h"
#include "base/ascii.h"
#include "base/hash.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr int64_t kMs = 1'000'000;

}  // namespace

int64_t NowNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

std::string ProtectedPaths::IndexPath() const {
  if (runs_.empty()) return "";
  constexpr size_t kDigits = 32;
  return std::string(DirName(runs_)) + "/trees/" +
         Hex(Sha256(workspace_)).substr(0, kDigits);
}

std::string ProtectedPaths::IndexKey() const {
  std::string key = workspace_ + '\0';
  for (const std::string& name : names_) key += name + '\0';
  return key;
}

void ProtectedPaths::SweepTree() {
  SweepModules();
  patterns_.clear();
  for (const std::string& name : names_) {
    const size_t slash = std::min(name.find('/'), name.size());
    Pattern pattern{LowerAscii(std::string_view(name).substr(0, slash)),
                    name.substr(slash)};
    const char letter = pattern.first[0];
    first_letters_.set(static_cast<unsigned char>(letter));
    if (letter >= 'a' && letter <= 'z')
      first_letters_.set(static_cast<unsigned char>(letter - 'a' + 'A'));
    patterns_.push_back(std::move(pattern));
  }
  if (!workspace_.empty()) SweepTreeAt(workspace_);
  for (const std::string& root : made_) SweepTreeAt(root);
}

void ProtectedPaths::SweepTreeAt(const std::string& root) {
  Walk walk;
  walk.root = root;
  // What is made beside the workspace has no search before.
  const std::string index =
      root == workspace_ && StampsHere(workspace_) ? IndexPath() : "";
  if (!index.empty()) walk.old = TreeIndex::Load(index, IndexKey());
  walk.next.Begin();
  walk.top = OpenPath(walk.root);
  const uint32_t top = walk.old.empty() ? TreeIndex::kNone : TreeIndex::kTop;
  (walk.old.empty() ? walk.others : walk.known)
      .push_back({walk.root, Own::kNo, false, top, TreeIndex::kTop});
  for (const bool known : {true, false}) {
    walk.seen = 0;
    walk.deadline = NowNs() + kMaxSweepMs * kMs;
    walk.last = walk.deadline + kMaxTakingMs * kMs;
    while (known ? !walk.known.empty()
                 : !walk.others.empty() || !walk.stores.empty()) {
      const int64_t now = NowNs();
      if (walk.seen++ >= max_directories_)
        walk.end = "after " + std::to_string(max_directories_) + " directories";
      else if (now >= walk.deadline)
        walk.end = "after " + std::to_string(kMaxSweepMs / 1000) + " s";
      else if (now >= walk.last)
        walk.end = "after " + std::to_string(kMaxTakingMs / 1000) +
                   " s, taking away what it found";
      else {
        SweepStep(&walk, known);
        continue;
      }
      break;
    }
  }
  // What was seen need not be listed again, whatever was not.
  if (!index.empty() && walk.changed) (void)walk.next.Save(index, IndexKey());
  if (!walk.end.empty()) SweepUnseen(&walk);
}

void ProtectedPaths::SweepStep(Walk* walk, bool known) {
  std::deque<Walk::Step>& from = known                  ? walk->known
                                 : walk->others.empty() ? walk->stores
                                                        : walk->others;
  const Walk::Step at = std::move(from.front());
  from.pop_front();
  struct stat info = {};
  // A link on the way leads to a directory that is not the one in the index.
  const char* below =
      at.path.size() > walk->root.size() + 1
          ? at.path.c_str() + walk->root.size() + (walk->root == "/" ? 0 : 1)
          : "";
  const bool found = !at.store && at.entry != TreeIndex::kNone &&
                     (fstatat(walk->top.get(), below, &info,
                              AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 ||
                      StatPath(at.path, &info));
  Listed listed;
  listed.own = at.own;
  if (found && at.known != TreeIndex::kNone &&
      walk->old.Answers(at.known, info) && !walk->old.IsNamed(at.known)) {
    const uint32_t count = walk->old.count(at.known);
    for (uint32_t i = 0; i < count; ++i)
      listed.below.emplace_back(
          walk->old.NameOf(walk->old.first(at.known) + i));
    walk->next.FillFrom(at.entry, walk->old, at.known);
  } else {
    SweepDirectory(at.path, at.own, at.store, walk, &listed);
    std::sort(listed.below.begin(), listed.below.end());
    if (found && listed.opened) walk->next.Fill(at.entry, info, listed.named);
    walk->changed |= at.entry != TreeIndex::kNone &&
                     (!found || at.known == TreeIndex::kNone ||
                      !walk->old.Answers(at.known, info));
  }
  if (listed.below.empty()) return;
  // Git's own have no entry.
  uint32_t entry = at.entry == TreeIndex::kNone
                       ? TreeIndex::kNone
                       : walk->next.SetChildren(at.entry, listed.below);
  for (const std::string& name : listed.below) {
    const uint32_t before = at.known == TreeIndex::kNone
                                ? TreeIndex::kNone
                                : walk->old.Find(at.known, name);
    (before == TreeIndex::kNone ? walk->others : walk->known)
        .push_back({JoinPath(at.path, name), listed.own, false, before, entry});
    if (entry != TreeIndex::kNone) ++entry;
  }
}

void ProtectedPaths::SweepUnseen(Walk* walk) {
  const int64_t last = NowNs() + kMaxTakingMs * kMs;
  size_t unseen = 0, taken = 0;
  std::string example;
  for (auto* steps : {&walk->known, &walk->others, &walk->stores})
    for (const Walk::Step& step : *steps) {
      struct stat info = {};
      if (!StatPath(step.path, &info)) {
        if (errno == ENOENT || errno == ENOTDIR) continue;  // taken by now
      } else if (NowNs() < last) {
        // As much of it as the run made.
        size_t end = walk->root == "/" ? 0 : walk->root.size();
        bool made = false;
        while (!made && end < step.path.size()) {
          end = std::min(step.path.find('/', end + 1), step.path.size());
          made = CreatedSince(step.path.substr(0, end));
        }
        const std::string part = step.path.substr(0, end);
        if (made && ++taken > kMaxToldUnseen) {
          const size_t told = outcome_->violations.size();
          Quarantine(part, ViolationKind::kProtectedPath, "");
          outcome_->violations.resize(told);
        } else if (made) {
          Quarantine(part, ViolationKind::kProtectedPath,
                     "made by the run, and too much to look through");
        }
        if (made && !StatPath(part, &info)) continue;
      }
      if (++unseen == 1) example = step.path;
    }
  if (taken > kMaxToldUnseen)
    Report(ViolationKind::kProtectedPath,
           walk->root + ": " + std::to_string(taken - kMaxToldUnseen) +
               " more directories that the run made, too much to look "
               "through; moved to " +
               quarantine_);
  outcome_->sweep_complete = false;
  outcome_->sweep_end = walk->end;
  if (unseen != 0) EndSearch(walk->root, walk->end, unseen, example);
}

void ProtectedPaths::EndSearch(const std::string& top, const std::string& why,
                               size_t unseen, const std::string& example) {
  outcome_->sweep_complete = false;
  outcome_->sweep_end = why;
  const std::string text =
      "the search for what agents and tools execute or follow ended " + why +
      "; " + std::to_string(unseen) +
      " directories were not looked at, such as " + example;
  Report(ViolationKind::kProtectedPath, top + ": " + text);
  // Whoever looks at the end alone must not take it for a good one.
  if (outcome_->status == OutcomeStatus::kExited) {
    outcome_->status = OutcomeStatus::kViolation;
    outcome_->reason = text;
  }
}

}  // namespace gate::backends
