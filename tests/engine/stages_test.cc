// Each stage that may change a decision, alone and in order.
#include "engine/stages.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>

#include "engine/examples.h"
#include "engine/read_tool.h"
#include "rules/list.h"

namespace gate::engine {
namespace {

using rules::Action;

// Facts as values, and which of them were asked for.
class FactsForTest : public StageFacts {
 public:
  bool engine_names = false;
  std::string engine_doubt;
  ProgramVerification programs;
  bool alters_later_lines = false;
  std::string writable;  // one path
  std::string lending_refusal;
  std::string untrusted, printed_secret, remotes;
  std::vector<std::string> asked;

  bool HasEngineNames() override {
    asked.emplace_back("engine_names");
    return engine_names;
  }
  std::string EngineNamesDoubt() override {
    asked.emplace_back("engine_names_doubt");
    return engine_doubt;
  }
  ProgramVerification Programs() override {
    asked.emplace_back("programs");
    return programs;
  }
  bool AltersLaterLines() override { return alters_later_lines; }
  bool SandboxMayWrite(const std::string& path) override {
    return path == writable;
  }
  std::string Lend(const ToolAccess&) override {
    asked.emplace_back("lend");
    return lending_refusal;
  }
  std::string UntrustedSetting() override {
    asked.emplace_back("untrusted");
    return untrusted;
  }
  std::string PrintedSecret() override {
    asked.emplace_back("printed_secret");
    return printed_secret;
  }
  std::string UnpinnedRemotes() override {
    asked.emplace_back("remotes");
    return remotes;
  }
};

struct Asked {
  std::string command;
  std::string settings_trouble;
  Preset preset = Preset::kStandard;
  ProfileKind profile = ProfileKind::kUnsaid;
  std::vector<std::string> file_writes;
  bool on_this_machine = true;
  bool previewed = false;
};

parser::Analysis AnalysisOf(const Asked& asked) {
  if (asked.file_writes.empty()) return ReadExample(asked.command);
  parser::Analysis analysis;
  analysis.read_whole = true;
  for (const std::string& path : asked.file_writes) {
    parser::Effect effect;
    effect.kind = parser::EffectKind::kWrite;
    effect.path.text = path;
    analysis.effects.push_back(effect);
  }
  return analysis;
}

const rules::Policy& Shipped() {
  static const rules::Policy policy = rules::MakePolicy({}, true);
  return policy;
}

StageState DecideFor(const Asked& asked, FactsForTest& facts,
                     Trace* trace = nullptr) {
  const parser::Analysis analysis = AnalysisOf(asked);
  Request request = ExampleRequest();
  request.command = asked.command;
  const StageInputs inputs = {.policy = Shipped(),
                              .analysis = analysis,
                              .settings_trouble = asked.settings_trouble,
                              .preset = asked.preset,
                              .asked_profile = asked.profile,
                              .file_writes = asked.file_writes,
                              .on_this_machine = asked.on_this_machine,
                              .previewed = asked.previewed};
  return Decide(inputs, request, facts, trace);
}

using SetUp = std::function<void(FactsForTest&)>;
const SetUp kNothing = [](FactsForTest&) {};

struct Case {
  const char* what;
  Asked asked;
  SetUp facts;
  Action action;
  ReasonCode code;
  const char* stage;  // the last that changed it
};

TEST(StagesTest, EachStageMakesItsOwnDecision) {
  const Case kCases[] = {
      {"rules alone",
       {.command = "rm -rf /"},
       kNothing,
       Action::kDeny,
       ReasonCode::kRule,
       "rules"},
      {"a name that the engine vouches for",
       {.command = "docker run --rm -v data:/d alpine ls"},
       [](FactsForTest& facts) { facts.engine_names = true; },
       Action::kSandbox,
       ReasonCode::kRule,
       "engine_names"},
      {"a name that the engine does not vouch for",
       {.command = "docker run --rm -v data:/d alpine ls"},
       [](FactsForTest& facts) {
         facts.engine_names = true;
         facts.engine_doubt = "data is a directory of this machine";
       },
       Action::kAsk,
       ReasonCode::kRule,
       "engine_names"},
      {"settings that do not load",
       {.command = "git status", .settings_trouble = "config.json:1: bad"},
       kNothing,
       Action::kDeny,
       ReasonCode::kPolicyBroken,
       "settings"},
      {"a file tool in the workspace",
       {.file_writes = {"/home/dev/project/a.txt"}},
       kNothing,
       Action::kAllow,
       ReasonCode::kDefault,
       "file_tool"},
      {"a file tool outside",
       {.file_writes = {"/home/dev/project/a.txt", "/home/dev/project-two/x"}},
       kNothing,
       Action::kAsk,
       ReasonCode::kDefault,
       "file_tool"},
      {"a program that is not what its name says",
       {.command = "git status"},
       [](FactsForTest& facts) {
         facts.programs = {false, "`git` is a file of the project"};
       },
       Action::kSandbox,
       ReasonCode::kNotAsItSeems,
       "programs"},
      {"a script that sets the shell's state",
       {.command = "source /home/dev/v/bin/activate"},
       kNothing,
       Action::kAllow,
       ReasonCode::kDefault,
       "shell_state"},
      {"a script that a sandbox may have written",
       {.command = "source /home/dev/v/bin/activate"},
       [](FactsForTest& facts) { facts.writable = "/home/dev/v/bin/activate"; },
       Action::kSandbox,
       ReasonCode::kDefault,
       "rules"},
      {"a script after which lines mean something else",
       {.command = "source /home/dev/v/bin/activate"},
       [](FactsForTest& facts) { facts.alters_later_lines = true; },
       Action::kSandbox,
       ReasonCode::kDefault,
       "rules"},
      {"credentials that it gets",
       {.command = "aws s3 ls"},
       kNothing,
       Action::kSandbox,
       ReasonCode::kRule,
       "rules"},
      {"credentials that cannot be lent",
       {.command = "aws s3 ls"},
       [](FactsForTest& facts) { facts.lending_refusal = "a link leads away"; },
       Action::kAsk,
       ReasonCode::kNotAsItSeems,
       "tool_access"},
      {"a setting of the project that nobody trusts",
       {.command = "git status"},
       [](FactsForTest& facts) { facts.untrusted = "it runs .husky/x"; },
       Action::kAsk,
       ReasonCode::kUntrusted,
       "project_trust"},
      {"a credential that it prints",
       {.command = "git config --list"},
       [](FactsForTest& facts) { facts.printed_secret = "it shows a token"; },
       Action::kAsk,
       ReasonCode::kNotAsItSeems,
       "printed_secret"},
      {"a remote that is not pinned",
       {.command = "git push origin main"},
       [](FactsForTest& facts) { facts.remotes = "git@forge:a.git"; },
       Action::kAsk,
       ReasonCode::kNotAsItSeems,
       "remotes"},
      {"the same in a batch",
       {.command = "git push origin main", .on_this_machine = false},
       [](FactsForTest& facts) { facts.remotes = "git@forge:a.git"; },
       Action::kSandbox,
       ReasonCode::kRule,
       "rules"},
      {"nobody can be asked",
       {.command = "eval \"$x\"; rm -rf ~/x", .preset = Preset::kAutonomous},
       kNothing,
       Action::kDeny,
       ReasonCode::kRule,
       "preset"},
      {"the person wants to see the changes",
       {.command = "git status", .previewed = true},
       kNothing,
       Action::kAllow,
       ReasonCode::kRule,
       "preview"},
  };
  for (const Case& each : kCases) {
    FactsForTest facts;
    each.facts(facts);
    Trace trace;
    const StageState state = DecideFor(each.asked, facts, &trace);
    EXPECT_EQ(state.decision.action, each.action) << each.what;
    EXPECT_STREQ(Name(state.decision.code), Name(each.code)) << each.what;
    ASSERT_FALSE(trace.stages.empty()) << each.what;
    EXPECT_STREQ(trace.stages.back().stage, each.stage) << each.what;
    EXPECT_EQ(trace.stages.back().after, each.action) << each.what;
    if (each.action == Action::kSandbox)
      EXPECT_TRUE(state.decision.contain) << each.what;
  }
}

TEST(StagesTest, ATraceChangesNothing) {
  for (const char* command : {"git status", "aws s3 ls", "rm -rf /", "x y"}) {
    FactsForTest one, two;
    one.untrusted = two.untrusted = "it runs a hook";
    Trace trace;
    const Decision traced =
        DecideFor({.command = command}, one, &trace).decision;
    const Decision bare = DecideFor({.command = command}, two).decision;
    EXPECT_EQ(traced.action, bare.action) << command;
    EXPECT_EQ(traced.reason, bare.reason) << command;
    EXPECT_EQ(one.asked, two.asked) << command;
  }
}

// Only these loosen, and only where nothing tightens: what the rules refuse no
// stage takes back.
TEST(StagesTest, NoStageTakesARefusalBack) {
  FactsForTest facts;
  facts.engine_names = true;
  for (const Preset preset :
       {Preset::kAutonomous, Preset::kStandard, Preset::kCareful})
    for (const char* command : {"rm -rf /", "mkfs.ext4 /dev/sda1"})
      EXPECT_EQ(DecideFor({.command = command, .preset = preset}, facts)
                    .decision.action,
                Action::kDeny)
          << command;
}

TEST(StagesTest, SettingsThatDoNotLoadAreNotSoftenedLater) {
  for (const char* command :
       {"ls", "source /home/dev/v/bin/activate", "aws s3 ls"}) {
    FactsForTest facts;
    EXPECT_EQ(DecideFor({.command = command, .settings_trouble = "bad"}, facts)
                  .decision.action,
              Action::kDeny)
        << command;
    EXPECT_TRUE(facts.asked.empty()) << "looked up for a refused line";
  }
}

TEST(StagesTest, LooksUpOnlyWhatAStageNeeds) {
  const std::pair<const char*, std::vector<std::string>> kNeeds[] = {
      {"rm -rf /", {}},
      {"git status", {"programs", "untrusted", "printed_secret"}},
      {"frobnicate", {"untrusted", "printed_secret"}},
      {"aws s3 ls", {"programs", "lend", "untrusted", "printed_secret"}},
  };
  for (const auto& [command, needs] : kNeeds) {
    FactsForTest facts;
    DecideFor({.command = command, .on_this_machine = false}, facts);
    EXPECT_EQ(facts.asked, needs) << command;
  }
}

TEST(StagesTest, AQuestionSaysAllThatIsAsked) {
  FactsForTest facts;
  facts.untrusted = "it runs .husky/pre-commit";
  Decision decision =
      DecideFor({.command = "git push --force"}, facts).decision;
  ASSERT_EQ(decision.action, Action::kAsk);
  EXPECT_NE(decision.reason.find("; and it runs .husky"), std::string::npos);
  EXPECT_FALSE(decision.rule.id.empty());
  EXPECT_FALSE(
      ApplyLocalServices("it reaches postgres", Preset::kStandard, &decision));
  EXPECT_NE(decision.reason.find("; and it reaches postgres"),
            std::string::npos);
}

TEST(LocalServicesStageTest, AsksOrTakesTheNetworkAway) {
  for (const Preset preset :
       {Preset::kAutonomous, Preset::kStandard, Preset::kCareful}) {
    Decision decision;
    decision.action = Action::kSandbox;
    decision.network = NetworkAccess::kOpen;
    const bool asks = preset != Preset::kAutonomous;
    EXPECT_FALSE(ApplyLocalServices("", preset, &decision));
    EXPECT_EQ(decision.action, Action::kSandbox);
    EXPECT_EQ(ApplyLocalServices("redis", preset, &decision), asks);
    EXPECT_EQ(decision.action, asks ? Action::kAsk : Action::kSandbox);
    EXPECT_EQ(decision.network,
              asks ? NetworkAccess::kOpen : NetworkAccess::kNone);
    decision.action = Action::kSandbox;
    decision.network = NetworkAccess::kDomains;
    decision.hosts = {{"a.example", "r"}};
    EXPECT_EQ(ApplyLocalServices("redis", preset, &decision), asks);
    EXPECT_EQ(decision.network,
              asks ? NetworkAccess::kDomains : NetworkAccess::kNone);
    EXPECT_EQ(decision.hosts.empty(), !asks);
  }
}

TEST(PlanStageTest, OnlyEverTightens) {
  for (const Action action :
       {Action::kAllow, Action::kSandbox, Action::kAsk, Action::kDeny}) {
    for (const Planned planned :
         {Planned::kRaw, Planned::kContained, Planned::kRefused}) {
      Decision decision;
      decision.action = action;
      decision.contain = action != Action::kAllow;
      ApplyPlan(planned, "no backend", &decision);
      const Action expected = action > Action::kSandbox      ? action
                              : planned == Planned::kRefused ? Action::kDeny
                              : planned == Planned::kContained
                                  ? Action::kSandbox
                                  : action;
      EXPECT_EQ(decision.action, expected);
      if (expected != action) EXPECT_EQ(decision.code, ReasonCode::kPlan);
    }
  }
}

Match MatchOf(const char* id, Action action, const char* layer) {
  Match match;
  match.rule = {id, "f:1", layer};
  match.action = action;
  match.reason = id;
  return match;
}

Decision DecidedBy(const Match& match) {
  Decision decision;
  decision.action = match.action;
  decision.rule = match.rule;
  decision.code = ReasonCode::kRule;
  decision.matches = {match};
  return decision;
}

TEST(ReadToolStageTest, HoldsWhatNoSandboxWouldHold) {
  struct ReadCase {
    const char* what;
    Decision line;
    ReadToolFacts facts;
    Action action;
  };
  const auto by = [](Action action) {
    return [action] {
      Decision decision;
      decision.action = action;
      return decision;
    };
  };
  const Decision contained =
      DecidedBy(MatchOf("core.x", Action::kSandbox, "builtin"));
  const Decision persons =
      DecidedBy(MatchOf("mine.no-cat", Action::kDeny, "user"));
  const ReadCase kCases[] = {
      {"contained for another reason", contained, {}, Action::kAllow},
      {"a secret that a sandbox hides",
       DecidedBy(MatchOf("secrets.read", Action::kSandbox, "builtin")),
       {},
       Action::kAsk},
      {"asked",
       DecidedBy(MatchOf("core.y", Action::kAsk, "builtin")),
       {},
       Action::kAsk},
      {"denied",
       DecidedBy(MatchOf("core.z", Action::kDeny, "builtin")),
       {},
       Action::kDeny},
      {"gate's own directory",
       contained,
       {.in_gates_directory = "/home/dev/.config/gate"},
       Action::kDeny},
      {"unknown files", contained, {.unknown = true}, Action::kAsk},
      {"a person's rule about the program",
       persons,
       {.by_effects = by(Action::kAllow)},
       Action::kAllow},
      {"a person's rule about what is read",
       persons,
       {.by_effects = by(Action::kDeny)},
       Action::kDeny},
      {"a person's rule, and gate's own directory",
       persons,
       {.in_gates_directory = "/x", .by_effects = by(Action::kAllow)},
       Action::kDeny},
  };
  for (const ReadCase& each : kCases) {
    Decision decision = each.line;
    ApplyReadTool(each.facts, &decision);
    EXPECT_EQ(decision.action, each.action) << each.what;
  }
}

TEST(StagesTest, EveryStageHasANameOfItsOwn) {
  std::vector<std::string> names;
  for (size_t i = 0; i < kStages; ++i)
    names.emplace_back(Name(static_cast<Stage>(i)));
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace gate::engine
