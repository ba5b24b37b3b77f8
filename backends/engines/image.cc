#include "backends/engine_image.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "backends/process/streams.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"

namespace gate::backends {
namespace {

constexpr size_t kBlock = 512;
constexpr std::string_view kAlgorithm = "sha256:";
constexpr size_t kDigits = 64;
constexpr size_t kMaxImageName = 512;

void AddEntry(std::string* tar, const std::string& name, char type,
              const std::string& link) {
  std::array<char, kBlock> header = {};
  snprintf(header.data(), 100, "%s", name.c_str());
  snprintf(header.data() + 100, 8, "%07o", type == '5' ? 0755u : 0777u);
  snprintf(header.data() + 108, 8, "%07o", 0u);
  snprintf(header.data() + 116, 8, "%07o", 0u);
  snprintf(header.data() + 124, 12, "%011o", 0u);
  snprintf(header.data() + 136, 12, "%011o", 0u);
  header[156] = type;
  snprintf(header.data() + 157, 100, "%s", link.c_str());
  memcpy(header.data() + 257, "ustar\00000", 8);
  memset(header.data() + 148, ' ', 8);
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  snprintf(header.data() + 148, 7, "%06o", sum);
  tar->append(header.data(), header.size());
}

}  // namespace

HostRoot ReadHostRoot() {
  HostRoot root;
  DIR* list = opendir("/");
  if (list == nullptr) return root;
  while (const dirent* entry = readdir(list)) {
    const std::string name = std::string("/") + entry->d_name;
    struct stat info = {};
    if (name == "/." || name == "/.." || lstat(name.c_str(), &info) != 0)
      continue;
    if (S_ISLNK(info.st_mode)) {
      char target[256];
      const ssize_t size = readlink(name.c_str(), target, sizeof(target) - 1);
      if (size > 0 && size < 100)
        root.links.emplace_back(name, std::string(target, size));
    } else if (S_ISDIR(info.st_mode) && name.size() < 90 && name != "/proc" &&
               name != "/sys" && name != "/dev" && name != "/run" &&
               name != "/tmp" && name != "/lost+found") {
      root.directories.push_back(name);
    }
  }
  closedir(list);
  std::sort(root.directories.begin(), root.directories.end());
  std::sort(root.links.begin(), root.links.end());
  return root;
}

std::string BaseImage(
    const std::vector<std::string>& roots,
    const std::vector<std::pair<std::string, std::string>>& links) {
  std::string tar;
  for (const std::string& root : roots)
    AddEntry(&tar, root.substr(1) + "/", '5', "");
  for (const auto& [name, target] : links)
    AddEntry(&tar, name.substr(1), '2', target);
  tar.append(2 * kBlock, '\0');
  return tar;
}

Result<std::string> OwnImage(const EngineClient& client, const HostRoot& root) {
  const std::string tar = BaseImage(root.directories, root.links);
  // The name says the content, so that another root makes another image.
  const std::string image =
      "localhost/gate-base:" + Hex(Sha256(tar)).substr(0, 16);
  if (client.Ask({"image", "inspect", "--format={{.Id}}", image})) return image;
  GATE_TRY(const Fd file, MemoryFile("gate-image", tar.data(), tar.size()));
  GATE_TRY(const std::string ignored,
           client.Ask({"import", "-", image}, file.get()));
  (void)ignored;
  return image;
}

bool IsPinnedImage(const std::string& text) {
  const size_t at = text.rfind(kAlgorithm);
  if (at == std::string::npos || text.size() > kMaxImageName) return false;
  const std::string digits = text.substr(at + kAlgorithm.size());
  if (digits.size() != kDigits ||
      digits.find_first_not_of("0123456789abcdef") != std::string::npos)
    return false;
  if (at == 0) return true;  // an id
  if (at == 1 || text[at - 1] != '@') return false;
  // A name that begins with a letter or digit is no option of the client's.
  const std::string name = text.substr(0, at - 1);
  return isalnum(static_cast<unsigned char>(name[0])) != 0 &&
         std::ranges::all_of(name, [](unsigned char c) {
           return isalnum(c) != 0 || strchr("._-/:", c) != nullptr;
         });
}

Result<std::string> ConfiguredImage(const EngineClient& client,
                                    const std::string& name) {
  if (!IsPinnedImage(name))
    return Fail(ErrorCode::kInvalid, "the image `" + name +
                                         "` is not named by its digest "
                                         "(NAME@sha256:… or sha256:…)");
  Result<std::string> id =
      client.Ask({"image", "inspect", "--format={{.Id}}", name});
  if (!id)
    return Fail(ErrorCode::kUnavailable,
                "the image " + name + " is not here, and gate downloads " +
                    "nothing: `" + client.engine().name +
                    (name.starts_with(kAlgorithm)
                         ? " image ls --no-trunc` shows which are"
                         : " pull " + name + "`") +
                    " (" + id.error().message + ")");
  // podman leaves the algorithm out.
  const std::string digits =
      id->starts_with(kAlgorithm) ? id->substr(kAlgorithm.size()) : *id;
  if (!IsPinnedImage(std::string(kAlgorithm) + digits))
    return Fail(ErrorCode::kUnavailable,
                "the engine did not say which image " + name + " is");
  return *id;
}

Result<View> FlatView(View view, const std::string& workspace,
                      const std::string& cwd) {
  if (view.write_everything)
    return Fail(ErrorCode::kInvalid,
                "a profile that writes everywhere cannot run in a configured "
                "image");
  char resolved[PATH_MAX];
  std::vector<std::string> shown, places;
  for (const ViewMount& mount : view.mounts) {
    if (mount.kind == MountKind::kShown && !mount.read_only)
      shown.push_back(mount.target);
    if (mount.kind == MountKind::kFresh || mount.kind == MountKind::kBacked)
      places.push_back(mount.target);
  }
  const auto within = [](const std::vector<std::string>& all,
                         const std::string& path) {
    return std::ranges::any_of(
        all, [&](const std::string& one) { return IsWithin(path, one); });
  };
  // Readable where it is not writable.
  if (!workspace.empty() && realpath(workspace.c_str(), resolved) != nullptr &&
      !within(shown, resolved)) {
    const std::string root = resolved;
    std::erase_if(view.mounts, [&](const ViewMount& mount) {
      return mount.kind == MountKind::kShown && mount.target == root;
    });
    ViewMount mount;
    mount.kind = MountKind::kShown;
    mount.target = root;
    mount.read_only = true;
    // Before what is in it, after what it is in.
    const auto at =
        std::ranges::find_if(view.mounts, [&](const ViewMount& other) {
          return other.target != root && IsWithin(other.target, root);
        });
    view.mounts.insert(at, std::move(mount));
    shown.push_back(root);
  }
  std::erase_if(view.mounts, [&](const ViewMount& mount) {
    switch (mount.kind) {
      case MountKind::kDevices:
      case MountKind::kFresh:
      case MountKind::kBacked:
        return false;
      case MountKind::kLent:      // not given (Feature::kLending)
      case MountKind::kResolver:  // nor a network by name
        return true;
      case MountKind::kShown:
      case MountKind::kBind:
      case MountKind::kHidden:
        return !within(shown, mount.target);
    }
    return true;
  });
  if (realpath(cwd.c_str(), resolved) == nullptr ||
      !(within(shown, resolved) || within(places, resolved)))
    return Fail(ErrorCode::kInvalid,
                "`" + cwd +
                    "` is not there in a configured image: only the "
                    "workspace and the writable places are");
  return view;
}

}  // namespace gate::backends
