// Rule files that are wrong in every way: a diagnostic with its place and
// help, and the floor of the layer, always; never a crash, never silence.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "rules/policy.h"

namespace gate::rules {
namespace {

std::string Rules(const std::string& rule) {
  return R"({"schema": 1, "pack": "p", "rules": [)" + rule + "]}";
}

std::string With(const std::string& match) {
  return Rules(R"({"id": "a", "action": "deny", "reason": "r", "match": )" +
               match + "}");
}

std::string Repeat(const std::string& text, size_t count) {
  std::string out;
  for (size_t i = 0; i < count; ++i) out += text;
  return out;
}

struct Case {
  const char* name;
  std::string text;
};

// Macros, or lists, each of which stands for 40 of the next: 40^8 in all.
std::string Bomb(bool macros) {
  std::string out = R"({"schema": 1, "pack": "p", ")";
  out += macros ? "macros\": {" : "lists\": {";
  for (int level = 0; level < 8; ++level) {
    const std::string one =
        macros ? "{\"macro\": \"m" + std::to_string(level + 1) + "\"}"
               : (level == 0 ? "\"x\""
                             : "\"@m" + std::to_string(level - 1) + "\"");
    out += (level == 0 ? "" : ", ") + ("\"m" + std::to_string(level)) + "\": ";
    out += macros ? "{\"any\": [" : "[";
    out += one + Repeat(", " + one, 39);
    out += macros ? "]}" : "]";
  }
  out +=
      R"(}, "rules": [{"id": "a", "action": "deny", "reason": "r", "match": )";
  return out + (macros ? R"({"macro": "m0"})" : R"({"program": "@m7"})") +
         "}]}";
}

std::vector<Case> Cases() {
  const std::string good = With(R"({"program": "x"})");
  std::vector<Case> cases = {
      {"empty", ""},
      {"only a blank", " "},
      {"a NUL byte", std::string(1, '\0')},
      {"not JSON", "rules:\n  - deny"},
      {"an array", "[]"},
      {"a string", "\"x\""},
      {"null", "null"},
      {"no schema", R"({"pack": "p", "rules": []})"},
      {"another schema", R"({"schema": 2, "pack": "p", "rules": []})"},
      {"schema as text", R"({"schema": "1", "pack": "p", "rules": []})"},
      {"NaN", R"({"schema": NaN, "pack": "p", "rules": []})"},
      {"Infinity", R"({"schema": Infinity, "pack": "p", "rules": []})"},
      {"minus Infinity", R"({"schema": -Infinity, "pack": "p", "rules": []})"},
      {"an infinite number", R"({"schema": 1e999, "pack": "p", "rules": []})"},
      {"a huge number",
       R"({"schema": 99999999999999999999, "pack": "p", "rules": []})"},
      {"a fraction", R"({"schema": 1.5, "pack": "p", "rules": []})"},
      {"rules as an object", R"({"schema": 1, "pack": "p", "rules": {}})"},
      {"a rule as text", Rules("\"deny rm\"")},
      {"an unknown key", R"({"schema": 1, "pack": "p", "rulez": []})"},
      {"a duplicate key",
       R"({"schema": 1, "schema": 1, "pack": "p", "rules": []})"},
      {"macros that multiply", Bomb(true)},
      {"lists that multiply", Bomb(false)},
      {"half a word", With(R"({"program": "x", "operands": {"min": 1.5}})")},
      {"an unknown action",
       Rules(R"({"id": "a", "action": "block", "reason": "r",
               "match": {"program": "x"}})")},
      {"no match", Rules(R"({"id": "a", "action": "deny", "reason": "r"})")},
      {"an empty match", With("{}")},
      {"an unless of nothing", With(R"({"program": "x", "unless": []})")},
      {"an unless with an empty match",
       With(R"({"program": "x", "unless": [{}, {"program": "y"}]})")},
      {"an unknown matcher", With(R"({"programm": "x"})")},
      {"an empty prefix", With(R"({"prefix": []})")},
      {"a program as a number", With(R"({"program": 1})")},
      {"duplicate ids", Rules(R"({"id": "a", "action": "deny", "reason": "r",
                 "match": {"program": "x"}},
                {"id": "a", "action": "ask", "reason": "r",
                 "match": {"program": "y"}})")},
      {"a regex that does not compile", With("{\"regex\": \"(\"}")},
      {"a back-reference", With("{\"regex\": \"(a)\\\\1\"}")},
      {"a look-ahead", With("{\"regex\": \"rm (?!-n)\"}")},
      {"a hostile repetition", With("{\"regex\": \"" + Repeat("(", 100) + "a" +
                                    Repeat("{1000})", 100) + "\"}")},
      {"a regex of 1 MB",
       With("{\"regex\": \"" + std::string(1u << 20, 'a') + "\"}")},
      {"a glob with 10,000 stars",
       With("{\"glob\": \"" + Repeat("*a", 10000) + "\"}")},
      {"a path glob with 10,000 stars",
       With(R"({"effect": {"kind": "write", "path": ")" + Repeat("/*a", 10000) +
            "\"}}")},
      {"a macro that uses itself",
       R"({"schema": 1, "pack": "p", "macros": {"m": {"macro": "m"}},
           "rules": [{"id": "a", "action": "deny", "reason": "r",
                      "match": {"macro": "m"}}]})"},
      {"macros in a circle",
       R"({"schema": 1, "pack": "p",
           "macros": {"m": {"macro": "n"}, "n": {"any": [{"macro": "m"}]}},
           "rules": [{"id": "a", "action": "deny", "reason": "r",
                      "match": {"macro": "m"}}]})"},
      {"a list that is not there", With(R"({"program": "@nowhere"})")},
      {"a list that uses itself",
       R"({"schema": 1, "pack": "p", "lists": {"l": ["@l"]},
           "rules": [{"id": "a", "action": "deny", "reason": "r",
                      "match": {"program": "@l"}}]})"},
      {"a class that names itself",
       R"({"schema": 1, "pack": "p", "classes": {"c": ["c", "/x/**"]},
           "rules": [{"id": "a", "action": "deny", "reason": "r",
                      "match": {"effect": {"kind": "write", "path": "c"}}}]})"},
      {"classes in a circle",
       R"({"schema": 1, "pack": "p", "classes": {"c": ["d"], "d": ["c"]},
           "rules": [{"id": "a", "action": "deny", "reason": "r",
                      "match": {"effect": {"kind": "write", "path": "c"}}}]})"},
      {"matchers nested too deep",
       With(Repeat("{\"all\": [", 200) + "{\"program\": \"x\"}" +
            Repeat("]}", 200))},
      {"brackets without end", Repeat("[", 100000)},
      {"a lone surrogate", With(R"({"program": "\ud800"})")},
      {"ill-formed UTF-8", With("{\"program\": \"\xff\"}")},
      {"a date that is none",
       Rules(R"({"id": "a", "action": "deny", "reason": "r",
               "match": {"program": "x"}, "expires": "2026-13-45"})")},
      {"a date that is none",
       Rules(R"({"id": "a", "action": "deny", "reason": "r",
               "match": {"program": "x"}, "expires": "2027-02-30"})")},
      {"text after the end", good + "x"},
  };
  for (size_t cut = 1; cut < good.size(); cut += 7)
    cases.push_back({"truncated", good.substr(0, cut)});
  return cases;
}

TEST(BadFiles, EveryOneIsADiagnosticWithPlaceAndTheFloorOfItsLayer) {
  for (const Case& c : Cases()) {
    for (const Layer layer : {Layer::kProject, Layer::kUser, Layer::kSystem}) {
      RuleFile file;
      file.name = "bad.json";
      file.layer = layer;
      file.text = c.text;
      const Policy policy = MakePolicy({file}, false);
      EXPECT_EQ(policy.floor(),
                layer == Layer::kProject ? Action::kAsk : Action::kDeny)
          << c.name << ": " << c.text.substr(0, 80);
      ASSERT_TRUE(HasErrors(policy.diagnostics())) << c.name;
      for (const Diagnostic& diagnostic : policy.diagnostics()) {
        if (diagnostic.severity != Severity::kError) continue;
        EXPECT_EQ(diagnostic.file, "bad.json") << c.name;
        EXPECT_GE(diagnostic.line, 1u) << c.name << diagnostic.message;
        EXPECT_FALSE(diagnostic.message.empty()) << c.name;
        EXPECT_FALSE(diagnostic.code.empty()) << c.name;
        EXPECT_FALSE(diagnostic.help.empty())
            << c.name << ": " << diagnostic.message;
      }
    }
  }
}

TEST(BadFiles, OneBadFileLeavesTheOthersStandingAndOnlyRaisesTheFloor) {
  RuleFile good;
  good.name = "a.json";
  good.layer = Layer::kUser;
  good.text = With(R"({"program": "x"})");
  for (const Case& c : Cases()) {
    RuleFile bad = good;
    bad.name = "b.json";
    bad.text = c.text;
    EXPECT_EQ(MakePolicy({good, bad}, false).floor(), Action::kDeny) << c.name;
  }
}

class BadPaths : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gate-bad-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    std::filesystem::create_directory(root_ + "/rules");
    file_ = root_ + "/rules/a.json";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void ExpectRefused(const char* what) {
    for (const bool user : {true, false}) {
      PolicySources sources;
      (user ? sources.user_dir : sources.project_dir) = root_ + "/rules";
      sources.owner = geteuid();
      sources.builtin = false;
      const Policy policy = LoadPolicy(sources);
      EXPECT_EQ(policy.floor(), user ? Action::kDeny : Action::kAsk) << what;
      ASSERT_TRUE(HasErrors(policy.diagnostics())) << what;
      EXPECT_FALSE(policy.diagnostics()[0].file.empty()) << what;
      EXPECT_FALSE(policy.diagnostics()[0].help.empty()) << what;
    }
    std::filesystem::remove_all(file_);
  }

  std::string root_, file_;
};

TEST_F(BadPaths, WhatIsNoRegularFileIsRefusedAndNeverBlocks) {
  ASSERT_EQ(mkfifo(file_.c_str(), 0600), 0);
  ExpectRefused("a FIFO");
  ASSERT_EQ(symlink("/dev/zero", file_.c_str()), 0);
  ExpectRefused("a link to a device");
  ASSERT_EQ(symlink(file_.c_str(), file_.c_str()), 0);
  ExpectRefused("a link to itself");
  ASSERT_EQ(symlink("/nowhere", file_.c_str()), 0);
  ExpectRefused("a dangling link");
  ASSERT_EQ(mkdir(file_.c_str(), 0700), 0);
  ExpectRefused("a directory");
}

TEST_F(BadPaths, AFileOf100MBIsRefusedUnread) {
  std::ofstream(file_) << "{";
  ASSERT_EQ(chmod(file_.c_str(), 0600), 0);
  // Sparse: it takes no room.
  ASSERT_EQ(truncate(file_.c_str(), 100 << 20), 0);
  ExpectRefused("100 MB");
}

TEST_F(BadPaths, AUserFileOrDirectoryThatOthersMayWriteIsRefused) {
  std::ofstream(file_) << With(R"({"program": "x"})");
  PolicySources sources;
  sources.user_dir = root_ + "/rules";
  sources.owner = geteuid();
  sources.builtin = false;
  for (const mode_t mode : {0666, 0620, 0602}) {
    ASSERT_EQ(chmod(file_.c_str(), mode), 0);
    EXPECT_EQ(LoadPolicy(sources).floor(), Action::kDeny) << mode;
  }
  ASSERT_EQ(chmod(file_.c_str(), 0600), 0);
  EXPECT_EQ(LoadPolicy(sources).floor(), Action::kAllow);
  ASSERT_EQ(chmod(sources.user_dir.c_str(), 0777), 0);
  EXPECT_EQ(LoadPolicy(sources).floor(), Action::kDeny);
  ASSERT_EQ(chmod(sources.user_dir.c_str(), 0700), 0);
  if (geteuid() != 0) return;
  // Somebody else's.
  ASSERT_EQ(chown(file_.c_str(), 12345, 12345), 0);
  EXPECT_EQ(LoadPolicy(sources).floor(), Action::kDeny);
}

}  // namespace
}  // namespace gate::rules
