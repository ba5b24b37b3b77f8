// What a yes to a deployment holds for, with stand-ins for the programs.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "approvals/approvals.h"
#include "facts/process_facts.h"
#include "gateway/grants/yes_binding.h"
#include "tests/gate/approvals/answers.h"
#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Machine;

// A project with some files, and programs that do nothing.
class Project : public Machine {
 public:
  Project() {
    const std::string bin = root() + "/bin";
    std::filesystem::create_directories(bin);
    for (const char* name : {"fly", "flyctl", "vercel", "railway", "gcloud",
                             "az", "supabase", "heroku", "eb", "cf", "surge",
                             "oc", "doctl", "sentry-cli", "helm", "kubectl"})
      std::filesystem::copy_file("/bin/true", bin + "/" + name);
    environment = {"PATH=" + bin + ":/usr/bin:/bin"};
    Write(project() + "/app.js", "a");
    Write(project() + "/web/index.html", "w");
    Write(project() + "/web/deep/x.css", "x");
  }

  PendingQuestion Ask(const std::string& line) const {
    Gate({"run", "-c", line});
    return WaitingQuestion(*this);
  }
};

// Whether the yes to `line` still holds when the file `changed` of the project
// was written anew.
bool HoldsAfter(const std::string& line, const std::string& changed) {
  const Project machine;
  const PendingQuestion question = machine.Ask(line);
  EXPECT_EQ(question.grant, engine::GrantKind::kAsIs) << line;
  EXPECT_TRUE(Approve(machine.state(), question.id, NowMs())) << line;
  machine.Write(machine.project() + "/" + changed, "other");
  return machine.Gate({"run", "-c", line}).exit_code == 0;
}

TEST(DeploysTest, AYesHoldsForWhatIsInTheDirectoryThatIsSent) {
  const struct {
    const char* line;
    const char* changed;
    bool holds;
  } kRows[] = {
      {"fly deploy", "app.js", false},
      {"fly deploy", "web/deep/new.css", false},
      {"flyctl deploy --remote-only", "app.js", false},
      {"fly launch --now", "app.js", false},
      {"vercel", "app.js", false},
      {"vercel --prod", "app.js", false},
      {"vercel deploy", "web/index.html", false},
      {"railway up", "app.js", false},
      {"gcloud app deploy", "app.js", false},
      {"gcloud --project p app deploy --quiet", "app.js", false},
      {"gcloud builds submit --tag gcr.io/p/x", "app.js", false},
      {"gcloud functions deploy f", "app.js", false},
      {"az webapp up --name x", "app.js", false},
      {"supabase functions deploy f", "app.js", false},
      {"heroku container:push web", "app.js", false},
      {"eb deploy", "app.js", false},
      {"cf push", "app.js", false},
      {"surge", "app.js", false},
      {"surge . x.surge.sh", "app.js", false},
      {"az acr build -t x .", "app.js", false},
      {"oc start-build b --from-dir=.", "app.js", false},
      {"doctl serverless deploy .", "app.js", false},
      {"helm upgrade web .", "app.js", false},
      // Another directory than the one that changed.
      {"cd web && vercel deploy", "app.js", true},
      {"cd web && vercel deploy", "web/index.html", false},
      {"cd web && surge .", "app.js", true},
      // What sends no files of the directory.
      {"fly apps destroy x", "app.js", true},
      {"vercel rm x", "app.js", true},
      {"railway down", "app.js", true},
      {"gcloud compute instances delete x", "app.js", true},
      {"kubectl delete pod web-0", "app.js", true},
      {"heroku ps:restart", "app.js", true},
  };
  for (const auto& row : kRows)
    EXPECT_EQ(HoldsAfter(row.line, row.changed), row.holds)
        << row.line << ", " << row.changed;
}

TEST(DeploysTest, TheQuestionNamesTheDirectory) {
  const Project machine;
  const PendingQuestion question = machine.Ask("cd web && vercel deploy");
  EXPECT_NE(question.runs.find("only with what is in " + machine.project() +
                               "/web now"),
            std::string::npos)
      << question.runs;
}

TEST(DeploysTest, ADirectoryThatIsTooLargeIsForThePersonToSend) {
  const Project machine;
  for (size_t i = 0; i <= kMaxBoundEntries; ++i)
    machine.Write(machine.project() + "/many/" + std::to_string(i), "");
  const auto kind = [&](const char* line) {
    return machine.Gate({"check", "--json", "-c", line}).out;
  };
  EXPECT_NE(kind("fly deploy").find("by-hand"), std::string::npos);
  EXPECT_NE(kind("fly apps destroy x").find("as-is"), std::string::npos);
}

}  // namespace
}  // namespace gate::app
