// gate rules import: rules of other tools as a rule file.
#include <cstdio>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "rules/import.h"
#include "rules/policy.h"

namespace gate::app {
namespace {

constexpr int kRefused = 1;

}  // namespace

int RulesImportCommand(const Arguments& arguments) {
  Options app(
      "Prints the rules of another tool as a rule file. What cannot be "
      "carried\n"
      "over faithfully is refused with its line, and then nothing is printed.",
      "gate rules import");
  std::string format_name, file, allow_as = "allow";
  bool keep_going = false;
  std::string formats;
  for (const std::string& name : rules::ImportFormatNames())
    formats += (formats.empty() ? "" : ", ") + name;
  app.Add("format", format_name, formats).Required();
  app.Add("file", file, "the tool's file").Required();
  app.Add("--allow-as", allow_as, "what an allow becomes")
      .OneOf({"allow", "sandbox"});
  app.Flag("--keep-going", keep_going,
           "print what could be carried over all the same");
  if (auto code = ParseWith(app, arguments)) return *code;
  const rules::ImportFormat* format = rules::ParseImportFormat(format_name);
  if (format == nullptr) {
    Complain("`" + Visible(format_name) + "` is not a format gate can import");
    std::fprintf(stderr, "help: %s\n", formats.c_str());
    return kExitUsage;
  }
  const auto text = ReadFile(file, rules::kMaxRuleFileBytes);
  if (!text) {
    Complain(text.error().message);
    return kExitUsage;
  }
  rules::Imported imported =
      rules::ImportRules(*format, file, *text, *rules::ParseAction(allow_as));
  const std::string out =
      rules::ImportedFile("imported-" + format_name, imported);
  // What is printed must load; an allow that gate does not take as it stands
  // (it stands on what an agent controls, …) is found here.
  rules::RuleFile made;
  made.name = "imported";
  made.layer = rules::Layer::kUser;
  made.text = out;
  const rules::Policy policy = rules::MakePolicy({made}, true);
  for (const Diagnostic& diagnostic : policy.diagnostics())
    imported.diagnostics.push_back(diagnostic);
  for (const Diagnostic& diagnostic : imported.diagnostics)
    std::fputs(Render(diagnostic).c_str(), stderr);
  const bool refused = HasErrors(imported.diagnostics);
  if (refused && (!keep_going || HasErrors(policy.diagnostics()))) {
    Complain("nothing was imported");
    return kRefused;
  }
  std::fputs(out.c_str(), stdout);
  return refused ? kRefused : 0;
}

}  // namespace gate::app
