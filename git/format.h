// Small formats of a git repository: what its configuration says about its
// files, symbolic refs, and the list of alternate object directories.
//
// Each is read as git 2.39 and every newer version read it. What they read
// differently, or would refuse, is unknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "git/config.h"

namespace gate {

// The hash that names a repository's objects; the value is its bytes.
enum class GitHash : uint8_t { kSha1 = 20, kSha256 = 32 };

// The hash of the repository whose common directory's `config` has `entries`
// (setup.c, check_repo_format; includes do not count there). Nothing when git
// would refuse the repository, or would ignore what is said: without a
// core.repositoryformatversion the extensions have no effect.
std::optional<GitHash> ObjectFormatOf(const std::vector<GitEntry>& entries);

// Whether the repository keeps its refs in files below `refs` and in
// packed-refs (extensions.refStorage), so that HEAD and they can be read.
bool KeepsRefsInFiles(const std::vector<GitEntry>& entries);

// What the bytes of HEAD or of a loose ref say.
struct GitRef {
  enum class Kind { kUnknown, kObject, kSymbolic } kind = Kind::kUnknown;
  std::string target;  // of a symbolic one, for example refs/heads/main
};
// refs/files-backend.c, parse_loose_ref_contents.
GitRef ParseGitRef(std::string_view text);

// The object directories that the bytes of objects/info/alternates name, as
// they stand there; relative ones are relative to the objects directory.
// Nothing for a NUL byte or a quoted path, which git writes in none.
std::optional<std::vector<std::string>> ParseAlternates(std::string_view text);

// git reads alternates of alternates so deep, beside the first ones
// (object-file.c, link_alt_odb_entries).
inline constexpr int kMaxAlternateDepth = 5;

}  // namespace gate
