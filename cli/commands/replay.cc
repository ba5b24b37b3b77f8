// gate replay: recorded commands against the policy of now, or another one.
#include <sys/stat.h>

#include <cstdio>

#include "audit/log.h"
#include "audit/time.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/output/progress.h"
#include "gateway/gateway.h"
#include "gateway/line.h"

namespace gate::app {
namespace {

constexpr int kDiffers = 1;

void PrintReplayed(const audit::Record& record, const engine::Decision& now,
                   bool json) {
  if (!json) {
    std::printf("%s -> %s  %s\n  %s\n", record.action.c_str(), Name(now.action),
                Visible(record.command).c_str(), Visible(now.reason).c_str());
    return;
  }
  JsonWriter line;
  line.BeginObject().Field("schema", "gate.replay/1").Field("id", record.id);
  line.Field("command", record.command).Field("cwd", record.cwd);
  line.Field("recorded", record.action).Field("now", Name(now.action));
  line.Field("rule", now.rule.id).Field("reason", now.reason).EndObject();
  std::puts(line.text().c_str());
}

}  // namespace

int ReplayCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app(
      "Decides the recorded commands again, by the rules of now or by others,\n"
      "and shows those whose decision differs. Nothing runs, nothing is\n"
      "recorded. Exits 1 when something differs.",
      "gate replay");
  std::string rules, since;
  uint64_t limit = 1000;
  bool json = false;
  app.Add("--rules", rules, "a directory of rule files instead of the user's");
  app.Add("--since", since, "2h, 3d, 2026-11-20 (local time)");
  app.Add("-n", limit, "at most so many of the newest (1000)");
  app.Flag("--json", json, "a JSON object a line");
  if (auto code = ParseWith(app, arguments)) return *code;

  Gateway gateway(ReadProcessFacts(globals));
  if (!rules.empty()) {
    const std::string directory = Normalise(rules, gateway.facts().cwd);
    struct stat info{};
    // A misspelt name would be a policy without the user's rules.
    if (::stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
      Complain("`" + Visible(directory) + "` is not a directory of rule files");
      return kExitUsage;
    }
    gateway.UseRules(directory);
  }
  audit::Filter filter;
  filter.kinds = {audit::Kind::kDecision};
  filter.limit = limit;
  if (!since.empty()) {
    const auto parsed = audit::ParseTime(since, NowNs());
    if (!parsed) {
      Complain(parsed.error().message);
      return kExitUsage;
    }
    filter.since_ns = *parsed;
  }
  auto log = audit::Log::OpenReadOnly(gateway.facts().places.state);
  if (!log) {
    Complain(log.error().message);
    return kExitInternal;
  }
  const auto records = log->Query(filter);
  if (!records) {
    Complain(records.error().message);
    return kExitInternal;
  }
  Progress progress("deciding again");
  size_t done = 0, differ = 0, left_out = 0;
  for (const audit::Record& record : *records) {
    progress.At(++done, records->size());
    // Of a command with secrets only a part was stored; file tools of an
    // agent are no command, and what `gate sandbox` runs is not decided on.
    if (record.mode == "sandbox" ||
        record.command.find("[redacted:") != std::string::npos ||
        record.command.starts_with("(writes)")) {
      ++left_out;
      continue;
    }
    Request request;
    request.on_this_machine = false;
    request.command = record.command;
    request.cwd = record.cwd;
    request.agent = record.agent;
    Authorization authorization = gateway.Authorize(request, /*pin=*/false);
    // As it was answered.
    if (record.mode == "check") JoinWithPlan(&authorization);
    if (authorization.policy_broken) {
      progress.Clear();
      for (const Diagnostic& diagnostic : authorization.diagnostics)
        std::fputs(Render(diagnostic).c_str(), stderr);
      return kExitPolicy;
    }
    if (record.action == Name(authorization.decision.action)) continue;
    ++differ;
    progress.Clear();
    PrintReplayed(record, authorization.decision, json);
  }
  progress.Clear();
  if (!json)
    std::printf(
        "%zu of %zu recorded commands differ%s\n", differ,
        records->size() - left_out,
        left_out == 0
            ? ""
            : (", " + std::to_string(left_out) +
               " left out (secrets taken out, file tools, gate sandbox)")
                  .c_str());
  return differ == 0 ? 0 : kDiffers;
}

}  // namespace gate::app
