#include "tests/git/formats/repositories.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/file.h"

namespace gate::formats {
namespace {

constexpr const char* kEnvironment[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                        "HOME=/nonexistent",
                                        "GIT_CONFIG_NOSYSTEM=1",
                                        "GIT_CONFIG_GLOBAL=/dev/null",
                                        "GIT_AUTHOR_NAME=a",
                                        "GIT_AUTHOR_EMAIL=a@b",
                                        "GIT_COMMITTER_NAME=a",
                                        "GIT_COMMITTER_EMAIL=a@b",
                                        "GIT_OPTIONAL_LOCKS=0",
                                        "GIT_TERMINAL_PROMPT=0",
                                        "GIT_ALLOW_PROTOCOL=file",
                                        "LC_ALL=C",
                                        nullptr};

Ran Run(const std::string& program, const std::string& directory,
        const std::vector<std::string>& arguments, bool both) {
  Ran ran;
  int pipe_ends[2];
  if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return ran;
  const Fd in(pipe_ends[0]);
  Fd out(pipe_ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.get(), 1);
  if (both)
    posix_spawn_file_actions_adddup2(&actions, out.get(), 2);
  else
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> words = {const_cast<char*>(program.c_str())};
  for (const std::string& word : arguments)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = -1;
  const int failed =
      ::posix_spawnp(&child, program.c_str(), &actions, nullptr, words.data(),
                     const_cast<char* const*>(kEnvironment));
  posix_spawn_file_actions_destroy(&actions);
  out.reset();
  if (failed != 0) return ran;
  if (auto text = ReadAll(in.get(), size_t{64} << 20)) ran.out = *text;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

constexpr const char* kFiles =
    "mkdir -p d/e g; for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $i > d/e/f$i;"
    " done; echo t > top; echo g > g/h; git add .; ";
constexpr const char* kCommit = "git commit -qm c; ";

struct Kind {
  const char* name;
  const char* script;  // behind kFiles
  GitHash hash = GitHash::kSha1;
};
// The gitlink of a twin comes in before the script.
constexpr Kind kKinds[] = {
    {"v2", "true"},
    {"tree", "git commit -qm c"},
    {"v3", "echo x > n; git add -N n"},
    {"v4", "git update-index --index-version 4"},
    {"long",
     "x=$(printf %04100d 0); o=$(git hash-object -w top); git update-index "
     "--add --cacheinfo 100644,$o,$x --cacheinfo 100644,$o,$x/y || true"},
    {"untracked",
     "git commit -qm c; git update-index --force-untracked-cache; git "
     "status"},
    {"fsmonitor",
     "git commit -qm c; git -c core.fsmonitor=/bin/false update-index "
     "--fsmonitor"},
    {"resolved",
     "git commit -qm c; git checkout -qb o; echo o > top; git commit -qam o; "
     "git checkout -q -; echo p > top; git commit -qam p; git merge o || echo "
     "r > top; git add top"},
    {"conflict",
     "git commit -qm c; git checkout -qb o; echo o > top; git commit -qam o; "
     "git checkout -q -; echo p > top; git commit -qam p; git merge o || true"},
    {"skipped",
     "git commit -qm c; git update-index --skip-worktree top; git "
     "update-index --assume-unchanged d/e/f1"},
    {"split", "git commit -qm c; git update-index --split-index"},
    {"split-more",
     "git commit -qm c; git update-index --split-index; echo z > top; echo n > "
     "new; git rm -q --cached d/e/f3; git add top new"},
    {"split-v4",
     "git commit -qm c; git update-index --index-version 4; git update-index "
     "--split-index; echo z > top; git add top"},
    {"sparse",
     "git commit -qm c; git sparse-checkout set --cone --sparse-index g"},
    {"threads",
     "git config index.threads 4; git commit -qm c; git "
     "update-index --force-write-index"},
    {"threads-v4",
     "git config index.threads 4; git commit -qm c; git update-index "
     "--index-version 4"},
    {"sha256", "git commit -qm c", GitHash::kSha256},
    {"sha256-v3", "echo x > n; git add -N n", GitHash::kSha256},
    {"sha256-v4", "git commit -qm c; git update-index --index-version 4",
     GitHash::kSha256},
    {"sha256-split", "git commit -qm c; git update-index --split-index",
     GitHash::kSha256},
    {"sha256-threads",
     "git config index.threads 4; git commit -qm c; git update-index "
     "--force-write-index",
     GitHash::kSha256},
};

}  // namespace

Ran RunGit(const std::string& git, const std::string& directory,
           const std::vector<std::string>& arguments, bool both) {
  return Run(git, directory, arguments, both);
}

bool RunShell(const std::string& directory, const std::string& script) {
  return Run("sh", directory, {"-c", script}, false).status == 0;
}

std::vector<Repository> MakeIndexes(const std::string& root) {
  std::vector<Repository> made;
  for (const Kind& kind : kKinds) {
    for (const bool links : {false, true}) {
      Repository one = {kind.name, "", kind.hash, links};
      if (links) one.name += "+link";
      one.path = root + "/" + one.name;
      const size_t digits = 2 * static_cast<size_t>(kind.hash);
      const std::string link = "git update-index --add --cacheinfo 160000," +
                               std::string(digits, '1') + ",d/sub; ";
      const std::string script =
          "git init -q --object-format=" +
          std::string(kind.hash == GitHash::kSha1 ? "sha1" : "sha256") + " " +
          one.name + " && cd " + one.name + " && " + kFiles +
          (links ? link : "") + kind.script +
          // `git commit -a` takes one away that is not there.
          (links ? "; git ls-files --stage | grep -q ^160000 || { " + link + "}"
                 : "");
      if (RunShell(root, script))
        made.push_back(one);
      else
        std::fprintf(stderr, "this git does not make: %s\n", one.name.c_str());
    }
  }
  return made;
}

std::vector<Repository> MakeOthers(const std::string& root) {
  const std::string base = std::string("git init -q base; cd base; ") + kFiles +
                           kCommit + "git tag t1; git branch topic; cd ..; ";
  if (!RunShell(root, base)) return {};
  constexpr std::array kScripts = {
      std::pair{"base", "true"},
      std::pair{"empty", "git init -q empty"},
      std::pair{"bare", "git clone -q --bare base bare"},
      std::pair{"clone", "git clone -q base clone"},
      std::pair{"shared", "git clone -q --shared base shared"},
      std::pair{"reference", "git clone -q --reference base base reference"},
      std::pair{"shallow", "git clone -q --depth 1 file://$PWD/base shallow"},
      std::pair{"worktree", "git -C base worktree add -q ../worktree topic"},
      std::pair{"detached", "git -C base worktree add -q --detach ../detached"},
      std::pair{"separate",
                "git clone -q --separate-git-dir=sep base separate"},
      std::pair{"packed",
                "git clone -q base packed; git -C packed pack-refs "
                "--all; git -C packed gc -q"},
      std::pair{"orphan",
                "git clone -q base orphan; git -C orphan checkout -q --orphan "
                "new"},
      std::pair{"stash",
                "git clone -q base stash; cd stash; echo > top; git "
                "stash -q"},
      std::pair{
          "rebased",
          "git clone -q base rebased; cd rebased; git checkout -qb x "
          "HEAD; echo 2 > top; git commit -qam 2; git rebase -q -f HEAD~1"},
      std::pair{"manyfiles",
                "git clone -q base manyfiles; cd manyfiles; git config "
                "feature.manyFiles true; git update-index "
                "--force-write-index --index-version 4"},
      std::pair{"notcone",
                "git clone -q base notcone; cd notcone; git sparse-checkout "
                "set --no-cone '/d/*'"},
      std::pair{"subdirectory",
                "git init -q subdirectory; cd subdirectory; git commit -q "
                "--allow-empty -m e"},
      std::pair{"notes",
                "git clone -q base notes; cd notes; git notes add -m "
                "n; git remote rename origin up"},
  };
  std::vector<Repository> made;
  for (const auto& [name, script] : kScripts)
    if (RunShell(root, script))
      made.push_back({name, root + "/" + name, GitHash::kSha1, false});
    else
      std::fprintf(stderr, "this git does not make: %s\n", name);
  return made;
}

}  // namespace gate::formats
