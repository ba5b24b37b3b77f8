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

int CheckBatch(const GlobalOptions& globals, const LookOptions& options) {
  Gateway gateway(ReadProcessFacts(globals));
  return AnswerBatch([&](size_t number, const BatchItem& item) {
    if (!item.error.empty())
      return BatchErrorToJson(item.id_json, number, "bad_line", item.error);
    Authorization authorization =
        gateway.Authorize(RequestOf(options, item), /*pin=*/false);
    JoinWithPlan(&authorization);
    return DecisionToJson(authorization, item.id_json);
  });
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
