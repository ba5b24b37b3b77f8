// Acts, redirections, patterns of sub-commands, help and rehearsals.

#include <gtest/gtest.h>

#include "parser/programs.h"
#include "parser/programs/examples.h"

namespace gate::parser {
namespace {

constexpr const char* kDescriptions = R"({"schema": 1, "programs": [
  {"name": "cloud", "is": "inherits", "help": "--help -h --version",
   "options": ["--endpoint= redirects:endpoint", "--profile= redirects:account",
     "--insecure redirects:certificates", "--query= --format=",
     "--input= redirects:file <file://*>"],
   "commands": {
     "vm": {"is": "loose", "rehearse": "--dry-run=client,server",
       "options": ["--open act:secret", "--dry-run[=]"],
       "commands": {
         "describe-* list-* get-*": {"is": "loose", "do": ["act:look"]},
         "get-password* get-*-token": ["act:secret"],
         "get-password-policy": ["act:look"],
         "delete-* run *-all": {"is": "loose", "do": ["act:change"]},
         "dark": []}},
     "get": {"do": ["1 act:look !<secret*>", "1 act:secret <secret*>"]},
     "exec": {"is": "posix", "options": ["-h,--host="], "do": ["act:change"]},
     "config": {"is": "open", "commands": {"show": ["act:local"]},
       "do": ["act:change"]},
     "login": ["act:login"], "run": ["act:code"]}},
  {"name": "mute", "is": "loose"}]})";

struct Case {
  const char* line;
  const char* acts;
  const char* redirects = "";
};

std::string Text(const ActsRead& acts) {
  if (!acts.described) return "none";
  std::string text;
  for (int k = 0; k < kActKinds; ++k) {
    const uint16_t bit = Bit(static_cast<Act>(k));
    if ((acts.possible & bit) == 0) continue;
    text += text.empty() ? "" : " ";
    text += (acts.certain & bit) == 0 ? "?" : "";
    text += Name(static_cast<Act>(k));
  }
  return text;
}

std::string Redirections(const ActsRead& acts) {
  std::string text;
  for (int k = 0; k < kRedirectKinds; ++k)
    if ((acts.redirects >> k & 1) != 0)
      text += (text.empty() ? "" : " ") +
              std::string(Name(static_cast<RedirectTo>(k)));
  return text;
}

TEST(ProgramActs, AreWhatTheDescriptionSays) {
  const std::string source = kDescriptions;
  std::vector<Diagnostic> diagnostics;
  auto image = CompilePrograms({{"t.json", source}}, &diagnostics);
  ASSERT_TRUE(image) << (diagnostics.empty() ? "" : diagnostics[0].message);
  const Case kCases[] = {
      // Patterns: exact before pattern, longer before shorter.
      {"cloud vm describe-x", "look"},
      {"cloud vm get-x", "look"},
      {"cloud vm get-password", "secret"},
      {"cloud vm get-password-data", "secret"},
      {"cloud vm get-password-policy", "look"},
      {"cloud vm get-a-token", "secret"},
      {"cloud vm get-token", "look"},
      {"cloud vm delete-x", "change"},
      {"cloud vm stop-all", "change"},
      // A value is no verb.
      {"cloud vm delete-x --query list-x", "change"},
      {"cloud --query list-x vm delete-x", "change"},
      {"cloud vm --query describe-x delete-x --format get-x", "change"},
      {"cloud vm 'delete-x'", "change"},
      {"cloud vm --id describe-x delete-x", "?look ?change"},
      // Nothing said, not described, not known.
      {"cloud", "unknown"},
      {"cloud vm", "unknown"},
      {"cloud vm dark", "unknown"},
      {"cloud vm frob", "unknown"},
      {"cloud frob describe-x", "unknown"},
      {"cloud \"$x\" describe-x", "unknown"},
      {"cloud vm \"$x\"", "unknown"},
      {"cloud vm describe-$x", "?secret unknown"},
      {"cloud vm desc*", "unknown"},
      {"cloud $x vm describe-x", "?look ?secret ?unknown"},
      {"mute list-x", "none"},
      // Options and operands.
      {"cloud vm list-x --open", "look secret"},
      {"cloud vm list-x $x", "look ?secret"},
      {"cloud vm list-x \"$x\"", "look"},
      {"cloud vm list-x -\"$x\"", "look ?secret"},
      {"cloud vm list-x --query $x", "look ?secret"},
      {"cloud get pods", "look"},
      {"cloud get secrets", "secret"},
      {"cloud get pods secrets", "look"},
      {"cloud get \"$x\"", "?look ?secret ?unknown"},
      {"cloud get sec*", "?look ?secret ?unknown"},
      {"cloud config show", "local"},
      {"cloud config other", "change"},
      {"cloud config \"$x\"", "?change unknown"},
      {"cloud login", "login"},
      {"cloud run", "code"},
      // Help.
      {"cloud --help", "local"},
      {"cloud -h", "local"},
      {"cloud --version", "local"},
      {"cloud vm delete-x --help", "local"},
      {"cloud vm delete-x -h", "local"},
      {"cloud vm -h delete-x", "local"},
      {"cloud vm delete-x --help=false", "change"},
      {"cloud vm delete-x --version", "change"},
      {"cloud vm delete-x --id --help", "change"},
      {"cloud vm delete-x --query --help", "change"},
      {"cloud vm delete-x -- --help", "change"},
      {"cloud vm delete-x $x --help", "change ?secret"},
      {"cloud vm frob --help", "local ?unknown"},
      {"cloud exec -h host", "change"},
      {"cloud exec x --help", "change"},
      // Rehearsals.
      {"cloud vm delete-x --dry-run", "look"},
      {"cloud vm --dry-run delete-x", "look"},
      {"cloud vm delete-x --dry-run=client", "look"},
      {"cloud vm delete-x --dry-run=none", "change"},
      {"cloud vm delete-x --dry-run=\"$x\"", "change"},
      {"cloud vm delete-x --dry-run=client --dry-run=none", "change"},
      {"cloud vm delete-x --dry-run --no-dry-run", "change"},
      {"cloud vm delete-x --dry", "change"},
      {"cloud vm delete-x --id --dry-run", "change"},
      {"cloud vm delete-x --format --dry-run", "change"},
      {"cloud vm get-password --dry-run", "secret"},
      {"cloud login --dry-run", "login"},
      // Redirections.
      {"cloud vm list-x --endpoint http://e", "look", "endpoint"},
      {"cloud --endpoint=http://e vm list-x", "look", "endpoint"},
      {"cloud --end http://e vm list-x", "look", "endpoint"},
      {"cloud --profile \"$x\" vm list-x --insecure", "look",
       "account certificates"},
      {"cloud vm list-x --input file://x", "look", "file"},
      {"cloud vm list-x --input x", "look"},
      {"cloud vm list-x --input \"$x\"", "look", "file"},
      {"cloud vm list-x --query --endpoint", "look"},
  };
  for (const Case& c : kCases) {
    std::vector<Argument> argv;
    for (programs::ExampleWord& word : programs::ExampleWords(c.line)) {
      Argument argument;
      argument.text = std::move(word.text);
      argument.known = word.known;
      argument.splits = word.splits;
      argument.glob = word.glob;
      argv.push_back(std::move(argument));
    }
    const ArgumentAnalysis arguments = ReadArgumentsWith(*image, argv);
    EXPECT_EQ(Text(arguments.acts), c.acts) << c.line;
    EXPECT_EQ(Redirections(arguments.acts), c.redirects) << c.line;
  }
}

TEST(ProgramActs, WhatNobodyKnowsIsRefused) {
  const std::pair<const char*, const char*> kCases[] = {
      {R"("do": ["act"])", "no such detail"},
      {R"("do": ["act:unknown"])", "no such detail"},
      {R"("do": ["act:delete"])", "no such detail"},
      {R"("options": ["-e= redirects:elsewhere"])", "no such detail"},
      {R"("help": "help")", "expected an option"},
      {R"("rehearse": "--dry-run=")", "expected an option"},
      {R"("rehearse": "-n", "options": ["-n="])", "which values"},
      {R"("commands": {"a*b*": []})", "one `*`"},
      {R"("commands": {"a* b": [], "c a*": []})", "described twice"},
  };
  for (const auto& [members, message] : kCases) {
    std::vector<Diagnostic> diagnostics;
    const std::string text = R"({"schema": 1, "programs": [{"name": "a", )" +
                             std::string(members) + "}]}";
    EXPECT_FALSE(CompilePrograms({{"t.json", text}}, &diagnostics)) << text;
    bool found = false;
    for (const Diagnostic& d : diagnostics)
      found = found || d.message.find(message) != std::string::npos;
    EXPECT_TRUE(found) << text;
  }
}

}  // namespace
}  // namespace gate::parser
