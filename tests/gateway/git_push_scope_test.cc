// The refs that a push of git names, and nothing else.
#include "gateway/grants/git_push_scope.h"

#include <gtest/gtest.h>

#include <string>

#include "parser/analysis.h"
#include "tests/support/agent_home.h"
#include "tests/support/files.h"

namespace gate::app {
namespace {

using test::AgentHome;

std::string ScopeOf(const std::string& line, const std::string& cwd) {
  parser::Context context;
  context.cwd = cwd;
  const credentials::PushScope scope =
      PushScopeOf(parser::Analyze(line, context), line);
  std::string text;
  for (const std::string& ref : scope.refs) text += ref + " ";
  for (const std::string& prefix : scope.prefixes) text += prefix + "* ";
  for (const std::string& option : scope.options) text += "-o" + option + " ";
  return text + std::to_string(scope.sessions);
}

TEST(PushScopeTest, IsWhatTheLineNames) {
  AgentHome agent;
  test::MakeRepository(agent.project() + "/.git");
  agent.Write(agent.project() + "/.git/HEAD", "ref: refs/heads/now\n");
  const struct {
    const char *line, *scope;
  } kRows[] = {
      {"git push", "refs/heads/now 1"},
      {"git push origin", "refs/heads/now 1"},
      {"git push -u origin HEAD", "refs/heads/now 1"},
      {"git push origin @", "refs/heads/now 1"},
      {"git push origin main", "refs/heads/main refs/tags/main 1"},
      {"git push -u origin main", "refs/heads/main refs/tags/main 1"},
      {"git push -uq origin main", "refs/heads/main refs/tags/main 1"},
      {"git push origin refs/heads/a", "refs/heads/a 1"},
      {"git push origin heads/a",
       "refs/heads/a refs/heads/heads/a refs/tags/heads/a 1"},
      {"git push origin HEAD:refs/heads/x", "refs/heads/x 1"},
      {"git push origin main:x", "refs/heads/x refs/tags/x 1"},
      {"git push origin HEAD:refs/for/main", "refs/for/main 1"},
      {"git push origin +main", "refs/heads/main refs/tags/main 1"},
      {"git push origin :old", "refs/heads/old refs/tags/old 1"},
      {"git push origin --delete old", "refs/heads/old refs/tags/old 1"},
      {"git push origin a b",
       "refs/heads/a refs/heads/b refs/tags/a refs/tags/b 1"},
      {"git push origin tag v1", "refs/tags/v1 1"},
      {"git push origin :", "refs/heads/* 1"},
      {"git push origin 'refs/heads/*:refs/heads/w/*'", "refs/heads/w/* 1"},
      {"git push --tags", "refs/tags/* 1"},
      {"git push origin main --tags",
       "refs/heads/main refs/tags/main refs/tags/* 1"},
      {"git push --follow-tags", "refs/heads/now refs/tags/* 1"},
      {"git push --all", "refs/heads/* 1"},
      {"git push --mirror", "refs/* 1"},
      {"git push --force-with-lease origin topic",
       "refs/heads/topic refs/tags/topic 1"},
      {"git push --recurse-submodules=on-demand",
       "refs/heads/now refs/heads/* 1"},
      {"git push -o ci.skip", "refs/heads/now -oci.skip 1"},
      {"git push --push-option=a --push-option b origin m",
       "refs/heads/m refs/tags/m -oa -ob 1"},
      {"git push -oa -fo b", "refs/heads/now -oa -ob 1"},
      {"git push --repo origin", "refs/heads/now 1"},
      {"git push --repo=origin -- x main", "refs/heads/main refs/tags/main 1"},
      {"git push origin \"$b\"", "refs/heads/* 1"},
      {"git push origin \"$(git branch --show-current)\"", "refs/heads/* 1"},
      {"git push $where", "refs/heads/* 1"},
      {"git checkout -b topic && git push -u origin HEAD",
       "refs/heads/now refs/heads/topic 1"},
      {"git switch -c topic; git push", "refs/heads/now refs/heads/topic 1"},
      {"git switch \"$b\"; git push", "refs/heads/now refs/heads/* 1"},
      {"git checkout -; git push", "refs/heads/now refs/heads/* 1"},
      {"git push; git push --tags", "refs/heads/now refs/tags/* 2"},
      {"for b in a; do git push origin $b; done", nullptr},
      {"echo a | xargs git push origin", nullptr},
      {"git -C /nowhere push", "1"},
      {"git fetch", "0"},
      {"echo git push", "0"},
      {"npm test", "0"},
  };
  for (const auto& row : kRows) {
    const std::string scope = ScopeOf(row.line, agent.project());
    if (row.scope != nullptr)
      EXPECT_EQ(scope, row.scope) << row.line;
    else
      EXPECT_TRUE(scope.ends_with(" 64")) << row.line << scope;
  }
  agent.Write(agent.project() + "/.git/HEAD", std::string(40, 'a') + "\n");
  EXPECT_EQ(ScopeOf("git push", agent.project()), "1");
}

}  // namespace
}  // namespace gate::app
