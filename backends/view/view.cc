// Mounts are arranged from the outside in, so that each one knows what it
// stands in: a writable root below a cover needs its directories made there, a
// hidden or protected path below a cover needs nothing.
#include "backends/view/view.h"

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "backends/listing.h"
#include "backends/symlinks.h"
#include "backends/view/hidden_links.h"
#include "backends/view/link_resolver.h"
#include "backends/view/mounts.h"
#include "backends/view/unix_sockets.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

long Depth(const std::string& path) {
  return path == "/" ? 0 : std::count(path.begin(), path.end(), '/');
}

// In /dev, and a place for files all the same.
constexpr std::string_view kShared = "/dev/shm";

bool IsCover(MountKind kind) {
  return kind == MountKind::kDevices || kind == MountKind::kFresh ||
         kind == MountKind::kBacked || kind == MountKind::kHidden;
}

class Builder {
 public:
  Builder(const Profile& profile, const ProtectedPaths& protected_paths,
          const RunUser& user, const std::string& cwd,
          const std::vector<std::string>& show)
      : profile_(profile),
        guard_(protected_paths),
        user_(user),
        cwd_(cwd),
        show_(show),
        links_(profile),
        listings_(protected_paths.listings()) {}

  Result<View> Run() {
    GATE_TRY(host_, ReadMounts());
    GATE_CHECK(AddCovers());
    GATE_CHECK(AddRoots());
    AddVisible(profile_.workspace, !view_.write_everything);
    if (profile_.workspace.empty()) AddWorkingDirectory();
    if (profile_.network == Network::kOpen)
      AddVisible("/etc/resolv.conf", true);
    if (profile_.network == Network::kDomains) AddResolver();
    GATE_CHECK(AddHidden());
    for (const std::string& path : show_) AddNamed(path);
    for (const Lent& lent : profile_.lend) AddLent(lent);
    for (const Lent& lent : profile_.substitutes) AddSubstitute(lent);
    HideSockets();
    HideOtherNames();
    // Nothing of the host's is in such a place: the command could not start.
    if (const ViewMount* in = Innermost(cwd_, mounts_.size());
        in != nullptr && in->kind == MountKind::kFresh && !Has(cwd_))
      return Fail(ErrorCode::kInvalid, "the working directory `" + cwd_ +
                                           "` is not seen inside: `" +
                                           in->target + "` is private there");
    mounts_.reserve(mounts_.size() + guard_.binds().size());
    for (const Bind& bind : guard_.binds()) {
      ViewMount& mount = Add(MountKind::kBind, bind.path);
      mount.directory = bind.directory;
      mount.read_only = bind.read_only;
      mount.device = bind.device;
      mount.inode = bind.inode;
    }
    Arrange();
    GATE_CHECK(SetHere());
    if (view_.write_everything) view_.writable.push_back("/");
    return std::move(view_);
  }

 private:
  ViewMount& Add(MountKind kind, const std::string& target) {
    ViewMount mount;
    mount.kind = kind;
    mount.target = target;
    return mounts_.emplace_back(std::move(mount));
  }

  bool Has(const std::string& target) const {
    return std::any_of(
        mounts_.begin(), mounts_.end(),
        [&](const ViewMount& mount) { return mount.target == target; });
  }

  Status AddCovers() {
    Add(MountKind::kDevices, "/dev").read_only = true;
    AddFresh("/run", 0755);
    AddFresh("/var/run", 0755);
    GATE_CHECK(AddTemporary("/tmp", "tmp"));
    GATE_CHECK(AddTemporary("/var/tmp", "var-tmp"));
    GATE_CHECK(AddTemporary("/dev/shm", "shm"));
    return {};
  }

  void AddFresh(const char* path, mode_t mode) {
    const Result<Found> found = resolve_(path);
    if (!found || !S_ISDIR(found->info.st_mode) || Has(found->path)) return;
    Add(MountKind::kFresh, found->path).mode = mode;
    view_.writable.push_back(found->path);
  }

  Status AddTemporary(const char* path, const char* name) {
    if (profile_.private_tmp.empty()) {
      AddFresh(path, 01777);
      return {};
    }
    const std::string backing = profile_.private_tmp + "/" + name;
    if (mkdir(backing.c_str(), 0700) != 0 && errno != EEXIST)
      return FailErrno("cannot make `" + backing + "`");
    GATE_TRY(const Found source, resolve_(backing));
    if (BaseName(source.path) != name || !S_ISDIR(source.info.st_mode))
      return Fail(ErrorCode::kInvalid, "`" + backing + "` is not a directory");
    if (user_.switched && source.info.st_uid != user_.uid &&
        chown(source.path.c_str(), user_.uid, user_.gid) != 0)
      return FailErrno("cannot give `" + backing + "` to its user");
    if ((source.info.st_mode & 07777) != 01777 &&
        chmod(source.path.c_str(), 01777) != 0)
      return FailErrno("cannot set the mode of `" + backing + "`");
    const Result<Found> target = resolve_(path);
    if (!target || Has(target->path)) return {};
    ViewMount& mount = Add(MountKind::kBacked, target->path);
    mount.source = source.path;
    mount.device = source.info.st_dev;
    mount.inode = source.info.st_ino;
    view_.writable.push_back(target->path);
    return {};
  }

  Status AddRoots() {
    for (const std::string& path : profile_.write) {
      const Result<Found> found = resolve_(path);
      if (!found) {
        if (found.error().code == ErrorCode::kNotFound &&
            path != profile_.workspace)
          continue;  // nothing there to write
        return std::unexpected(found.error());
      }
      if (found->path != path) return SymlinkChanged(path);
      if (found->path == "/") {
        if (!profile_.overlays.empty())
          return Fail(ErrorCode::kInvalid,
                      "a profile that writes everywhere has no preview");
        view_.write_everything = true;
        continue;
      }
      // A profile that names /tmp itself still gets the private one.
      if (Has(found->path)) continue;
      for (const char* system : {"/proc", "/sys", "/dev"})
        if (IsWithin(found->path, system) && !IsWithin(found->path, kShared))
          return Fail(ErrorCode::kInvalid,
                      "`" + path + "` cannot be a writable root");
      const std::string* overlay = OverlayOf(found->path);
      if (!profile_.overlays.empty() && overlay == nullptr)
        return Fail(ErrorCode::kInvalid,
                    "`" + path +
                        "` has no overlay, and nothing else is "
                        "written in a preview");
      if (overlay != nullptr && overlay->empty()) continue;  // below one
      Show(*found, false);
      if (overlay != nullptr) mounts_.back().overlay = *overlay;
      mounts_.back().optional = user_.switched && path != profile_.workspace;
    }
    return {};
  }

  // The place of the overlay over `path`, "" below an overlaid root, nullptr
  // when there is none.
  const std::string* OverlayOf(const std::string& path) const {
    static const std::string kBelow;
    for (const OverlayRoot& overlay : profile_.overlays) {
      if (overlay.root == path) return &overlay.place;
      if (IsWithin(path, overlay.root)) return &kBelow;
    }
    return nullptr;
  }

  void Show(const Found& found, bool read_only) {
    ViewMount& mount = Add(MountKind::kShown, found.path);
    mount.directory = S_ISDIR(found.info.st_mode);
    mount.read_only = read_only;
    mount.device = found.info.st_dev;
    mount.inode = found.info.st_ino;
  }

  // What must stay readable although a cover hides the place it is in.
  void AddVisible(const std::string& path, bool read_only) {
    if (path.empty()) return;
    const Result<Found> found = resolve_(path);
    if (!found || Has(found->path)) return;
    const ViewMount* in = Innermost(found->path, mounts_.size());
    if (in != nullptr && IsCover(in->kind)) Show(*found, read_only);
  }

  // One of Profile::show. Where links lead elsewhere, where something is hidden
  // and for what is neither a file nor a directory, nothing.
  void AddNamed(const std::string& path) {
    const Result<Found> found = resolve_(path);
    if (!found || found->path != path || Has(path)) return;
    const bool directory = S_ISDIR(found->info.st_mode);
    if (!directory && !S_ISREG(found->info.st_mode)) return;
    const ViewMount* in = Innermost(path, mounts_.size());
    if (in == nullptr ||
        (in->kind == MountKind::kFresh ? in->mode != 01777
                                       : in->kind != MountKind::kBacked) ||
        (in->kind == MountKind::kBacked &&
         !IsFreeBelow(in->source, path.substr(in->target.size()), directory)))
      return;
    Show(*found, true);
    mounts_.back().optional = true;
  }

  // At the end of its links, where programs read it.
  void AddResolver() {
    // Where there is none, they ask 127.0.0.1 by themselves.
    if (const Result<Found> at = resolve_("/etc/resolv.conf"); at) {
      ViewMount& mount = Add(MountKind::kResolver, at->path);
      mount.directory = false;
      mount.read_only = true;
    }
  }

  // One of Profile::lend: at its own name, on what hides that. Where nothing is
  // hidden it is seen anyway, unless it is a copy.
  void AddLent(const Lent& lent) {
    const std::string& source = lent.copy ? lent.staged : lent.source;
    if (source.empty()) return;
    const Result<Found> found = resolve_(source);
    // A link has taken its place since it was judged: then nothing is lent.
    if (!found || found->path != source || S_ISLNK(found->info.st_mode)) return;
    std::string target = PlaceOf(lent);
    if (target.empty()) return;
    lent_.push_back(source);
    const auto is_covered = [&] {
      const ViewMount* in = Innermost(target, mounts_.size());
      return Has(target) || (in != nullptr && (IsCover(in->kind) ||
                                               in->kind == MountKind::kLent));
    };
    bool covered = is_covered();
    // Where its own name is a link, what hides it is at the end of that.
    if (const Result<Found> at = resolve_(lent.path); !covered && at) {
      target = at->path;
      covered = is_covered();
    }
    struct stat there = {};
    if (!covered && (!lent.copy || lstat(target.c_str(), &there) != 0 ||
                     !S_ISDIR(there.st_mode)))
      return;
    ViewMount& mount = Add(MountKind::kLent, target);
    mount.source = source;
    mount.directory = S_ISDIR(found->info.st_mode);
    mount.read_only = !lent.copy;
    mount.device = found->info.st_dev;
    mount.inode = found->info.st_ino;
    // Where the run's user does not reach it, the command has less.
    mount.optional = true;
  }

  // One of Profile::substitutes. What is lent as it is comes before it.
  void AddSubstitute(const Lent& lent) {
    if (std::ranges::none_of(profile_.lend, [&](const Lent& other) {
          return IsWithin(lent.path, other.path);
        }))
      AddLent(lent);
  }

  // Where `lent` is mounted: its name below its directory, links resolved;
  // empty when there is no such place. Of a copy directories may be missing;
  // they are made in what covers them.
  std::string PlaceOf(const Lent& lent) {
    std::string rest = "/" + std::string(BaseName(lent.path));
    std::string above(DirName(lent.path));
    for (;;) {
      const Result<Found> found = resolve_(above);
      if (found && !S_ISDIR(found->info.st_mode)) return "";
      if (found) return (found->path == "/" ? "" : found->path) + rest;
      if (!lent.copy || above == "/") return "";
      rest.insert(0, "/" + std::string(BaseName(above)));
      above = DirName(above);
    }
  }

  bool IsLent(const std::string& path) const {
    return std::ranges::find(lent_, path) != lent_.end();
  }

  // Whether nothing stands at `rest` (which begins with a slash) below `place`,
  // or what an earlier run left of such a mount.
  static bool IsFreeBelow(const std::string& place, const std::string& rest,
                          bool directory) {
    for (size_t end = 0; end != std::string::npos;) {
      end = rest.find('/', end + 1);
      const std::string at = place + rest.substr(0, end);
      struct stat info = {};
      if (lstat(at.c_str(), &info) != 0) return errno == ENOENT;
      if (end == std::string::npos && !directory)
        return S_ISREG(info.st_mode) && info.st_size == 0;
      if (!S_ISDIR(info.st_mode)) return false;
      if (end == std::string::npos) return NamesIn(at, 0).empty();
    }
    return false;
  }

  // A directory that cannot be a workspace (somebody else's, one that holds
  // gate's own files) is a place to work in all the same.
  void AddWorkingDirectory() {
    if (!IsTemporaryPlace(cwd_)) return;
    const Result<Found> here = resolve_(cwd_);
    if (!here) return;
    for (const std::string& hidden : profile_.deny_read) {
      const Result<Found> place = resolve_(hidden);
      if (place && IsWithin(here->path, place->path)) return;
    }
    AddVisible(here->path, !view_.write_everything);
  }

  // The command begins where its caller stands, or not at all: what has this
  // name in a private place was made there by an earlier command.
  Status SetHere() {
    view_.cwd = cwd_;
    const auto covers = [&](const ViewMount* in) {
      return in != nullptr &&
             (in->kind == MountKind::kFresh || in->kind == MountKind::kBacked);
    };
    const auto at = [&](const std::string& path) -> const ViewMount* {
      for (const ViewMount& mount : mounts_)
        if (mount.target == path && mount.kind != MountKind::kBind)
          return &mount;
      return Innermost(path, mounts_.size());
    };
    const ViewMount* named = at(cwd_);
    const Result<Found> here = resolve_(cwd_);
    const std::string& path = here ? here->path : cwd_;
    const ViewMount* in = here ? at(path) : named;
    const bool place = in != nullptr && in->target == path;
    if (covers(in) && !place)
      return Fail(ErrorCode::kInvalid,
                  "the working directory `" + cwd_ + "` is not to be seen: `" +
                      in->target + "` is private inside, and of it only " +
                      (profile_.workspace.empty()
                           ? std::string("a workspace")
                           : "the workspace `" + profile_.workspace + "`") +
                      " is shown");
    if (!here) return {};
    if (in != nullptr && in->kind == MountKind::kHidden)
      return Fail(ErrorCode::kInvalid, "the working directory `" + cwd_ +
                                           "` is hidden inside: it is `" +
                                           in->target + "` or below it");
    // By a link in such a place the name leads elsewhere.
    if (covers(named) && named->target != cwd_) view_.cwd = path;
    if ((in != nullptr && IsCover(in->kind)) || IsWithin(path, "/proc") ||
        !profile_.overlays.empty())
      return {};
    view_.cwd_device = here->info.st_dev;
    view_.cwd_inode = here->info.st_ino;
    return {};
  }

  Status AddHidden() {
    for (const std::string& path : profile_.deny_read) {
      if (!listings_.MayExist(path)) continue;
      const Result<Found> found = resolve_(path);
      if (!found) {
        if (found.error().code == ErrorCode::kNotFound) {
          listings_.NoteMissing(path);
          continue;
        }
        return std::unexpected(found.error());
      }
      if (found->path == "/" && path == "/")
        return Fail(ErrorCode::kInvalid, "the root cannot be hidden");
      if (found->path != path &&
          !links_.MayHide(path, found->path, found->info))
        continue;
      Hide(*found);
      if (S_ISDIR(found->info.st_mode)) HideTargets(found->path);
    }
    HideOtherNames();
    return {};
  }

  // What is mounted twice has two names. Of the mounts since the last time.
  void HideOtherNames() {
    const size_t count = mounts_.size();
    for (; named_ < count; ++named_) {
      if (mounts_[named_].kind != MountKind::kHidden) continue;
      const std::string path = mounts_[named_].target;
      for (const OtherName& other : OtherNames(host_, path)) {
        if (!IsSame(other)) continue;
        const Result<Found> found = resolve_(other.name);
        if (!found || Has(found->path)) continue;
        Hide(*found);
        mounts_.back().fleeting = mounts_[named_].fleeting;
      }
    }
    named_ = mounts_.size();
  }

  void HideSockets() {
    SocketSearch search;
    search.look = [this](const std::string& path) -> std::optional<SocketFile> {
      Result<Found> found = resolve_(path);
      if (!found) return std::nullopt;
      return SocketFile{std::move(found->path), found->info};
    };
    search.covered = [this](const std::string& directory) {
      const ViewMount* in = Innermost(directory + "/.", mounts_.size());
      return in != nullptr && IsCover(in->kind);
    };
    if (!profile_.workspace.empty()) search.places = {profile_.workspace};
    search.look_in_places = guard_.sockets_in_workspace();
    search.mounts = host_;
    OutsideSockets sockets = FindUnixSockets(search);
    for (const std::string& path : sockets.paths) {
      if (IsLent(path)) continue;
      Hide({path, {}});
      mounts_.back().fleeting = true;
    }
    view_.unknown_sockets = std::move(sockets.unknown);
  }

  void Hide(const Found& found) {
    ViewMount& mount = Add(MountKind::kHidden, found.path);
    mount.directory = S_ISDIR(found.info.st_mode);
    mount.read_only = true;
    // What the one who builds the view cannot reach (a home that is closed to
    // a root without capabilities over it) the command cannot reach either.
    mount.optional = true;
  }

  // A hidden directory may hold links to where its content really is. A link to
  // a place that holds other things (a home, the root) is not what is meant.
  void HideTargets(const std::string& directory) {
    if (links_.IsWritten(directory)) return;
    for (const std::string& link : LinksBelow(directory)) {
      const Result<Found> target = resolve_(link);
      if (target && !IsWithin(target->path, directory) &&
          S_ISREG(target->info.st_mode) &&
          links_.MayHide(link, target->path, target->info))
        Hide(*target);
    }
  }

  // The mount that `path` stands in, among the first `count`.
  ViewMount* Innermost(const std::string& path, size_t count) {
    ViewMount* best = nullptr;
    for (size_t i = 0; i < count; ++i) {
      ViewMount& mount = mounts_[i];
      if (mount.kind == MountKind::kBind || !mount.directory ||
          mount.target.size() >= path.size() || !IsWithin(path, mount.target))
        continue;
      if (best == nullptr || mount.target.size() > best->target.size())
        best = &mount;
    }
    return best;
  }

  void Arrange() {
    for (ViewMount& mount : mounts_) mount.depth = Depth(mount.target);
    std::vector<size_t> order(mounts_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t one, size_t other) {
      const ViewMount &a = mounts_[one], &b = mounts_[other];
      return a.depth != b.depth ? a.depth < b.depth : a.kind < b.kind;
    });
    // Binds of protected paths, of which there may be thousands, hold no mount.
    std::vector<ViewMount> all = std::move(mounts_);
    mounts_.clear();
    view_.mounts.reserve(all.size());
    std::vector<size_t> place;  // of mounts_[i] in view_.mounts
    for (const size_t next : order) {
      ViewMount& mount = all[next];
      ViewMount* in = Innermost(mount.target, mounts_.size());
      // A bind of the very place that is covered finds the cover there.
      const bool covered =
          (in != nullptr && IsCover(in->kind)) ||
          (mount.kind == MountKind::kBind &&
           std::any_of(mounts_.begin(), mounts_.end(), [&](const auto& other) {
             return IsCover(other.kind) && other.target == mount.target;
           }));
      if (covered &&
          (mount.kind == MountKind::kBind || mount.kind == MountKind::kHidden))
        continue;
      if (mount.kind == MountKind::kHidden && Has(mount.target) &&
          view_.mounts.back().kind == MountKind::kHidden &&
          view_.mounts.back().target == mount.target)
        continue;
      if (mount.kind == MountKind::kShown || mount.kind == MountKind::kLent ||
          mount.kind == MountKind::kResolver) {
        if (covered) {
          mount.make = true;
          mount.cover = in->target.size();
          const size_t which = static_cast<size_t>(in - mounts_.data());
          view_.mounts[place[which]].holds_others = true;
        }
        if (!mount.read_only) view_.writable.push_back(mount.target);
      }
      if (mount.kind == MountKind::kBind) {
        view_.mounts.push_back(std::move(mount));
        continue;
      }
      place.push_back(view_.mounts.size());
      view_.mounts.push_back(mount);
      mounts_.push_back(std::move(mount));
    }
  }

  const Profile& profile_;
  const ProtectedPaths& guard_;
  const RunUser& user_;
  const std::string& cwd_;
  const std::vector<std::string>& show_;
  std::vector<HostMount> host_;
  std::vector<ViewMount> mounts_;
  std::vector<std::string> lent_;  // sources
  size_t named_ = 0;               // of these, the other names are hidden too
  HiddenLinks links_;
  NegativeEntryCache listings_;
  LinkResolver resolve_;
  View view_;
};

}  // namespace

Result<View> MakeView(const Profile& profile,
                      const ProtectedPaths& protected_paths,
                      const RunUser& user, const std::string& cwd,
                      const std::vector<std::string>& show) {
  return Builder(profile, protected_paths, user, cwd, show).Run();
}

}  // namespace gate::backends
