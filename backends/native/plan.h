// What the child has to do, worked out beforehand.
//
// Everything that needs allocation, names or decisions happens in the parent;
// the child walks over these arrays with system calls only.
#pragma once

#include <atomic>
#include <memory>
#include <memory_resource>
#include <string_view>

#include "backends/backend.h"
#include "backends/identity.h"
#include "backends/landlock.h"
#include "backends/native/account.h"
#include "backends/native/calls/seccomp.h"
#include "backends/native/listen.h"
#include "backends/native/mount_placeholders.h"
#include "backends/process/limits.h"
#include "backends/protected_paths.h"

namespace gate::backends {

enum class Source : uint8_t {
  kSelf,     // what stands at the target itself
  kHost,     // `source`, opened before anything is covered
  kScratch,  // `source` in the run's own tmpfs
  kOverlay,  // an overlay of `target` (backends/native/overlay.h)
};

enum class Make : uint8_t { kNothing, kDirectory, kFile };

// One mount. The child executes them in order, outermost targets first.
struct MountOp {
  const char* target = "";
  const char* source = "";
  Source kind = Source::kSelf;
  Make make = Make::kNothing;  // the target is missing in what covers it
  size_t cover = 0;            // how much of the target that is
  bool read_only = false;
  bool keep_devices = false;  // a device node must stay usable
  bool fleeting = false;      // skipped when the target is gone
  bool optional = false;      // skipped where the run's user cannot reach
  bool same_target = false;   // kHost: the target is the source itself
  // What must be found at the target (kSelf, same_target) and at the source
  // (kHost); inode 0: any target, no source.
  dev_t device = 0;
  ino_t inode = 0;
  // kOverlay
  const char* upper = "";
  const char* work = "";
  int upper_fd = -1, work_fd = -1;  // the child's
  int early = -1;                   // kSelf: the place in NativePlan::early
  int fd = -1;                      // the child's
};

// What a mount is going to show that lies onto itself, read-only: process 1
// clones it while the rest of the plan is being made.
struct EarlyClone {
  const char* path = "";
  dev_t device = 0;  // what must be there
  ino_t inode = 0;
  int fd = -1;  // the child's
};
inline constexpr uint32_t kMaxEarlyClones = 16384;
// So many are worth waking process 1.
inline constexpr uint32_t kEarlyClonesAtOnce = 64;

// A directory or file of the scratch tmpfs.
struct ScratchNode {
  const char* path = "";  // below its root
  mode_t mode = 0;
  enum Kind : uint8_t { kDirectory, kFile, kLink } kind = kDirectory;
  const char* text = "";  // where the link leads; what the file holds
};

// Everything in it, and the plan itself, lies in a PlanSpace.
struct NativePlan {
  using Memory = std::pmr::memory_resource;
  explicit NativePlan(Memory* memory) : space(memory) {}

  Memory* space;  // of the parent only
  std::pmr::vector<ScratchNode> scratch{space};
  std::pmr::vector<MountOp> mounts{space};
  std::pmr::vector<LandlockRoot> landlock{space};
  std::pmr::vector<Limit> limits{space};
  TreeLimits tree_limits;
  std::pmr::vector<const char*> programs{space};     // to try, in order
  std::pmr::vector<char*> argv{space}, envp{space};  // null-terminated
  const char* cwd = "/";
  dev_t cwd_device = 0;  // what must be there; inode 0: anything
  ino_t cwd_inode = 0;
  const char* unknown_sockets = "";  // View's
  const char* tmpfs_options = "";
  Filter filter;
  FilterAsks asks;
  RunUser user;
  int abi = 0;
  bool write_everything = false;   // "/" is a writable root
  bool terminal = false;           // stdin is one
  const char* terminal_path = "";  // its name outside, where it has one
  // On which process 1 listens for gate (backends/native/listen.h): the first
  // `filter_ports` for the filter of a network by name.
  std::pmr::vector<ListenPort> ports{space};
  size_t filter_ports = 0;
  bool lasts = false;   // what the command leaves goes on after it
  int entry_files = 0;  // files of control groups that process 1 is sent
  std::atomic<bool> begun = false;  // to be followed, by process 1
  // The first `early_count` of kMaxEarlyClones, which stay where they are.
  EarlyClone* early = nullptr;
  std::atomic<uint32_t> early_count = 0;

  // False: there is no room.
  bool AddEarlyClone(std::string_view path, dev_t device, ino_t inode);
  const char* Keep(std::string_view text);
};

// Memory that the child shares, at the same address: the child is started
// first and makes its namespaces while the plan is still being made.
class PlanSpace {
 public:
  static Result<PlanSpace> Make();
  PlanSpace(PlanSpace&& other) noexcept;
  PlanSpace(const PlanSpace&) = delete;  // owns a mapping
  PlanSpace& operator=(const PlanSpace&) = delete;
  ~PlanSpace();

  NativePlan* plan() const { return plan_; }
  // In the child, when the plan has been followed.
  void Leave() const;
  // In the parent, early.
  void Free();

 private:
  PlanSpace() = default;
  void* base_ = nullptr;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> memory_;
  NativePlan* plan_ = nullptr;
};

// All but the command itself: what process 1 needs to build the sandbox.
// `places`: for what is mounted in private directories, as long as it is.
// kNotFound, kPermission, kInvalid with what is wrong in the message.
Status MakeNativePlan(const Profile& profile, const Command& command,
                      const ProtectedPaths& protected_paths,
                      const RunUser& user, NativePlan* plan,
                      MountPlaceholders* places);
// The command's programs, words and environment, which process 1 looks at when
// it may start it: they may be added while it follows the plan. kInvalid.
Status PlanCommand(const Profile& profile, const Command& command,
                   NativePlan* plan);

}  // namespace gate::backends
