// The shipped policy: every example of every rule, and its lints.
#include <gtest/gtest.h>

#include "engine/examples.h"
#include "rules/lint.h"
#include "rules/policy.h"

namespace gate::engine {
namespace {

TEST(ShippedPolicy, Loads) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  EXPECT_EQ(policy.floor(), Action::kAllow);
  EXPECT_TRUE(policy.diagnostics().empty());
  EXPECT_EQ(policy.default_action(), Action::kSandbox);
}

TEST(ShippedPolicy, EveryExampleHolds) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  const std::vector<ExampleResult> results = RunExamples(policy);
  EXPECT_GT(results.size(), 400u);
  for (const Diagnostic& diagnostic : ExampleDiagnostics(results))
    ADD_FAILURE() << Render(diagnostic);
}

TEST(ShippedPolicy, HasNoLints) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  for (const Diagnostic& diagnostic : rules::Lint(policy, 0))
    ADD_FAILURE() << Render(diagnostic);
}

}  // namespace
}  // namespace gate::engine
