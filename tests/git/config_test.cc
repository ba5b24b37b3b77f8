#include "git/config.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "tests/support/must_work.h"
#include "tests/support/temporary_directory.h"

namespace gate {
namespace {

namespace fs = std::filesystem;
using Keys = std::vector<std::string>;

bool HasGit() { return system("git --version >/dev/null 2>&1") == 0; }

// The keys that run programs, and core.worktree; "malformed" where git would
// refuse the rest.
Keys ProgramKeysIn(std::string_view text) {
  Keys keys;
  std::vector<GitEntry> entries;
  const bool whole = ParseGitConfig(text, &entries);
  for (const GitEntry& entry : entries)
    if (RunsProgram(entry) || entry.key == "core.worktree")
      keys.push_back(entry.key);
  if (!whole) keys.push_back("malformed");
  return keys;
}

TEST(GitConfig, WhatRunsAProgramIsFoundHoweverItIsWritten) {
  const struct {
    std::string text;
    Keys keys;
  } cases[] = {
      {"", {}},
      {"[core]\n\tbare = false\n[user]\n\tname = x\n", {}},
      {"[core]\n\tfsmonitor = ./x\n", {"core.fsmonitor"}},
      {"[CORE]fsMonitor=x", {"core.fsmonitor"}},
      {"[core] fsmonitor = x # c", {"core.fsmonitor"}},
      {"[core]\r\nfsmonitor = x\r\n", {"core.fsmonitor"}},
      {"\xef\xbb\xbf[core]\nfsmonitor=x", {"core.fsmonitor"}},
      {"[core]\nfsmonitor = \"x\\\ny\"\n", {"core.fsmonitor"}},
      // A comment does not continue, whatever it ends with.
      {"# c \\\n[core]\nfsmonitor=x\n", {"core.fsmonitor"}},
      {"[core]\nbare = no ; c \\\nfsmonitor=x\n", {"core.fsmonitor"}},
      {"[core] ; \\\nfsmonitor=x\n", {"core.fsmonitor"}},
      // A value does, and hides what follows.
      {"[core]\nx = a \\\nfsmonitor=y\n", {}},
      {"[core]\nx = \"#\"\nfsmonitor=y\n", {"core.fsmonitor"}},
      // Truth values are git's own features, but only of these keys.
      {"[core]\nfsmonitor\n", {}},
      {"[core]\nfsmonitor = False\n", {}},
      {"[core]\nfsmonitor = \"true\"\n", {}},
      {"[core]\nhooksPath = 0\n", {"core.hookspath"}},
      {"[include]\npath = no\n", {"include.path"}},
      {"[pager]\nlog = off\n", {}},
      {"[pager]\nlog = ./x\n", {"pager.log"}},
      {"[color]\npager = false\n", {}},
      {"[core]\npager = cat\n", {"core.pager"}},
      {"[filter \"A.b\"]\nclean = x\nrequired = true\n",
       {"filter.A.b.clean", "filter.A.b.required"}},
      {"[filter.lfs]\nsmudge = x\n", {"filter.lfs.smudge"}},
      {"[diff \"]\"]\ntextconv = x\n", {"diff.].textconv"}},
      {"[diff \"a\\\"b\"]\ncommand = x\n", {"diff.a\"b.command"}},
      {"[merge \"m\"]\ndriver = x\n", {"merge.m.driver"}},
      {"[includeIf \"gitdir:/\"]\npath = x\n", {"includeif.gitdir:/.path"}},
      {"[credential \"https://h\"]\nhelper = x\n",
       {"credential.https://h.helper"}},
      {"[gpg]\nprogram = x\nformat = ssh\n", {"gpg.program"}},
      {"[alias]\nst = status\na = !sh\nb = -c core.pager=x log\n",
       {"alias.a", "alias.b"}},
      {"[alias]\na = grep -O./x y\nb = log --ext-d\nc = commit -v\n",
       {"alias.a", "alias.b"}},
      {"[alias]\na = push ext::sh\nb = rebase -x y\nc = push --force\n",
       {"alias.a", "alias.b"}},
      {"[submodule \"s\"]\npath = s\nupdate = checkout\nurl = ../s\n", {}},
      {"[submodule \"s\"]\nupdate = !x\n", {"submodule.s.update"}},
      {"[remote \"o\"]\nurl = https://h/r\nfetch = +refs/*:refs/*\n", {}},
      {"[remote \"o\"]\nurl = ext::sh -c x\n", {"remote.o.url"}},
      {"[remote \"o\"]\nuploadpack = x\n", {"remote.o.uploadpack"}},
      {"[remote \"o\"]\npartialclonefilter = blob:none\n", {}},
      {"[protocol \"ext\"]\nallow = always\n", {"protocol.ext.allow"}},
      {"[extensions]\nworktreeConfig = true\n", {"extensions.worktreeconfig"}},
      {"[core]\nworktree = /etc\n", {"core.worktree"}},
      {"[lfs \"customtransfer.x\"]\npath = x\n", {"lfs.customtransfer.x.path"}},
      {"[lfs]\nrepositoryformatversion = 0\n", {}},
      {"[tar \"t\"]\ncommand = x\n", {"tar.t.command"}},
      {"[gc]\nrecentObjectsHook = x\n", {"gc.recentobjectshook"}},
      // Other programs that read git's configuration, and forms with a name.
      {"[sendemail]\nsmtpServer = /x\nsmtpServerPort = 25\nfrom = a@b\n",
       {"sendemail.smtpserver"}},
      {"[sendemail \"I.d\"]\nsmtpServer=/x\nsendmailCmd=x\ntoCmd=x\nccCmd=x\n"
       "headerCmd=x\nsmtpServerOption=-Cx\nto=a@b\n",
       {"sendemail.I.d.smtpserver", "sendemail.I.d.sendmailcmd",
        "sendemail.I.d.tocmd", "sendemail.I.d.cccmd", "sendemail.I.d.headercmd",
        "sendemail.I.d.smtpserveroption"}},
      {"[svn]\nauthorsProg = x\nauthorsFile = a\n", {"svn.authorsprog"}},
      {"[svn-remote \"o\"]\nauthorsprog = x\nurl = https://h\n",
       {"svn-remote.o.authorsprog"}},
      {"[tig]\ndiff-highlight = x\n[tig \"bind\"]\ngeneric = P !x\n",
       {"tig.diff-highlight", "tig.bind.generic"}},
      {"[remote \"o\"]\nannex-ssh-options = -oProxyCommand=x\nannex-uuid = u\n",
       {"remote.o.annex-ssh-options"}},
      // Lines of the todo list, which may be `exec`; also by a pretty.x.
      {"[rebase]\ninstructionFormat = %s%nexec x\n[pull]\nrebase = true\n",
       {"rebase.instructionformat"}},
      {"[rebase]\ninstructionFormat = x\nautoSquash = true\n",
       {"rebase.instructionformat"}},
      {"[secrets]\nproviders = x\npatterns = y\n", {"secrets.providers"}},
      {"[gitflow \"path\"]\nhooks = x\n", {"gitflow.path.hooks"}},
      // What git refuses to read.
      {"[core]\nfsmonitor x\n", {"malformed"}},
      {"[core\nfsmonitor = x\n", {"malformed"}},
      {"[core \"a]\n", {"malformed"}},
      {"[core]\nx = \"open\n", {"malformed"}},
      {"[core]\nx = \\q\n", {"malformed"}},
      {"[]\n", {"malformed"}},
      {std::string("[core]\nx = a\0b\n", 14), {"malformed"}},
      {"[core]\nfsmonitor = x\n=\n", {"core.fsmonitor", "malformed"}},
  };
  for (const auto& c : cases)
    EXPECT_EQ(ProgramKeysIn(c.text), c.keys) << Visible(c.text, true);
}

TEST(GitConfig, APathThatVersionsOfGitReadOtherwiseIsAnError) {
  const struct {
    const char* text;
    bool whole;
  } rows[] = {
      {"[core]\nhooksPath = a\tb\n", false},
      {"[core]\nhooksPath = a\t\n", true},  // cut off by each of them
      {"[core]\nhooksPath =\ta\n", true},
      {"[core]\nhooksPath = a b\n", true},
      {"[core]\nhooksPath = a  b\n", true},
      {"[core]\nhooksPath = \"a\tb\"\n", true},
      {"[core]\nhooksPath = a\\tb\n", true},
      {"[core]\nhooksPath = a \tb\n", false},
      {"[core]\nhooksPath = a\t\"b\"\n", false},
      {"[core]\nhooksPath = \"a\"\t\"b\"\n", false},
      {"[core]\nhooksPath = a\t\"\"\n", false},
      {"[core]\nhooksPath = a\t# b\n", true},
      {"[core]\nhooksPath = a\\\n\tb\n", false},
      {"[core]\nhooksPath = \\\n\tb\n", true},
      {"[core]\nhooksPath = a\rb\n", false},
      {"[core]\nhooksPath = a\r\n", true},
      {"[include]\npath = a\tb\n", false},
      {"[includeIf \"x\"]\npath = a\tb\n", false},
      {"[INCLUDE]\nPATH = a\tb\n", false},
      {"[core]\nworktree = a\tb\n", false},
      {"[core]\nexcludesFile = a\tb\n", false},
      {"[init]\ntemplateDir = a\tb\n", false},
      {"[format]\noutputDirectory = a\tb\n", false},
      {"[core]\nhooksPath = a\tb\n[core]\nhooksPath = c\n", false},
      {"[user]\nname = a\tb\n", true},
      {"[alias]\nx = log\t--graph\n", true},
      {"[alias]\nx = !f() { a; }; \\\n\t\tf\n", true},
  };
  for (const auto& row : rows) {
    std::vector<GitEntry> entries;
    EXPECT_EQ(ParseGitConfig(row.text, &entries), row.whole)
        << Visible(row.text, true);
    EXPECT_FALSE(entries.empty()) << Visible(row.text, true);
  }
}

TEST(GitAlias, IsPlainWithWordsThatAreKnownAlone) {
  for (const char* value :
       {"", "status", "status -sb", "log --graph --oneline -5 --all",
        "log --pretty=format:'%h %s'", "log \"--format=%h\" main..HEAD",
        "commit --amend --no-edit", "commit -am wip", "push -u origin HEAD",
        "rebase -i --autosquash", "rebase -i -r --onto main", "pull --ff-only",
        "diff --cached -- a b", "checkout -b", "branch -vv", "cherry-pick -s",
        "rebase HEAD~1 exec"})
    EXPECT_TRUE(IsPlainGitAlias(value)) << value;
  for (const char* value : {"!sh",
                            "-c a=b log",
                            "unknown",
                            "rebase --exec x",
                            "rebase --\"e\"xec x",
                            "rebase -\"x\"'touch y'",
                            "rebase -fx 'touch y'",
                            "rebase -xtrue",
                            "rebase \"-x\" true",
                            "rebase '-f'x y",
                            "rebase \\-x true",
                            "\"rebase\" --ex\\ec true",
                            "rebase -f -s x/e",
                            "pull -sx/e",
                            "merge '-s' x/e",
                            "cherry-pick --strategy=x/e",
                            "merge --st x",
                            "fetch --\"u\"pload-pack=x .",
                            "push --rec=x",
                            "push --exec=x",
                            "push 'ext:'\":sh\"",
                            "log --output=x",
                            "log -p -ox",
                            "commit -F x",
                            "log 'open",
                            "log --no-such",
                            "worktree add ../../x",
                            "diff --no-index a b"})
    EXPECT_FALSE(IsPlainGitAlias(value)) << value;
}

TEST(GitConfig, EntriesHaveTheirPlace) {
  const std::string text = "[a]\n\tb = c # d\n\te\r\n[f]g=h";
  std::vector<GitEntry> entries;
  ASSERT_TRUE(ParseGitConfig(text, &entries));
  ASSERT_EQ(entries.size(), 3u);
  const auto slice = [&](const GitEntry& entry) {
    return text.substr(entry.begin, entry.end - entry.begin);
  };
  EXPECT_EQ(slice(entries[0]), "b = c # d");
  EXPECT_EQ(entries[0].value, "c");
  EXPECT_TRUE(entries[1].boolean);
  EXPECT_EQ(slice(entries[2]), "g=h");
  EXPECT_EQ(entries[2].key, "f.g");
}

// What git itself reads from the same bytes, as "key\nvalue" or "key";
// nullopt when it refuses them.
std::string AskGit(const std::string& file, bool* refused) {
  const std::string command =
      "HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 git config -z --list --file " +
      ShellQuote(file) + " 2>/dev/null";
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return out;
  std::array<char, 4096> buffer;
  while (const size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
    out.append(buffer.data(), got);
  *refused = pclose(pipe) != 0;
  return out;
}

TEST(GitConfig, ReadsWhatGitReads) {
  if (!HasGit()) GATE_SKIP_WITHOUT("git") << "git is not installed";
  const TemporaryDirectory dir;
  // Pieces that mean something to the grammar, put together at random.
  constexpr std::array kPieces = {"[a]",
                                  "[b \"c\"]",
                                  "[d.e]",
                                  "[",
                                  "]",
                                  "\"",
                                  "\\",
                                  "\n",
                                  "\n",
                                  "\r\n",
                                  " ",
                                  "\t",
                                  "#",
                                  ";",
                                  "x",
                                  "y-1",
                                  "=",
                                  " = ",
                                  "\\n",
                                  "\\\\",
                                  "\\\"",
                                  "\r",
                                  "v w",
                                  "\n[a]\n",
                                  "k=v\n",
                                  "\\\n",
                                  "K = 1 ; c \\\n",
                                  "\"q # r\"",
                                  "\nk = \"a",
                                  "b\"\n",
                                  "\f",
                                  "[f \"g\\\"h\\i\"]"};
  uint32_t state = 7;
  const auto random = [&state](size_t below) {
    state = state * 1664525 + 1013904223;
    return static_cast<size_t>(state >> 8) % below;
  };
  for (int round = 0; round < 300; ++round) {
    std::string text = random(8) == 0 ? "" : "[s]\n";
    for (size_t i = random(14); i > 0; --i)
      text += kPieces[random(kPieces.size())];
    ASSERT_TRUE(WriteFileAtomically(dir / "config", text, 0600));
    bool refused = false;
    const std::string expected = AskGit(dir / "config", &refused);
    std::vector<GitEntry> entries;
    const bool whole = ParseGitConfig(text, &entries);
    EXPECT_EQ(whole, !refused) << Visible(text);
    if (!whole || refused) continue;
    std::string found;
    for (const GitEntry& entry : entries) {
      found += entry.key;
      if (!entry.boolean) found += "\n" + entry.value;
      found += '\0';
    }
    EXPECT_EQ(Visible(found), Visible(expected)) << Visible(text);
  }
}

// A directory that git takes for a repository.
void MakeRepository(const std::string& path) {
  fs::create_directories(path + "/objects");
  fs::create_directories(path + "/refs");
  ASSERT_TRUE(WriteFileAtomically(path + "/HEAD", "ref: refs/heads/m\n", 0644));
}

void Write(const std::string& path, const std::string& text) {
  ASSERT_TRUE(WriteFileAtomically(path, text, 0644));
}

TEST(GitDirectories, AreTheOnesThatGitFinds) {
  const TemporaryDirectory dir;
  const std::string root = fs::canonical(dir.path());
  MakeRepository(root + "/.git");
  for (const char* name :
       {"/empty/.git", "/bad-head/.git", "/no-refs/.git/objects", "/file",
        "/file-bad", "/sub/deep", "/tree", "/dir-head/.git/HEAD"}) {
    fs::create_directories(root + name);
  }
  MakeRepository(root + "/bad-head/.git");
  Write(root + "/bad-head/.git/HEAD", "refs/heads/main\n");
  Write(root + "/no-refs/.git/HEAD", "ref: refs/heads/main\n");
  MakeRepository(root + "/bare.git");
  MakeRepository(root + "/inner/.git");
  Write(root + "/inner/.git/HEAD", std::string(40, 'a') + "\n");
  MakeRepository(root + "/link-head/.git");
  fs::remove(root + "/link-head/.git/HEAD");
  fs::create_symlink("refs/heads/x", root + "/link-head/.git/HEAD");
  MakeRepository(root + "/far-head/.git");
  fs::remove(root + "/far-head/.git/HEAD");
  fs::create_symlink(root + "/.git/HEAD", root + "/far-head/.git/HEAD");
  Write(root + "/file/.git", "gitdir: ../inner/.git\n");
  Write(root + "/file-bad/.git", "gitdir:../inner/.git\n");
  fs::create_directories(root + "/.git/worktrees/t");
  Write(root + "/.git/worktrees/t/HEAD", "ref: refs/heads/t\n");
  Write(root + "/.git/worktrees/t/commondir", "../..\n");
  Write(root + "/tree/.git", "gitdir: " + root + "/.git/worktrees/t\n");
  fs::create_directory_symlink(root + "/inner", root + "/sub/link");

  const struct {
    std::string from, worktree, own, common;
  } cases[] = {
      {"", "", "/.git", "/.git"},
      {"/sub/deep", "", "/.git", "/.git"},
      // What is no repository is passed over.
      {"/empty", "", "/.git", "/.git"},
      {"/bad-head", "", "/.git", "/.git"},
      {"/no-refs", "", "/.git", "/.git"},
      {"/dir-head", "", "/.git", "/.git"},
      {"/far-head", "", "/.git", "/.git"},
      {"/inner", "/inner", "/inner/.git", "/inner/.git"},
      {"/sub/link", "/inner", "/inner/.git", "/inner/.git"},
      {"/link-head", "/link-head", "/link-head/.git", "/link-head/.git"},
      {"/bare.git", "/bare.git", "/bare.git", "/bare.git"},
      {"/bare.git/refs", "/bare.git", "/bare.git", "/bare.git"},
      {"/file", "/file", "/inner/.git", "/inner/.git"},
      {"/tree", "/tree", "/.git/worktrees/t", "/.git"},
      // git refuses to work here; it does not go on to the parent.
      {"/file-bad", "/file-bad", "/file-bad/.git", "/file-bad/.git"},
  };
  for (const auto& c : cases) {
    const GitDirectories git = FindGitDirectories(root + c.from);
    EXPECT_EQ(git.worktree, root + c.worktree) << c.from;
    EXPECT_EQ(git.own, root + c.own) << c.from;
    EXPECT_EQ(git.common, root + c.common) << c.from;
    if (c.from == "/file-bad" || !HasGit()) {
      continue;
    }
    // The same question to git.
    const std::string command =
        "cd " + ShellQuote(root + c.from) +
        " && HOME=/nonexistent git -c safe.directory='*' rev-parse "
        "--absolute-git-dir 2>/dev/null";
    FILE* pipe = popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    std::array<char, 4096> line = {};
    ASSERT_NE(fgets(line.data(), line.size(), pipe), nullptr) << c.from;
    pclose(pipe);
    EXPECT_EQ(std::string(line.data()), git.own + "\n") << c.from;
  }
}

// What git says in `directory`: its own and the common git directory, each with
// a newline; empty where it finds none or refuses what it found.
std::string GitSays(const std::string& directory) {
  const std::string command =
      "cd " + ShellQuote(directory) +
      " && D=$(HOME=/nonexistent GIT_CEILING_DIRECTORIES= git -c "
      "safe.directory='*' rev-parse --absolute-git-dir 2>/dev/null) && C=$("
      "HOME=/nonexistent git -c safe.directory='*' rev-parse --git-common-dir "
      "2>/dev/null) && realpath -- \"$D\" \"$C\"";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string out;
  std::array<char, 4096> buffer = {};
  while (const size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
    out.append(buffer.data(), got);
  pclose(pipe);
  return out;
}

TEST(GitDirectories, AreNeverMissedForAnOddForm) {
  if (!HasGit()) GATE_SKIP_WITHOUT("git") << "git is not installed";
  using Text = std::string;
  const Text sha(40, 'a');
  const auto head = [](const Text& text) {
    return [text](const Text& at) { Write(at + "/.git/HEAD", text); };
  };
  const auto file = [](const Text& text) {
    return [text](const Text& at) {
      fs::rename(at + "/.git", at + "/real");
      fs::create_directories(at + "/a/b");
      fs::create_directory_symlink("a/b", at + "/link");
      MakeRepository(at + "/a/far");
      MakeRepository(at + "/real ");
      Text expanded = text;
      if (const size_t mark = expanded.find('@'); mark != Text::npos)
        expanded.replace(mark, 1, at);
      Write(at + "/.git", expanded);
    };
  };
  const auto common = [](const Text& text) {
    return [text](const Text& at) {
      fs::create_directories(at + "/a/b");
      fs::create_directory_symlink("../a/b", at + "/.git/link");
      MakeRepository(at + "/a/far");
      MakeRepository(at + "/other");
      MakeRepository(at + "/third");
      Write(at + "/other/commondir", "../third\n");
      fs::remove_all(at + "/.git/objects");
      fs::remove_all(at + "/.git/refs");
      Write(at + "/.git/commondir", text);
    };
  };
  const auto replace = [](const char* name, const char* target, int mode) {
    return [=](const Text& at) {
      const Text path = at + "/.git/" + name;
      fs::remove_all(path);
      if (*target != '\0') {
        fs::create_directories(at + "/elsewhere");
        fs::create_symlink(target, path);
      } else if (mode >= 0) {
        Write(path, "");
        fs::permissions(path, static_cast<fs::perms>(mode));
      }
    };
  };
  const struct {
    const char* name;
    std::function<void(const Text&)> change;
  } cases[] = {
      {"plain", [](const Text&) {}},
      {"hash", head(sha + "\n")},
      {"hash without an end", head(sha)},
      {"long hash", head(Text(64, 'B'))},
      {"hash and more", head(sha + "ggg")},
      {"short hash", head(Text(39, 'a') + "\n")},
      {"no space", head("ref:refs/x")},
      {"spaces", head("ref: \t\r\n refs/x\n")},
      {"a form feed", head("ref:\frefs/x\n")},
      {"not below refs", head("ref: heads/x\n")},
      {"only refs/", head("ref: refs/")},
      {"upper case", head("REF: refs/x")},
      {"far in", head("ref:" + Text(240, ' ') + "refs/heads/x\n")},
      {"too far in", head("ref:" + Text(250, ' ') + "refs/heads/x\n")},
      {"a NUL", head(Text("ref: refs/x\0y", 13))},
      {"empty HEAD", head("")},
      {"HEAD a link to refs/", replace("HEAD", "refs/none", 0)},
      {"HEAD a link to elsewhere", replace("HEAD", "objects", 0)},
      {"HEAD a link that climbs", replace("HEAD", "refs/../x", 0)},
      {"objects a link", replace("objects", "../elsewhere", 0)},
      {"objects a dangling link", replace("objects", "none", 0)},
      {"objects a file", replace("objects", "", 0644)},
      {"objects a program", replace("objects", "", 0755)},
      {"no objects", replace("objects", "", -1)},
      {"refs a link", replace("refs", "../elsewhere", 0)},
      {"refs a program", replace("refs", "", 0755)},
      {"no refs", replace("refs", "", -1)},
      {".git a link",
       [](const Text& at) {
         fs::rename(at + "/.git", at + "/real");
         fs::create_directory_symlink("real", at + "/.git");
       }},
      {".git a link to a file",
       [](const Text& at) {
         fs::rename(at + "/.git", at + "/real");
         Write(at + "/file", "gitdir: real\n");
         fs::create_symlink("file", at + "/.git");
       }},
      {".git a dangling link in a bare one",
       [](const Text& at) {
         fs::remove_all(at + "/.git");
         MakeRepository(at);
         fs::create_symlink("none", at + "/.git");
       }},
      {"file, relative", file("gitdir: real\n")},
      {"file, absolute", file("gitdir: @/real")},
      {"file, line ends", file("gitdir: real\n\r\r\n\n")},
      {"file, CR LF", file("gitdir: real\r\n")},
      {"file, many line ends", file("gitdir: real" + Text(5000, '\n'))},
      {"file, 64 KiB", file("gitdir: real" + Text(70000, '\n'))},
      {"file, all of a MiB", file("gitdir: real" + Text((1 << 20) - 12, '\n'))},
      {"file, more than a MiB", file("gitdir: real" + Text(1 << 20, '\n'))},
      {"file, a space at the end", file("gitdir: real \n")},
      {"file, two spaces", file("gitdir:  real\n")},
      {"file, no space", file("gitdir:real\n")},
      {"file, upper case", file("GITDIR: real\n")},
      {"file, a mark", file("\xef\xbb\xbfgitdir: real\n")},
      {"file, two lines", file("gitdir: real\nx\n")},
      {"file, a NUL", file(Text("gitdir: real\0x\n", 15))},
      {"file, through a link", file("gitdir: link/../far\n")},
      {"file, slashes and dots", file("gitdir: .//a/../real/.//\n")},
      {"file, nothing", file("gitdir: \n")},
      {"file, no repository", file("gitdir: a\n")},
      {"file, itself", file("gitdir: .git\n")},
      {"file, empty", file("")},
      {"commondir", common("../third")},
      {"commondir of commondir", common("../other\n")},
      {"commondir, line ends", common("../third\r\n\n\r")},
      {"commondir, many line ends", common("../third" + Text(100000, '\n'))},
      {"commondir, more than a MiB",
       common("../third" + Text((1 << 20) + 9, '\n'))},
      {"commondir, a NUL", common(Text("../third\0x\n", 11))},
      {"commondir, sparse",
       [common](const Text& at) {
         common("../third")(at);
         fs::resize_file(at + "/.git/commondir", size_t{2} << 20);
       }},
      {"commondir, a space", common("../third \n")},
      {"commondir, through a link", common("link/../far\n")},
      {"commondir, nowhere", common("../none\n")},
  };
  const TemporaryDirectory dir;
  const Text root = fs::canonical(dir.path());
  int number = 0;
  for (const auto& c : cases) {
    const Text at = root + "/" + std::to_string(++number);
    MakeRepository(at + "/.git");
    c.change(at);
    const Text said = GitSays(at);
    // What git refuses may be anything: nothing runs there.
    if (said.empty()) continue;
    const GitDirectories git = FindGitDirectories(at);
    EXPECT_EQ(Visible(RealPath(git.own) + "\n" + RealPath(git.common) + "\n"),
              Visible(said))
        << c.name;
    EXPECT_EQ(git.own.find('\0'), Text::npos) << c.name;
    EXPECT_EQ(git.common.find('\0'), Text::npos) << c.name;
  }
}

}  // namespace
}  // namespace gate
