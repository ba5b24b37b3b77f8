// What real bash did with our own lines, recorded once (docs/soundness.md
// tells how): whatever it started or opened must be predicted, or the line
// must be flagged.
#include <fnmatch.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/paths.h"
#include "parser/analysis.h"

namespace gate::parser {
namespace {

Context RecordedContext() {
  Context context;
  context.cwd = "/home/agent/work";
  context.home = "/home/agent";
  context.user = "agent";
  context.path = "/usr/bin:/bin";
  return context;
}

// Words against words: an unknown argument stands for any number of words, a
// pattern for one or more that it matches.
bool Fits(const std::vector<Argument>& predicted,
          const std::vector<std::string>& seen) {
  std::set<size_t> states{1};
  for (size_t i = 1; i < predicted.size(); ++i) {
    const Argument& word = predicted[i];
    std::set<size_t> next;
    for (const size_t at : states) {
      if (!word.known) {
        for (size_t k = at; k <= seen.size(); ++k) next.insert(k);
        continue;
      }
      for (size_t k = at; k < seen.size(); ++k) {
        const bool same =
            word.glob ? ::fnmatch(word.text.c_str(), seen[k].c_str(), 0) == 0
                      : word.text == seen[k];
        if (!same) break;
        next.insert(k + 1);
        if (!word.glob) break;
      }
    }
    states = std::move(next);
  }
  return states.contains(seen.size());
}

bool IsPredicted(const Analysis& analysis, const Json& exec) {
  const auto seen = exec["argv"].get<std::vector<std::string>>();
  const auto path = exec["path"].get<std::string>();
  for (const Invocation& invocation : analysis.invocations) {
    if (invocation.argv.empty()) continue;
    const Argument& name = invocation.argv[0];
    const bool named = !name.known ||
                       BaseName(name.text) == BaseName(seen[0]) ||
                       BaseName(name.text) == BaseName(path);
    if (named && Fits(invocation.argv, seen)) return true;
  }
  return false;
}

bool IsPredictedWrite(const Analysis& analysis, const std::string& path) {
  for (const Argument& target : analysis.shell_writes) {
    if (!target.known) return true;
    const std::string word = Normalise(target.text, "/");
    if (path == word || path.ends_with(word)) return true;
  }
  return false;
}

TEST(ObservedTest, WhatBashDidIsPredictedOrTheLineIsFlagged) {
  std::ifstream file(std::string(GATE_SOURCE_DIR) +
                     "/tests/parser/observed.jsonl");
  ASSERT_TRUE(file);
  size_t lines = 0;
  size_t flagged = 0;
  for (std::string text; std::getline(file, text); ++lines) {
    const auto row = ParseJson(text);
    ASSERT_TRUE(row) << text;
    const auto command = (*row)["cmd"].get<std::string>();
    const Analysis analysis = Analyze(command, RecordedContext());
    if (analysis.parse_error || analysis.hides_commands) {
      ++flagged;
      continue;
    }
    for (const Json& exec : (*row)["execs"])
      EXPECT_TRUE(IsPredicted(analysis, exec)) << command << "\n ran " << exec;
    for (const Json& path : (*row)["writes"])
      EXPECT_TRUE(IsPredictedWrite(analysis, path.get<std::string>()))
          << command << "\n wrote " << path;
  }
  EXPECT_GT(lines, 90u);
  // Flagging everything would be sound, and useless.
  EXPECT_LE(flagged, lines / 7);
}

}  // namespace
}  // namespace gate::parser
