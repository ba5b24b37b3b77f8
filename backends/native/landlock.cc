#include "backends/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

namespace gate::backends {
namespace {

// The kernel's interface (include/uapi/linux/landlock.h); Debian 12's headers
// stop at ABI 2.
struct RulesetAttributes {
  uint64_t fs = 0;
  uint64_t net = 0;
  uint64_t scoped = 0;
};
struct [[gnu::packed]] PathRule {
  uint64_t allowed = 0;
  int32_t parent = -1;
};
constexpr int kRulePath = 1;
constexpr uint32_t kVersion = 1;

constexpr uint64_t kWriteFile = 1 << 1;
constexpr uint64_t kRemoveDir = 1 << 4;
constexpr uint64_t kRemoveFile = 1 << 5;
constexpr uint64_t kMakeChar = 1 << 6;
constexpr uint64_t kMakeDir = 1 << 7;
constexpr uint64_t kMakeReg = 1 << 8;
constexpr uint64_t kMakeSock = 1 << 9;
constexpr uint64_t kMakeFifo = 1 << 10;
constexpr uint64_t kMakeBlock = 1 << 11;
constexpr uint64_t kMakeSym = 1 << 12;
constexpr uint64_t kRefer = 1 << 13;
constexpr uint64_t kTruncate = 1 << 14;
constexpr uint64_t kIoctlDevice = 1 << 15;

constexpr uint64_t kBindTcp = 1 << 0;
constexpr uint64_t kConnectTcp = 1 << 1;

constexpr uint64_t kScopeAbstractUnix = 1 << 0;
constexpr uint64_t kScopeSignal = 1 << 1;

// Rights that make sense on a file; others on a file are EINVAL.
constexpr uint64_t kOnFile = kWriteFile | kTruncate | kIoctlDevice;

uint64_t Handled(int abi) {
  uint64_t rights = kWriteFile | kRemoveDir | kRemoveFile | kMakeChar |
                    kMakeDir | kMakeReg | kMakeSock | kMakeFifo | kMakeBlock |
                    kMakeSym;
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDevice;
  return rights;
}

RulesetAttributes Attributes(int abi, uint64_t fs, bool no_tcp) {
  RulesetAttributes attributes;
  attributes.fs = fs;
  if (abi >= 4 && no_tcp) attributes.net = kBindTcp | kConnectTcp;
  if (abi >= 6) attributes.scoped = kScopeAbstractUnix | kScopeSignal;
  return attributes;
}

int CreateRuleset(int abi, const RulesetAttributes& attributes) {
  // Older kernels refuse a longer structure than they know.
  const size_t size = abi >= 6   ? sizeof(attributes)
                      : abi >= 4 ? 2 * sizeof(uint64_t)
                                 : sizeof(uint64_t);
  return static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &attributes, size, 0u));
}

int CloseWith(int fd, int error) {
  close(fd);
  errno = error;
  return -1;
}

int RestrictAndClose(int ruleset) {
  if (syscall(SYS_landlock_restrict_self, ruleset, 0u) != 0)
    return CloseWith(ruleset, errno);
  close(ruleset);
  return 0;
}

bool AddRule(int ruleset, int fd, uint64_t handled, bool only_write) {
  struct stat info = {};
  PathRule rule;
  rule.parent = fd;
  // Devices cannot be made anywhere: a node 0:0 would be an overlay's mark of
  // deletion.
  rule.allowed = handled & ~(kMakeChar | kMakeBlock);
  if (only_write || fstat(fd, &info) != 0 || !S_ISDIR(info.st_mode))
    rule.allowed &= kOnFile;
  return syscall(SYS_landlock_add_rule, ruleset, kRulePath, &rule, 0u) == 0;
}

}  // namespace

int LandlockAbi() {
  const long abi =
      syscall(SYS_landlock_create_ruleset, nullptr, size_t{0}, kVersion);
  return abi < 0 ? 0 : static_cast<int>(abi);
}

int RestrictWrites(int abi, const LandlockRoot* roots, size_t count,
                   bool no_tcp) {
  const RulesetAttributes attributes = Attributes(abi, Handled(abi), no_tcp);
  const int ruleset = CreateRuleset(abi, attributes);
  if (ruleset < 0) return -1;
  for (size_t i = 0; i < count; ++i) {
    const int fd = open(roots[i].path, O_PATH | O_CLOEXEC);
    if (fd < 0) continue;
    const bool added = AddRule(ruleset, fd, attributes.fs, roots[i].devices);
    const int error = errno;
    close(fd);
    if (!added) return CloseWith(ruleset, error);
  }
  for (const int stream : {1, 2}) {
    const int flags = fcntl(stream, F_GETFL);
    struct stat info = {};
    if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY || (flags & O_APPEND) ||
        fstat(stream, &info) != 0 || !S_ISREG(info.st_mode))
      continue;
    if (!AddRule(ruleset, stream, attributes.fs, true))
      return CloseWith(ruleset, errno);
  }
  return RestrictAndClose(ruleset);
}

int RestrictScope(int abi) {
  if (abi < 6) return 0;
  const int ruleset = CreateRuleset(abi, Attributes(abi, 0, false));
  if (ruleset < 0) return -1;
  return RestrictAndClose(ruleset);
}

int RestrictScopeBelowOthers(int abi) {
  if (abi < 6) return 0;
  const int ruleset = CreateRuleset(abi, Attributes(abi, kRefer, false));
  if (ruleset < 0) return -1;
  PathRule rule;
  rule.allowed = kRefer;
  rule.parent = open("/", O_PATH | O_CLOEXEC);
  const bool added = rule.parent >= 0 && syscall(SYS_landlock_add_rule, ruleset,
                                                 kRulePath, &rule, 0u) == 0;
  const int error = errno;
  if (rule.parent >= 0) close(rule.parent);
  if (!added) return CloseWith(ruleset, error);
  return RestrictAndClose(ruleset);
}

}  // namespace gate::backends
