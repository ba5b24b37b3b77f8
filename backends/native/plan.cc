#include "backends/native/plan.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>
#include <string>
#include <unordered_map>
#include <utility>

#include "backends/process/limits.h"
#include "backends/process/program_search.h"
#include "backends/view/view.h"

namespace gate::backends {
namespace {

// Only what is written takes memory; a plan is some kilobytes, and some
// hundred for each thousand protected paths.
constexpr size_t kSpaceBytes = size_t{64} << 20;
// Files and directories of the private tmpfs that are the view's own, so that a
// limit of the run's files leaves them room.
constexpr uint64_t kOwnNodes = 4096;

class Planner {
 public:
  Planner(const Profile& profile, const Command& command,
          const ProtectedPaths& protected_paths, NativePlan* plan,
          MountPlaceholders* places)
      : profile_(profile),
        command_(command),
        guard_(protected_paths),
        plan_(*plan),
        places_(*places) {}

  Status Run(const RunUser& user) {
    plan_.user = user;
    plan_.asks = {profile_.watch_execs, profile_.report_blocked,
                  profile_.report_reads, command_.relay_signal != nullptr};
    plan_.abi = LandlockAbi();
    Profile without_tmp;
    const bool closed = IsTemporaryClosed();
    if (closed) {
      without_tmp = profile_;
      without_tmp.private_tmp.clear();  // fresh ones, for this run only
    }
    GATE_TRY(const View view,
             MakeView(closed ? without_tmp : profile_, guard_, plan_.user,
                      command_.cwd, profile_.host_tmp_binds));
    plan_.filter = MakeFilter(
        plan_.asks, {.local = LocalSocketsOf(view),
                     .tracing = TracingOf(profile_) == Tracing::kRefused,
                     .taking_room = profile_.limits.written_bytes != 0});
    plan_.unknown_sockets = plan_.Keep(view.unknown_sockets);
    plan_.write_everything = view.write_everything;
    Node("hidden", 0);
    Node("hidden-file", 0, ScratchNode::kFile);
    plan_.mounts.reserve(view.mounts.size() + 8);
    FindEarlyClones();
    for (const ViewMount& mount : view.mounts)
      if (HasPlace(view, mount)) AddMount(mount);
    plan_.landlock.push_back({"/dev", true});
    for (const std::string& path : view.writable)
      plan_.landlock.push_back({plan_.Keep(path), false});
    plan_.cwd = plan_.Keep(view.cwd);
    // What the caller knows is older than what the view found at its name.
    const bool known = view.cwd_inode != 0 && command_.cwd_inode != 0;
    plan_.cwd_device = known ? command_.cwd_device : view.cwd_device;
    plan_.cwd_inode = known ? command_.cwd_inode : view.cwd_inode;
    SetLimits();
    return {};
  }

 private:
  // Whether root without capabilities cannot go where private temporary
  // directories are kept: the state of a caller with somebody else's home.
  bool IsTemporaryClosed() const {
    const RunUser& user = plan_.user;
    return geteuid() == 0 && !user.switched && !user.all_ids &&
           !profile_.private_tmp.empty() &&
           IsClosedTo(user, profile_.private_tmp + "/");
  }

  // Whether `mount` can be made. For one of Profile::show (the only optional
  // ones that are made in a cover) makes its place, where that would stay.
  bool HasPlace(const View& view, const ViewMount& mount) {
    if (mount.kind != MountKind::kShown || !mount.make || !mount.optional)
      return true;
    const std::string_view cover(mount.target.data(), mount.cover);
    for (const ViewMount& other : view.mounts)
      if (other.kind == MountKind::kBacked && other.target == cover)
        return places_.Make(other.source, mount.target.substr(mount.cover + 1),
                            mount.directory, plan_.user);
    return true;
  }

  void AddMount(const ViewMount& mount) {
    MountOp op;
    op.target = plan_.Keep(mount.target);
    op.read_only = mount.read_only;
    op.optional = mount.optional;
    op.fleeting = mount.fleeting;
    if (mount.make) op.make = mount.directory ? Make::kDirectory : Make::kFile;
    op.cover = mount.cover;
    switch (mount.kind) {
      case MountKind::kDevices:
        AddDevices(op);
        return;
      case MountKind::kFresh:
        op.kind = Source::kScratch;
        op.source = NextNode(mount.mode);
        break;
      case MountKind::kHidden:
        op.kind = Source::kScratch;
        if (!mount.directory)
          op.source = "hidden-file";
        else if (mount.holds_others)
          op.source = NextNode(0711);  // passed through, not listed
        else
          op.source = "hidden";
        break;
      case MountKind::kResolver:
        Node("resolver", 0444, ScratchNode::kFile, kResolverText);
        op.kind = Source::kScratch;
        op.source = "resolver";
        break;
      case MountKind::kBacked:
      case MountKind::kLent:
        op.kind = Source::kHost;
        op.source = plan_.Keep(mount.source);
        op.device = mount.device;
        op.inode = mount.inode;
        break;
      case MountKind::kShown:
        op.kind = Source::kHost;
        op.source = op.target;
        op.same_target = true;
        op.device = mount.device;
        op.inode = mount.inode;
        if (mount.overlay.empty()) break;
        op.kind = Source::kOverlay;
        op.upper = plan_.Keep(mount.overlay + "/upper");
        op.work = plan_.Keep(mount.overlay + "/work");
        break;
      case MountKind::kBind:
        op.kind = Source::kSelf;
        op.device = mount.device;
        op.inode = mount.inode;
        if (op.read_only) op.early = EarlyCloneOf(mount);
        break;
    }
    plan_.mounts.push_back(op);
  }

  void FindEarlyClones() {
    const uint32_t count = plan_.early_count.load(std::memory_order_relaxed);
    early_.reserve(count);
    for (uint32_t i = 0; i < count; ++i) early_[plan_.early[i].inode] = i;
  }

  int EarlyCloneOf(const ViewMount& mount) const {
    const auto found = early_.find(mount.inode);
    if (found == early_.end()) return -1;
    const EarlyClone& early = plan_.early[found->second];
    return early.device == mount.device && mount.target == early.path
               ? static_cast<int>(found->second)
               : -1;
  }

  void AddDevices(MountOp op) {
    Node("dev", 0755);
    Node("dev/pts", 0755);
    Node("dev/shm", 0755);
    for (const auto& [name, target] :
         {std::pair{"dev/fd", "/proc/self/fd"},
          std::pair{"dev/stdin", "/proc/self/fd/0"},
          std::pair{"dev/stdout", "/proc/self/fd/1"},
          std::pair{"dev/stderr", "/proc/self/fd/2"},
          std::pair{"dev/ptmx", "pts/ptmx"}})
      plan_.scratch.push_back({name, 0, ScratchNode::kLink, target});
    op.kind = Source::kScratch;
    op.source = "dev";
    plan_.mounts.push_back(op);
    for (const char* name :
         {"null", "zero", "full", "random", "urandom", "tty"}) {
      const char* path = plan_.Keep(std::string("/dev/") + name);
      struct stat info = {};
      if (stat(path, &info) != 0 || !S_ISCHR(info.st_mode)) continue;
      Node(path + 1, 0600, ScratchNode::kFile);
      MountOp device;
      device.target = device.source = path;
      device.kind = Source::kHost;
      device.device = info.st_dev;
      device.inode = info.st_ino;
      device.keep_devices = true;
      device.read_only = true;  // its mode and times; what it does, it does
      plan_.mounts.push_back(device);
    }
    AddTerminal();
  }

  // The command holds this terminal as its streams. It has a name only where
  // it can be found below /dev, and what asks for it (`tty`, gpg) fails else;
  // its own name in /dev/pts is not free.
  void AddTerminal() {
    struct stat info = {};
    if (*plan_.terminal_path == '\0' || stat(plan_.terminal_path, &info) != 0 ||
        !S_ISCHR(info.st_mode))
      return;
    Node("dev/console", 0600, ScratchNode::kFile);
    MountOp terminal;
    terminal.target = "/dev/console";
    terminal.source = plan_.terminal_path;
    terminal.kind = Source::kHost;
    terminal.device = info.st_dev;
    terminal.inode = info.st_ino;
    terminal.keep_devices = true;
    terminal.read_only = true;
    terminal.optional = true;
    plan_.mounts.push_back(terminal);
  }

  const char* NextNode(mode_t mode) {
    const char* name = plan_.Keep("part-" + std::to_string(++parts_));
    Node(name, mode);
    return name;
  }

  void Node(const char* path, mode_t mode,
            ScratchNode::Kind kind = ScratchNode::kDirectory,
            const char* text = "") {
    plan_.scratch.push_back({path, mode, kind, text});
  }

  void SetLimits() {
    const std::vector<Limit> limits = ProcessLimits(profile_.limits);
    plan_.limits.assign(limits.begin(), limits.end());
    plan_.tree_limits = SummedLimits(profile_.limits);
    // The bounds of the run come first, so that its outcome can say which it
    // was.
    for (Limit& limit : plan_.limits) {
      if (limit.resource != RLIMIT_CPU && limit.resource != RLIMIT_NPROC)
        continue;
      ++limit.value.rlim_cur;
      ++limit.value.rlim_max;
    }
    const uint64_t memory = profile_.limits.memory_bytes;
    const uint64_t files = profile_.limits.files;
    std::string options = "mode=0755";
    if (memory > 0) options += ",size=" + std::to_string(memory);
    if (files > 0) options += ",nr_inodes=" + std::to_string(files + kOwnNodes);
    plan_.tmpfs_options = plan_.Keep(options);
  }

  const Profile& profile_;
  const Command& command_;
  const ProtectedPaths& guard_;
  NativePlan& plan_;
  MountPlaceholders& places_;
  int parts_ = 0;
  std::unordered_map<ino_t, uint32_t> early_;  // places in plan_.early
};

void SetCommand(const Profile& profile, const Command& command,
                NativePlan* plan) {
  std::vector<std::string> environment =
      CleanEnvironment(command.environment, profile, TracingOf(profile));
  SwitchEnvironment(plan->user, &environment);
  environment.push_back("PWD=" + command.cwd);
  for (const std::string& program :
       ProgramCandidates(command.argv[0], environment))
    plan->programs.push_back(plan->Keep(program));
  for (const std::string& word : command.argv)
    plan->argv.push_back(const_cast<char*>(plan->Keep(word)));
  plan->argv.push_back(nullptr);
  for (const std::string& entry : environment)
    plan->envp.push_back(const_cast<char*>(plan->Keep(entry)));
  plan->envp.push_back(nullptr);
}

constexpr char kTooLarge[] = "the sandbox's plan is too large";

}  // namespace

const char* NativePlan::Keep(std::string_view text) {
  char* kept = static_cast<char*>(space->allocate(text.size() + 1, 1));
  memcpy(kept, text.data(), text.size());
  kept[text.size()] = '\0';
  return kept;
}

bool NativePlan::AddEarlyClone(std::string_view path, dev_t device,
                               ino_t inode) {
  const uint32_t count = early_count.load(std::memory_order_relaxed);
  if (count >= kMaxEarlyClones) return false;
  try {
    if (early == nullptr)
      early = static_cast<EarlyClone*>(space->allocate(
          kMaxEarlyClones * sizeof(EarlyClone), alignof(EarlyClone)));
    new (early + count) EarlyClone{Keep(path), device, inode};
  } catch (const std::bad_alloc&) {
    return false;
  }
  early_count.store(count + 1, std::memory_order_release);
  return true;
}

Result<PlanSpace> PlanSpace::Make() {
  PlanSpace space;
  void* base = mmap(nullptr, kSpaceBytes, PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return FailErrno("no memory for the plan");
  space.base_ = base;
  space.memory_ = std::make_unique<std::pmr::monotonic_buffer_resource>(
      base, kSpaceBytes, std::pmr::null_memory_resource());
  void* place =
      space.memory_->allocate(sizeof(NativePlan), alignof(NativePlan));
  space.plan_ = new (place) NativePlan(space.memory_.get());
  return space;
}

PlanSpace::PlanSpace(PlanSpace&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      memory_(std::move(other.memory_)),
      plan_(std::exchange(other.plan_, nullptr)) {}

// Nothing in it has a destructor with work: all of it goes with the mapping.
PlanSpace::~PlanSpace() { Free(); }

void PlanSpace::Free() {
  if (base_ != nullptr) munmap(std::exchange(base_, nullptr), kSpaceBytes);
}

void PlanSpace::Leave() const { munmap(base_, kSpaceBytes); }

Status MakeNativePlan(const Profile& profile, const Command& command,
                      const ProtectedPaths& protected_paths,
                      const RunUser& user, NativePlan* plan,
                      MountPlaceholders* places) {
  if (command.argv.empty() || command.argv[0].empty())
    return Fail(ErrorCode::kInvalid, "there is no program to run");
  if (!command.cwd.starts_with('/'))
    return Fail(ErrorCode::kInvalid, "the working directory is not absolute");
  try {
    if (command.take_filter_socket && profile.network == Network::kDomains)
      for (const FilterPort& each : kFilterPorts)
        plan->ports.push_back(each.port);
    plan->filter_ports = plan->ports.size();
    if (command.take_listeners && profile.network != Network::kOpen)
      for (const LocalService& service : profile.services)
        plan->ports.push_back({service.port, service.four, service.six});
    return Planner(profile, command, protected_paths, plan, places).Run(user);
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kInvalid, kTooLarge);
  }
}

Status PlanCommand(const Profile& profile, const Command& command,
                   NativePlan* plan) {
  try {
    SetCommand(profile, command, plan);
    return {};
  } catch (const std::bad_alloc&) {
    return Fail(ErrorCode::kInvalid, kTooLarge);
  }
}

}  // namespace gate::backends
