// Runs a line on an overlay of the workspace, lists what it changed, commits.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "preview/preview.h"
#include "tests/support/must_work.h"
#include "tests/support/sandbox_fixture.h"

namespace gate::backends {

class Preview : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!Probe().features.Has(Feature::kOverlay))
      GATE_SKIP_WITHOUT("overlay") << "no overlay for this user";
    state_ = base_ + "/state";
    ASSERT_EQ(mkdir(state_.c_str(), 0700), 0);
    if (uid_ != geteuid()) {
      ASSERT_EQ(chown(state_.c_str(), uid_, gid_), 0);
    }
    profile_.protect_names = {".bashrc", ".claude/settings.json", ".mcp.json"};
  }

  // Runs `line` on an overlay, as the user of the case, and lists the changes.
  Ran Line(const std::string& line) {
    // An earlier preview in the same test.
    Outside("chmod -R u+rwx '" + state_ + "'/* ; rm -rf '" + state_ + "'/*");
    const std::string prepared = AsUser([&] {
      PreviewManifest manifest;
      Profile profile = profile_;
      const Status made = PreparePreview(&profile, state_, {w_}, &manifest);
      return made ? ManifestToText(manifest) : "! " + made.error().message;
    });
    auto manifest = ManifestFromText(prepared);
    EXPECT_TRUE(manifest) << prepared;
    if (!manifest) return {};
    manifest_ = *manifest;
    const Profile plain = profile_;
    profile_.write.clear();
    for (const PreviewRoot& root : manifest_.roots) {
      profile_.write.push_back(root.root);
      profile_.overlays.push_back({root.root, root.place});
    }
    profile_.required.Add(Feature::kOverlay);
    const Ran ran = Bash(line);
    if (!meanwhile_.empty()) Outside(meanwhile_);
    profile_ = plain;
    if (ran.outcome.status == OutcomeStatus::kSetupFailed) {
      ADD_FAILURE() << ran.outcome.reason;
      return ran;
    }
    const std::string listed = AsUser([&] {
      PreviewManifest filled = manifest_;
      const Status done = FillManifest(profile_, &filled);
      return done ? ManifestToText(filled) : "! " + done.error().message;
    });
    manifest = ManifestFromText(listed);
    EXPECT_TRUE(manifest) << listed;
    if (manifest) manifest_ = *manifest;
    return ran;
  }

  // The outcome as text: "N committed" and what was left, or the error.
  std::string Commit(const std::vector<std::string>& paths = {}) {
    return AsUser([&]() -> std::string {
      CommitRequest request;
      request.tag = "abc123";
      for (const std::string& path : paths)
        request.paths.push_back(w_ + "/" + path);
      request.before_first_change = before_;
      request.exchanging = exchanging_;
      std::string kept;
      request.kept = Kept(&kept);
      const auto result = CommitPreview(profile_, manifest_, request);
      if (!result) return "! " + result.error().message;
      std::string text = std::to_string(result->committed) + " committed\n";
      for (const auto& [path, why] : result->left)
        text += path + ": " + why + "\n";
      return text + kept;
    });
  }

  // What a commit that was killed left goes, without another one.
  std::string Discard() {
    return AsUser([&] {
      std::string kept;
      RemoveStages(manifest_, "abc123", Kept(&kept));
      return kept;
    });
  }
  backends::Kept Kept(std::string* text) const {
    return [this, text](const std::string& path, const std::string& of) {
      *text += path.substr(w_.size() + 1) + " kept of " +
               (of.empty() ? "?" : of.substr(w_.size() + 1)) + "\n";
    };
  }

  // "A path" a line; A, M, m (mode) or D; "!" in front of what is refused.
  std::string Changes() const {
    std::string text;
    for (const PreviewEntry& entry : manifest_.entries) {
      constexpr char kLetters[] = "AMmD";
      text += entry.refused.empty() ? "" : "!";
      text += kLetters[static_cast<size_t>(entry.change)];
      text += " " + entry.path + "\n";
    }
    return text;
  }
  const PreviewEntry* Entry(const std::string& path) const {
    for (const PreviewEntry& entry : manifest_.entries)
      if (entry.path == path) return &entry;
    return nullptr;
  }

  // Whether what comes to `path` is refused.
  bool IsRefused(const std::string& path) const {
    const PreviewEntry* found = nullptr;
    for (const PreviewEntry& entry : manifest_.entries)
      if (entry.path == path && entry.change != PreviewChange::kDeleted)
        found = &entry;
    return found != nullptr && !found->refused.empty();
  }

  std::string AsUser(const std::function<std::string()>& body) {
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC) != 0) return "! pipe";
    const pid_t child = fork();
    if (child == 0) {
      close(pipes[0]);
      if (uid_ != geteuid() && (setresgid(gid_, gid_, gid_) != 0 ||
                                setresuid(uid_, uid_, uid_) != 0))
        _exit(99);
      const std::string text = body();
      (void)WriteAll(pipes[1], text);
      _exit(0);
    }
    close(pipes[1]);
    const Fd end(pipes[0]);
    const auto text = ReadAll(end.get(), size_t{64} << 20);
    waitpid(child, &status_, 0);
    return text ? *text : "! nothing";
  }

  std::string state_;
  PreviewManifest manifest_;
  std::string meanwhile_;  // somebody else does this before the run's end
  std::function<Status()> before_;
  std::function<void()> exchanging_;
  int status_ = 0;
};

inline std::vector<Who> NativeOnly() {
  std::vector<Who> all = Everyone();
  std::erase_if(
      all, [](const Who& who) { return std::string(who.backend) != "native"; });
  return all;
}

}  // namespace gate::backends
