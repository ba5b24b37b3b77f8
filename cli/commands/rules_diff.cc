// gate rules diff: commands whose decision differs between two policies.
#include <algorithm>
#include <cstdio>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output/progress.h"
#include "engine/coverage.h"
#include "engine/examples.h"
#include "rules/rule_paths.h"

namespace gate::app {
namespace {

constexpr size_t kMaxCommandsBytes = 64u << 20;
constexpr int kRulesDiffer = 1;

void PrintDifference(const std::string& command, const engine::Decision& before,
                     const engine::Decision& after, bool json) {
  const bool looser = after.action < before.action;
  if (!json) {
    std::printf(
        "%s -> %s  %s%s\n  by %s instead of %s\n", Name(before.action),
        Name(after.action), Visible(command).c_str(),
        looser ? "  (looser)" : "",
        after.rule.id.empty() ? Name(after.code) : after.rule.id.c_str(),
        before.rule.id.empty() ? Name(before.code) : before.rule.id.c_str());
    return;
  }
  JsonWriter line;
  line.BeginObject().Field("schema", "gate.rules.diff/1");
  line.Field("command", command).Field("before", Name(before.action));
  line.Field("after", Name(after.action)).Flag("looser", looser);
  line.Field("rule_before", before.rule.id).Field("rule_after", after.rule.id);
  line.EndObject();
  std::puts(line.text().c_str());
}

std::vector<std::string> HostsOf(const std::vector<engine::NamedHost>& named) {
  std::vector<std::string> hosts;
  for (const engine::NamedHost& one : named) hosts.push_back(one.host);
  return hosts;
}

bool Loads(const std::string& path, const Result<rules::Policy>& policy) {
  if (!policy) {
    Complain(policy.error().message);
    return false;
  }
  for (const Diagnostic& diagnostic : policy->diagnostics())
    std::fputs(Render(diagnostic).c_str(), stderr);
  if (!HasErrors(policy->diagnostics())) return true;
  Complain("`" + Visible(path) + "` does not load");
  return false;
}

}  // namespace

int RulesDiffCommand(const Arguments& arguments) {
  Options app(
      "Shows commands whose decision differs between two policies: each a "
      "rule\n"
      "file or a directory of them on top of the shipped rules, or `builtin`.\n"
      "Tried are the examples of both, commands made to match their rules, "
      "and\n"
      "those of --commands. Exits 1 "
      "when something differs.",
      "gate rules diff");
  std::string old_path, new_path, commands_path;
  bool json = false;
  app.Add("old", old_path, "the policy before").Required();
  app.Add("new", new_path, "the policy after").Required();
  app.Add("--commands", commands_path, "a file of commands, one a line");
  app.Flag("--json", json, "a JSON object a line");
  if (auto code = ParseWith(app, arguments)) return *code;
  const auto before = rules::ReadPolicy(old_path),
             after = rules::ReadPolicy(new_path);
  if (!Loads(old_path, before) || !Loads(new_path, after)) return kExitPolicy;

  std::vector<std::string> commands = engine::WitnessCommands(*before);
  for (std::string& command : engine::WitnessCommands(*after))
    commands.push_back(std::move(command));
  if (!commands_path.empty()) {
    auto text = ReadFile(commands_path, kMaxCommandsBytes);
    if (!text) {
      Complain(text.error().message);
      return kExitUsage;
    }
    for (size_t at = 0; at < text->size();) {
      const size_t end = std::min(text->find('\n', at), text->size());
      if (end > at) commands.push_back(text->substr(at, end - at));
      at = end + 1;
    }
  }
  std::sort(commands.begin(), commands.end());
  commands.erase(std::unique(commands.begin(), commands.end()), commands.end());
  size_t changed = 0, looser = 0, done = 0;
  Progress progress("comparing");
  for (const std::string& command : commands) {
    progress.At(++done, commands.size());
    const engine::Decision one = engine::DecideExample(*before, command);
    const engine::Decision two = engine::DecideExample(*after, command);
    if (one.action == two.action && one.network == two.network &&
        one.profile == two.profile &&
        HostsOf(one.hosts) == HostsOf(two.hosts) &&
        HostsOf(one.hosts_deny) == HostsOf(two.hosts_deny))
      continue;
    ++changed;
    looser += two.action < one.action ? 1 : 0;
    progress.Clear();
    PrintDifference(command, one, two, json);
  }
  progress.Clear();
  if (!json)
    std::printf("%zu of %zu commands differ, %zu of them looser\n", changed,
                commands.size(), looser);
  return changed == 0 ? 0 : kRulesDiffer;
}

}  // namespace gate::app
