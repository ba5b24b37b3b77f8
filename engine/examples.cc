#include "engine/examples.h"

#include <algorithm>

#include "engine/evaluate.h"
#include "parser/analysis.h"
#include "rules/policy_impl.h"

namespace gate::engine {

Request ExampleRequest() {
  Request request;
  request.cwd = "/home/dev/project";
  request.workspace = "/home/dev/project";
  request.home = "/home/dev";
  request.config_dir = "/home/dev/.config/gate";
  request.state_dir = "/home/dev/.local/state/gate";
  request.cache_dir = "/home/dev/.cache/gate";
  request.binary = "/usr/bin/gate";
  return request;
}

parser::Analysis ReadExample(std::string_view command) {
  const Request request = ExampleRequest();
  parser::Context context;
  context.cwd = request.cwd;
  context.home = request.home;
  context.user = "dev";
  context.path = "/usr/bin:/bin";
  return parser::Analyze(command, context);
}

Decision DecideExample(const rules::Policy& policy, std::string_view command) {
  Request request = ExampleRequest();
  request.command = command;
  return Evaluate(policy, ReadExample(command), request, {});
}

namespace {

// Whether the rule would have been among the matches if no exception, no
// `disable` and no date took it back: that is a choice, not a broken rule.
bool IsTakenBack(const rules::Policy& policy, std::string_view command,
                 std::string_view rule) {
  Request request = ExampleRequest();
  request.command = command;
  Trace trace;
  Evaluate(policy, ReadExample(command), request, {}, &trace);
  return std::any_of(
      trace.steps.begin(), trace.steps.end(), [&](const Trace::Step& step) {
        return step.rule == rule &&
               (step.outcome.starts_with("excepted") ||
                step.outcome.starts_with("lifted") ||
                step.outcome == "disabled" || step.outcome == "expired" ||
                step.outcome == "not yet valid");
      });
}

}  // namespace

std::vector<ExampleResult> RunExamples(
    const rules::Policy& policy, std::string_view id, bool shipped,
    const std::function<void(size_t, size_t)>& progress) {
  std::vector<ExampleResult> results;
  size_t total = 0;
  for (const auto& layer : policy.impl().layers)
    total += layer->view.examples.size();
  for (const auto& layer : policy.impl().layers) {
    if (!shipped && layer->layer == rules::Layer::kBuiltin) continue;
    const rules::RuleView& view = layer->view;
    for (const rules::RuleRecord& rule : view.rules) {
      const std::string_view name = view.Text(rule.id);
      if (!id.empty() && name != id) continue;
      for (const rules::ExampleRecord& example :
           view.In(view.examples, rule.examples)) {
        ExampleResult result;
        result.rule = name;
        result.command = view.Text(example.command);
        result.line = example.line;
        result.file = view.Text(rule.file);
        result.expected = example.matches != 0;
        const Decision decision = DecideExample(policy, result.command);
        result.action = decision.action;
        const bool matched =
            std::any_of(decision.matches.begin(), decision.matches.end(),
                        [&](const Match& match) {
                          // Of a `no_match`, only a certain match is a failure:
                          // unknown words make many rules possible.
                          return match.rule.id == name &&
                                 (result.expected || match.certain);
                        });
        result.passed =
            matched == result.expected ||
            (result.expected && IsTakenBack(policy, result.command, name));
        results.push_back(std::move(result));
        if (progress) progress(results.size(), total);
      }
    }
  }
  return results;
}

std::vector<Diagnostic> ExampleDiagnostics(
    const std::vector<ExampleResult>& results) {
  std::vector<Diagnostic> found;
  for (const ExampleResult& result : results)
    if (!result.passed)
      found.push_back(
          {Severity::kError, "lint-example", result.file, result.line, 1,
           "the rule `" + result.rule + "` " +
               (result.expected ? "does not match `" : "matches `") +
               result.command + "`",
           result.expected ? "change the rule or the example"
                           : "make the rule narrower, or drop the example"});
  return found;
}

}  // namespace gate::engine
