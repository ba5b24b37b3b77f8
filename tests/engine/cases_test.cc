// Every line of tests/rules/cases.tsv gets what stands beside it, and what must
// hold of all lines of the shipped rules however they are dressed.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/evaluate.h"
#include "engine/examples.h"
#include "engine/preset.h"
#include "parser/analysis.h"
#include "parser/programs.h"
#include "rules/list.h"
#include "rules/policy.h"

namespace gate::engine {
namespace {

std::string Unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 'n' ? '\n' : text[i];
  }
  return out;
}

std::vector<std::string> ShippedExamples(const rules::Policy& policy) {
  std::vector<std::string> commands;
  for (const rules::RuleInfo& rule : rules::ListRules(policy))
    for (const rules::RuleExample& example : rule.examples)
      commands.push_back(example.command);
  std::sort(commands.begin(), commands.end());
  commands.erase(std::unique(commands.begin(), commands.end()), commands.end());
  return commands;
}

TEST(Cases, EveryLineIsJudgedWithinItsBounds) {
  std::ifstream table(GATE_SOURCE_DIR "/tests/rules/cases.tsv");
  ASSERT_TRUE(table.is_open());
  const rules::Policy policy = rules::MakePolicy({}, true);
  size_t least = 0, most = 0;
  for (std::string row; std::getline(table, row);) {
    if (row.empty() || row[0] == '#') continue;
    const size_t tab = row.find('\t');
    ASSERT_NE(tab, std::string::npos) << row;
    const std::string bound = row.substr(0, tab);
    const std::string command = Unescape(row.substr(tab + 1));
    const Decision decision = DecideExample(policy, command);
    const std::string why =
        command + " is " + Name(decision.action) + ": " + decision.reason;
    if (bound == ">=deny") {
      EXPECT_GE(decision.action, Action::kDeny) << why;
    } else if (bound == ">=ask") {
      EXPECT_GE(decision.action, Action::kAsk) << why;
    } else {
      ASSERT_EQ(bound, "<=sandbox") << row;
      EXPECT_LE(decision.action, Action::kSandbox) << why;
    }
    ++(bound[0] == '>' ? least : most);
  }
  EXPECT_GE(least, 200u);
  EXPECT_GE(most, 200u);
}

Action DecideIn(const rules::Policy& policy, const std::string& workspace,
                const std::string& command) {
  Request request = ExampleRequest();
  request.workspace = request.cwd = workspace;
  parser::Context context;
  context.cwd = workspace;
  context.home = request.home;
  context.user = "dev";
  return Evaluate(policy, parser::Analyze(command, context), request, {})
      .action;
}

// What lies in the workspace is the same inside and outside, also below /tmp.
TEST(Cases, TemporaryPlacesAreTheSandboxsButForTheWorkspace) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  for (const char* line :
       {"ls", "cat a", "cat /tmp/p/a", "cd sub && ls", "[ -f /tmp/p/a ]",
        "find . -name x", "git -C sub log", "echo *", "grep -rn /tmp/ ."})
    EXPECT_EQ(DecideIn(policy, "/tmp/p", line), Action::kAllow) << line;
  for (const char* line :
       {"cat ../x", "cat /tmp/x", "ls ..", "cd .. && ls", "[ -f /tmp/b ]",
        "ls /tmp/pp", "git -C ../q log", "F=../x; cat $F"})
    EXPECT_EQ(DecideIn(policy, "/tmp/p", line), Action::kSandbox) << line;
  for (const char* line :
       {"cat /tmp/p/a", "cat ../../tmp/x", "cd ../../tmp && cat x",
        "cat < /dev/shm/x", "F=/var/tmp/x; tail -n 1 $F"})
    EXPECT_EQ(DecideIn(policy, "/srv/p", line), Action::kSandbox) << line;
}

TEST(Cases, AVariableMayNameAPlaceInTheWorkspace) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  for (const char* line :
       {"PYTHONPATH=$PWD/pkg python3 a.py", "PYTHONPATH=/srv/p python3 a.py",
        "export PYTHONPATH=$PWD/lib; python3 a.py"})
    EXPECT_EQ(DecideIn(policy, "/srv/p", line), Action::kSandbox) << line;
  for (const char* line :
       {"PYTHONPATH=$PWD/../x python3 a.py", "PYTHONPATH=/srv/pp python3 a.py",
        "PYTHONPATH=$PWD/a:/srv/x python3 a.py"})
    EXPECT_EQ(DecideIn(policy, "/srv/p", line), Action::kAsk) << line;
}

std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// A rule holds for the command, not for where it stands in the line.
TEST(Cases, NoDressOfALineLoosensIt) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  size_t tried = 0, stopped = 0;
  for (const std::string& line : ShippedExamples(policy)) {
    // A here-document ends at a line of its own; a broken line is another one
    // when something is put around it.
    if (line.find('\n') != std::string::npos) continue;
    const parser::Analysis analysis = ReadExample(line);
    if (std::any_of(
            analysis.unknowns.begin(), analysis.unknowns.end(),
            [](const parser::Unknown& unknown) {
              return unknown.code == parser::UnknownCode::kSyntaxError ||
                     unknown.code == parser::UnknownCode::kParseDisagreement;
            }))
      continue;
    const Action bare = DecideExample(policy, line).action;
    ++tried;
    stopped += bare >= Action::kAsk ? 1 : 0;
    for (const std::string& dressed :
         {"( " + line + " )", "{ " + line + "; }", "true && " + line,
          "ls; " + line, line + "; ls", "! { " + line + "; }",
          "if true; then " + line + "; fi", "for i in 1; do " + line + "; done",
          "f() { " + line + "; }; f", "echo \"$(" + line + ")\"",
          "bash -c " + Quoted(line), "eval " + Quoted(line),
          "sh <<< " + Quoted(line)})
      EXPECT_GE(DecideExample(policy, dressed).action, bare) << dressed;
  }
  EXPECT_GT(tried, 700u);
  EXPECT_GT(stopped, 300u);
}

TEST(Cases, TheIndexHidesNoRuleFromAnyShippedExample) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  Request every = ExampleRequest();
  every.try_every_rule = true;
  size_t with = 0, without = 0;
  for (const std::string& line : ShippedExamples(policy)) {
    const parser::Analysis analysis = ReadExample(line);
    Request fast_request = ExampleRequest();
    fast_request.command = line;
    every.command = line;
    Trace fast_trace, slow_trace;
    const Decision fast =
        Evaluate(policy, analysis, fast_request, {}, &fast_trace);
    const Decision slow = Evaluate(policy, analysis, every, {}, &slow_trace);
    EXPECT_EQ(fast.action, slow.action) << line;
    EXPECT_EQ(fast.matches.size(), slow.matches.size()) << line;
    // Without a trace some rules are not even tried.
    const Decision silent = Evaluate(policy, analysis, fast_request, {});
    EXPECT_EQ(silent.action, slow.action) << line;
    EXPECT_EQ(silent.matches.size(), slow.matches.size()) << line;
    with += fast_trace.steps.size();
    without += slow_trace.steps.size();
  }
  // Otherwise nothing was switched off, and nothing compared.
  EXPECT_LT(with * 4, without);
}

// What the analysis keeps of a program's arguments is what reading them again
// would give.
TEST(Cases, WhatTheAnalysisReadIsWhatTheArgumentsSay) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  size_t read = 0, described = 0;
  for (const std::string& line : ShippedExamples(policy)) {
    for (const parser::Invocation& invocation : ReadExample(line).invocations) {
      if (!invocation.read) continue;
      const parser::OptionsRead again =
          parser::OptionsOf(parser::ReadArguments(invocation.argv));
      EXPECT_EQ(invocation.read->known, again.known) << line;
      EXPECT_EQ(invocation.read->complete, again.complete) << line;
      EXPECT_EQ(invocation.read->roles, again.roles) << line;
      EXPECT_EQ(invocation.read->options, again.options) << line;
      ++read;
      described += again.known ? 1 : 0;
    }
  }
  EXPECT_GT(read, 1000u);
  EXPECT_GT(described, 800u);
}

TEST(Cases, PresetsOnlyMoveWhatTheySay) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  size_t asked = 0;
  for (const std::string& line : ShippedExamples(policy)) {
    const parser::Analysis analysis = ReadExample(line);
    const Decision standard = DecideExample(policy, line);
    Decision careful = standard, autonomous = standard;
    ApplyPreset(Preset::kCareful, analysis, true, &careful);
    ApplyPreset(Preset::kAutonomous, analysis, true, &autonomous);
    EXPECT_GE(careful.action, standard.action) << line;
    EXPECT_NE(autonomous.action, Action::kAsk) << line;
    EXPECT_EQ(autonomous.action == Action::kAllow,
              standard.action == Action::kAllow)
        << line;
    if (standard.action == Action::kDeny) {
      EXPECT_EQ(autonomous.action, Action::kDeny) << line;
    }
    asked += standard.action == Action::kAsk ? 1 : 0;
  }
  EXPECT_GT(asked, 100u);
}

std::vector<std::string> CommandsIn(const std::string& suggestion) {
  std::vector<std::string> commands;
  for (size_t at = 0;;) {
    const size_t open = suggestion.find('`', at);
    if (open == std::string::npos) return commands;
    const size_t close = suggestion.find('`', open + 1);
    if (close == std::string::npos) return {"a backquote is not closed"};
    commands.push_back(suggestion.substr(open + 1, close - open - 1));
    at = close + 1;
  }
}

// A way on that is stopped itself is none.
TEST(Cases, CommandsOfSuggestionsPassThePolicy) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  size_t commands = 0;
  for (const rules::RuleInfo& rule : rules::ListRules(policy)) {
    std::vector<std::string> texts = {rule.suggestion};
    for (const auto& [words, text] : rule.suggestions) texts.push_back(text);
    for (const std::string& text : texts)
      for (const std::string& command : CommandsIn(text)) {
        ++commands;
        // An option or an expansion is no command.
        if (command.starts_with('-') || command.starts_with('$')) continue;
        EXPECT_LE(DecideExample(policy, command).action, Action::kSandbox)
            << rule.id << ": " << command;
      }
  }
  EXPECT_GE(commands, 40u);
}

// What is advised instead of a command is about that command.
TEST(Cases, SuggestionsBelongToTheirCommand) {
  const std::pair<const char*, const char*> kRows[] = {
      {"git clean -fdx", "git clean -n"},
      {"git -C sub clean -fd", "git clean -n"},
      {"git reset --hard", "git stash push"},
      {"git stash drop", "git stash show"},
      {"psql -c 'DROP TABLE t'", "psql -c"},
      {"mysql -e 'DROP TABLE t'", "mysql -e"},
      {"redis-cli FLUSHALL", "redis-cli DBSIZE"},
      {"redis-cli -h h FLUSHDB", "redis-cli DBSIZE"},
      {"docker compose down -v", "docker compose ps"},
      {"docker compose -f x.yml down --volumes", "leave out `-v`"},
      {"docker rm -f web", "docker ps -a"},
      {"docker system prune -af", "docker system df"},
      {"docker volume rm v", "docker volume ls"},
      {"kubectl delete ns x", "kubectl get all"},
      {"kubectl apply -f x.yaml", "kubectl diff"},
      {"kubectl -n web apply -f x.yaml", "kubectl diff"},
      {"helm uninstall x", "helm list"},
      {"helm upgrade x ./chart", "helm template"},
      {"terraform destroy", "terraform plan"},
      {"tofu apply", "tofu plan"},
      {"pulumi up", "pulumi preview"},
      {"npm publish", "npm pack"},
      {"cargo publish", "cargo package"},
      {"twine upload dist/*", "twine check"},
      {"sudo apt-get install -y jq", "ask the person to run"},
      {"rm -rf \"$D\"/*", "${D:?}"},
  };
  const rules::Policy policy = rules::MakePolicy({}, true);
  for (const auto& [line, part] : kRows) {
    const Decision decision = DecideExample(policy, line);
    EXPECT_NE(decision.suggestion.find(part), std::string::npos)
        << line << " [" << decision.rule.id << "]: " << decision.suggestion;
  }
}

// Of every example of every shipped rule: a command that is advised is of a
// program of the line, or one of these.
TEST(Cases, SuggestionsNameProgramsOfTheLine) {
  const std::multimap<std::string, std::string> kMeant = {
      {"files.delete-workspace", "git"},
      {"files.delete-system", "rm"},
      {"files.delete-later", "rm"},
      {"files.delete-inline", "rm"},
      {"files.delete-inline-input", "rm"},
      {"files.delete-set-place", "mktemp"},
      {"files.delete-search-unknown", "find"},
      {"files.delete-system-file", "cp"},
      {"files.shred", "rm"},
      {"files.write-device", "truncate"},
      {"files.unpack-home", "mkdir"},
      {"permissions.system-tree", "chmod"},
      {"permissions.setuid", "chmod"},
      {"permissions.attributes", "chmod"},
      {"git.delete-metadata", "git"},
      {"git.delete-metadata-found", "git"},
      {"packages.remove-installer", "python3"},
      {"packages.system", "python3"},
      {"packages.system", ".venv/bin/pip"},
      {"packages.system", ".venv/bin/pip3"},
      {"installs.pip", ".venv/bin/pip"},
      {"installs.pip-settings", "pip"},
      {"exfiltration.tree", "curl"},
      {"exfiltration.staged-tree", "curl"},
      {"exfiltration.dns", "dig"},
      {"containers.socket", "docker"},
      {"system.kill", "kill"},
      {"secrets.environment", "["},
      {"secrets.variable", "["},
      {"secrets.variable-mentioned", "["},
      {"files.delete-search", "find"},
      {"files.delete-from-list", "find"},
      {"network.run-fetched", "curl"},
      {"network.run-fetched", "sh"},
      {"network.run-fetched-file", "sh"},
      {"unknown.broken-fetch", "curl"},
      {"unknown.broken-fetch", "sh"},
      {"network.copy-remote", "scp"},
      {"packages.publish-python", "twine"},
      {"databases.migrate-django", "python3"},
      {"databases.http-delete", "curl"},
      {"system.kill-all", "ps"},
      {"system.kill-all", "kill"},
      {"privilege.namespaces", "docker"},
      {"packages.system", "apt-cache"},
      {"secrets.move", "ssh-keygen"},
      {"secrets.search-named", "find"},
      {"self.state", "gate"},
      {"databases.destroy-file", "sqlite3"},
      {"installs.npm", "npx"},
      {"installs.pip", "python3"},
      {"installs.uv", "uvx"},
      {"installs.gem", "bundle"},
  };
  const rules::Policy policy = rules::MakePolicy({}, true);
  size_t commands = 0;
  for (const ExampleResult& example : RunExamples(policy)) {
    if (!example.expected) continue;
    const Decision decision = DecideExample(policy, example.command);
    const parser::Analysis analysis = ReadExample(example.command);
    for (const std::string& command : CommandsIn(decision.suggestion)) {
      std::string program = command;
      // An assignment before it is no program.
      while (program.find('=') < program.find(' ') &&
             program.find('=') != std::string::npos)
        program.erase(0, program.find(' ') + 1);
      program = program.substr(0, program.find(' '));
      const char first = program.empty() ? '-' : program[0];
      if (first == '-' || first == '$' || (first >= 'A' && first <= 'Z'))
        continue;
      ++commands;
      bool fits = std::ranges::any_of(
          analysis.invocations, [&](const parser::Invocation& invocation) {
            return invocation.program == program;
          });
      const auto [begin, end] = kMeant.equal_range(decision.rule.id);
      for (auto meant = begin; meant != end; ++meant)
        fits = fits || meant->second == program;
      EXPECT_TRUE(fits) << decision.rule.id << ": " << example.command << " -> "
                        << command;
    }
  }
  EXPECT_GT(commands, 250u);
}

}  // namespace
}  // namespace gate::engine
