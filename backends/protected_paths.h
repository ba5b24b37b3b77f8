// Protected paths inside writable roots.
//
// Mounts can hold what exists. What does not exist yet cannot be denied by a
// mount without making it first, and a ghost file on the host is not
// acceptable; so it is looked for after the run, before the caller hears of
// the outcome. One ProtectedPaths serves every backend that lets a command
// write to the host's file system:
//
//   ProtectedPaths paths = ProtectedPaths::Snapshot(profile, cwd);  before
//   … mount paths.binds() …                                         start
//   paths.VerifyAndRestore(&outcome);                               at the end
//
// What is protected:
// - `profile.protect`: exact paths. `profile.protect_names`: each name in
//   every writable root, in the working directory and in the directories
//   between. Existing ones are binds; each directory between the root and a
//   bind is pinned by a bind of itself, so that it cannot be renamed away.
//   Symbolic links are recorded, and what they lead to is protected as well.
// - Git directories of these places and their submodules: `hooks`,
//   `info/attributes`, `commondir`, `lazygit.yml` and a `.git` file are binds;
//   `config` and `config.worktree` stay writable, and are put back when the run
//   changed a key that runs a program (git/config.h) or made a work tree
//   of a place outside the writable roots, or of one behind a link. On the way
//   to a work tree that they name already no link may appear. Files that they
//   include already are treated alike.
// - Hooks in a directory of the workspace that `core.hooksPath` named before
//   the run (protected_hooks.cc), in the configuration of a repository here, of
//   one outside that a work tree here belongs to, or of the person: what
//   changed is put back, new ones are taken.
// - At any depth below the workspace and in what the run made beside it
//   (`profile.made`), by the sweep: protected names that were
//   created or changed since the start, hooks and program-running keys of
//   repositories that the run made. Names that such a repository tracks stay.
//   "Since the start" is since that of the first of several runs at the same
//   time whose places meet: what one made another may have moved.
//   Of a protected directory at depth only its direct entries are looked at.
//
// - What leads git into gate's own directory, where runs have their private
//   /tmp, by the name that it has outside: is taken, whatever its age.
// - Names that git brings, or that say nothing dangerous, may stay
//   (backends/protected_content.h). In a line that runs git alone
//   (`profile.git_only`) those of the directories above are not binds, since
//   git could not exchange them: their content is remembered, and put back
//   where what git left may not stay (saved_files.cc).
// - What stands between a root and any of these (protected_symlinks.cc): a link
//   is put back as it was, and where no link was there is none afterwards.
// - What was replaced from outside while the run went on, and so lost its bind,
//   is reported, and stays.
// - Hard links to protected files, outside and inside (protected_links.cc), as
//   far as they can be found, and what a link in the home directory leads to.
//
// The sweep moves what it finds to the quarantine directory and reports it as
// a violation. Its limits are kMaxSweepDirectories directories, breadth first,
// and kMaxSweepMs, in which taking away what it finds does not count
// (kMaxTakingMs). Directories that the run made and that were not looked at
// when a limit is met go to the quarantine as they are. Where any other was
// not looked at the outcome says so: `sweep_complete`, `sweep_end`, a
// violation, and the status kViolation. What it finds
// existed until the end of the run, where only the run itself could use it; a
// client or a person that reads the workspace meanwhile sees it. If gate is
// killed the next gate sweeps, by what Note has written down.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <bitset>
#include <cstdint>
#include <ctime>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/backend.h"
#include "backends/git_config.h"
#include "backends/listing.h"
#include "backends/protect/quarantine.h"
#include "backends/run_journal.h"

namespace gate::backends {

// Bounds on looking: at directories that the last search knew, and once more at
// the others and in git's own, so that what a run makes takes no time from what
// was there. Ordinary searches end after some milliseconds
// (backends/protect/tree_index.h).
inline constexpr int kMaxSweepMs = 10000;
inline constexpr size_t kMaxSweepDirectories = size_t{1} << 20;  // of each
inline constexpr int kMaxTakingMs = 10000;    // of taking away what was found
inline constexpr size_t kMaxToldUnseen = 16;  // violations for these
inline constexpr int kMaxSweptModules = 16384;
inline constexpr size_t kMaxLinkedHere = 256;  // files of a directory
inline constexpr int kMaxLinkSearch = 200000;  // entries in all
inline constexpr int kMaxLinkedInside = 4096;  // of protected directories
inline constexpr int kMaxModules = 256;        // git directories looked at
inline constexpr size_t kMaxGitConfig = 1 << 20;
inline constexpr size_t kMaxGitConfigs = 1024;  // files, included ones as well
inline constexpr int kMaxHookFiles = 128;       // of a hooksPath
inline constexpr size_t kMaxHookFile = 256 << 10;
// What is remembered of files that mounts hold, and of those two directories
// below the workspace.
inline constexpr size_t kMaxMemory = 256;
inline constexpr size_t kMaxMemoryBytes = size_t{4} << 20;
// Listed, of those where the last search met names, and of the others.
inline constexpr int kMaxBelowDirectories = 512;
// Others, with those that the index answers for: some 1.5 µs each.
inline constexpr size_t kMaxBelowAsked = 1 << 11;
inline constexpr int kMaxBelowMs = 50;
inline constexpr size_t kMaxKeptFiles = 64;  // of one protected name
inline constexpr size_t kMaxKeptFile = 256 << 10;
inline constexpr size_t kMaxIndex = size_t{32} << 20;

// One mount of a path onto itself.
struct Bind {
  std::string path;        // no symbolic link in it
  bool read_only = false;  // false: a pin
  bool directory = false;
  dev_t device = 0;  // what was there when it was looked at
  ino_t inode = 0;
  long depth = 0;     // components of `path`
  nlink_t links = 0;  // names of a file
};

struct LinkedFile {
  std::string path;
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t links = 0;
};

class ProtectedPaths {
 public:
  // Looks at what exists. About a microsecond a name. `on_bind` is told of each
  // read-only bind once it is known, before the next is looked for.
  using OnBind = std::function<void(const Bind&)>;
  static ProtectedPaths Snapshot(const Profile& profile, const std::string& cwd,
                                 OnBind on_bind = nullptr);
  // Records places without protected names, for a preview, which judges names
  // at any depth. The overlays of `profile` do not count.
  static ProtectedPaths SnapshotDirectories(const Profile& profile);

  // Ancestors before what lies below them.
  const std::vector<Bind>& binds() const { return binds_; }

  // What ProtectedPaths holds at `path`, for a preview, which it cannot sweep.
  enum class Held : unsigned char { kNothing, kProtected, kHook, kConfig };
  Held HeldAt(const std::string& path) const;
  // Whether any of that lies below `path`, where a link or a file would take
  // its place.
  bool HoldsBelow(const std::string& path) const;

  // What it listed of the homes, for a view that is made at once.
  const NegativeEntryCache& listings() const { return listings_; }

  // False: none was directly in it when it was looked at.
  bool sockets_in_workspace() const { return sockets_in_workspace_; }

  // Why the command must not start; empty: it may.
  const std::string& refusal() const { return refusal_; }

  // Writes down what VerifyAndRestore needs, in `profile.runs_dir`, until this
  // ProtectedPaths ends. Before the start; a run that cannot be noted must not
  // start. `runner`: the process whose end is the end of the whole run, where
  // there is one.
  Status Note(const Profile& profile, pid_t runner = 0);
  // Snapshot, then Note: what a backend begins with that starts nothing before.
  // Its refusal, or that it cannot be noted, is the error. `held`: the backend
  // keeps what binds() names from being written. Where it does not, what
  // changed there is taken after the run, and not put back.
  static Result<ProtectedPaths> Begin(const Profile& profile,
                                      const std::string& cwd, bool held = true);
  // A ProtectedPaths by such a note. Nothing where it is not complete.
  static std::optional<ProtectedPaths> FromNote(std::string_view note,
                                                pid_t* runner);
  // SweepMeanwhile for a run of another gate's that goes on, by its note at
  // `path`. False: there is no such note that is complete.
  static bool SweepRunning(const std::string& path, Outcome* outcome);

  // Whether a file with this stamp was changed after `start`, or may have been.
  static bool IsSince(const timespec& stamp, const timespec& start);

  // Quarantines and reports. Call once, when no process of the run is left.
  void VerifyAndRestore(Outcome* outcome);
  // Sweeps while processes of the run go on: what they do after it is for the
  // next one, and for VerifyAndRestore. Any number of times. What a mount holds
  // is held on.
  void SweepMeanwhile(Outcome* outcome);
  // In one of two processes that have this ProtectedPaths since a fork: the
  // other one sweeps, and its note stays.
  void Leave() { note_.Leave(); }
  const std::string& note_path() const { return note_.path(); }

  // Whether a run goes on that can reach what this one looks at. True where
  // that cannot be told.
  bool OthersGoOn(const std::string& directory) const;

  // Another limit than kMaxSweepDirectories, for tests.
  void LimitSearch(size_t directories) { max_directories_ = directories; }

 private:
  struct Absent {
    std::string base;      // a directory, no symbolic link in it
    std::string relative;  // below it
    bool named = false;    // one of protect_names
  };
  struct Link {
    std::string path;
    std::string target;
  };
  struct GitConfig {
    std::string path;
    bool existed = false;
    bool readable = true;
    std::string content;
    mode_t mode = 0644;
  };
  struct Hooks {
    std::string path;  // of a known git directory, absent before
  };
  struct HookFile {
    std::string path, content;
    mode_t mode = 0755;
  };
  struct KeptFile {
    std::string path, relative;  // the latter from the name's first component
    std::string content;
    mode_t mode = 0644;
  };
  struct KeptPlace {
    std::string base, name;
    std::vector<KeptFile> files;
  };
  // Whose a repository is: made by this run, or before it while another one of
  // the same places went on, which then judged it. Of the latter only what this
  // run left alone may stay.
  enum class Own : unsigned char { kNo, kEarlier, kYes };
  struct Pattern {
    std::string first;  // first component of a name, lower case
    std::string rest;   // "" or "/…"
  };

  // What is looked at after the run goes through `archive`, to or from a note.
  template <typename Archive>
  void Through(Archive& archive);
  template <typename Archive>
  void ThroughStart(Archive& archive);
  // Takes the starts of other runs that reach the same places for its own.
  Status LookAtOthers(const std::string& directory);
  bool Meets(const std::vector<std::string>& roots) const;
  // Whether one of the two runs can reach what the other looks at.
  bool MeetsRun(const ProtectedPaths& other) const;
  // Takes from runs that went on already what was there before they began, and
  // forgets what was read here of what they may have changed.
  void Inherit(const std::vector<ProtectedPaths>& others);
  void HoldRoots();
  // protected_memory.cc
  // False: there is more than can be remembered.
  bool Remember(const std::string& path, bool below);
  void RememberBinds();
  void RememberBelow();
  void RememberRepository(const std::string& git);
  const KeptFile* Remembered(const std::string& path) const;
  // What to say of `path`, which is taken, where its content may be lost.
  std::string NotRemembered(const std::string& path) const;
  void PutBackBelow(const std::string& path);
  std::string RelativeOf(const std::string& path) const;
  void SweepRoots();
  void SweepMemory();
  void SweepMemoryFile(const std::string& path, const KeptFile* before);
  // What other runs remember of before is not this run's doing.
  void LearnFromOthers();
  bool WasThere(const std::string& path, const std::string& content) const;
  bool IsRemembered(const std::string& path, const struct stat& info) const;
  const std::string* ConfigBefore(const std::string& path) const;
  // Leaves what whoever ends last needs; true: this is the last.
  bool EndAmongOthers();
  void Look(const Profile& profile, const std::string& cwd);
  void AddBase(const std::string& base);
  void Protect(const std::string& base, const std::string& relative,
               bool followed = false, bool named = false);
  void ProtectPath(const std::string& path);
  void Pin(const std::string& root, const std::string& path);
  // Remembers what must lead where it leads. Returns the
  // place of ResolveSymlinks(path).
  std::string RecordWay(const std::string& path);
  bool RecordKept(const std::string& base, const std::string& name);
  // Returns those of `alias_checked_paths` that are there.
  std::vector<std::string> RecordHomeLinks(const Profile& profile);
  void NoteLinked(const std::string& path);
  void RecordLinks(const std::vector<std::string>& alias_checked_paths);
  bool IsBound(const std::string& path) const;  // read-only
  void RecordGit(const std::string& base);
  void RecordGitDirectory(const std::string& directory, bool main);
  void RecordConfig(const std::string& path);
  void RecordIncluded(const std::string& file);
  void RecordNamedHooks(const std::string& config, const std::string& content);
  void RecordHome(const Profile& profile);
  void RecordHooksAt(const std::string& path);
  void RecordHookPlace(const std::string& directory);
  // Git directories, in the roots or not, with known work trees.
  std::map<std::string, std::vector<std::string>> KnownGitDirectories();
  void RecordPersonsHooks(const std::vector<std::string>& alias_checked_paths);
  const std::string* RootOf(const std::string& path) const;

  void SweepPlaces();
  void SweepAbsent();
  void SweepLinks();
  // After ELOOP of `path`: takes the link that stands on the way or there.
  void ClearWay(const std::string& path, ViolationKind kind);
  bool IsCleared(const std::string& path) const;
  // By errno, of a place that was not found. Whether a link was on the way, so
  // that what was there before must be put back.
  bool MissedOnTheWay(const std::string& path, ViolationKind kind);
  // The directories above `path`, where they are gone.
  void MakeWay(const std::string& path);
  // Whether what is at `path` (`text`, as it was read) may be what a killed
  // gate left between taking a file away and putting `content` back: nothing,
  // or a part of it. Only for a ProtectedPaths by a note.
  bool LeftByKilled(const std::string& path, const std::string& content,
                    const Result<std::string>& text) const;
  void PutBack(ViolationKind kind, const std::string& path,
               const std::string& content, mode_t mode);
  void SweepConfigs();
  void SweepUnheld();
  void SweepReplaced();
  void SweepUnheldFile(const std::string& path, const std::string& why);
  void SweepNamedHooks();
  bool IsNamedHook(const std::string& path) const;
  bool LeadsOut(const std::string& config, const GitEntry& entry) const;
  // Takes new links on the way to the work tree that an old file names.
  void SweepTreeOf(const std::string& config);
  void SweepKept();
  void Restore(const KeptFile& file);
  bool MayStay(const std::string& path, const std::string& relative,
               const std::string* before) const;
  bool MatchesMainWorktree(const std::string& path,
                           const std::string& content) const;
  bool IsCheckedOut(const std::string& path, const struct stat& info) const;
  void TakeNamed(const std::string& path, const std::string& relative,
                 const std::string& why, Own own = Own::kNo);
  bool IsTracked(const std::string& path, Own own) const;
  bool IsKept(const std::string& path) const;
  bool HasOlder(const std::string& directory) const;
  struct Walk;
  struct Listed;
  void SweepTree();
  void SweepTreeAt(const std::string& root);
  void SweepStep(Walk* walk, bool known);
  void SweepUnseen(Walk* walk);
  // Says loudly that `unseen` directories were not looked at.
  void EndSearch(const std::string& top, const std::string& why, size_t unseen,
                 const std::string& example);
  // Where the index of the workspace lies, and what it depends on.
  std::string IndexPath() const;
  std::string IndexKey() const;
  void SweepModules();
  void SweepDirectory(const std::string& directory, Own own, bool store,
                      Walk* walk, Listed* listed);
  Own IsOwn(const std::string& directory, const std::string& git) const;
  bool IsPlainStore(int parent, const char* name, bool fan) const;
  void SweepFan(const std::string& directory);
  // `found`: paths, and the part of each that is the protected name.
  // Whether the name is one of those looked for.
  bool FindProtected(const std::string& path, const std::string& lower,
                     std::map<std::string, std::string>* found);
  bool MovedOnTheWay(const std::string& path, const std::string& full) const;
  // Whether anything between `top` and `full` was moved.
  bool MovedBelow(const std::string& top, const std::string& full) const;
  // `fresh`: whatever its age, no search has seen it.
  void SweepGitDirectory(const std::string& directory, bool fresh = false);
  // Where git gets by a path that a file of its own in `directory` names; empty
  // outside the writable roots.
  std::string Aim(const std::string& directory, std::string_view path) const;
  // Whether such a path leads, there or not, to what runs write without a sweep
  // (`private_`), or by a link that is another one for each process.
  bool LeadsToPrivate(const std::string& directory,
                      std::string_view path) const;
  bool IsFresh(const std::string& directory) const;
  // Whether a search after an earlier run took its hooks and configuration for
  // a repository's, as far as they were made by runs.
  bool PredatesRun(const std::string& directory) const;
  void SweepHooks(const std::string& directory, bool all);
  void SweepHookNames(const std::string& directory, bool all);
  // Sweeps a work tree that was not known before: hooks where a relative
  // core.hooksPath has them. `git`: its .git.
  void SweepWorkTree(const std::string& tree, const struct stat& git);
  void SweepHooksOf(const std::string& tree, bool own, bool all);
  void SweepHooksIn(const std::string& tree, const std::string& place,
                    bool named, bool all);
  bool IsTwinLink(const std::string& tree, const std::string& path) const;
  void CleanConfig(const std::string& path);
  void SweepGitFile(const std::string& path);
  bool Changed(const struct stat& info) const;
  // `unknown`: the answer of a file system that does not tell goes by changes.
  bool CreatedSince(const std::string& path, bool unknown = false) const;
  static bool MadeAfter(const std::string& path, const timespec& start,
                        bool unknown = false);
  // By errno: reports what could not be opened and is there.
  void Unopened(const std::string& path);
  void Quarantine(const std::string& path, ViolationKind kind,
                  const std::string& why);
  void Report(ViolationKind kind, const std::string& detail);

  std::vector<std::string> roots_;  // writable, canonical
  std::vector<std::string> made_;   // of them: Profile::made
  std::vector<std::string> bases_;  // where names are protected exactly
  std::vector<std::string> names_;
  std::string workspace_;
  std::string parent_, canonical_parent_;  // of the newest ProtectPath
  std::string quarantine_;
  std::vector<std::string> unheld_;   // protected, and no bind holds them
  std::vector<std::string> private_;  // gate's state, the private /tmp
  std::vector<Bind> binds_;
  std::set<std::string> bound_;
  std::vector<Absent> absent_;
  std::vector<Link> links_;
  std::vector<std::string> ways_;     // not links, others than those above
  std::vector<std::string> cleared_;  // links that were taken on a way
  std::vector<GitConfig> configs_;
  std::set<std::string> git_directories_;
  std::vector<Hooks> absent_hooks_;
  std::vector<std::string> hook_places_;  // named by core.hooksPath
  std::vector<HookFile> hook_files_;      // in these, before
  // Relative values: the person's, and those of repositories here.
  std::vector<std::string> user_hooks_, own_hooks_;
  std::set<std::string> hook_configs_;  // that name hooks, or include files
  std::string home_;                    // what `~` is to git
  std::vector<KeptPlace> saved_files_;
  std::map<std::string, std::string> trusted_;  // path -> hash
  NegativeEntryCache listings_;
  OnBind on_bind_;  // while it looks
  NearbyStat nearby_;
  std::vector<LinkedFile> linked_here_;  // directly in `bases_`
  bool sockets_in_workspace_ = true;
  bool git_only_ = false, preview_ = false;
  timespec start_ = {};
  timespec since_ = {};  // that of runs at the same time, where it is earlier
  std::vector<Pattern> patterns_;
  std::bitset<256> first_letters_;
  std::string refusal_;
  int quarantined_ = 0;
  size_t max_directories_ = kMaxSweepDirectories;
  std::vector<HeldRoots::Root> held_;
  struct RootId {
    std::string path;
    uint64_t device = 0, inode = 0;
  };
  std::vector<RootId> root_ids_;
  // Content of before: of what binds hold, and of what lies deeper.
  std::vector<KeptFile> memory_, below_;
  std::vector<std::string> read_only_;  // of the binds
  size_t memory_bytes_ = 0;
  std::vector<std::string> forgotten_;  // of `read_only_`, not remembered whole
  std::string below_end_;    // why `below_` does not hold all; empty: it does
  bool overlapped_ = false;  // other runs went on that this one meets
  bool unsure_ = false;      // one ended while the snapshot was made
  std::set<std::string> notes_before_;
  std::vector<std::unique_ptr<ProtectedPaths>> others_;  // while it sweeps
  std::string runs_;  // the directory of the notes; empty: none
  Outcome* outcome_ = nullptr;
  RunJournal note_;
  std::string own_note_;    // of a run that goes on, where this is by its note
  bool finishing_ = false;  // by a note, of a killed gate or another's
};

}  // namespace gate::backends
