// Paths go to the kernel as /proc/self/fd/N: what was opened and compared is
// what is mounted, and no character of a name needs escaping. The process
// file system is still the host's at that time.
#include "backends/native/overlay.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "backends/process/sys.h"

namespace gate::backends {
namespace {

// linux/mount.h, which cannot stand beside the C library's header.
constexpr unsigned kSetFlag = 0, kSetString = 1, kCreate = 6;

struct FdPath {
  explicit FdPath(int fd) {
    constexpr char kPrefix[] = "/proc/self/fd/";
    memcpy(text, kPrefix, sizeof(kPrefix) - 1);
    char digits[12];
    size_t count = 0;
    do {
      digits[count++] = static_cast<char>('0' + fd % 10);
      fd /= 10;
    } while (fd != 0);
    char* out = text + sizeof(kPrefix) - 1;
    while (count > 0) *out++ = digits[--count];
    *out = '\0';
  }
  char text[32];
};

bool Set(int context, const char* key, const char* value) {
  return syscall(SYS_fsconfig, context, kSetString, key, value, 0) == 0;
}

bool SetFlag(int context, const char* key) {
  return syscall(SYS_fsconfig, context, kSetFlag, key, nullptr, 0) == 0;
}

int OpenContext() {
  const int context =
      static_cast<int>(syscall(SYS_fsopen, "overlay", 1u /* CLOEXEC */));
  if (context < 0) return -1;
  if (Set(context, "source", "gate") && SetFlag(context, "userxattr") &&
      Set(context, "index", "off") && Set(context, "metacopy", "off"))
    return context;
  const int saved = errno;
  close(context);
  errno = saved;
  return -1;
}

int FinishContext(int context, bool created) {
  int tree = -1;
  if (created)
    tree = static_cast<int>(syscall(SYS_fsmount, context, 1u /* CLOEXEC */,
                                    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  const int saved = errno;
  close(context);
  errno = saved;
  return tree;
}

bool Create(int context) {
  return syscall(SYS_fsconfig, context, kCreate, nullptr, nullptr, 0) == 0;
}

}  // namespace

bool OpenOverlayParts(MountOp* op, bool first) {
  if (op->fd < 0) {
    op->fd = sys::OpenExact(op->target);
    struct stat info = {};
    if (op->fd >= 0 &&
        (fstat(op->fd, &info) != 0 || info.st_dev != op->device ||
         info.st_ino != op->inode)) {
      errno = ESTALE;
      return false;
    }
  }
  if (op->upper_fd < 0) op->upper_fd = sys::OpenExact(op->upper);
  if (op->work_fd < 0) op->work_fd = sys::OpenExact(op->work);
  return first || (op->fd >= 0 && op->upper_fd >= 0 && op->work_fd >= 0);
}

int MakeOverlay(const MountOp& op) {
  const int context = OpenContext();
  if (context < 0) return -1;
  // Volatile: what a crash of the machine leaves of a preview is told by its
  // hashes, so nothing is gained by flushing the disk at the end of the run.
  const bool created = Set(context, "lowerdir", FdPath(op.fd).text) &&
                       Set(context, "upperdir", FdPath(op.upper_fd).text) &&
                       Set(context, "workdir", FdPath(op.work_fd).text) &&
                       SetFlag(context, "volatile") && Create(context);
  return FinishContext(context, created);
}

bool TryOverlay() {
  const int context = OpenContext();
  if (context < 0) return false;
  const int tree = FinishContext(
      context, Set(context, "lowerdir", "/usr:/etc") && Create(context));
  if (tree < 0) return false;
  close(tree);
  return true;
}

}  // namespace gate::backends
