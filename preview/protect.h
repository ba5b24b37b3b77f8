// What a preview may never commit, judged while the manifest is made.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backends/protected_paths.h"
#include "preview/preview.h"

namespace gate::backends {

// What of `rest`, a path inside a git directory, matters to safety.
enum class GitPart : uint8_t { kNothing, kRefused, kConfig, kCommonDir };
GitPart GitPartOf(const std::string& rest, PreviewType type);

// Whether `rest` is where git keeps its data, whose names say nothing. Another
// repository may be below it, so one has to be looked for there.
bool IsGitData(std::string_view rest);

// The part of `path` after its first ".git" component, or after a later one
// that is among the data of the one before; empty when it has none.
std::string AfterGit(const std::string& path);

// Why the configuration `after`, which replaces `before` at `path` below the
// root, is refused; empty when no key that runs a program or leads the work
// tree out of the root was added or changed.
std::string RefusedConfig(const std::string& path, const std::string& before,
                          const std::string& after);

// Why `entry` of `root` may not be changed, by its name; empty when it may.
// Settings at a protected name may change where they order what they did.
std::string RefusedName(const Profile& profile, const std::string& root,
                        const PreviewEntry& entry,
                        const std::function<std::string(bool)>& content);

// Why `entry` of `root` is refused for the place it has in a repository that is
// there: exact paths, hooks where the configuration keeps them, files that it
// includes. `content(true)` is the entry's, `content(false)` what it replaces.
std::string RefusedPlace(const ProtectedPaths& protected_paths,
                         const std::string& root, const PreviewEntry& entry,
                         const std::function<std::string(bool)>& content);

// Where `aim`, written in the directory of `path`, leads below the root that
// both are below; nothing when it leads out of that, or not as git writes it.
std::optional<std::string> TargetBelow(const std::string& path,
                                       const std::string& aim);
// What a `.git` file with this text names, below the root that `path` is below;
// nothing when it leads out of that or names nothing.
std::optional<std::string> GitFileTarget(const std::string& path,
                                         const std::string& text);
// Why a `.git` file with this text, at `path` below its root, is refused.
std::string RefusedGitFile(const std::string& path, const std::string& text);

}  // namespace gate::backends
