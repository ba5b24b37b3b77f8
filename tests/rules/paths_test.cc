#include "rules/match/paths.h"

#include <gtest/gtest.h>

#include <random>

#include "rules/policy.h"

namespace gate::rules {
namespace {

const PathBases kBases = {
    "",   "/home/u", "/home/u/w",     "/home/u/.config/gate",
    "/s", "",        "/usr/bin/gate", "/home/u/a",
    ""};

// Rules whose paths are `patterns`, one rule each.
Policy PolicyOf(const std::vector<std::string>& patterns) {
  std::string text = R"({"schema": 1, "pack": "p", "rules": [)";
  for (size_t i = 0; i < patterns.size(); ++i)
    text += (i == 0 ? "" : ",") + std::string(R"({"id": "r)") +
            std::to_string(i) +
            R"(", "action": "deny", "reason": "r", "match": {"effect": )" +
            R"({"kind": "write", "path": [")" + patterns[i] + "\"]}}}";
  return MakePolicy({{"f.json", Layer::kUser, text + "]}", true}}, false);
}

std::string Pick(std::mt19937& random, const std::vector<std::string>& parts) {
  return parts[random() % parts.size()];
}

// Few parts, so that patterns and paths meet often.
std::string Pattern(std::mt19937& random) {
  std::string pattern =
      Pick(random, {"", "~", "$WORKSPACE", "$GATE_CACHE", "$GATE_STATE",
                    "$CLAUDE_CONFIG_DIR", "$CODEX_HOME", "/**", "/s", "/home"});
  if (pattern == "/**") pattern = "**";
  for (unsigned i = 0; i < 1 + random() % 3; ++i)
    pattern += "/" + Pick(random, {"a", "ab", ".env", ".env*", "*", "*.key",
                                   "a?", "longer-than-eight", "**", "u", "w",
                                   ".ssh", "x.key", "*a*b"});
  return pattern;
}

parser::Argument Path(std::mt19937& random) {
  parser::Argument path;
  path.text = Pick(random, {"", "/home/u", "/home/u/w", "/s", "/home", "/"});
  if (path.text == "/") path.text = "";
  path.glob = random() % 3 == 0;
  path.known = random() % 4 != 0;
  const std::vector<std::string> plain = {
      "a", "ab", ".env", ".env.x", "x.key", "longer-than-eight",
      "u", "w",  ".ssh", "aab",    "home",  "c"};
  const std::vector<std::string> globs = {"*",  ".*", "a*",   "*b",
                                          "?b", "**", "[a]b", "\\*"};
  for (unsigned i = 0; i < random() % 4; ++i)
    path.text +=
        "/" + Pick(random, path.glob && random() % 2 == 0 ? globs : plain);
  if (!path.known) {
    path.glob = false;
    if (random() % 2 == 0) path.suffix = "/" + Pick(random, plain);
    if (random() % 4 == 0) path.text += "/";
  }
  return path;
}

TEST(Paths, TheFirstLookRulesOutOnlyWhatDoesNotMatch) {
  std::mt19937 random(7);
  std::vector<std::string> patterns;
  for (int i = 0; i < 300; ++i) patterns.push_back(Pattern(random));
  const Policy policy = PolicyOf(patterns);
  ASSERT_EQ(policy.diagnostics().size(), 0u)
      << Render(policy.diagnostics().at(0));
  const RuleView& view = policy.impl().layers.at(0)->view;
  ASSERT_EQ(view.paths.size(), patterns.size());

  int matched = 0, ruled_out = 0;
  for (int i = 0; i < 2000; ++i) {
    const parser::Argument path = Path(random);
    const bool spread = random() % 2 == 0;
    PathMatcher matcher(policy.impl(), kBases, false);
    const PathFilter filter(path, spread, kBases);
    for (size_t n = 0; n < view.paths.size(); ++n) {
      const Tri found =
          matcher.Match(view, view.paths[n], {&path, spread, UINT32_MAX});
      matched += found != Tri::kNo;
      if (!filter.Excludes(view.paths[n])) continue;
      ++ruled_out;
      EXPECT_EQ(found, Tri::kNo)
          << patterns[n] << " and " << path.text << (path.known ? "" : "…")
          << path.suffix << (path.glob ? " (a pattern)" : "")
          << (spread ? " and below" : "");
    }
  }
  EXPECT_GT(matched, 10000);
  EXPECT_GT(ruled_out, 100000);
}

TEST(Paths, AClientsDirectoryThatIsNotMovedIsNoPlace) {
  const Policy policy =
      PolicyOf({"$CODEX_HOME/a", "$CLAUDE_CONFIG_DIR/ab", "$GATE_CACHE/a"});
  const RuleView& view = policy.impl().layers.at(0)->view;
  parser::Argument known, unknown;
  known.text = "/home/u/a/ab";
  unknown.known = false;
  const Tri expected[][2] = {{Tri::kNo, Tri::kNo},
                             {Tri::kYes, Tri::kPossible},
                             {Tri::kNo, Tri::kPossible}};
  for (const bool looks : {true, false}) {
    PathMatcher matcher(policy.impl(), kBases, looks);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(matcher.Match(view, view.paths[i], {&known, false, 0}),
                expected[i][0])
          << i;
      EXPECT_EQ(matcher.Match(view, view.paths[i], {&unknown, false, 1}),
                expected[i][1])
          << i;
    }
  }
}

// What is done to a directory with all that is in it meets what a pattern may
// find there, also where the pattern begins above that directory.
TEST(Paths, WhatIsDoneToATreeMeetsWhatAPatternFindsBelowIt) {
  const struct {
    const char *pattern, *path;
    Tri expected;
  } kRows[] = {
      {"/proc/*/environ", "/proc/self", Tri::kYes},
      {"/proc/*/environ", "/proc/1", Tri::kYes},
      {"/proc/*/environ", "/proc", Tri::kYes},
      {"/proc/*/environ", "/", Tri::kYes},
      {"/proc/*/environ", "/proc/self/task", Tri::kNo},
      {"/proc/**/environ", "/proc/self/task/1", Tri::kYes},
      {"/home/*/.ssh/**", "/home/dev", Tri::kYes},
      {"/home/*/.ssh/**", "/home/dev/.ssh", Tri::kYes},
      {"/home/*/.ssh/**", "/home/dev/.ssh/keys", Tri::kYes},
      {"/home/*/.ssh/**", "/home/dev/src", Tri::kNo},
      {"/home/*/.ssh/**", "/home/dev/.sshx", Tri::kNo},
      {"/etc/ssh/host_*_key", "/etc/ssh", Tri::kYes},
      {"/etc/ssh/host_*_key", "/etc/ssh/conf.d", Tri::kNo},
      {"/etc/a*/b/c", "/etc/ax", Tri::kYes},
      {"/etc/a*/b/c", "/etc/ax/b", Tri::kYes},
      {"/etc/a*/b/c", "/etc/bx", Tri::kNo},
      {"~/.a*/k", "/home/u/.ab", Tri::kYes},
      {"~/.a*/k", "/home/v/.ab", Tri::kNo},
      // Any directory may hold one of these, so that none is named by it.
      {"**/.env", "/home/u/w", Tri::kNo},
      {"**/.aws/**", "/home/u/w", Tri::kNo},
  };
  for (const auto& row : kRows) {
    const Policy policy = PolicyOf({row.pattern});
    const RuleView& view = policy.impl().layers.at(0)->view;
    parser::Argument path;
    path.text = row.path;
    for (const bool looks : {true, false}) {
      PathMatcher matcher(policy.impl(), kBases, looks);
      EXPECT_EQ(matcher.MatchAny(view, {0, 1}, {&path, true, 0}), row.expected)
          << row.pattern << " " << row.path;
    }
  }
}

// A pattern of a line is taken out of a rule only with all that it finds.
TEST(Paths, APatternIsWhollyInAPlaceOnlyWhenAllThatItFindsIs) {
  const struct {
    const char *pattern, *path;
    Tri expected;
  } kRows[] = {
      {"**/*.pub", "/a/*.pub", Tri::kYes},
      {"**/*.pub", "/a/id*.pub", Tri::kYes},
      {"**/*.pub", "/a/*", Tri::kPossible},
      {"**/*.pub", "/a/id_*", Tri::kPossible},
      {"**/*.pub", "/a/*.key", Tri::kNo},
      {"**/known", "/*/known", Tri::kYes},
      {"**/known", "/a/k*", Tri::kPossible},
      {"**/known", "/a/k?own", Tri::kPossible},
      {"/tmp/**", "/tmp/*", Tri::kYes},
      {"/tmp/**", "/tmp/a/*.o", Tri::kYes},
      {"/tmp/**", "/t*/x", Tri::kPossible},
      {"/tmp/**", "/tmp*", Tri::kPossible},
      {"/proc/sys/**", "/proc/*/x", Tri::kPossible},
      {"/proc/sys/**", "/proc/sys/*", Tri::kYes},
      {"/a/b", "/a/*", Tri::kPossible},
      {"/a/b", "/c/*", Tri::kNo},
  };
  for (const auto& row : kRows) {
    const Policy policy = PolicyOf({row.pattern});
    const RuleView& view = policy.impl().layers.at(0)->view;
    parser::Argument path;
    path.text = row.path;
    path.glob = true;
    PathMatcher matcher(policy.impl(), kBases, true);
    EXPECT_EQ(matcher.MatchAny(view, {0, 1}, {&path, false, UINT32_MAX, true}),
              row.expected)
        << row.pattern << " " << row.path;
  }
}

TEST(Paths, ManyPatternsAtOnceAreAsEachByItself) {
  std::mt19937 random(8);
  std::vector<std::string> patterns;
  for (int i = 0; i < 40; ++i) patterns.push_back(Pattern(random));
  const Policy policy = PolicyOf(patterns);
  const RuleView& view = policy.impl().layers.at(0)->view;
  for (int i = 0; i < 2000; ++i) {
    const parser::Argument path = Path(random);
    PathMatcher looks(policy.impl(), kBases, true);
    PathMatcher does_not(policy.impl(), kBases, false);
    for (const bool spread : {false, true, false})
      EXPECT_EQ(looks.MatchAny(view, {0, 40}, {&path, spread, 0}),
                does_not.MatchAny(view, {0, 40}, {&path, spread, 0}))
          << path.text;
  }
}

}  // namespace
}  // namespace gate::rules
