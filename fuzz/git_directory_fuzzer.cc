// Feeds bytes to the readers of `.git` files and of commondir, as text and as
// files of a small repository. Besides not crashing, they must keep their
// promises:
//   - a path ends before a NUL byte and has no line end behind it;
//   - where there is a `.git` file, git directories are found, as absolute
//     paths without a NUL byte.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "git/config.h"
#include "tests/support/temporary_directory.h"

namespace {

using namespace gate;  // NOLINT(google-build-using-namespace)

void Write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// w/.git leads to g/worktrees/w, whose commondir leads to g.
const std::string& Root() {
  static const TemporaryDirectory temporary;
  static const std::string root = [] {
    const std::string path = temporary.path();
    Require(!path.empty());
    for (const char* below : {"/w", "/g/objects", "/g/refs", "/g/worktrees/w"})
      std::filesystem::create_directories(path + below);
    Write(path + "/g/HEAD", "ref: refs/heads/m\n");
    Write(path + "/g/worktrees/w/HEAD", "ref: refs/heads/m\n");
    return path;
  }();
  return root;
}

void Absolute(const std::string& path) {
  Require(path.starts_with('/') && path.find('\0') == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::string_view path = GitPathIn(text);
  Require(path.size() <= size && path.find('\0') == std::string_view::npos);
  // Before a NUL byte a line end belongs to the path.
  Require(text.find('\0') != std::string::npos ||
          (!path.ends_with('\n') && !path.ends_with('\r')));
  Require(GitDirIn(text).size() <= size);
  const std::string& root = Root();
  Write(root + "/w/.git", text);
  Write(root + "/g/worktrees/w/commondir", "../..\n");
  for (int pass = 0; pass < 2; ++pass) {
    const GitDirectories git = FindGitDirectories(root + "/w");
    Require(!git.own.empty());
    Absolute(git.worktree);
    Absolute(git.own);
    Absolute(git.common);
    Write(root + "/w/.git", "gitdir: ../g/worktrees/w\n");
    Write(root + "/g/worktrees/w/commondir", text);
  }
  return 0;
}
