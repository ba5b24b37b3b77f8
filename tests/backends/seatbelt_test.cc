// macOS's sandbox: the profile to the letter, and how it is started, with a
// program in sandbox-exec's place.
#include "backends/seatbelt/seatbelt.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "base/file.h"
#include "tests/backends/hostile_environment.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace gate::backends {
namespace {

// The rules after the fixed beginning, which ends with the terminal's.
std::string Rules(const SeatbeltInputs& inputs) {
  const Result<std::string> profile = SeatbeltProfile(inputs);
  if (!profile) return profile.error().message;
  const std::string last = "(allow file-ioctl\n  (literal \"/dev/tty\"))\n";
  const size_t at = profile->find(last);
  EXPECT_NE(at, std::string::npos);
  return profile->substr(at + last.size());
}

TEST(SeatbeltProfile, IsClosedByDefaultAndHasNoNetwork) {
  const Result<std::string> profile = SeatbeltProfile({});
  ASSERT_TRUE(profile);
  EXPECT_TRUE(profile->starts_with("(version 1)\n(deny default)\n"));
  for (const char* open : {"network", "mach-register", "file-write*",
                           "(allow default", "system-socket", "iokit"})
    EXPECT_EQ(profile->find(open), std::string::npos) << open;
}

TEST(SeatbeltProfile, SaysToTheLetterWhatAWorkspaceIs) {
  SeatbeltInputs inputs;
  inputs.write = {"/Users/u/w"};
  inputs.hidden = {"/Users/u/.s"};
  inputs.shown = {"/Users/u/w"};
  inputs.protect = {"/Users/u/w/a/.x"};
  inputs.names = {".e", ".g/h"};
  const std::string u = "/[Uu][Ss][Ee][Rr][Ss]/[Uu]";
  const std::string w = u + "/[Ww]";
  EXPECT_EQ(Rules(inputs),
            "(allow file-read* (subpath \"/Users/u/w\"))\n"
            "(allow file-read* (subpath \"/Users/u/w\"))\n"
            "(deny file-read* (regex \"^" +
                u +
                "/\\\\.[Ss](/.*)?$\"))\n"
                "(allow file-read-metadata (literal \"/Users/u/.s\"))\n"
                "(allow file-write* (subpath \"/Users/u/w\"))\n"
                "(deny file-write-setugid)\n"
                "(deny file-write* (regex \"^" +
                u +
                "/\\\\.[Ss](/.*)?$\"))\n"
                "(deny file-write* (regex \"^" +
                w +
                "/(.*/)?\\\\.[Ee](/.*)?$\"))\n"
                "(deny file-write* (regex \"^" +
                w +
                "/(.*/)?\\\\.[Gg]/[Hh](/.*)?$\"))\n"
                "(deny file-write-unlink (regex \"^" +
                w +
                "/(.*/)?\\\\.[Gg]$\"))\n"
                "(deny file-write* (regex \"^" +
                w +
                "/[Aa]/\\\\.[Xx](/.*)?$\"))\n"
                "(deny file-write-unlink (regex \"^" +
                w +
                "/[Aa]$\"))\n"
                "(deny file-write-unlink (regex \"^" +
                w + "$\"))\n");
}

TEST(SeatbeltProfile, ProtectsAfterItAllows) {
  SeatbeltInputs inputs;
  inputs.write = {"/w", "/w/sub"};
  inputs.names = {".bashrc"};
  inputs.protect = {"/w/x"};
  inputs.hidden = {"/w/secret"};
  const std::string rules = Rules(inputs);
  const size_t allowed = rules.rfind("(allow file-write*");
  for (size_t at = rules.find("(deny file-write"); at != std::string::npos;
       at = rules.find("(deny file-write", at + 1))
    EXPECT_GT(at, allowed);
}

TEST(SeatbeltProfile, ShowsWhatLiesBelowAHiddenPlaceAndHidesWhatLiesInIt) {
  SeatbeltInputs inputs;
  inputs.hidden = {"/private/tmp/w/secret", "/private/tmp"};
  inputs.write = {"/private/tmp/w"};
  const std::string rules = Rules(inputs);
  const size_t outer = rules.find("(deny file-read* (regex \"^/[Pp]");
  const size_t shown =
      rules.find("(allow file-read* (subpath \"/private/tmp/w");
  const size_t inner = rules.rfind("(deny file-read*");
  EXPECT_LT(outer, shown);
  EXPECT_LT(shown, inner);
  // The root is not closed by the hidden place above it.
  EXPECT_EQ(rules.find("(deny file-write* (regex "
                       "\"^/[Pp][Rr][Ii][Vv][Aa][Tt][Ee]/[Tt][Mm][Pp](/"),
            std::string::npos);
}

TEST(SeatbeltProfile, AnOpenNetworkHasNoLocalSockets) {
  SeatbeltInputs inputs;
  inputs.network = Network::kOpen;
  const std::string rules = Rules(inputs);
  EXPECT_NE(rules.find("(allow network-outbound\n  (remote ip))"),
            std::string::npos);
  EXPECT_EQ(rules.find("(allow network*"), std::string::npos);
  EXPECT_EQ(rules.find("unix"), std::string::npos);
}

TEST(SeatbeltProfile, EscapesWhatItSaysAndRefusesWhatItCannot) {
  EXPECT_EQ(SeatbeltString("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(SeatbeltString("/é日"), "\"/é日\"");
  SeatbeltInputs inputs;
  inputs.write = {"/w\") (allow default) (\"", "/back\\slash", "/é"};
  const std::string rules = Rules(inputs);
  EXPECT_NE(rules.find("(subpath \"/w\\\") (allow default) (\\\"\")"),
            std::string::npos)
      << rules;
  EXPECT_NE(rules.find("(subpath \"/back\\\\slash\")"), std::string::npos);
  EXPECT_NE(rules.find("(subpath \"/é\")"), std::string::npos);
  // No string is left open: outside of strings the brackets pair up.
  int depth = 0;
  bool in = false;
  for (size_t i = 0; i < rules.size(); ++i) {
    if (in && rules[i] == '\\')
      ++i;
    else if (rules[i] == '"')
      in = !in;
    else if (!in)
      depth += rules[i] == '(' ? 1 : rules[i] == ')' ? -1 : 0;
    ASSERT_GE(depth, 0);
  }
  EXPECT_EQ(depth, 0);
  EXPECT_FALSE(in);
  for (const char* bad : {"/new\nline", "/tab\t", "/\x7f", "/\xff", "relative"})
    for (auto list : {&SeatbeltInputs::write, &SeatbeltInputs::hidden,
                      &SeatbeltInputs::shown, &SeatbeltInputs::protect}) {
      SeatbeltInputs one;
      (one.*list).emplace_back(bad);
      EXPECT_FALSE(SeatbeltProfile(one)) << bad;
    }
  SeatbeltInputs name;
  name.names = {"a\nb"};
  EXPECT_FALSE(SeatbeltProfile(name));
}

TEST(SeatbeltPattern, MatchesExactlyItsTextInAnyCase) {
  for (const char* text : {"/W/.git", "/a+b(c)[d]{e}", "/x^$|?*", "/back\\s"}) {
    const std::regex pattern("^" + SeatbeltPattern(text) + "$",
                             std::regex::extended);
    EXPECT_TRUE(std::regex_match(text, pattern)) << text;
    std::string upper = text;
    for (char& c : upper)
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    EXPECT_TRUE(std::regex_match(upper, pattern)) << upper;
    for (size_t i = 1; i < upper.size(); ++i) {
      std::string other = text;
      other[i] = '#';
      EXPECT_FALSE(std::regex_match(other, pattern)) << other;
    }
  }
}

TEST(SeatbeltBackend, IsNotThereElsewhere) {
  const Availability found = MakeSeatbelt({.here = false})->Probe();
  EXPECT_FALSE(found.available);
  EXPECT_EQ(found.why, "this is not macOS");
  EXPECT_FALSE(MakeSeatbelt({.program = "/nonexistent", .here = true})
                   ->Probe()
                   .available);
}

// A shell script in sandbox-exec's place that keeps the profile it was given.
class SeatbeltRun : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(base_, "");
    ASSERT_TRUE(MakeDirectories(base_ + "/w", 0755));
    std::ofstream(base_ + "/sandbox-exec")
        << "#!/bin/sh\n[ \"$1\" = -p ] && [ \"$3\" = -- ] || exit 99\n"
           "printf %s \"$2\" > '" +
               base_ + "/profile'\nshift 3\nexec \"$@\"\n";
    chmod((base_ + "/sandbox-exec").c_str(), 0755);
    profile_.write = {base_ + "/w"};
    profile_.workspace = base_ + "/w";
    profile_.protect_names = {".bashrc"};
  }
  std::string Read(const std::string& name) {
    return test::ReadText(base_ + "/" + name);
  }
  Outcome Bash(const std::string& line) {
    const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
    Command command;
    command.permit = Permit::Given();
    command.argv = {"/bin/bash", "-c", line};
    command.cwd = base_ + "/w";
    command.environment = HostileEnvironment();
    for (const char* entry : {"PATH=/usr/bin:/bin", "TMPDIR=/x"})
      command.environment.emplace_back(entry);
    return MakeSeatbelt({.program = base_ + "/sandbox-exec", .here = true})
        ->Run(profile_, command, {null.get(), null.get(), null.get()});
  }
  const TemporaryDirectory made_{"/var/tmp"};
  const std::string base_ = made_.path();
  Profile profile_;
};

TEST_F(SeatbeltRun, GivesTheProfileAndPassesTheEndOn) {
  const Outcome outcome = Bash(
      "echo x > \"$TMPDIR/y\" && echo "
      "\"$LD_PRELOAD$TMPDIR\" > out; exit 7");
  EXPECT_EQ(outcome.status, OutcomeStatus::kExited) << outcome.reason;
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_TRUE(Read("w/out").starts_with("/tmp/gate-run-")) << Read("w/out");
  const std::string profile = Read("profile");
  EXPECT_NE(profile.find("(allow file-write* (subpath \"" + base_ + "/w\"))"),
            std::string::npos)
      << profile;
  EXPECT_NE(profile.find("\\\\.[Bb][Aa][Ss][Hh][Rr][Cc]"), std::string::npos);
  EXPECT_EQ(Bash("kill -TERM $$").signal, SIGTERM);
}

TEST_F(SeatbeltRun, WithholdsSecretsFromTheEnvironment) {
  Bash("env > out");
  EXPECT_EQ(Read("w/out").find("canary"), std::string::npos) << Read("w/out");
  EXPECT_NE(Read("w/out").find("PATH="), std::string::npos);
}

TEST_F(SeatbeltRun, EndsAtTheWallClock) {
  profile_.limits.wall_ms = 200;
  EXPECT_EQ(Bash("trap '' TERM; while :; do read -t 9 <> <(:); done").status,
            OutcomeStatus::kTimeout);
}

TEST_F(SeatbeltRun, RefusesWhatItCannotGive) {
  for (const Network network : {Network::kLoopback, Network::kDomains}) {
    profile_.network = network;
    EXPECT_EQ(Bash("true").status, OutcomeStatus::kSetupFailed);
  }
  profile_.network = Network::kNone;
  profile_.required = {Feature::kPrivateTmp};
  EXPECT_EQ(Bash("true").status, OutcomeStatus::kSetupFailed);
  EXPECT_FALSE(std::filesystem::exists(base_ + "/profile"));
}

}  // namespace
}  // namespace gate::backends
