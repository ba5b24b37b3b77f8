// config.json as a whole program reads it.
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Machine;

std::string Action(const Machine& machine, const std::string& command) {
  const auto json = ParseJson(machine.Gate({"check", "--json", command}).out);
  return json ? (*json)["action"].get<std::string>() : "?";
}

TEST(SettingsTest, ThePresetIsTheUsersAndNotTheProjects) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox works here";
  EXPECT_EQ(Action(machine, "frobnicate"), "sandbox");
  machine.Write(machine.project() + "/.gate/config.json",
                R"({"preset": "careful"})", 0600);
  EXPECT_EQ(Action(machine, "frobnicate"), "sandbox");
  const std::string own = machine.home() + "/.config/gate/config.json";
  machine.Write(own, R"({"preset": "careful"})", 0600);
  EXPECT_EQ(Action(machine, "frobnicate"), "ask");
  machine.Write(own, R"({"preset": "autonomous"})", 0600);
  EXPECT_EQ(Action(machine, "npm publish"), "deny");
  machine.Write(own, R"({"preset": "bold"})", 0600);
  EXPECT_EQ(machine.Gate({"check", "ls"}).exit_code, 78);
}

TEST(SettingsTest, AFileThatDoesNotLoadStopsEveryRun) {
  const Machine machine;
  const std::string own = machine.home() + "/.config/gate/config.json";
  // What comes after the mistake might have been stricter.
  machine.Write(own, R"({"schema": 1, "strength": "microvm"})", 0600);
  for (const char* command : {"run", "sandbox"}) {
    const test::Done done = machine.Gate({command, "--", "touch", "made"});
    EXPECT_EQ(done.exit_code, 78) << command << done.err;
    EXPECT_NE(done.err.find("`schema` is not a setting"), std::string::npos)
        << done.err;
    EXPECT_FALSE(machine.Exists(machine.project() + "/made"));
  }
}

TEST(SettingsTest, EveryRefusalAndLintNameThePlaceOfTheMistake) {
  const Machine machine;
  const std::string own = machine.home() + "/.config/gate/config.json";
  machine.Write(own, "{\n  \"preset\": \"careful\",\n  \"hardend\": true\n}\n",
                0600);
  const std::string event =
      Dump({{"command", "ls"}, {"cwd", machine.project()}});
  const struct {
    std::vector<std::string> words;
    int exit_code;
  } kRows[] = {
      {{"run", "--", "ls"}, 78}, {{"sandbox", "--", "ls"}, 78},
      {{"check", "ls"}, 78},     {{"hook", "generic"}, 0},
      {{"rules", "lint"}, 78},
  };
  for (const auto& row : kRows) {
    const test::Done done = machine.Gate(row.words, event);
    EXPECT_EQ(done.exit_code, row.exit_code) << row.words[0];
    EXPECT_NE((done.out + done.err).find(own + ":3:"), std::string::npos)
        << row.words[0] << "\n"
        << done.out << done.err;
  }
  EXPECT_NE(machine.Gate({"rules", "lint"}).out.find("1 errors"),
            std::string::npos);
}

TEST(SettingsTest, AFileWithNearlyTheNameIsNotLeftOutInSilence) {
  for (const char* name : {"config.jsonc", "config.json5"}) {
    const Machine machine;
    const std::string own = machine.home() + "/.config/gate/";
    machine.Write(own + name, R"({"strength": "microvm"})", 0600);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{
             {"run", "--", "ls"}, {"check", "ls"}, {"rules", "lint"}}) {
      const test::Done done = machine.Gate(words);
      EXPECT_EQ(done.exit_code, 78) << name << words[0];
      EXPECT_NE((done.out + done.err).find(own + name), std::string::npos)
          << words[0] << done.out << done.err;
    }
  }
}

TEST(SettingsTest, ADirectoryOfSettingsThatIsNamedMustBeThere) {
  const Machine machine;
  const std::string place = machine.home() + "/settings";
  const auto run = [&](const std::string& at, const std::string& what) {
    return machine.Gate({"--config-dir", at, what, "ls"}).exit_code;
  };
  for (const char* what : {"check", "explain", "run", "sandbox"})
    EXPECT_EQ(run(place, what), 78) << what;
  const test::Done hook =
      machine.Gate({"--config-dir", place, "hook", "generic"}, "{}");
  EXPECT_EQ(hook.exit_code, 2);
  EXPECT_EQ(hook.out, "");
  EXPECT_NE(hook.err.find("is not a directory"), std::string::npos);
  machine.Write(place + "/rules.d/.keep", "");
  EXPECT_EQ(run(place, "check"), 0);
  // Everybody's own need not be there, also where a hook's line names it.
  EXPECT_FALSE(machine.Exists(machine.home() + "/.config/gate"));
  EXPECT_EQ(run(machine.home() + "/.config/gate", "check"), 0);
  EXPECT_EQ(run(machine.home() + "/.config/gate/", "check"), 0);
  EXPECT_FALSE(machine.Exists(machine.home() + "/.config/gate"));
}

TEST(SettingsTest, TerminalsAreNamesOrPaths) {
  const Machine machine;
  const struct {
    const char* text;
    int exit_code;
  } kRows[] = {
      {R"({"terminals": ["my-term", "/home/agent/bin/my-term"]})", 0},
      {R"({"terminals": "my-term"})", 78},
      {R"({"terminals": [""]})", 78},
      {R"({"terminals": [1]})", 78},
      {R"({"terminals": ["bin/my-term"]})", 78},
      {R"({"agents": {"a": {"terminals": ["my-term"]}}})", 78},
  };
  for (const auto& row : kRows) {
    machine.Write(machine.home() + "/.config/gate/config.json", row.text, 0600);
    EXPECT_EQ(machine.Gate({"check", "ls"}).exit_code, row.exit_code)
        << row.text;
  }
}

TEST(SettingsTest, ALimitThatNothingCouldReachIsAnError) {
  const Machine machine;
  const std::string own = machine.home() + "/.config/gate/config.json";
  const std::pair<const char*, const char*> kLargest[] = {
      {"wall_ms", "1000000000000"},
      {"cpu_s", "1000000000"},
      {"memory_bytes", "9007199254740992"},
      {"processes", "4000000"},
      {"open_files", "1073741824"},
      {"file_bytes", "9007199254740992"},
      {"written_bytes", "9007199254740992"},
      {"output_bytes", "9007199254740992"},
      {"files", "1073741824"}};
  std::string all;
  for (const auto& [name, largest] : kLargest) {
    const std::string key = "\"" + std::string(name) + "\": ";
    machine.Write(own, "{\"limits\": {" + key + "18446744073709551615}}", 0600);
    const test::Done done = machine.Gate({"run", "true"});
    EXPECT_EQ(done.exit_code, 78) << done.err;
    EXPECT_NE(done.err.find("`" + std::string(name) + "` at most " + largest),
              std::string::npos)
        << done.err;
    all += (all.empty() ? "" : ", ") + key + largest;
  }
  machine.Write(own, "{\"limits\": {" + all + "}}", 0600);
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox here";
  const test::Done done = machine.Gate({"sandbox", "--", "true"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
}

TEST(SettingsTest, ARefusalNamesTheSettingThatRefuses) {
  const Machine machine;
  machine.Write(machine.home() + "/.config/gate/config.json",
                R"({"never_sandbox": ["make"]})", 0600);
  const test::Done done = machine.Gate({"run", "make"});
  EXPECT_EQ(done.exit_code, 126) << done.err;
  EXPECT_NE(done.err.find("never_sandbox"), std::string::npos) << done.err;
}

// Everything that says where a command runs comes from the person and the
// system. Whatever a repository brings, the plan is not weaker for it.
TEST(SettingsTest, AProjectMakesNoPlanWeaker) {
  const Machine machine;
  if (!test::HasSandbox(machine)) GTEST_SKIP() << "no sandbox here";
  const std::string own = machine.home() + "/.config/gate/config.json";
  machine.Write(own,
                R"({"always_sandbox": ["git"], "never_sandbox": ["curl"],
                    "network": "loopback", "agents": {"a": {"network": "none",
                    "always_sandbox": ["npm"], "never_sandbox": ["wget"]}}})",
                0600);
  struct Plan {
    std::string action, mode, backend, profile, network;
    size_t lost = 0;
    bool operator==(const Plan&) const = default;
  };
  const auto plans = [&] {
    std::vector<Plan> all;
    for (const char* line :
         {"frobnicate", "npm test", "git status", "curl x.test", "wget x.test",
          "rm -rf /", "bash x.sh"})
      for (const char* agent : {"", "a", "A"}) {
        std::vector<std::string> words = {"check", "--json"};
        if (*agent != '\0') words.insert(words.end(), {"--agent", agent});
        words.emplace_back(line);
        const auto json = ParseJson(machine.Gate(words).out);
        if (!json) {
          all.push_back({"?", "", "", "", "", 0});
          continue;
        }
        const Json& plan = (*json)["plan"];
        const auto text = [&](const char* name) {
          return plan.contains(name) && plan[name].is_string()
                     ? plan[name].get<std::string>()
                     : "";
        };
        all.push_back({(*json)["action"].get<std::string>(), text("mode"),
                       text("backend"), text("profile"), text("network"),
                       plan["lost"].size()});
      }
    return all;
  };
  const std::vector<Plan> before = plans();
  EXPECT_EQ(before[9].mode, "refused") << "curl is never contained";
  EXPECT_EQ(before[3].network, "loopback");
  EXPECT_EQ(before[4].network, "none") << "agent a has none";
  constexpr char kLoose[] =
      R"({"backend": "none", "strength": "landlock", "hardened": false,
          "network": "open", "accept_loss": ["seccomp", "protected-paths",
          "network-none"], "always_sandbox": [], "never_sandbox": [],
          "preset": "autonomous", "agents": {"a": {"network": "open"}}})";
  for (const char* place :
       {"/.gate/config.json", "/.gate/settings.json", "/config.json",
        "/gate.json", "/.config/gate/config.json", "/.gate/backends"})
    machine.Write(machine.project() + place, kLoose, 0600);
  EXPECT_EQ(plans(), before);
  // Rules of a repository may not name where anything runs, give network, or
  // take back what the person's files say.
  for (const char* rule :
       {R"("action": "sandbox", "profile": "full-access", "network": "open")",
        R"("action": "allow")", R"("action": "sandbox", "network": "open")",
        R"("action": "sandbox", "backend": "none")",
        R"("action": "sandbox", "strength": "landlock")"}) {
    machine.Write(
        machine.project() + "/.gate/rules.d/p.json",
        std::string(R"({"schema": 1, "pack": "p", "rules": [{"id": "p.a",
            "match": {"prefix": [["frobnicate", "make", "git", "curl",
            "wget", "bash"]]}, "reason": "r", )") +
            rule + "}]}",
        0600);
    std::vector<Plan> after = plans();
    for (size_t i = 0; i < after.size(); ++i) {
      if (after[i].mode == "refused") continue;
      // A rule may contain what was allowed, which is contained here anyway.
      after[i].action = before[i].action;
      EXPECT_EQ(after[i], before[i]) << rule << " " << i;
    }
  }
}

TEST(SettingsTest, AnImageIsNamedByItsDigestAndByNobodyElse) {
  const Machine machine;
  const std::string own = machine.home() + "/.config/gate/config.json";
  const std::string digest = "sha256:" + std::string(64, 'a');
  machine.Write(own, R"({"image": "debian@)" + digest + R"("})", 0600);
  EXPECT_EQ(machine.Gate({"check", "ls"}).exit_code, 0);
  for (const std::string& wrong :
       {std::string(R"({"image": "debian:12"})"),
        std::string(R"({"image": 1})"),
        R"({"image": "--privileged@)" + digest + R"("})",
        R"({"agents": {"claude": {"image": "debian@)" + digest + R"("}}})"}) {
    machine.Write(own, wrong, 0600);
    const auto ran = machine.Gate({"check", "ls"});
    EXPECT_EQ(ran.exit_code, 78) << wrong;
  }
}

}  // namespace
}  // namespace gate::app
