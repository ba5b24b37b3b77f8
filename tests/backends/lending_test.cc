// What the profile `tool` lends, by what a stand-in for the program meets
// inside and what is outside afterwards.
#include "backends/lending.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <optional>

#include "base/paths.h"
#include "tests/support/sandbox_fixture.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

class Lending : public Sandbox {
 protected:
  void SetUp() override {
    Sandbox::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const char* directory :
         {".aws", ".aws/sso", ".aws/sso/cache", ".aws/cli", ".kube", "state"})
      MakeDirectory(h_ + "/" + directory);
    Write(h_ + "/.aws/credentials", "CANARY-LENT\n");
    Write(h_ + "/.aws/notes", "CANARY-NEIGHBOUR\n");
    Write(h_ + "/.aws/sso/cache/token", "CANARY-TOKEN\n");
    Write(h_ + "/.kube/config", "CANARY-OTHER\n");
    profile_.deny_read.push_back(h_ + "/.aws");
    profile_.deny_read.push_back(h_ + "/.kube");
    profile_.state_dir = h_ + "/state";
    profile_.deny_read.push_back(profile_.state_dir);
    profile_.lend = {
        {h_ + "/.aws/credentials", h_ + "/.aws/credentials", false, ""}};
  }

  // Runs with the copies made as the gateway makes them.
  Ran Lend(const std::string& line) {
    const Profile plain = profile_;
    machine_ = [&] {
      // Goes with the process, and with the fixture's directory.
      static std::optional<LentCopies> copies;
      auto made = StageCopies(&profile_);
      if (!made) _exit(98);
      copies.emplace(std::move(*made));
    };
    Ran ran = Bash(line);
    machine_ = {};
    profile_ = plain;
    return ran;
  }
};

TEST_P(Lending, ShowsWhatIsLentAndNothingBesideIt) {
  const Ran ran = Lend(
      "cat \"$H/.aws/credentials\"; cat \"$H/.aws/notes\" "
      "\"$H/.aws/sso/cache/token\" \"$H/.kube/config\" \"$S\"");
  EXPECT_NE(ran.output.find("CANARY-LENT"), std::string::npos) << ran.output;
  for (const char* escape_probe :
       {"CANARY-NEIGHBOUR", "CANARY-TOKEN", "CANARY-OTHER", "CANARY-SECRET"})
    EXPECT_EQ(ran.output.find(escape_probe), std::string::npos) << ran.output;
}

TEST_P(Lending, DoesNotLetWhatIsLentBeChanged) {
  const std::string before = Manifest(h_);
  const Ran ran = Lend(
      "echo x >> \"$H/.aws/credentials\"; : > \"$H/.aws/credentials\"; "
      "rm -f \"$H/.aws/credentials\"; mv \"$H/.aws\" \"$H/.aws2\"; "
      "ln \"$H/.aws/credentials\" \"$W/link\"; "
      "chmod 777 \"$H/.aws/credentials\"; echo x > \"$H/.aws/config\"; "
      "cp /dev/null \"$H/.aws/sso/cache/token\"");
  EXPECT_EQ(Manifest(h_), before) << ran.output;
  EXPECT_FALSE(Exists(w_ + "/link"));
}

TEST_P(Lending, GivesAPrivateCopyOfACacheAndThrowsItAway) {
  profile_.lend.push_back(
      {h_ + "/.aws/sso/cache", h_ + "/.aws/sso/cache", true, ""});
  const std::string before = Manifest(h_ + "/.aws");
  const Ran ran = Lend(
      "cat \"$H/.aws/sso/cache/token\" && echo new > "
      "\"$H/.aws/sso/cache/token\" "
      "&& echo more > \"$H/.aws/sso/cache/other\" && "
      "cat \"$H/.aws/sso/cache/\"*");
  EXPECT_NE(ran.output.find("CANARY-TOKEN"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("new"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("more"), std::string::npos) << ran.output;
  EXPECT_EQ(Manifest(h_ + "/.aws"), before);
}

TEST_P(Lending, GivesAnEmptyCacheWhereThereIsNone) {
  profile_.lend.push_back({h_ + "/.kube/cache", "", true, ""});
  profile_.lend.push_back({h_ + "/.aws/cli/deep/cache", "", true, ""});
  const Ran ran = Lend(
      "echo one > \"$H/.kube/cache/a\" && echo two > "
      "\"$H/.aws/cli/deep/cache/b\" && cat \"$H/.kube/cache/a\" "
      "\"$H/.aws/cli/deep/cache/b\"; cat \"$H/.kube/config\"");
  EXPECT_NE(ran.output.find("one\ntwo"), std::string::npos) << ran.output;
  EXPECT_EQ(ran.output.find("CANARY-OTHER"), std::string::npos) << ran.output;
  EXPECT_FALSE(Exists(h_ + "/.kube/cache"));
  EXPECT_FALSE(Exists(h_ + "/.aws/cli/deep"));
}

TEST_P(Lending, MountsWhatIsLentInsideACopy) {
  MakeDirectory(h_ + "/.aws/extensions");
  Write(h_ + "/.aws/extensions/code", "CANARY-EXTENSION\n");
  profile_.lend = {
      {h_ + "/.aws", h_ + "/.aws", true, ""},
      {h_ + "/.aws/extensions", h_ + "/.aws/extensions", false, ""}};
  const std::string before = Manifest(h_ + "/.aws");
  const Ran ran = Lend(
      "cat \"$H/.aws/extensions/code\" \"$H/.aws/credentials\"; "
      "echo y > \"$H/.aws/extensions/code\"; echo z > \"$H/.aws/new\"");
  EXPECT_NE(ran.output.find("CANARY-EXTENSION"), std::string::npos)
      << ran.output;
  EXPECT_NE(ran.output.find("CANARY-LENT"), std::string::npos) << ran.output;
  EXPECT_EQ(Manifest(h_ + "/.aws"), before);
}

TEST_P(Lending, LendsAFileBehindALinkByItsName) {
  MakeDirectory(h_ + "/dotfiles");
  ASSERT_EQ(rename((h_ + "/.aws/credentials").c_str(),
                   (h_ + "/dotfiles/aws").c_str()),
            0);
  ASSERT_EQ(symlink("../dotfiles/aws", (h_ + "/.aws/credentials").c_str()), 0);
  profile_.lend[0].source = h_ + "/dotfiles/aws";
  EXPECT_NE(Lend("cat \"$H/.aws/credentials\"").output.find("CANARY-LENT"),
            std::string::npos);
}

// As people keep them who have such files in one repository.
TEST_P(Lending, LendsWhatIsHiddenAtTheEndOfALink) {
  MakeDirectory(h_ + "/dotfiles");
  MakeDirectory(h_ + "/dotfiles/cloud");
  Write(h_ + "/dotfiles/cloud/token", "CANARY-CLOUD\n");
  Write(h_ + "/dotfiles/netrc", "CANARY-NETRC\n");
  ASSERT_EQ(symlink("dotfiles/cloud", (h_ + "/.cloud").c_str()), 0);
  ASSERT_EQ(symlink("dotfiles/netrc", (h_ + "/.netrc").c_str()), 0);
  profile_.deny_read.push_back(h_ + "/.cloud");
  profile_.deny_read.push_back(h_ + "/.netrc");
  EXPECT_EQ(
      Lend("cat \"$H/.cloud/token\" \"$H/.netrc\"").output.find("CANARY-CLOUD"),
      std::string::npos);
  profile_.lend.push_back({h_ + "/.cloud", h_ + "/dotfiles/cloud", true, ""});
  profile_.lend.push_back({h_ + "/.netrc", h_ + "/dotfiles/netrc", false, ""});
  const std::string before = Manifest(h_ + "/dotfiles");
  const Ran ran = Lend(
      "cat \"$H/.cloud/token\" \"$H/.netrc\"; echo x > \"$H/.cloud/token\"; "
      "echo x > \"$H/.netrc\"");
  EXPECT_NE(ran.output.find("CANARY-CLOUD"), std::string::npos) << ran.output;
  EXPECT_NE(ran.output.find("CANARY-NETRC"), std::string::npos) << ran.output;
  EXPECT_EQ(Manifest(h_ + "/dotfiles"), before);
}

// What was judged is not what lies there any more.
TEST_P(Lending, LendsNothingWhereALinkTookItsPlace) {
  ASSERT_EQ(unlink((h_ + "/.aws/credentials").c_str()), 0);
  ASSERT_EQ(symlink(s_.c_str(), (h_ + "/.aws/credentials").c_str()), 0);
  EXPECT_EQ(Lend("cat \"$H/.aws/credentials\"").output.find("CANARY-SECRET"),
            std::string::npos);
}

TEST_P(Lending, CopiesNoLinks) {
  ASSERT_EQ(symlink(s_.c_str(), (h_ + "/.aws/sso/cache/link").c_str()), 0);
  ASSERT_EQ(
      symlink((h_ + "/.kube").c_str(), (h_ + "/.aws/sso/cache/way").c_str()),
      0);
  ASSERT_EQ(mkfifo((h_ + "/.aws/sso/cache/pipe").c_str(), 0600), 0);
  profile_.lend.push_back(
      {h_ + "/.aws/sso/cache", h_ + "/.aws/sso/cache", true, ""});
  const Ran ran = Lend(
      "cd \"$H/.aws/sso/cache\" && cat link way/config; ls; "
      "ln -s \"$X/planted\" token2; echo x > token2");
  EXPECT_EQ(ran.output.find("CANARY-SECRET"), std::string::npos) << ran.output;
  EXPECT_EQ(ran.output.find("CANARY-OTHER"), std::string::npos) << ran.output;
  EXPECT_EQ(ran.output.find("pipe"), std::string::npos) << ran.output;
  EXPECT_FALSE(Exists(x_ + "/planted"));
}

TEST_P(Lending, LetsLookedForLinesReachNothingOutside) {
  profile_.lend.push_back(
      {h_ + "/.aws/sso/cache", h_ + "/.aws/sso/cache", true, ""});
  ASSERT_EQ(symlink(x_.c_str(), (w_ + "/link").c_str()), 0);
  const std::string before = Manifest(x_);
  const Ran ran = Lend(
      // A redirection, a download through a link, an output directory, a
      // context, a file that is read to be sent, a program as an operand.
      "echo log > ../outside/OUT; cp file link/x; mkdir -p ../outside/out; "
      "(cd \"$H\" && tar cf \"$W/context.tar\" . 2>/dev/null); "
      "grep -c CANARY-SECRET \"$W/context.tar\"; "
      "printf '#!/bin/sh\\necho planted > \"$X/planted\"' > evil; "
      "chmod +x evil; ./evil; cat \"$S\"");
  EXPECT_EQ(Manifest(x_), before) << ran.output;
  EXPECT_EQ(ran.output.find("CANARY-SECRET"), std::string::npos) << ran.output;
  EXPECT_EQ(Read(w_ + "/context.tar").find("CANARY-SECRET"), std::string::npos);
}

TEST_P(Lending, ReachesTheSocketThatIsLentAndNoOther) {
  const auto listen_at = [&](const std::string& path) {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    EXPECT_LT(path.size(), sizeof(address.sun_path));
    std::memcpy(address.sun_path, path.c_str(),
                std::min(path.size(), sizeof(address.sun_path) - 1));
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)),
              0);
    EXPECT_EQ(listen(fd, 5), 0);
    (void)chmod(path.c_str(), 0777);
    return Fd(fd);
  };
  const Fd lent = listen_at(x_ + "/lent"), other = listen_at(x_ + "/other");
  profile_.lend.push_back({x_ + "/lent", x_ + "/lent", false, ""});
  profile_.network = Network::kOpen;
  const Ran ran = Lend(
      "python3 -c '\nimport socket,sys\nfor p in sys.argv[1:]:\n"
      "  s=socket.socket(socket.AF_UNIX)\n  try:\n    s.connect(p); "
      "print(\"yes\")\n"
      "  except OSError as e: print(\"no\")\n' \"$X/lent\" \"$X/other\"");
  EXPECT_NE(ran.output.find("yes\nno\n"), std::string::npos) << ran.output;
}

INSTANTIATE_TEST_SUITE_P(Backends, Lending,
                         testing::Values(Who{"native", false},
                                         Who{"native", true},
                                         Who{"bwrap", false},
                                         Who{"bwrap", true}),
                         WhoName);

TEST(LendingRefused, ByBackendsThatCannotLend) {
  Profile profile;
  profile.lend = {{"/x/credentials", "/x/credentials", false, ""}};
  Command command;
  command.permit = Permit::Given();
  command.argv = {"true"};
  command.cwd = "/";
  for (const auto& backend : MakeBackends()) {
    const std::string name = backend->Name();
    if (name == "native" || name == "bwrap" || name == "none") continue;
    const Outcome outcome = backend->Run(profile, command, {});
    EXPECT_EQ(outcome.status, OutcomeStatus::kSetupFailed) << name;
  }
}

TEST(LentCopies, AreBoundedAndGoWithTheirOwner) {
  const TemporaryDirectory made;
  const std::string root = made.path(), from = root + "/from";
  std::filesystem::create_directories(from + "/deep");
  const auto write = [](const std::string& path, size_t size) {
    EXPECT_TRUE(WriteFileAtomically(path, std::string(size, 'x'), 0600));
  };
  write(from + "/small", 10);
  write(from + "/deep/small", 10);
  write(from + "/large", kMaxLentFileBytes + 1);
  Profile profile;
  profile.state_dir = root + "/state";
  profile.lend = {{"/home/u/.cache", from, true, ""}};
  // Of a gate that was killed.
  std::filesystem::create_directories(root + "/state/lent/left/1");
  {
    const auto copies = StageCopies(&profile);
    ASSERT_TRUE(copies) << copies.error().message;
    const std::string staged = profile.lend[0].staged;
    EXPECT_TRUE(std::filesystem::exists(staged + "/small"));
    EXPECT_TRUE(std::filesystem::exists(staged + "/deep/small"));
    EXPECT_FALSE(std::filesystem::exists(staged + "/large"));
    EXPECT_FALSE(std::filesystem::exists(root + "/state/lent/left"));
    // Another run leaves alone what is in use.
    Profile other = profile;
    const auto second = StageCopies(&other);
    ASSERT_TRUE(second);
    EXPECT_TRUE(std::filesystem::exists(staged + "/small"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(root + "/state/lent"));
}

}  // namespace
}  // namespace gate::backends
