// gate check, gate explain.
#include <unistd.h>

#include <cstdio>

#include "approvals/terminal.h"
#include "base/file.h"
#include "base/paths.h"
#include "cli/exit_codes.h"
#include "cli/output/decision_json.h"
#include "cli/output/render.h"
#include "cli/request_arguments.h"

namespace gate::app {
namespace {

constexpr size_t kFlushBytes = 64 * 1024;

int CheckBatch(const GlobalOptions& globals, const LookOptions& options) {
  Gateway gateway(ReadProcessFacts(globals));
  std::string out;
  bool written = true;
  const auto flush = [&out, &written] {
    written = written && WriteAll(STDOUT_FILENO, out).has_value();
    out.clear();
  };
  const bool read =
      ForEachLine([&](size_t number, std::optional<std::string_view> line) {
        if (line && line->find_first_not_of(" \t\r") == std::string_view::npos)
          return;
        const BatchItem item =
            line ? ReadBatchItem(*line)
                 : BatchItem{"null", "", "", "the line is too long"};
        if (!item.error.empty()) {
          out += BatchErrorToJson(item.id_json, number, "bad_line", item.error);
        } else {
          Request request = options.request;
          request.on_this_machine = false;
          request.command = item.command;
          if (!item.cwd.empty()) request.cwd = Normalise(item.cwd, "/");
          Authorization authorization =
              gateway.Authorize(request, /*pin=*/false);
          JoinWithPlan(&authorization);
          out += DecisionToJson(authorization, item.id_json);
        }
        out += '\n';
        if (out.size() > kFlushBytes) flush();
      });
  flush();
  if (read && written) return 0;
  Complain(read ? "the answers could not be written" : "stdin is unreadable");
  return kExitInternal;
}

int Look(const char* name, bool record, const GlobalOptions& globals,
         const Arguments& arguments) {
  LookOptions options;
  const ProcessFacts facts = ReadProcessFacts(globals);
  if (auto code = ReadLookArguments(name, "Decides on a command; nothing runs.",
                                    facts, arguments, &options))
    return *code;
  if (options.batch) return CheckBatch(globals, options);
  if (const Status found = CheckDirectory(facts, options.cwd); !found) {
    Complain("nothing is decided: " + found.error().message);
    return kExitUsage;
  }
  options.explain |= !record || options.trace || !options.why_not.empty();

  Gateway gateway(facts);
  engine::Trace trace;
  Authorization authorization = gateway.Authorize(
      options.request, /*pin=*/false, options.explain ? &trace : nullptr);
  JoinWithPlan(&authorization, &trace);
  if (record) {
    if (auto stored = gateway.Record(&authorization, "check", false); !stored) {
      Complain("the decision could not be recorded, so there is none: " +
               stored.error().message);
      return kExitInternal;
    }
  }
  std::string out;
  if (options.json) {
    out = DecisionToJson(authorization) + "\n";
  } else {
    const bool colour = WantsColour(STDOUT_FILENO);
    out = RenderDecision(authorization, colour);
    if (!options.why_not.empty())
      out += RenderWhyNot(authorization, trace,
                          *rules::ParseAction(options.why_not));
    else if (options.explain)
      out += RenderExplanation(authorization, trace, options.trace, colour);
  }
  if (!WriteAll(STDOUT_FILENO, out)) {
    Complain("the answer could not be written");
    return kExitInternal;
  }
  gateway.Maintain();
  return authorization.policy_broken
             ? kExitPolicy
             : ExitCodeOf(authorization.decision.action);
}

}  // namespace

int CheckCommand(const GlobalOptions& globals, const Arguments& arguments) {
  return Look("check", true, globals, arguments);
}

int ExplainCommand(const GlobalOptions& globals, const Arguments& arguments) {
  return Look("explain", false, globals, arguments);
}

}  // namespace gate::app
