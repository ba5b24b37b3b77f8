// gate allow: a rule of the person's own for one command.
#include <algorithm>
#include <cstdio>

#include "approvals/terminal.h"
#include "approvals/user_action.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/findings.h"
#include "cli/options.h"
#include "engine/coverage.h"
#include "engine/examples.h"
#include "engine/rule_draft.h"
#include "rules/format.h"
#include "rules/glob.h"
#include "rules/names.h"
#include "rules/rule_paths.h"

namespace gate::app {
namespace {

using rules::Action;

// Of the user's rules, the file that this command writes.
constexpr char kFile[] = "/rules.d/allowed.json";
constexpr size_t kMaxIdBytes = 60;

struct Draft {
  std::string id;
  std::string rule;                 // one JSON object
  std::vector<std::string> except;  // rules that it takes back by name
  std::string refused;              // why there is none
};

std::string LineOf(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words)
    line += (line.empty() ? "" : " ") + ShellQuote(word);
  return line;
}

// Letters, digits and `-` of the words, unlike any id in `files`.
std::string IdFor(const std::vector<std::string>& words,
                  const std::vector<rules::RuleFile>& files) {
  std::string id = "allowed";
  for (const std::string& word : words) {
    id += '.';
    for (const char c : word.substr(0, 20))
      id += std::isalnum(static_cast<unsigned char>(c)) ? c : '-';
    if (id.size() > kMaxIdBytes) break;
  }
  const auto taken = [&](const std::string& name) {
    return std::ranges::any_of(files, [&](const rules::RuleFile& file) {
      return file.text.find('"' + name + '"') != std::string::npos;
    });
  };
  std::string free = id;
  for (size_t i = 2; taken(free); ++i) free = id + "-" + std::to_string(i);
  return free;
}

std::string RuleText(const std::string& id,
                     const std::vector<std::string>& words, bool arguments,
                     const std::vector<std::string>& except) {
  const std::string line = LineOf(words);
  Json match;
  if (arguments) {
    match = {{"prefix", words}};
  } else {
    std::string glob;
    rules::AppendEscaped(line, &glob);
    match = {{"glob", glob}};
  }
  Json rule = {{"id", id},
               {"action", "allow"},
               {"reason", "a person allowed it with `gate allow`"},
               {"match", match},
               {"examples", {{"match", {line}}, {"no_match", {"true"}}}}};
  if (!except.empty()) rule["except"] = except;
  return Dump(rule);
}

// The rule that allows the command, with the `except` that it needs.
Draft MakeDraft(const std::vector<rules::RuleFile>& files,
                const std::vector<std::string>& words, bool arguments) {
  Draft draft;
  draft.id = IdFor(words, files);
  const std::string line = LineOf(words);
  // Each round names what still stands in the way; a rule once named is gone.
  for (;;) {
    draft.rule = RuleText(draft.id, words, arguments, draft.except);
    const rules::Policy then = engine::WithRule(files, draft.rule);
    if (HasErrors(then.diagnostics())) {
      for (const Diagnostic& diagnostic : then.diagnostics())
        std::fputs(Render(diagnostic).c_str(), stderr);
      draft.refused = "no rule can be made for it";
      return draft;
    }
    const engine::Decision decision = engine::DecideExample(then, line);
    if (decision.action == Action::kAllow) return draft;
    const size_t before = draft.except.size();
    for (const engine::Match& match : decision.matches) {
      if (match.observed_only || match.action == Action::kAllow) continue;
      if (match.action == Action::kDeny) {
        draft.refused = "`" + match.rule.id + "` denies it: " + match.reason;
        return draft;
      }
      if (std::ranges::find(draft.except, match.rule.id) == draft.except.end())
        draft.except.push_back(match.rule.id);
    }
    if (draft.except.size() == before) {
      draft.refused = "a rule of yours cannot allow it: " + decision.reason;
      return draft;
    }
  }
}

// The file with the rule added; an error when it is not as this command left
// it (comments, for example), since those would be lost.
Result<std::string> FileWith(const std::string& path, const std::string& rule) {
  Json file = {{"schema", 1}, {"pack", "allowed"}, {"rules", Json::array()}};
  auto text = ReadFile(path, rules::kMaxRuleFileBytes, /*follow=*/false);
  if (!text && text.error().code != ErrorCode::kNotFound)
    return std::unexpected(text.error());
  if (text) {
    auto read = ParseJson(*text);
    if (!read || !read->is_object() || !read->contains("rules") ||
        !(*read)["rules"].is_array())
      return std::unexpected(
          Error{ErrorCode::kInvalid, "`" + Visible(path) +
                                         "` was changed by hand; add the rule "
                                         "there yourself"});
    file = std::move(*read);
  }
  auto read = ParseJson(rule);
  if (!read)
    return std::unexpected(Error{ErrorCode::kInvalid, "no rule was made"});
  file["rules"].push_back(std::move(*read));
  std::string out = "{\"schema\": 1, \"pack\": " + Dump(file["pack"]);
  for (const auto& [key, value] : file.items())
    if (key != "schema" && key != "pack" && key != "rules")
      out += ", \"" + key + "\": " + Dump(value);
  out += ", \"rules\": [";
  for (size_t i = 0; i < file["rules"].size(); ++i)
    out += std::string(i == 0 ? "" : ",") + "\n" + Dump(file["rules"][i]);
  out += "\n]}\n";
  auto formatted = rules::FormatRuleFile(out);
  if (!formatted)
    return std::unexpected(Error{ErrorCode::kInvalid, "no rule file was made"});
  return *formatted;
}

std::string ShownDraft(const Draft& draft, const std::string& path,
                       const std::vector<engine::Witness>& beyond,
                       bool arguments) {
  std::string out = "this rule goes to " + Visible(path) + ":\n  " +
                    Visible(draft.rule) + "\n";
  for (const std::string& id : draft.except)
    out += "it takes back `" + Visible(id) + "` for this command\n";
  out +=
      "an allowed command runs as it is, without a sandbox, with whatever the "
      "files that it runs say then, in any directory\n";
  if (arguments) out += "the rule holds with any further words\n";
  if (beyond.empty())
    out += "no other command that was tried is let through by it\n";
  for (size_t i = 0; i < std::min(beyond.size(), engine::kShownWitnesses); ++i)
    out += std::string("  also lets through (") + Name(beyond[i].after) +
           ", now " + Name(beyond[i].before) +
           "): " + Visible(beyond[i].command) + "\n";
  if (beyond.size() > engine::kShownWitnesses)
    out += "  and " + std::to_string(beyond.size() - engine::kShownWitnesses) +
           " that were tried besides\n";
  return out;
}

std::string AsJson(const Draft& draft, const std::string& command,
                   const std::string& path, const std::string& now,
                   const std::vector<engine::Witness>& beyond) {
  JsonWriter json;
  json.BeginObject().Field("schema", "gate.allow/1");
  json.Field("command", command).Field("file", path).Field("now", now);
  json.Field("rule", draft.rule).Field("refused", draft.refused);
  json.Key("beyond").BeginArray();
  for (const engine::Witness& witness : beyond)
    json.BeginObject()
        .Field("command", witness.command)
        .Field("before", Name(witness.before))
        .Field("after", Name(witness.after))
        .EndObject();
  json.EndArray().EndObject();
  return json.Take();
}

Status Write(const ProcessFacts& facts, const std::string& path,
             const std::string& command, const Draft& draft) {
  GATE_TRY(const std::string text, FileWith(path, draft.rule));
  // What is written must load, or nothing would run any more.
  std::vector<rules::RuleFile> files = rules::OwnRuleFiles(
      facts.places.system + "/rules.d", facts.places.config + "/rules.d");
  std::erase_if(files, [&](const rules::RuleFile& file) {
    return file.layer == rules::Layer::kUser && file.name == path;
  });
  rules::RuleFile made;
  made.name = path;
  made.layer = rules::Layer::kUser;
  made.text = text;
  files.push_back(std::move(made));
  const rules::Policy policy = rules::MakePolicy(files, true);
  if (HasErrors(policy.diagnostics()))
    return std::unexpected(
        Error{ErrorCode::kInvalid, "with it your rules would not load"});
  UserAction act;
  act.mode = "allow";
  act.command = command;
  act.cwd = facts.cwd;
  act.reason = "a person allowed it with a rule";
  act.policy_revision = policy.revision();
  act.detail = Dump(Json{{"file", path}, {"rule", Json::parse(draft.rule)}});
  // The record first: an act that is not on record does not happen.
  Status done = RecordUserAction(facts, act);
  if (done) done = MakeDirectories(path.substr(0, path.rfind('/')), 0700);
  if (done) done = WriteFileAtomically(path, text, 0600);
  return done;
}

}  // namespace

int AllowCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app(
      "Writes a rule of yours that allows one command without a sandbox, "
      "after\n"
      "showing what else it lets through. The rule holds for exactly these\n"
      "words, as in: gate allow 'npm run test'",
      "gate allow");
  std::string command;
  bool more = false, show = false, json = false;
  app.Add("command", command, "the command, as one word").Required();
  app.Flag("--with-arguments", more, "with any further words behind these");
  app.Flag("--show", show, "only show the rule and what it lets through");
  app.Flag("--json", json, "show it as a JSON object");
  if (auto code = ParseWith(app, arguments)) return *code;
  show |= json;
  if (!show)
    if (auto code = RequirePerson("allowing")) return *code;
  const std::vector<std::string> words = engine::WordsOf(command);
  if (words.empty()) {
    Complain("`" + Visible(command) + "` is not one plain command");
    std::fputs(
        "help: leave out redirections, variables, patterns and further "
        "commands, which are judged by themselves; of a program that runs what "
        "it is given, name that\n",
        stderr);
    return kExitUsage;
  }
  const bool runner = rules::RunsWhatItIsGiven(words[0]);
  if ((runner && words.size() < 2) ||
      (more && (words.size() < 2 || words.back().starts_with('-') ||
                (runner && words[1].starts_with('-'))))) {
    Complain("`" + Visible(command) + "` says too little of what it would run");
    std::fputs("help: name the sub-command or the script as well\n", stderr);
    return kExitUsage;
  }
  const ProcessFacts facts = ReadProcessFacts(globals);
  const std::vector<rules::RuleFile> files = rules::OwnRuleFiles(
      facts.places.system + "/rules.d", facts.places.config + "/rules.d");
  const rules::Policy now = engine::WithRule(files, "");
  if (TellPolicyErrors(now)) return kExitPolicy;
  const std::string line = LineOf(words), path = facts.places.config + kFile;
  const Action before = engine::DecideExample(now, line).action;
  const Draft draft = MakeDraft(files, words, more);
  std::vector<engine::Witness> beyond;
  if (draft.refused.empty())
    beyond = engine::Beyond(now, engine::WithRule(files, draft.rule), words,
                            {line, command}, engine::WitnessCommands(now));
  if (json) {
    std::puts(AsJson(draft, command, path, Name(before), beyond).c_str());
    return draft.refused.empty() ? 0 : kExitRefused;
  }
  if (!draft.refused.empty()) {
    Complain(draft.refused);
    return kExitRefused;
  }
  // With arguments the command itself may be allowed already.
  if (before == Action::kAllow && beyond.empty()) {
    std::puts("your rules allow it already; `gate explain` says what is here");
    return 0;
  }
  const std::string shown = ShownDraft(draft, path, beyond, more);
  if (show) {
    std::fputs(shown.c_str(), stdout);
    return 0;
  }
  if (!AskYesOrNo(shown, "Write it?")) {
    Complain("nothing was written");
    return kExitRefused;
  }
  if (const Status written = Write(facts, path, command, draft); !written) {
    Complain("nothing was written: " + written.error().message);
    return kExitInternal;
  }
  std::printf("written: %s\n", Visible(path).c_str());
  return 0;
}

}  // namespace gate::app
