#include "backends/file_count.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <functional>
#include <set>

#include "backends/process/outcome.h"
#include "backends/view/mounts.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

// Where the run may write, with what is mounted below: each file system once.
void EachPlace(const Profile& profile,
               const std::function<void(const std::string& path, Fd fd)>& act) {
  std::vector<std::string> paths = profile.write;
  for (const OverlayRoot& overlay : profile.overlays)
    paths.push_back(overlay.place);
  if (!profile.private_tmp.empty()) paths.push_back(profile.private_tmp);
  for (const auto* lents : {&profile.lend, &profile.substitutes})
    for (const Lent& lent : *lents)
      if (!lent.staged.empty()) paths.push_back(lent.staged);
  const size_t roots = paths.size();
  if (const auto mounts = ReadMounts())
    for (const HostMount& mount : *mounts)
      if (std::any_of(profile.write.begin(), profile.write.end(),
                      [&](const std::string& root) {
                        return mount.place != root &&
                               IsWithin(mount.place, root);
                      }))
        paths.push_back(mount.place);
  std::set<dev_t> seen;
  for (size_t i = 0; i < paths.size(); ++i) {
    Fd fd(open(paths[i].c_str(), O_PATH | O_CLOEXEC));
    struct stat info = {};
    if (!fd || fstat(fd.get(), &info) != 0) continue;
    // Of mounts below, only those that hold the machine's files.
    struct statvfs counts = {};
    if (i >= roots && (fstatvfs(fd.get(), &counts) != 0 ||
                       counts.f_blocks == 0 || (counts.f_flag & ST_RDONLY)))
      continue;
    if (seen.insert(info.st_dev).second) act(paths[i], std::move(fd));
  }
}

// The files in use; false where the file system does not say.
bool Used(int fd, uint64_t* used) {
  struct statvfs counts = {};
  if (fstatvfs(fd, &counts) != 0 || counts.f_files == 0) return false;
  *used = counts.f_files - std::min(counts.f_ffree, counts.f_files);
  return true;
}

}  // namespace

FileCount::FileCount(const Profile& profile) : limit_(profile.limits.files) {
  if (limit_ == 0) return;
  EachPlace(profile, [this](const std::string&, Fd fd) {
    Place place;
    if (!Used(fd.get(), &place.used)) return;
    place.fd = std::move(fd);
    places_.push_back(std::move(place));
  });
  looked_ms_ = MonotonicMs();
}

void FileCount::Look() {
  looked_ms_ = MonotonicMs();
  uint64_t more = 0;
  for (const Place& place : places_) {
    uint64_t used = 0;
    if (Used(place.fd.get(), &used) && used > place.used)
      more += used - place.used;
  }
  exceeded_ = exceeded_ || more > limit_;
}

void FileCount::Join(Watch* watch) {
  if (places_.empty()) return;
  AddTick(watch, [this, watch] {
    if (exceeded_) return -1;
    const uint64_t since = MonotonicMs() - looked_ms_;
    if (since < kFileCountMs) return kFileCountMs - static_cast<int>(since);
    Look();
    if (exceeded_) watch->kill();
    return exceeded_ ? -1 : kFileCountMs;
  });
}

void FileCount::Judge(Outcome* outcome) {
  if (places_.empty() || outcome->status == OutcomeStatus::kSetupFailed) return;
  Look();
  if (exceeded_)
    SetLimit("the limit of " + std::to_string(limit_) + " files", outcome);
}

void NameUncounted(const Profile& profile, std::vector<std::string>* lost) {
  if (profile.limits.files == 0) return;
  EachPlace(profile, [lost](const std::string& path, const Fd& fd) {
    uint64_t used = 0;
    if (!Used(fd.get(), &used))
      lost->push_back("files made in " + path +
                      " are not limited: its file system keeps no number");
  });
}

}  // namespace gate::backends
