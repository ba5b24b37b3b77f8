#include "parser/analysis.h"

#include "base/text.h"
#include "parser/effect_names.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {

const char* Name(UnknownCode code) {
  static constexpr const char* kNames[kUnknownCodes] = {
      "syntax_error", "parse_disagreement", "too_large",      "dynamic_command",
      "dynamic_code", "dynamic_argument",   "dynamic_target", "foreign_code",
      "script_file",  "unmodelled",         "limit",          "hidden_text"};
  return kNames[static_cast<int>(code)];
}

bool HidesCommands(UnknownCode code) {
  switch (code) {
    case UnknownCode::kDynamicArgument:
    case UnknownCode::kDynamicTarget:
    case UnknownCode::kScriptFile:
    case UnknownCode::kForeignCode:
    case UnknownCode::kHiddenText:
      return false;
    default:
      return true;
  }
}

const char* Name(EffectKind kind) {
  return kEffectNames[static_cast<size_t>(kind)].data();
}

const char* Name(FlowKind kind) {
  switch (kind) {
    case FlowKind::kNetworkToCode:
      return "network_to_code";
    case FlowKind::kDecodedToCode:
      return "decoded_to_code";
    case FlowKind::kFileToNetwork:
      return "file_to_network";
    case FlowKind::kFileToCode:
      return "file_to_code";
    case FlowKind::kUnseenToCode:
      return "unseen_to_code";
  }
  return "";
}

Analysis Analyze(std::string_view source, const Context& context) {
  return Evaluator(source, context).RunLine();
}

Analysis AnalyzeArgv(const std::vector<std::string>& argv,
                     const Context& context) {
  std::string source;
  for (const std::string& word : argv) {
    if (!source.empty()) source += ' ';
    source += ShellQuote(word);
  }
  return Evaluator(source, context).RunVector(argv);
}

std::vector<std::string> DirectoriesOf(const Invocation& invocation) {
  if (!invocation.cwd.known || invocation.cwd.text.empty()) return {};
  std::vector<std::string> out = {invocation.cwd.text};
  for (const Argument& other : invocation.other_cwds) {
    if (!other.known || other.text.empty()) return {};
    out.push_back(other.text);
  }
  return out;
}

std::string NormalisedLine(const Invocation& invocation) {
  static constexpr std::string_view kUnknown = "\xEF\xBF\xBC";  // U+FFFC
  std::string line;
  for (const Argument& word : invocation.argv) {
    if (!line.empty()) line += ' ';
    if (!word.known) {
      line += word.text;
      line += kUnknown;
      line += word.suffix;
    } else if (word.glob) {
      line += word.text;  // a pattern: quoting it would say something else
    } else {
      line += ShellQuote(word.text);
    }
  }
  return line;
}

}  // namespace gate::parser
