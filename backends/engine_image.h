// What a container's root is: an image of gate's own, or one that the user has
// configured.
//
// gate's own holds nothing but the names and links of the host's root
// directory; the host's directories are bound into it, so that a command finds
// the tools it finds outside. A configured image brings its own tools: of the
// host only the writable roots, the workspace and the private places are there.
//
// gate downloads nothing, ever. An image is named by what it holds, so that a
// registry or a later build cannot exchange it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/engines/client.h"
#include "backends/view/view.h"
#include "base/result.h"

namespace gate::backends {

// What stands in the host's root directory.
struct HostRoot {
  std::vector<std::string> directories;
  std::vector<std::pair<std::string, std::string>> links;
};
HostRoot ReadHostRoot();

// A tar archive with the host's links below / and an empty directory for each
// of `roots`. Pure.
std::string BaseImage(
    const std::vector<std::string>& roots,
    const std::vector<std::pair<std::string, std::string>>& links);

// gate's own image, made where it is not there; its name.
Result<std::string> OwnImage(const EngineClient& client, const HostRoot& root);

// Whether `text` is NAME@sha256:HEX or sha256:HEX (an image's id), in the
// letters of such names. Pure.
bool IsPinnedImage(const std::string& text);

// The id of the configured image `name`; kUnavailable, with the command that
// brings it here, when the engine does not have it.
Result<std::string> ConfiguredImage(const EngineClient& client,
                                    const std::string& name);

// What is left of `view` over a configured image: what is shown, and what is
// private, protected or hidden in that. kInvalid where the profile writes
// everywhere, or `cwd` is not in what is left. Pure but for resolving
// `workspace`.
Result<View> FlatView(View view, const std::string& workspace,
                      const std::string& cwd);

}  // namespace gate::backends
