#include "known/known.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "base/json.h"
#include "base/paths.h"
#include "net/host_list.h"
#include "parser/programs.h"

namespace gate::known {
namespace {

std::string ReadAll(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(KnownTest, NamesStandOnceAndInOrder) {
  for (size_t k = 0; k < kListNames.size(); ++k) {
    const auto names = Names(static_cast<List>(k));
    EXPECT_FALSE(names.empty()) << kListNames[k];
    for (size_t i = 1; i < names.size(); ++i) {
      const auto before = DirName(names[i - 1]), directory = DirName(names[i]);
      EXPECT_TRUE(before < directory ||
                  (before == directory && names[i - 1] < names[i]))
          << kListNames[k] << ": " << names[i];
    }
  }
  EXPECT_TRUE(std::ranges::is_sorted(Relocations(), {}, &Relocation::variable));
}

TEST(KnownTest, EachListHoldsWhatItsNameSays) {
  struct Row {
    List list;
    std::string_view holds, lacks;
  };
  constexpr Row kRows[] = {
      {List::kHidden, ".ssh", ".bashrc"},
      {List::kProtected, ".npmrc", ".ssh"},
      {List::kProtectedHome, ".local/bin", ".bashrc"},
      {List::kAutoExecuted, ".config/git/config", ".aws"},
      {List::kReadElsewhere, ".bashrc", ".mcp.json"},
      {List::kJudged, ".vscode/settings.json", ".mcp.json"},
      {List::kOnlyAdds, ".mcp.json", ".npmrc"},
      {List::kAgentProject, ".claude", ".ssh"},
      {List::kReportShell, ".config/fish", ".claude"},
      {List::kReportAgent, ".claude", ".bashrc"},
      {List::kReportGit, ".gitconfig", ".bashrc"},
      {List::kReportEditor, ".vimrc", ".bashrc"},
      {List::kReportTool, ".npmrc", ".bashrc"},
      {List::kSystemHidden, "/etc/shadow", "/etc/passwd"},
      {List::kSettings, "pip.conf", "package.json"},
      {List::kToolVersion, "package.json", "pip.conf"},
      {List::kShellVariables, "BASH_ENV", "LD_PRELOAD"},
      {List::kCodeVariables, "PYTHONPATH", "LANG"},
      {List::kCodePrefixes, "LD_", "LC_"},
      {List::kLoadVariables, "LD_PRELOAD", "PAGER"},
      {List::kDoors, "SSH_AUTH_SOCK", "PAGER"},
      {List::kDoorPrefixes, "DIRENV_", "LD_"},
      {List::kTemporary, "TMPDIR", "HOME"},
      {List::kProgramVariables, "PAGER", "LD_PRELOAD"},
      {List::kWrappers, "RUSTC_WRAPPER", "PAGER"},
      {List::kMakeFlags, "MAKEFLAGS", "MAKEFILES"},
      {List::kJavaOptions, "MAVEN_OPTS", "JAVA_TOOL_OPTIONS"},
      {List::kGitElsewhere, "GIT_DIR", "GIT_SSH"},
      {List::kDockerElsewhere, "DOCKER_CONFIG", "DOCKER_HOST"},
      {List::kPodmanElsewhere, "CONTAINER_HOST", "DOCKER_HOST"},
      {List::kVariableWords, "TOKEN", "BYPASS"},
      {List::kVariableHints, "HMAC", "TOKEN"},
      {List::kVariableLastHints, "PRIVATE", "TOKEN"},
      {List::kVariableParts, "PASSWORD", "TOKEN"},
      {List::kVariableEndings, "_KEY", "KEY"},
      {List::kVariableNames, "BW_SESSION", "TOKEN"},
      {List::kVariableWordEndings, "PASS", "KEY"},
      {List::kNoVariableWords, "BYPASS", "PASS"},
      {List::kForms, "_BASE64", "_KEY"},
      {List::kRecordParts, "TOKEN", "_KEY"},
      {List::kRecordEndings, "_PASS", "_KEY"},
      {List::kRecordNames, "JWT", "_JWT"},
      {List::kRecordValueEndings, "_KEY", "_PASS"},
      {List::kHarmlessKeys, "PUBLIC_KEY", "PRIVATE_KEY"},
      {List::kHarmlessEndings, "_FILE", "_KEY"},
      {List::kHarmlessStarts, "MAX_", "TOKEN"},
      {List::kPrintedParts, "TOKEN", "COOKIE"},
      {List::kValueStarts, "Bearer ", "AKIA"},
      {List::kValueFields, "AccountKey=", "Bearer "},
      {List::kGitKeys, "core.fsmonitor", "core.pager"},
      {List::kGitSections, "filter", "diff"},
      {List::kGitEndings, "command", "url"},
      {List::kGitElsewhereSections, "alias", "core"},
  };
  std::set<List> seen;
  for (const Row& row : kRows) {
    const auto names = Names(row.list);
    const auto name = kListNames[static_cast<size_t>(row.list)];
    EXPECT_NE(std::ranges::find(names, row.holds), names.end())
        << name << " lacks " << row.holds;
    EXPECT_EQ(std::ranges::find(names, row.lacks), names.end())
        << name << " holds " << row.lacks;
    seen.insert(row.list);
  }
  EXPECT_EQ(seen.size(), kListNames.size());
}

TEST(KnownTest, RulesSeeDirectoriesAndBothSpellingsOfKeys) {
  const auto has = [](std::string_view list, std::string_view member) {
    const auto members = Members(list);
    return std::ranges::find(members, member) != members.end();
  };
  EXPECT_TRUE(has("home/secret", ".ssh/"));
  EXPECT_TRUE(has("home/secret", ".netrc"));
  EXPECT_TRUE(has("system/secret", "/etc/shadow"));
  EXPECT_TRUE(has("git/denied", "core.hooksPath"));
  EXPECT_TRUE(has("git/denied", "core.hookspath"));
  EXPECT_TRUE(has("lending/cache", ".npm/"));
  EXPECT_TRUE(Members("home").empty());
  EXPECT_TRUE(Members("home/secret/.claude").empty());
  EXPECT_TRUE(Members("").empty());
}

TEST(KnownTest, SecretsBeginWithACharacterThatIsLookedAt) {
  EXPECT_GT(SecretPrefixes().size(), 90u);
  for (const SecretPrefix& shape : SecretPrefixes()) {
    EXPECT_TRUE(SecretStarts()[static_cast<unsigned char>(shape.prefix[0])])
        << shape.prefix;
    // Of two the shorter one would hide the other.
    for (const SecretPrefix& other : SecretPrefixes())
      EXPECT_TRUE(&shape == &other || !other.prefix.starts_with(shape.prefix))
          << shape.prefix << " begins " << other.prefix;
  }
  for (const std::string_view value : Names(List::kValueStarts))
    EXPECT_TRUE(SecretStarts()[static_cast<unsigned char>(value[0])]) << value;
}

// What a rule names by "@known/hosts/LIST" is taken as it stands.
TEST(KnownTest, HostsAreHostRulesInTheirOneForm) {
  const auto json = ParseJson(
      ReadAll(GATE_SOURCE_DIR "/rules.d/known/hosts.json"), /*comments=*/true);
  ASSERT_TRUE(json);
  for (const auto& [list, meaning] : (*json)["lists"].items()) {
    const auto members = Members("hosts/" + list);
    EXPECT_FALSE(members.empty()) << list;
    for (const std::string_view member : members) {
      const auto rule = net::ParseHostRule(member);
      ASSERT_TRUE(rule) << member << ": " << rule.error().message;
      EXPECT_EQ(net::Print(*rule), member);
      EXPECT_FALSE(net::IsAddress(rule->host)) << member;
    }
  }
  for (const Json& entry : (*json)["entries"])
    EXPECT_NE(entry["source"].get<std::string>().find("https://"),
              std::string::npos)
        << entry["source"];
}

// A program stands for the hosts of all lists that name it. One that gate has
// no description of would be a slip.
TEST(KnownTest, ProgramsOfHostsAreDescribed) {
  const auto json = ParseJson(
      ReadAll(GATE_SOURCE_DIR "/rules.d/known/hosts.json"), /*comments=*/true);
  ASSERT_TRUE(json);
  std::map<std::string, std::set<std::string_view>> hosts;
  for (const auto& [list, value] : (*json)["lists"].items())
    for (const Json& program : value.is_object() ? value["programs"] : Json()) {
      EXPECT_TRUE(parser::IsDescribed(program.get<std::string>())) << program;
      const auto members = Members("hosts/" + list);
      hosts[program].insert(members.begin(), members.end());
    }
  EXPECT_GT(hosts.size(), 60u);
  for (const auto& [program, expected] : hosts) {
    const auto found = HostsOfProgram(program);
    EXPECT_TRUE(std::ranges::equal(found, expected)) << program;
  }
  for (const char* none : {"", "\n", "curl", "npm\nregistry.npmjs.org", ":npm",
                           "registry.npmjs.org", "np"})
    EXPECT_TRUE(HostsOfProgram(none).empty()) << none;
}

// A list that neither code nor a rule goes by protects nobody. Those of hosts
// are there for users' rules.
TEST(KnownTest, EachListOfTheFilesIsUsed) {
  const std::filesystem::path root = GATE_SOURCE_DIR "/rules.d";
  std::string rules;
  for (const auto& file : std::filesystem::directory_iterator(root))
    if (file.path().extension() == ".json") rules += ReadAll(file.path());
  int seen = 0;
  for (const auto& file : std::filesystem::directory_iterator(root / "known")) {
    const auto json = ParseJson(ReadAll(file.path()), /*comments=*/true);
    ASSERT_TRUE(json) << file.path();
    for (const auto& [word, meaning] : (*json)["lists"].items()) {
      ++seen;
      const std::string list = file.path().stem().string() + "/" + word;
      const bool code =
          std::ranges::find(kListNames, list) != kListNames.end() ||
          list == "secrets/shape" || list.starts_with("hosts/") ||
          list.starts_with("environment/relocated-");
      const std::string named = "@known/" + list;
      EXPECT_TRUE(code || rules.find(named + "\"") != std::string::npos ||
                  rules.find(named + "/") != std::string::npos)
          << list;
    }
  }
  EXPECT_GT(seen, 60);
}

}  // namespace
}  // namespace gate::known
