// The order matters:
//
//   1. clones of what stays reachable (writable roots, devices, private tmp
//      directories) are taken while the host's mounts are as they were;
//   2. a scratch tmpfs is made, its parts are cloned;
//   3. every mount of the namespace becomes read-only, nosuid, nodev, private
//      in one call;
//   4. the clones and the parts are attached, outermost first, each on a name
//      in a directory that is opened without following links, and that is
//      compared with what the parent saw there.
//
// A clone that is attached over a target that somebody exchanged in between
// therefore fails, or covers what has its name; it never lands elsewhere.
#include "backends/native/setup.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "backends/native/listen.h"
#include "backends/native/network.h"
#include "backends/native/overlay.h"
#include "backends/process/sys.h"

namespace gate::backends {
namespace {

constexpr const char* kStages[] = {
    "nothing",
    "the standard streams",
    "the user and group maps",
    "the loopback interface",
    "opening a path to show",
    "the private tmpfs",
    "the read-only root",
    "a process file system of its own",
    "a place for a mount",
    "opening a mount's target",
    "a path that changed meanwhile",
    "a mount",
    "the terminal devices",
    "the working directory",
    "no_new_privs",
    "Landlock",
    "giving up capabilities",
    "the system call filter",
    "starting a process",
    "a resource limit",
    "the probe",
    "the overlay of a preview (required feature overlay)",
    "the kernel refuses new namespaces",
    "entering a control group",
    "the set of processors",
    "listening for a service of this machine",
};
static_assert(sizeof(kStages) / sizeof(kStages[0]) ==
              static_cast<size_t>(Stage::kListen) + 1);

constexpr uint64_t kQuiet = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
constexpr char kScratchPlace[] = "/dev";

bool FailSetup(SetupError* error, Stage stage, int index = -1) {
  error->stage = stage;
  error->error = errno;
  error->index = index;
  return false;
}

bool WriteProc(const char* path, const char* text, size_t size) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t written = write(fd, text, size);
  const int saved = errno;
  close(fd);
  errno = saved;
  return written == static_cast<ssize_t>(size);
}

// A number in decimal, without the C library's formatting.
size_t Decimal(unsigned number, char* out) {
  char digits[12];
  size_t count = 0;
  do {
    digits[count++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  for (size_t i = 0; i < count; ++i) out[i] = digits[count - 1 - i];
  return count;
}

// "ID ID 1".
size_t IdentityMap(unsigned id, char* out) {
  size_t size = 0;
  for (int twice = 0; twice < 2; ++twice) {
    size += Decimal(id, out + size);
    out[size++] = ' ';
  }
  out[size++] = '1';
  return size;
}

bool Same(const struct stat& info, const MountOp& op) {
  if (op.inode == 0) return true;
  if (info.st_dev == op.device && info.st_ino == op.inode) return true;
  errno = ESTALE;
  return false;
}

bool Same(int fd, const MountOp& op) {
  struct stat info = {};
  return op.inode == 0 || (fstat(fd, &info) == 0 && Same(info, op));
}

// The directory of the newest path, open: of many mounts most lie in one.
class LastDirectory {
 public:
  // With `exact`, no symbolic link has a part in it.
  explicit LastDirectory(bool exact) : exact_(exact) {}
  LastDirectory(const LastDirectory&) = delete;
  LastDirectory& operator=(const LastDirectory&) = delete;
  ~LastDirectory() { Close(); }

  // The directory of an absolute path, and what is left of it; -1 and errno.
  int Open(const char* path, const char** name) {
    const char* slash = strrchr(path, '/');
    const auto size = static_cast<size_t>(slash - path) + 1;
    *name = slash[1] == '\0' ? "." : slash + 1;
    if (fd_ >= 0 && size == size_ && memcmp(path, path_, size) == 0) return fd_;
    Close();
    if (size >= sizeof(path_)) {
      errno = ENAMETOOLONG;
      return -1;
    }
    memcpy(path_, path, size);
    path_[size] = '\0';
    size_ = size;
    constexpr unsigned kFlags = O_PATH | O_DIRECTORY;
    fd_ = exact_ ? sys::OpenExact(path_, kFlags)
                 : open(path_, kFlags | O_CLOEXEC);
    return fd_;
  }

 private:
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

  const bool exact_;
  int fd_ = -1;
  size_t size_ = 0;
  char path_[PATH_MAX];
};

// A detached copy of what `fd` stands for, with the op's attributes.
int CloneTree(int fd, const char* path, unsigned flags, const MountOp& op) {
  sys::MountAttributes attributes;
  attributes.set = op.keep_devices ? MOUNT_ATTR_NOSUID : kQuiet;
  if (op.read_only) attributes.set |= MOUNT_ATTR_RDONLY;
  attributes.propagation = MS_PRIVATE;
  return sys::CloneTree(fd, path, flags, attributes);
}

// The same of what the parent saw at `path`: being that, it does not matter how
// the path leads to it now. -1 and ESTALE when something else is there.
int CloneSeen(LastDirectory* last, const char* path, const MountOp& op) {
  constexpr unsigned kFlags =
      AT_RECURSIVE | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
  const char* name = nullptr;
  const int directory = last->Open(path, &name);
  if (directory < 0) return -1;
  const int tree = CloneTree(directory, name, kFlags, op);
  if (tree < 0 || (op.inode != 0 && Same(tree, op))) return tree;
  close(tree);
  errno = ESTALE;
  return -1;
}

// With `first`, what cannot be opened is left for a second try. What is mounted
// onto itself is cloned here as well, while nothing is mounted below it: a
// clone looks at every mount below its source, which would make many of them
// cost their number squared. When descriptors run out the rest is cloned later.
bool OpenHostSources(NativePlan* plan, bool first, SetupError* error) {
  LastDirectory last(/*exact=*/false);
  for (size_t i = 0; i < plan->mounts.size(); ++i) {
    MountOp& op = plan->mounts[i];
    if (op.kind == Source::kOverlay) {
      if (!OpenOverlayParts(&op, first))
        return FailSetup(error,
                         errno == ESTALE ? Stage::kChanged : Stage::kOverlay,
                         static_cast<int>(i));
      if (first) continue;
      const int lower = op.fd;
      op.fd = MakeOverlay(op);
      if (op.fd < 0)
        return FailSetup(error, Stage::kOverlay, static_cast<int>(i));
      close(lower);
      close(op.upper_fd);
      close(op.work_fd);
      continue;
    }
    if (op.kind == Source::kScratch || op.fd >= 0) continue;
    const bool self = op.kind == Source::kSelf;
    if (self && op.early >= 0) op.fd = plan->early[op.early].fd;
    if (op.fd >= 0) continue;
    op.fd = CloneSeen(&last, self ? op.target : op.source, op);
    if (op.fd >= 0) continue;
    if (errno == ESTALE)
      return FailSetup(error, Stage::kChanged, static_cast<int>(i));
    if ((self && errno == EMFILE) || first || op.optional) continue;
    return FailSetup(error, Stage::kOpenSource, static_cast<int>(i));
  }
  return true;
}

bool MakeScratch(NativePlan* plan, SetupError* error) {
  if (mount("gate", kScratchPlace, "tmpfs", MS_NOSUID, plan->tmpfs_options) !=
      0)
    return FailSetup(error, Stage::kScratch);
  const int root = open(kScratchPlace, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return FailSetup(error, Stage::kScratch);
  for (const ScratchNode& node : plan->scratch) {
    if (node.kind == ScratchNode::kDirectory) {
      if (mkdirat(root, node.path, node.mode) != 0)
        return FailSetup(error, Stage::kScratch);
    } else if (node.kind == ScratchNode::kFile && *node.text == '\0') {
      if (mknodat(root, node.path, S_IFREG | node.mode, 0) != 0)
        return FailSetup(error, Stage::kScratch);
    } else if (node.kind == ScratchNode::kFile) {
      const int file = openat(root, node.path,
                              O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      const size_t size = strlen(node.text);
      if (file < 0 ||
          write(file, node.text, size) != static_cast<ssize_t>(size) ||
          fchmod(file, node.mode) != 0)
        return FailSetup(error, Stage::kScratch);
      close(file);
    } else if (symlinkat(node.text, root, node.path) != 0) {
      return FailSetup(error, Stage::kScratch);
    }
  }
  for (size_t i = 0; i < plan->mounts.size(); ++i) {
    MountOp& op = plan->mounts[i];
    if (op.kind != Source::kScratch) continue;
    // Read-only comes later: things may have to be made in it first.
    MountOp writable = op;
    writable.read_only = false;
    op.fd = CloneTree(root, op.source, 0, writable);
    if (op.fd < 0)
      return FailSetup(error, Stage::kScratch, static_cast<int>(i));
  }
  close(root);
  return true;
}

// Gives what stands at `name` another name in the same private directory.
bool PutAside(int directory, const char* name) {
  constexpr int kTries = 100;
  timespec now = {};
  for (int i = 0; i < kTries; ++i) {
    // Not to be guessed, and so not to be taken, by an earlier command.
    clock_gettime(CLOCK_REALTIME, &now);
    char aside[40] = ".in-the-way-";
    size_t size = strlen(aside);
    size += Decimal(static_cast<unsigned>(now.tv_sec), aside + size);
    aside[size++] = '-';
    size += Decimal(static_cast<unsigned>(now.tv_nsec), aside + size);
    aside[size] = '\0';
    if (syscall(SYS_renameat2, directory, name, directory, aside,
                1u /* RENAME_NOREPLACE */) == 0)
      return true;
    if (errno != EEXIST) return false;
  }
  return false;
}

// Makes `name`, or finds it, and opens it. What an earlier command left there
// that is of another kind, a link too, is put aside. -1 and errno.
int MakePlace(int directory, const char* name, bool file) {
  for (int i = 0; i < 3; ++i) {
    const int made = file ? mknodat(directory, name, S_IFREG | 0600, 0)
                          : mkdirat(directory, name, 0755);
    if (made != 0 && errno != EEXIST && errno != EROFS && errno != EACCES)
      return -1;
    // What could not be made may be there all the same.
    const int fd = openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
      if (errno == ENOENT && made == 0) continue;  // taken away by another run
      return -1;
    }
    struct stat info = {};
    if (fstat(fd, &info) == 0 &&
        (info.st_mode & S_IFMT) ==
            static_cast<mode_t>(file ? S_IFREG : S_IFDIR))
      return fd;
    close(fd);
    if (!PutAside(directory, name) && errno != ENOENT) return -1;
  }
  errno = ESTALE;
  return -1;
}

// Makes the missing part of a target inside what covers its place.
bool MakeTarget(const MountOp& op) {
  char path[PATH_MAX];
  const size_t size = strlen(op.target);
  if (size >= sizeof(path)) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(path, op.target, size + 1);
  path[op.cover] = '\0';
  int at = sys::OpenExact(path);
  for (size_t from = op.cover + 1, i = from; at >= 0 && i <= size; ++i) {
    if (path[i] != '/' && path[i] != '\0') continue;
    const bool last = path[i] == '\0';
    path[i] = '\0';
    const int next = MakePlace(at, path + from, last && op.make == Make::kFile);
    const int error = errno;
    close(at);
    errno = error;
    at = next;
    from = i + 1;
  }
  if (at < 0) return false;
  close(at);
  return true;
}

bool Attach(NativePlan* plan, SetupError* error) {
  LastDirectory last(/*exact=*/true);
  for (size_t i = 0; i < plan->mounts.size(); ++i) {
    MountOp& op = plan->mounts[i];
    const int index = static_cast<int>(i);
    if (op.kind != Source::kSelf && op.fd < 0) continue;  // optional
    if (op.make != Make::kNothing && !MakeTarget(op))
      return FailSetup(error, Stage::kMakeTarget, index);
    const char* name = nullptr;
    const int directory = last.Open(op.target, &name);
    // What is mounted onto itself was compared when it was cloned.
    const bool cloned = op.kind == Source::kSelf && op.fd >= 0;
    struct stat info = {};
    if (directory < 0 ||
        (!cloned && fstatat(directory, name, &info,
                            AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) != 0)) {
      // Out of reach for this user, and so for the command.
      if (op.optional && errno == EACCES) continue;
      if (op.fleeting && (errno == ENOENT || errno == EACCES)) continue;
      return FailSetup(error, Stage::kOpenTarget, index);
    }
    if (op.same_target && op.make == Make::kNothing && !Same(info, op))
      return FailSetup(error, Stage::kChanged, index);
    int tree = op.fd;
    if (tree < 0) {
      tree = CloneSeen(&last, op.target, op);
      if (tree < 0)
        return FailSetup(
            error, errno == ESTALE ? Stage::kChanged : Stage::kMount, index);
    }
    // What takes the name now has what was there laid over it all the same; a
    // link is not followed. What was removed has no name to be reached by.
    if (sys::MoveMount(tree, directory, name, MOVE_MOUNT_F_EMPTY_PATH) != 0 &&
        (!op.fleeting || errno != ENOENT))
      return FailSetup(error, Stage::kMount, index);
    if (op.kind == Source::kScratch && op.read_only) continue;
    close(tree);
  }
  for (size_t i = 0; i < plan->mounts.size(); ++i) {
    const MountOp& op = plan->mounts[i];
    if (op.kind != Source::kScratch || !op.read_only) continue;
    sys::MountAttributes attributes;
    attributes.set = MOUNT_ATTR_RDONLY;
    // Who removes a file takes the mounts on it away as well, everywhere.
    if (sys::MountSetAttributes(op.fd, "", AT_EMPTY_PATH, attributes) != 0 &&
        (!op.fleeting || errno != EINVAL))
      return FailSetup(error, Stage::kMount, static_cast<int>(i));
    close(op.fd);
  }
  return true;
}

// A detached mount of a file system; -1 and errno. `options`: pairs of name and
// value, a null value for a flag, ended by a null name.
int MakeDetached(const char* type, const char* const* options,
                 unsigned attributes) {
  const int context =
      static_cast<int>(syscall(SYS_fsopen, type, sys::kFsopenCloexec));
  if (context < 0) return -1;
  bool good = true;
  for (; good && options[0] != nullptr; options += 2)
    good = syscall(SYS_fsconfig, context,
                   options[1] == nullptr ? sys::kFsSetFlag : sys::kFsSetString,
                   options[0], options[1], 0) == 0;
  good = good && syscall(SYS_fsconfig, context, sys::kFsCreate, nullptr,
                         nullptr, 0) == 0;
  const int made =
      good ? static_cast<int>(syscall(SYS_fsmount, context,
                                      sys::kFsmountCloexec, attributes))
           : -1;
  const int saved = errno;
  close(context);
  errno = saved;
  return made;
}

// Read-only as a whole: uid 0 owns most of /proc/sys even without any
// capability, and nothing ordinary is written there.
int MakeProc() {
  constexpr const char* kOptions[] = {"ro", nullptr, nullptr, nullptr};
  return MakeDetached("proc", kOptions,
                      MOUNT_ATTR_RDONLY | kQuiet | MOUNT_ATTR_NOEXEC);
}

int MakeTerminals() {
  constexpr const char* kOptions[] = {"ptmxmode", "0666",  "mode",
                                      "0620",     nullptr, nullptr};
  return MakeDetached("devpts", kOptions,
                      MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
}

bool AttachAt(int tree, const char* path) {
  if (tree < 0) return false;
  const int target = sys::OpenExact(path);
  if (target < 0) return false;
  const bool good =
      sys::MoveMount(tree, target, "",
                     MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) == 0;
  const int saved = errno;
  close(target);
  close(tree);
  errno = saved;
  return good;
}

constexpr unsigned kFileOwner =
    1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER;

// Gives up all, or all but those that let uid 0 write the files of others.
bool DropCapabilities(bool keep_file_owner) {
  if (prctl(PR_SET_SECUREBITS,
            (keep_file_owner ? 0 : SECBIT_NOROOT) | SECBIT_NOROOT_LOCKED |
                SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED |
                SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
            0, 0, 0) != 0)
    return false;
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0)
    return false;
  __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2] = {};
  if (keep_file_owner) sets[0].effective = sets[0].permitted = kFileOwner;
  return syscall(SYS_capset, &header, sets) == 0;
}

}  // namespace

const char* Name(Stage stage) { return kStages[static_cast<size_t>(stage)]; }

bool MakeNamespaces(SetupError* error) {
  return unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP) ==
             0 ||
         FailSetup(error, Stage::kNamespaces);
}

void NumberProcessesFrom(pid_t last) {
  char text[16];
  (void)WriteProc("/proc/sys/kernel/ns_last_pid", text,
                  Decimal(static_cast<unsigned>(last), text));
}

bool MapSelf(uid_t uid, gid_t gid, SetupError* error) {
  // A caller that changed its user is not dumpable, and its files in /proc
  // then belong to root.
  prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
  char map[32];
  if (!WriteProc("/proc/self/setgroups", "deny", 4) ||
      !WriteProc("/proc/self/uid_map", map, IdentityMap(uid, map)) ||
      !WriteProc("/proc/self/gid_map", map, IdentityMap(gid, map)))
    return FailSetup(error, Stage::kIdentity);
  return true;
}

Early MakeEarly() {
  Early early;
  early.proc = MakeProc();
  early.terminals = MakeTerminals();
  return early;
}

bool DropBounds(bool keep_file_owner, SetupError* error) {
  constexpr int kMaxCapability = 63;
  for (int capability = 0; capability <= kMaxCapability; ++capability) {
    if (keep_file_owner && capability < 32 &&
        (kFileOwner >> capability & 1u) != 0)
      continue;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      if (errno == EINVAL) break;  // past the last one of this kernel
      return FailSetup(error, Stage::kCapabilities);
    }
  }
  return true;
}

void CloneEarly(NativePlan* plan, uint32_t* next) {
  LastDirectory last(/*exact=*/false);
  while (*next < plan->early_count.load(std::memory_order_acquire)) {
    EarlyClone& early = plan->early[(*next)++];
    MountOp op;
    op.read_only = true;
    op.device = early.device;
    op.inode = early.inode;
    early.fd = CloneSeen(&last, early.path, op);
  }
}

bool BecomeUser(NativePlan* plan, SetupError* error) {
  const RunUser& user = plan->user;
  if (user.all_ids) return true;
  // Some paths only root can walk to (gate's private directories), some only
  // the owner (without capabilities root cannot pass a home of mode 0700).
  if (!OpenHostSources(plan, true, error)) return false;
  // Saved and file system ids follow; capabilities in the new namespace
  // stay, since its uid 0 is mapped to nobody.
  if (syscall(SYS_setgroups, size_t{0}, nullptr) != 0 ||
      syscall(SYS_setresgid, user.gid, user.gid, user.gid) != 0 ||
      syscall(SYS_setresuid, user.uid, user.uid, user.uid) != 0)
    return FailSetup(error, Stage::kIdentity);
  return true;
}

bool BuildView(NativePlan* plan, const Early& early, SetupError* error) {
  const mode_t mask = umask(0);
  if (!OpenHostSources(plan, false, error)) return false;
  if (!MakeScratch(plan, error)) return false;
  sys::MountAttributes attributes;
  attributes.set = kQuiet | (plan->write_everything ? 0 : MOUNT_ATTR_RDONLY);
  attributes.propagation = MS_PRIVATE;
  if (sys::MountSetAttributes(AT_FDCWD, "/", AT_RECURSIVE, attributes) != 0)
    return FailSetup(error, Stage::kReadOnlyRoot);
  if (!AttachAt(early.proc >= 0 ? early.proc : MakeProc(), "/proc"))
    return FailSetup(error, Stage::kProc);
  if (!Attach(plan, error)) return false;
  if (!AttachAt(early.terminals >= 0 ? early.terminals : MakeTerminals(),
                "/dev/pts"))
    return FailSetup(error, Stage::kDevpts);
  umask(mask);
  if (chdir(plan->cwd) != 0) return FailSetup(error, Stage::kWorkingDirectory);
  struct stat here = {};
  if (plan->cwd_inode != 0 &&
      (stat(".", &here) != 0 || here.st_dev != plan->cwd_device ||
       here.st_ino != plan->cwd_inode)) {
    errno = ESTALE;
    return FailSetup(error, Stage::kWorkingDirectory);
  }
  return true;
}

bool RaiseWalls(const NativePlan& plan, NetworkMaker* network, int report,
                int* listener, SetupError* error) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return FailSetup(error, Stage::kNoNewPrivileges);
  if (plan.abi > 0 &&
      RestrictWrites(plan.abi, plan.landlock.data(), plan.landlock.size(),
                     /*no_tcp=*/false) != 0)
    return FailSetup(error, Stage::kLandlock);
  // As late as it can be: it may still be in the making.
  if (!network->Enter(error)) return false;
  // While ports below 1024 may still be had.
  if (SendPortListeners(plan.ports.data(), plan.ports.size(), report) != 0)
    return FailSetup(error, Stage::kListen);
  if (!DropCapabilities(plan.user.all_ids))
    return FailSetup(error, Stage::kCapabilities);
  if (plan.asks.Any()) {
    *listener = InstallAskingFilter(plan.filter);
    if (*listener < 0) return FailSetup(error, Stage::kSeccomp);
  } else if (InstallFilter(plan.filter) != 0) {
    return FailSetup(error, Stage::kSeccomp);
  }
  return true;
}

}  // namespace gate::backends
