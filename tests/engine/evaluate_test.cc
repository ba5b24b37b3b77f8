// What a policy says about a line, with analyses made by hand.
#include "engine/evaluate.h"

#include <gtest/gtest.h>

#include "parser/analysis.h"
#include "tests/engine/make_analysis.h"

namespace gate::engine {
namespace {

using parser::EffectKind;
using parser::UnknownCode;
using rules::Policy;
using test::Decide;
using test::Developer;
using test::Line;
using test::Rules;

constexpr char kListing[] = R"({"id": "ls", "action": "allow", "reason": "r",
  "match": {"program": "ls", "options": {"only": ["-l", "-a", "--color", "-I:"]}}})";

TEST(Evaluate, ADecisionNobodyFilledInDenies) {
  EXPECT_EQ(Decision{}.action, Action::kDeny);
  EXPECT_TRUE(Decision{}.contain);
}

TEST(Evaluate, WhatNoRuleKnowsGetsTheDefault) {
  const Policy policy = Rules(kListing);
  const Decision decision = Decide(policy, Line().Run({"make"}));
  EXPECT_EQ(decision.action, Action::kSandbox);
  EXPECT_EQ(decision.code, ReasonCode::kDefault);
  EXPECT_TRUE(decision.contain);
  EXPECT_EQ(decision.profile, ProfileKind::kWorkspaceWrite);
  EXPECT_EQ(decision.network, NetworkAccess::kNone);
}

TEST(Evaluate, AllowHoldsOnlyForOptionsOfTheList) {
  const Policy policy = Rules(kListing);
  const std::vector<std::pair<std::vector<std::string>, Action>> cases = {
      {{"ls"}, Action::kAllow},
      {{"ls", "-l"}, Action::kAllow},
      {{"ls", "-la", "src"}, Action::kAllow},
      {{"/usr/bin/ls", "-l"}, Action::kAllow},
      {{"ls", "--color=auto"}, Action::kAllow},
      {{"ls", "-I", "-x"}, Action::kAllow},
      {{"ls", "--", "-x"}, Action::kAllow},
      {{"ls", "-x"}, Action::kSandbox},
      {{"ls", "-lx"}, Action::kSandbox},
      {{"ls", "--colo"}, Action::kSandbox},
      {{"ls", "\x02"}, Action::kSandbox},
      {{"ls", "-l\x01"}, Action::kSandbox},
      {{"./ls", "-l"}, Action::kSandbox},
      {{"/tmp/ls"}, Action::kSandbox},
  };
  for (const auto& [words, want] : cases)
    EXPECT_EQ(Decide(policy, Line().Run(words)).action, want)
        << testing::PrintToString(words);
}

TEST(Evaluate, EveryCommandOfTheLineMustBeAllowed) {
  const Policy policy = Rules(kListing);
  const Decision decision =
      Decide(policy, Line().Run({"ls"}).Run({"touch", "x"}));
  EXPECT_EQ(decision.action, Action::kSandbox);
  ASSERT_EQ(decision.per_invocation.size(), 2u);
  EXPECT_EQ(decision.per_invocation[0], Action::kAllow);
  EXPECT_EQ(decision.per_invocation[1], Action::kSandbox);
}

TEST(Evaluate, TheStrictestRuleWinsInAnyOrder) {
  const std::string deny = R"({"id": "d", "action": "deny", "reason": "no",
    "match": {"prefix": ["git", "push"]}})";
  const std::string allow = R"({"id": "a", "action": "allow", "reason": "ok",
    "match": {"prefix": ["git"]}})";
  for (const std::string& json : {deny + "," + allow, allow + "," + deny}) {
    const Policy policy = Rules(json);
    EXPECT_EQ(Decide(policy, Line().Run({"git", "push"})).action,
              Action::kDeny);
    EXPECT_EQ(Decide(policy, Line().Run({"git", "log"})).action,
              Action::kAllow);
  }
}

TEST(Evaluate, APrefixIsFoundBehindOptionsAndByAlternative) {
  const Policy policy = Rules(R"({"id": "d", "action": "deny", "reason": "no",
    "match": {"prefix": ["git", ["push", "fetch"], "--all"]}})");
  EXPECT_EQ(Decide(policy, Line().Run({"git", "push", "--all"})).action,
            Action::kDeny);
  EXPECT_EQ(
      Decide(policy, Line().Run({"git", "-C", "x", "fetch", "--all"})).action,
      Action::kDeny);
  EXPECT_EQ(Decide(policy, Line().Run({"git", "push"})).action,
            Action::kSandbox);
  EXPECT_EQ(
      Decide(policy, Line().Run({"/usr/bin/git", "push", "--all"})).action,
      Action::kDeny);
}

TEST(Evaluate, AnUnknownSubCommandMakesARefusalAQuestion) {
  const Policy policy = Rules(R"({"id": "d", "action": "deny", "reason": "no",
    "match": {"prefix": ["git", "push"]}})");
  EXPECT_EQ(Decide(policy, Line().Run({"git", "\x01"})).action, Action::kAsk);
  EXPECT_EQ(Decide(policy, Line().Run({"git", "pu\x01"})).action, Action::kAsk);
  EXPECT_EQ(Decide(policy, Line().Run({"git", "ch\x01"})).action,
            Action::kSandbox);
}

TEST(Evaluate, AnUnknownWordMayBeWhatAPatternIsAbout) {
  const auto rule = [](const std::string& match, const std::string& action,
                       const std::string& more = {}) {
    return Rules(R"({"id": "r", "action": ")" + action + R"(", "reason": "no",
      )" + more + R"("match": )" +
                 match + "}");
  };
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {R"({"glob": "*prod*"})", {"deploy", "\x01"}},
      {R"({"glob": "deploy *prod*"})", {"deploy", "eu-\x01"}},
      {R"({"glob": "deploy prod"})", {"deploy", "\x02"}},
      {R"({"glob": "deploy --force*"})", {"deploy", "\x02"}},
      {R"({"glob": "*prod*"})", {"deploy", "\x01", "eu"}},
      {R"({"regex": "prod"})", {"deploy", "\x01"}},
      {R"({"regex": "^deploy .*prod"})", {"/opt/deploy", "\x01"}},
      {R"({"program": "deploy", "operands": {"any": "prod"}})",
       {"deploy", "\x01"}},
      {R"({"program": "deploy", "operands": {"all": ["eu", "us"]}})",
       {"deploy", "eu", "\x01"}},
  };
  for (const auto& [match, words] : cases) {
    const Line line = Line().Run(words);
    const Decision decision = Decide(rule(match, "deny"), line);
    EXPECT_EQ(decision.action, Action::kAsk) << match;
    EXPECT_TRUE(decision.reason.starts_with("possibly")) << decision.reason;
    EXPECT_EQ(
        Decide(rule(match, "deny", R"("when_unknown": "deny",)"), line).action,
        Action::kDeny)
        << match;
    // What loosens must hold for certain.
    EXPECT_EQ(Decide(rule(match, "allow"), line).action, Action::kSandbox)
        << match;
    // A rule may say that it speaks of unknown text itself.
    const Decision marked =
        Decide(rule(match, "deny", R"("unknown_text": "mark",)"), line);
    EXPECT_EQ(marked.action, Action::kSandbox) << match;
  }
}

TEST(Evaluate, ANameOfAFileThatAPatternOfTheShellFindsIsUnknown) {
  const Policy policy = Rules(R"({"id": "r", "action": "deny", "reason": "no",
    "match": {"glob": "rm *prod*"}})");
  Line line = Line().Run({"rm", "p*"});
  line.analysis.invocations[0].argv[1].glob = true;
  EXPECT_EQ(Decide(policy, line).action, Action::kAsk);
  Line other = Line().Run({"rm", "*.o"});
  other.analysis.invocations[0].argv[1].glob = true;
  EXPECT_EQ(Decide(policy, other).action, Action::kAsk);
  EXPECT_EQ(Decide(policy, Line().Run({"rm", "p*"})).action, Action::kSandbox);
}

TEST(Evaluate, AnUnknownOperandIsNoReasonToAskWhatItCannotBe) {
  const Policy policy = Rules(R"({"id": "f", "action": "deny", "reason": "no",
      "match": {"glob": "git push*--force*"}},
    {"id": "r", "action": "deny", "reason": "no",
      "match": {"regex": "\\brm\\s+-rf"}},
    {"id": "k", "action": "deny", "reason": "no",
      "match": {"glob": "kubectl *prod*"}},
    {"id": "o", "action": "deny", "reason": "no",
      "match": {"program": "deploy", "operands": {"any": "--now"}}})");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"git", "push", "origin", "\x01"},
                                             {"git", "commit", "-m", "\x01"},
                                             {"echo", "\x01"},
                                             {"rm", "\x01"},
                                             {"deploy", "\x01"},
                                             {"cd", "src/\x01"}})
    EXPECT_EQ(Decide(policy, Line().Run(words)).action, Action::kSandbox)
        << testing::PrintToString(words);
}

TEST(Evaluate, WhenUnknownSaysWhatAPossibleMatchIsWorth) {
  const Policy policy = Rules(R"({"id": "d", "action": "deny", "reason": "no",
    "when_unknown": "sandbox", "match": {"prefix": ["git", "push"]}})");
  EXPECT_EQ(Decide(policy, Line().Run({"git", "\x01"})).action,
            Action::kSandbox);
}

TEST(Evaluate, OptionsAreFoundHoweverTheyAreSpelled) {
  const Policy policy = Rules(R"({"id": "d", "action": "deny", "reason": "no",
    "match": {"program": "tool",
              "options": {"any_of": ["-f", "--force"], "all_of": ["-r"]}}})");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"tool", "-rf"},
                                             {"tool", "-f", "x", "-r"},
                                             {"tool", "-vrqf"},
                                             {"tool", "--force", "-r"},
                                             {"tool", "--forc", "-r"},
                                             {"tool", "--force=yes", "-r"}})
    EXPECT_EQ(Decide(policy, Line().Run(words)).action, Action::kDeny)
        << testing::PrintToString(words);
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"tool", "-r"},
                                             {"tool", "-f"},
                                             {"tool", "--", "-rf"},
                                             {"tool", "rf"}})
    EXPECT_EQ(Decide(policy, Line().Run(words)).action, Action::kSandbox)
        << testing::PrintToString(words);
}

// The descriptions in rules.d/programs join the names of an option.
TEST(Evaluate, AnyNameOfAnOptionFindsTheOthers) {
  const struct {
    const char* options;
    const char* program;
    std::vector<const char*> found, other;
  } kTable[] = {
      {R"({"any_of": ["-r"]})",
       "rm",
       {"rm -R x", "rm -fR x", "rm --recursive x", "rm --rec x", "rm -ZR x"},
       {"rm x", "rm -f x", "rm -- --recursive", "rm recursive"}},
      {R"({"any_of": ["--recursive"]})", "rm", {"rm -ZR x"}, {"rm -Zf x"}},
      {R"({"any_of": ["-k"]})",
       "curl",
       {"curl --insecure u", "curl -sk u"},
       {"curl -s u"}},
      {R"({"all_of": ["--volume"]})",
       "docker",
       {"docker run -v a:/b i", "docker run -va:/b i"},
       {"docker run i"}},
      {R"({"any_of": ["--namespace=prod"]})",
       "kubectl",
       {"kubectl -n prod get pods", "kubectl -nprod get pods",
        "kubectl get pods -n=prod", "kubectl --namespace prod get pods"},
       {"kubectl -n dev get pods", "kubectl get pods prod"}},
      {R"({"any_of": ["-X=DEL*"]})",
       "curl",
       {"curl --request DELETE u", "curl --request=DELETE u",
        "curl -sXDELETE u"},
       {"curl --request GET u", "curl -d DELETE u"}}};
  for (const auto& row : kTable) {
    const auto rule = [&](const char* action, std::string match) {
      return Rules(R"({"id": "d", "reason": "r", "action": ")" +
                   std::string(action) + R"(", "match": {"program": ")" +
                   row.program + R"(", "options": )" + match + "}}");
    };
    const std::string names(row.options);
    const std::string list = names.substr(names.find('['));
    const Policy deny = rule("deny", names);
    const Policy allow = rule("allow", R"({"none_of": )" + list);
    const auto matches = [](const Policy& policy, const char* line) {
      Request request;
      request.command = line;
      return !Evaluate(policy, parser::Analyze(line, {}), request, {})
                  .matches.empty();
    };
    for (const char* line : row.found) {
      EXPECT_TRUE(matches(deny, line)) << row.options << line;
      EXPECT_FALSE(matches(allow, line)) << row.options << line;
    }
    for (const char* line : row.other)
      EXPECT_FALSE(matches(deny, line)) << row.options << line;
  }
}

// What a word hides may be any name of the option.
TEST(Evaluate, AnUnknownOptionMayBeAnyNameOfIt) {
  for (const char* name : {"-r", "-R", "--recursive"}) {
    const Policy deny =
        Rules(R"({"id": "d", "reason": "r", "action": "deny", "match":
              {"program": "rm", "options": {"any_of": [")" +
              std::string(name) + "\"]}}}");
    const Policy allow =
        Rules(R"({"id": "d", "reason": "r", "action": "allow", "match":
              {"program": "rm", "options": {"none_of": [")" +
              std::string(name) + "\"]}}}");
    for (const char* line : {"rm -$x y", "rm --$x y", "rm -f$x y"}) {
      Request request;
      request.command = line;
      const parser::Analysis analysis = parser::Analyze(line, {});
      EXPECT_EQ(Evaluate(deny, analysis, request, {}).action, Action::kAsk)
          << name << line;
      EXPECT_TRUE(Evaluate(allow, analysis, request, {}).matches.empty())
          << name << line;
    }
  }
}

TEST(Evaluate, GlobAndRegexSeeTheNormalisedLine) {
  const Policy policy = Rules(
      R"({"id": "g", "action": "deny", "reason": "no",
          "match": {"glob": "npm publish *"}},
         {"id": "x", "action": "ask", "reason": "no",
          "match": {"regex": "^pip3? install .*--index-url"}})");
  EXPECT_EQ(Decide(policy, Line().Run({"npm", "publish"})).action,
            Action::kDeny);
  EXPECT_EQ(Decide(policy, Line().Run({"/opt/npm", "publish", "x"})).action,
            Action::kDeny);
  EXPECT_EQ(Decide(policy, Line().Run({"npm", "publisher"})).action,
            Action::kSandbox);
  EXPECT_EQ(
      Decide(policy, Line().Run({"pip", "install", "a", "--index-url", "u"}))
          .action,
      Action::kAsk);
  EXPECT_EQ(
      Decide(policy, Line().Run({"echo", "pip install --index-url"})).action,
      Action::kSandbox);
}

TEST(Evaluate, EffectsAreJudgedWhateverTheProgramIsCalled) {
  const Policy policy = Rules(
      R"({"id": "d", "action": "deny", "reason": "no", "match":
          {"effect": {"kind": "delete", "path": ["/etc/**", "$HOME"],
                      "recursive": true}}})");
  const auto action = [&](const std::string& path, bool recursive) {
    return Decide(policy, Line()
                              .Run({"whatever"})
                              .Effect(EffectKind::kDelete, path, recursive))
        .action;
  };
  EXPECT_EQ(action("/etc", true), Action::kDeny);
  EXPECT_EQ(action("/etc/ssh", true), Action::kDeny);
  EXPECT_EQ(action("/", true), Action::kDeny);
  EXPECT_EQ(action("/home", true), Action::kDeny);
  EXPECT_EQ(action("/home/dev", true), Action::kDeny);
  EXPECT_EQ(action("/e*", true), Action::kDeny);
  EXPECT_EQ(action("/home/dev/project/build", true), Action::kSandbox);
  EXPECT_EQ(action("/etc/passwd", false), Action::kSandbox);
  EXPECT_EQ(action("\x01", true), Action::kAsk);
  EXPECT_EQ(action("/tmp/x\x01", true), Action::kSandbox);
  EXPECT_EQ(action("/\x01", true), Action::kAsk);
}

TEST(Evaluate, AWritingRedirectionIsNotPartOfTheAllowedCommand) {
  const Policy policy =
      Rules(std::string(kListing) +
            R"(,{"id": "null", "action": "allow", "reason": "r", "match":
           {"effect": {"kind": "write", "path": ["/dev/null"]}}})");
  EXPECT_EQ(Decide(policy, Line().Run({"ls"}).Effect(EffectKind::kWrite,
                                                     "/home/dev/project/out",
                                                     false, true))
                .action,
            Action::kSandbox);
  EXPECT_EQ(Decide(policy, Line().Run({"ls"}).Effect(EffectKind::kWrite,
                                                     "/dev/null", false, true))
                .action,
            Action::kAllow);
  // Speaking of the effect does not allow the command that has it.
  EXPECT_EQ(Decide(policy, Line().Run({"make"}).Effect(
                               EffectKind::kWrite, "/dev/null", false, true))
                .action,
            Action::kSandbox);
  EXPECT_EQ(Decide(policy, Line().Effect(EffectKind::kWrite, "/dev/null", false,
                                         true, true))
                .action,
            Action::kAllow);
  EXPECT_EQ(
      Decide(policy, Line().Effect(EffectKind::kWrite, "/x", false, true, true))
          .action,
      Action::kSandbox);
}

TEST(Evaluate, WhatIsNotUnderstoodWholeIsNeverAllowed) {
  const Policy policy = Rules(kListing);
  EXPECT_EQ(Decide(policy, Line().Run({"ls"}).Unknown(
                               UnknownCode::kDynamicCommand, true))
                .action,
            Action::kSandbox);
  Line broken = Line().Run({"ls"});
  broken.analysis.read_whole = false;
  EXPECT_EQ(Decide(policy, broken).action, Action::kSandbox);
  broken.analysis.read_whole = true;
  broken.analysis.parse_error = true;
  EXPECT_EQ(Decide(policy, broken).action, Action::kSandbox);
  EXPECT_EQ(Decide(policy, Line()).action, Action::kAllow);
}

TEST(Evaluate, UnknownCodesAndFlowsAreMatched) {
  const Policy policy = Rules(
      R"({"id": "u", "action": "ask", "reason": "no",
          "match": {"unknown": ["syntax_error"]}},
         {"id": "f", "action": "deny", "reason": "no",
          "match": {"flow": {"kind": "network_to_code"}}})");
  EXPECT_EQ(Decide(policy, Line().Run({"a"}).Unknown(UnknownCode::kSyntaxError))
                .action,
            Action::kAsk);
  EXPECT_EQ(
      Decide(policy, Line().Run({"a"}).Flow(parser::FlowKind::kNetworkToCode))
          .action,
      Action::kDeny);
  EXPECT_EQ(
      Decide(policy, Line().Run({"a"}).Flow(parser::FlowKind::kDecodedToCode))
          .action,
      Action::kSandbox);
}

TEST(Evaluate, ASettingBeforeTheCommandTakesTheAllowAway) {
  const Policy policy = Rules(kListing);
  EXPECT_EQ(Decide(policy, Line().Run({"ls"}).Env("LD_PRELOAD", "x")).action,
            Action::kSandbox);
}

TEST(Evaluate, NamesThatAreNotWhatTheySeemAreNotAllowedRaw) {
  const Policy policy = Rules(kListing);
  ProgramVerification trust;
  trust.verified = false;
  trust.why = "ls is in the workspace";
  const Line line = Line().Run({"ls"});
  const Decision decision = Evaluate(policy, line.analysis, Developer(), trust);
  EXPECT_EQ(decision.action, Action::kSandbox);
  EXPECT_EQ(decision.code, ReasonCode::kNotAsItSeems);
  EXPECT_EQ(decision.reason, "ls is in the workspace");
}

TEST(Evaluate, ObservedRulesAreRecordedAndNotApplied) {
  const Policy policy =
      Rules(std::string(kListing) +
            R"(,{"id": "o", "action": "deny", "reason": "no", "mode": "observe",
           "match": {"program": "ls"}})");
  const Decision decision = Decide(policy, Line().Run({"ls"}));
  EXPECT_EQ(decision.action, Action::kAllow);
  ASSERT_EQ(decision.matches.size(), 2u);
  EXPECT_TRUE(decision.matches[1].observed_only);
  EXPECT_EQ(decision.rule.id, "ls");
}

TEST(Evaluate, TimeBoxedRulesEnd) {
  const std::string rule =
      R"({"id": "t", "action": "allow", "reason": "r",
          "expires": "2026-01-01", "match": {"program": "ls"}})";
  engine::Request request = Developer();
  request.now_ms = 1'767'225'599'000;  // a second before
  EXPECT_EQ(Decide(Rules(rule), Line().Run({"ls"}), request).action,
            Action::kAllow);
  request.now_ms = 1'767'225'600'000;
  EXPECT_EQ(Decide(Rules(rule), Line().Run({"ls"}), request).action,
            Action::kSandbox);
  request.now_ms = 0;  // no clock
  EXPECT_EQ(Decide(Rules(rule), Line().Run({"ls"}), request).action,
            Action::kSandbox);
}

TEST(Evaluate, NetworkAndProfileComeFromTheRulesThatMatched) {
  const Policy policy = Rules(
      R"({"id": "i", "action": "sandbox", "reason": "r", "network": "open",
          "match": {"prefix": ["npm", "install"]}},
         {"id": "ro", "action": "sandbox", "reason": "r",
          "profile": "read-only", "match": {"program": "look"}},
         {"id": "cut", "action": "sandbox", "reason": "r",
          "network_max": "none", "match": {"program": "cut-off"}})");
  EXPECT_EQ(Decide(policy, Line().Run({"npm", "install"})).network,
            NetworkAccess::kOpen);
  EXPECT_EQ(Decide(policy, Line().Run({"make"})).network, NetworkAccess::kNone);
  EXPECT_EQ(
      Decide(policy, Line().Run({"npm", "install"}).Run({"cut-off"})).network,
      NetworkAccess::kNone);
  EXPECT_EQ(Decide(policy, Line().Run({"look"})).profile,
            ProfileKind::kReadOnly);
  EXPECT_EQ(Decide(policy, Line().Run({"make"}).Run({"look"})).profile,
            ProfileKind::kReadOnly);
}

// What each of the named commands gets of the network, alone and together.
TEST(Evaluate, HostsAreThoseOfTheRulesThatGiveTheNetwork) {
  const Policy policy = Rules(
      R"({"id": "npm", "action": "sandbox", "reason": "r", "network": "domains",
          "hosts": ["registry.npmjs.org", "shared.example"],
          "match": {"program": "npm"}},
         {"id": "a-pip", "action": "sandbox", "reason": "r",
          "network": "domains", "hosts": ["pypi.org", "shared.example"],
          "match": {"program": "pip"}},
         {"id": "bare", "action": "sandbox", "reason": "r",
          "network": "domains", "match": {"program": "bare"}},
         {"id": "open", "action": "sandbox", "reason": "r", "network": "open",
          "match": {"program": ["open", "narrowed"]}},
         {"id": "narrow", "action": "sandbox", "reason": "r",
          "network": "domains", "network_max": "domains",
          "hosts": ["narrow.example"], "match": {"program": "narrowed"}},
         {"id": "deny", "action": "sandbox", "reason": "r",
          "hosts_deny": ["*.shared.example"],
          "match": {"program": "denied"}},
         {"id": "only-local", "action": "sandbox", "reason": "r",
          "network_max": "loopback", "match": {"program": "local"}},
         {"id": "cut", "action": "sandbox", "reason": "r",
          "network_max": "domains", "match": {"program": "cut"}},
         {"id": "watched", "action": "sandbox", "reason": "r",
          "mode": "observe", "network": "domains", "hosts": ["w.example"],
          "match": {"program": "watched"}},
         {"id": "maybe", "action": "sandbox", "reason": "r",
          "network": "domains", "hosts": ["maybe.example"],
          "hosts_deny": ["maybe-not.example"],
          "match": {"prefix": ["maybe", "x"]}},
         {"id": "asked", "action": "ask", "reason": "r", "network": "domains",
          "hosts": ["asked.example"], "match": {"program": "asked"}})");
  using Hosts = std::vector<NamedHost>;
  const Hosts npm = {{"registry.npmjs.org", "npm"}, {"shared.example", "npm"}};
  const Hosts denied = {{"*.shared.example", "deny"}};
  const struct {
    std::vector<std::vector<std::string>> commands;
    NetworkAccess network;
    Hosts hosts, denied;
  } rows[] = {
      {{{"npm"}}, NetworkAccess::kDomains, npm, {}},
      {{{"npm"}, {"pip"}},
       NetworkAccess::kDomains,
       {{"pypi.org", "a-pip"},
        {"registry.npmjs.org", "npm"},
        {"shared.example", "a-pip"}},
       {}},
      {{{"bare"}}, NetworkAccess::kDomains, {}, {}},
      {{{"bare"}, {"npm"}}, NetworkAccess::kDomains, npm, {}},
      {{{"npm"}, {"make"}}, NetworkAccess::kDomains, npm, {}},
      {{{"npm"}, {"open"}}, NetworkAccess::kOpen, {}, {}},
      {{{"narrowed"}},
       NetworkAccess::kDomains,
       {{"narrow.example", "narrow"}},
       {}},
      {{{"npm"}, {"denied"}}, NetworkAccess::kDomains, npm, denied},
      {{{"open"}, {"denied"}}, NetworkAccess::kOpen, {}, denied},
      {{{"denied"}}, NetworkAccess::kNone, {}, {}},
      {{{"npm"}, {"local"}}, NetworkAccess::kLoopback, {}, {}},
      {{{"open"}, {"cut"}}, NetworkAccess::kDomains, {}, {}},
      {{{"open"}, {"npm"}, {"cut"}}, NetworkAccess::kDomains, npm, {}},
      {{{"watched"}}, NetworkAccess::kNone, {}, {}},
      {{{"npm"}, {"watched"}}, NetworkAccess::kDomains, npm, {}},
      {{{"maybe", "x"}},
       NetworkAccess::kDomains,
       {{"maybe.example", "maybe"}},
       {{"maybe-not.example", "maybe"}}},
      // What may match gives nothing and denies.
      {{{"maybe", "\x01"}}, NetworkAccess::kNone, {}, {}},
      {{{"npm"}, {"maybe", "\x01"}},
       NetworkAccess::kDomains,
       npm,
       {{"maybe-not.example", "maybe"}}},
      {{{"asked"}}, NetworkAccess::kDomains, {{"asked.example", "asked"}}, {}},
  };
  for (const auto& row : rows) {
    Line line;
    for (const auto& command : row.commands) line.Run(command);
    const Decision decision = Decide(policy, line);
    const std::string shown = testing::PrintToString(row.commands);
    EXPECT_EQ(decision.network, row.network) << shown;
    EXPECT_EQ(decision.hosts, row.hosts) << shown;
    EXPECT_EQ(decision.hosts_deny, row.denied) << shown;
  }
}

TEST(Evaluate, TheTraceSaysWhatWasTried) {
  const Policy policy = Rules(kListing);
  Trace trace;
  const Line line = Line().Run({"ls", "-x"});
  Evaluate(policy, line.analysis, Developer(), {}, &trace);
  ASSERT_EQ(trace.steps.size(), 1u);
  EXPECT_EQ(trace.steps[0].rule, "ls");
  EXPECT_EQ(trace.steps[0].outcome, "missed");
}

}  // namespace
}  // namespace gate::engine
