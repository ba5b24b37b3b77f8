#include "backends/process/request.h"

#include <sys/stat.h>

#include "backends/process/streams.h"

namespace gate::backends {

Status CheckRequest(const std::string& who, const FeatureSet& features,
                    const Profile& profile, const Command& command,
                    const Io& io) {
  const auto refuse = [](std::string why) {
    return Fail(ErrorCode::kInvalid, std::move(why));
  };
  if (command.argv.empty() || command.argv[0].empty())
    return refuse("there is no program to run");
  FeatureSet needed = profile.required;
  if (profile.network == Network::kDomains)
    needed.Add(Feature::kNetworkDomains);
  if (!profile.overlays.empty()) needed.Add(Feature::kOverlay);
  if (!profile.lend.empty()) needed.Add(Feature::kLending);
  if (const auto missing = needed.Without(features); !missing.empty())
    return refuse(who +
                  " lacks what the profile requires: " + Name(missing.front()));
  return CheckStreams(io);
}

Status CheckDirectory(const Command& command) {
  struct stat info = {};
  if (stat(command.cwd.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return {};
  return Fail(ErrorCode::kInvalid,
              "no working directory `" + command.cwd + "`");
}

}  // namespace gate::backends
