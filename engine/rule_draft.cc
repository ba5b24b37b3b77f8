#include "engine/rule_draft.h"

#include <utility>

#include "base/text.h"
#include "engine/examples.h"
#include "parser/analysis.h"

namespace gate::engine {

std::vector<std::string> WordsOf(const std::string& command) {
  parser::Context context;
  context.cwd = "/";
  const parser::Analysis analysis = parser::Analyze(command, context);
  if (analysis.invocations.size() != 1 || analysis.hides_commands ||
      analysis.parse_error)
    return {};
  // That the command runs a file says nothing of its words.
  for (const parser::Unknown& unknown : analysis.unknowns)
    if (unknown.code != parser::UnknownCode::kScriptFile ||
        unknown.text == "standard input")  // which is anything
      return {};
  const parser::Invocation& invocation = analysis.invocations[0];
  if (!invocation.environment.empty()) return {};
  for (const parser::Effect& effect : analysis.effects)
    if (effect.from_redirect) return {};
  std::vector<std::string> words;
  for (const parser::Argument& word : invocation.argv) {
    if (!word.known || word.glob) return {};
    words.push_back(word.text);
  }
  return words;
}

rules::Policy WithRule(std::vector<rules::RuleFile> files,
                       const std::string& rule) {
  if (!rule.empty()) {
    rules::RuleFile file;
    file.name = "suggestion";
    file.layer = rules::Layer::kUser;
    file.text = R"({"schema": 1, "pack": "mine", "rules": [)" + rule + "]}";
    files.push_back(std::move(file));
  }
  return rules::MakePolicy(files, true);
}

std::vector<Witness> Beyond(const rules::Policy& now, const rules::Policy& then,
                            const std::vector<std::string>& words,
                            const std::set<std::string>& meant,
                            const std::vector<std::string>& examples) {
  std::string line;
  for (const std::string& word : words)
    line += (line.empty() ? "" : " ") + ShellQuote(word);
  std::vector<std::string> tried = {line, line + " anything-else",
                                    line + " --force"};
  tried.insert(tried.end(), examples.begin(), examples.end());
  std::vector<Witness> found;
  for (const std::string& command : tried) {
    if (meant.contains(command)) continue;
    const Action before = DecideExample(now, command).action;
    const Action after = DecideExample(then, command).action;
    if (after < before) found.push_back({command, before, after});
  }
  return found;
}

}  // namespace gate::engine
