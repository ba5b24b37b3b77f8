// gate rules suggest: rules that would have spared a person's approvals.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "audit/log.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "engine/coverage.h"
#include "engine/examples.h"
#include "engine/rule_draft.h"
#include "facts/process_facts.h"
#include "rules/names.h"
#include "rules/rule_paths.h"

namespace gate::app {
namespace {

constexpr uint64_t kMaxRecords = 5000;

struct Group {
  std::vector<std::string> words;  // what all its commands start with
  std::set<std::string> rules;     // that had asked
  std::set<std::string> commands;
  size_t approvals = 0;
};

// Two commands belong together by program and first word after it, which must
// be a sub-command: an option or a path says too little.
std::string KeyOf(const std::vector<std::string>& words) {
  const bool named = words.size() > 1 && !words[1].starts_with('-') &&
                     words[1].find('/') == std::string::npos;
  std::string key = words[0];
  if (named) return key + '\n' + words[1];
  for (size_t i = 1; i < words.size(); ++i) key += '\n' + words[i];
  return key;
}

std::map<std::string, Group> Collect(
    const std::vector<audit::Record>& records) {
  std::map<std::string, Group> groups;
  for (const audit::Record& record : records) {
    if (record.mode != "approve") continue;
    const std::vector<std::string> words = engine::WordsOf(record.command);
    if (words.empty()) continue;
    Group& group = groups[KeyOf(words)];
    if (group.words.empty()) {
      group.words = words;
    } else {
      size_t same = 0;
      while (same < group.words.size() && same < words.size() &&
             group.words[same] == words[same])
        ++same;
      group.words.resize(same);
    }
    ++group.approvals;
    group.commands.insert(record.command);
    if (const auto detail = ParseJson(record.detail);
        detail && detail->is_object() && detail->contains("rules") &&
        (*detail)["rules"].is_array())
      for (const Json& rule : (*detail)["rules"])
        if (rule.is_string()) group.rules.insert(rule.get<std::string>());
  }
  return groups;
}

std::string SuggestedRule(const Group& group) {
  std::string id = "mine";
  for (const std::string& word : group.words) {
    id += '.';
    for (const char c : word.substr(0, 20))
      id += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
    if (id.size() > 40) break;
  }
  Json rule = {
      {"id", id},
      {"action", "sandbox"},
      {"reason",
       "approved by hand " + std::to_string(group.approvals) + " times"},
      {"match", {{"prefix", group.words}}},
      {"examples", {{"match", group.commands}, {"no_match", {"true"}}}}};
  rule["except"] = group.rules;
  return Dump(rule);
}

// Whether some of `commands` are spared, as far as can be told elsewhere than
// where they were asked: a locked or more trusted rule would ask again.
bool Helps(const rules::Policy& now, const rules::Policy& then,
           const std::set<std::string>& commands) {
  bool asked = false, spared = false;
  for (const std::string& command : commands) {
    if (engine::DecideExample(now, command).action < rules::Action::kAsk)
      continue;
    asked = true;
    spared |= engine::DecideExample(then, command).action < rules::Action::kAsk;
  }
  return spared || !asked;
}

}  // namespace

int RulesSuggestCommand(const GlobalOptions& globals,
                        const Arguments& arguments) {
  Options app(
      "Suggests rules that would have spared repeated approvals, and shows\n"
      "what else each would let through. Nothing is written.",
      "gate rules suggest");
  size_t least = 2;
  app.Add("--min", least, "approvals that are needed (2)");
  if (auto code = ParseWith(app, arguments)) return *code;
  const ProcessFacts facts = ReadProcessFacts(globals);
  auto log = audit::Log::OpenReadOnly(facts.places.state);
  audit::Filter filter;
  filter.kinds = {audit::Kind::kConfig};
  filter.limit = kMaxRecords;
  Result<std::vector<audit::Record>> records = std::unexpected(Error{});
  if (log) records = log->Query(filter);
  if (!records) {
    Complain(log ? records.error().message : log.error().message);
    return kExitInternal;
  }
  const std::vector<rules::RuleFile> files = rules::OwnRuleFiles(
      facts.places.system + "/rules.d", facts.places.config + "/rules.d");
  const rules::Policy now = engine::WithRule(files, "");
  if (TellPolicyErrors(now)) return kExitPolicy;
  const std::vector<std::string> examples = engine::WitnessCommands(now);
  size_t suggested = 0;
  for (const auto& [key, group] : Collect(*records)) {
    if (group.approvals < least || group.words.empty()) continue;
    if (rules::RunsWhatItIsGiven(group.words[0])) {
      std::printf("// no rule for `%s`: it runs whatever it is given\n",
                  Visible(group.words[0]).c_str());
      continue;
    }
    // A program alone would let every use of it through.
    if (group.words.size() < 2 || group.rules.empty()) continue;
    const std::string text = SuggestedRule(group);
    const rules::Policy then = engine::WithRule(files, text);
    if (HasErrors(then.diagnostics()) || !Helps(now, then, group.commands))
      continue;
    ++suggested;
    std::printf("%s\n", Visible(text).c_str());
    const std::vector<engine::Witness> beyond =
        engine::Beyond(now, then, group.words, group.commands, examples);
    for (size_t i = 0; i < std::min(beyond.size(), engine::kShownWitnesses);
         ++i)
      std::printf("//   would also let through (%s, now %s): %s\n",
                  Name(beyond[i].after), Name(beyond[i].before),
                  Visible(beyond[i].command).c_str());
    if (beyond.size() > engine::kShownWitnesses)
      std::printf("//   and %zu examples more\n",
                  beyond.size() - engine::kShownWitnesses);
  }
  if (suggested == 0) std::puts("// nothing to suggest");
  return 0;
}

}  // namespace gate::app
