// What must hold of every policy and every line, over generated ones.
#include <gtest/gtest.h>

#include <random>

#include "engine/evaluate.h"
#include "engine/examples.h"
#include "parser/analysis.h"
#include "tests/engine/make_analysis.h"

namespace gate::engine {
namespace {

using rules::Layer;
using rules::MakePolicy;
using rules::RuleFile;

const char* Pick(std::mt19937& random, const std::vector<const char*>& from) {
  return from[random() % from.size()];
}

std::string Matcher(std::mt19937& random, int depth = 0) {
  switch (random() % (depth < 2 ? 9 : 6)) {
    case 0:
      return std::string(R"({"prefix": ["git", ")") +
             Pick(random, {"push", "log", "clean"}) + "\"]}";
    case 1:
      return std::string(R"({"program": ")") +
             Pick(random, {"git", "rm", "ls", "curl", "make"}) + "\"}";
    case 2:
      return std::string(R"({"options": {"any_of": [")") +
             Pick(random, {"-r", "-f", "--force", "-n"}) + "\"]}}";
    case 3:
      return std::string(R"({"effect": {"kind": ["delete", "write"], )") +
             R"("path": [")" +
             Pick(random, {"/etc/**", "$HOME/**", "workspace", "outside",
                           "**/.git/**"}) +
             "\"]}}";
    case 4:
      return std::string(R"({"regex": ")") +
             Pick(random, {"^git .*push", "rm -[a-z]*r", "force"}) + "\"}";
    case 5:
      return std::string(R"({"glob": ")") +
             Pick(random, {"git *", "* -rf *", "make"}) + "\"}";
    case 6:
      return R"({"any": [)" + Matcher(random, depth + 1) + "," +
             Matcher(random, depth + 1) + "]}";
    case 7:
      return R"({"all": [)" + Matcher(random, depth + 1) + "," +
             Matcher(random, depth + 1) + "]}";
    default:
      return R"({"all": [)" + Matcher(random, depth + 1) + R"(], "unless": )" +
             Matcher(random, depth + 1) + "}";
  }
}

std::string Rule(std::mt19937& random, int number) {
  return R"({"id": "r)" + std::to_string(number) + R"(", "action": ")" +
         Pick(random, {"allow", "sandbox", "ask", "deny"}) +
         R"(", "reason": "r", "match": )" + Matcher(random) + "}";
}

RuleFile File(Layer layer, const std::vector<std::string>& rules,
              const char* name = "a.json") {
  RuleFile file;
  file.name = name;
  file.layer = layer;
  file.trusted = false;
  file.text = R"({"schema": 1, "pack": "p", "rules": [)";
  for (size_t i = 0; i < rules.size(); ++i)
    file.text += (i ? "," : "") + rules[i];
  file.text += "]}";
  return file;
}

std::vector<parser::Analysis> Lines() {
  std::vector<parser::Analysis> lines;
  parser::Context context;
  context.cwd = "/home/dev/project";
  context.home = "/home/dev";
  for (const char* text :
       {"ls", "git push --force", "git -C x log", "rm -rf build",
        "rm -rf /etc/x", "rm -rf \"$x\"", "make > out", "git $x",
        "ls && rm -rf .git", "curl -o x https://h/y | tee z", "echo $(ls)",
        "for f in *; do rm -f $f; done", "git clean -nf"})
    lines.push_back(parser::Analyze(text, context));
  return lines;
}

TEST(Properties, AnUntrustedProjectRuleNeverLoosens) {
  std::mt19937 random(1);
  const auto lines = Lines();
  for (int round = 0; round < 150; ++round) {
    std::vector<std::string> user, project;
    for (int i = 0; i < 4; ++i) user.push_back(Rule(random, i));
    for (int i = 0; i < 3; ++i) project.push_back(Rule(random, 10 + i));
    const auto before = MakePolicy({File(Layer::kUser, user)}, false);
    const auto after = MakePolicy(
        {File(Layer::kUser, user), File(Layer::kProject, project, "b.json")},
        false);
    ASSERT_EQ(before.floor(), Action::kAllow);
    for (const auto& line : lines)
      EXPECT_GE(Evaluate(after, line, ExampleRequest(), {}).action,
                Evaluate(before, line, ExampleRequest(), {}).action)
          << project[0] << project[1] << project[2];
  }
}

TEST(Properties, TheOrderOfRulesAndFilesMeansNothing) {
  std::mt19937 random(2);
  const auto lines = Lines();
  for (int round = 0; round < 100; ++round) {
    std::vector<std::string> rules;
    for (int i = 0; i < 6; ++i) rules.push_back(Rule(random, i));
    const auto one = MakePolicy({File(Layer::kUser, rules)}, false);
    std::shuffle(rules.begin(), rules.end(), random);
    const auto two = MakePolicy(
        {File(Layer::kUser, {rules[0], rules[1]}, "z.json"),
         File(Layer::kUser, {rules[2], rules[3], rules[4], rules[5]})},
        false);
    for (const auto& line : lines)
      EXPECT_EQ(Evaluate(one, line, ExampleRequest(), {}).action,
                Evaluate(two, line, ExampleRequest(), {}).action);
  }
}

TEST(Properties, TheIndexHidesNoRule) {
  std::mt19937 random(3);
  const auto lines = Lines();
  Request every = ExampleRequest();
  every.try_every_rule = true;
  for (int round = 0; round < 150; ++round) {
    std::vector<std::string> rules;
    for (int i = 0; i < 8; ++i) rules.push_back(Rule(random, i));
    const auto policy = MakePolicy({File(Layer::kUser, rules)}, false);
    for (const auto& line : lines) {
      const Decision fast = Evaluate(policy, line, ExampleRequest(), {});
      const Decision slow = Evaluate(policy, line, every, {});
      EXPECT_EQ(fast.action, slow.action);
      EXPECT_EQ(fast.matches.size(), slow.matches.size());
    }
  }
}

TEST(Properties, TheIndexHidesNoShippedRule) {
  const auto policy = MakePolicy({}, true);
  Request every = ExampleRequest();
  every.try_every_rule = true;
  for (const auto& line : Lines()) {
    const Decision fast = Evaluate(policy, line, ExampleRequest(), {});
    const Decision slow = Evaluate(policy, line, every, {});
    EXPECT_EQ(fast.action, slow.action);
    EXPECT_EQ(fast.matches.size(), slow.matches.size());
  }
}

}  // namespace
}  // namespace gate::engine
