// What programs print, as far as their words and their input say it.
#include <algorithm>

#include "parser/eval/builtins/builtins.h"
#include "parser/filters/filters.h"

namespace gate::parser {
namespace {

// Models of which one number is printed and nothing else.
bool PrintsNumber(OutputModel model, const std::vector<std::string>& words,
                  bool has_input) {
  if (model == OutputModel::kCount) return true;
  if (words.size() != 2) return false;
  const std::string& option = words[1];
  switch (model) {
    case OutputModel::kTime:
      return option == "+%s" || option == "+%Y";
    case OutputModel::kIdentity:
      return option == "-u" || option == "-g";
    case OutputModel::kCounts:
      return has_input && (option == "-l" || option == "-c" || option == "-w" ||
                           option == "-m");
    default:
      return false;
  }
}

std::string EchoOutput(const std::vector<std::string>& words) {
  std::string text;
  size_t i = 1;
  bool newline = true, escapes = false;
  for (; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-' ||
        word.find_first_not_of("neE", 1) != std::string::npos) {
      break;
    }
    for (char c : word.substr(1)) {
      if (c == 'n') newline = false;
      if (c == 'e') escapes = true;
      if (c == 'E') escapes = false;
    }
  }
  for (size_t first = i; i < words.size(); ++i) {
    if (i > first) text += ' ';
    text += words[i];
  }
  if (escapes) {
    bool stop = false;
    text = ExpandEchoEscapes(text, &stop);
    if (stop) newline = false;
  }
  if (newline) text += '\n';
  return text;
}

// What basename and dirname print of one path; nullopt for other words.
std::optional<std::string> PartOfPath(OutputModel model,
                                      const std::vector<std::string>& words) {
  if (words.size() < 2 || words.size() > 3 || words[1].starts_with("-"))
    return std::nullopt;
  const std::string& path = words[1];
  if (path.empty() || path.find_last_not_of('/') == std::string::npos ||
      path.ends_with("/")) {
    return std::nullopt;
  }
  const size_t slash = path.rfind('/');
  if (model == OutputModel::kDirectoryPart) {
    if (words.size() > 2) return std::nullopt;
    std::string head = slash == std::string::npos ? "." : path.substr(0, slash);
    while (head.ends_with("/")) head.pop_back();
    return (head.empty() ? "/" : head) + "\n";
  }
  std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (words.size() == 3 && name != words[2] && name.ends_with(words[2]))
    name.resize(name.size() - words[2].size());
  return name + "\n";
}

}  // namespace

Values Evaluator::FilterOutput(Shell& shell, const ProgramCall& call,
                               OutputModel model, const Values& input,
                               bool reads_stdin, bool* seen) {
  bool ignored = false;
  if (seen == nullptr) seen = &ignored;
  *seen = false;
  std::optional<std::vector<std::string>> words = KnownWords(call.argv);
  if (!words) return {};
  if (model == OutputModel::kFormat) {
    if (words->size() < 2) return {};
    std::optional<std::string> text =
        builtins::PrintfOutput({words->begin() + 1, words->end()});
    if (!text) return {};
    return {Value::Of(*text)};
  }
  if (model == OutputModel::kWords) return {Value::Of(EchoOutput(*words))};
  if (model == OutputModel::kInput) return input;
  if (model == OutputModel::kLastPart || model == OutputModel::kDirectoryPart) {
    if (auto part = PartOfPath(model, *words)) return {Value::Of(*part)};
    return {};
  }
  if (PrintsNumber(model, *words, reads_stdin)) {
    Value number =
        Value::Unknown(UnknownCode::kDynamicArgument, call.span, true);
    number.Append("\n");
    return {number};
  }
  if (!IsFilter(model)) return {};
  // Operands that are files of which the text is known are read instead.
  Values text = input;
  std::vector<std::string> rest = {(*words)[0]};
  const bool copies = model == OutputModel::kCopy;
  bool from_file = false;
  Values joined;
  for (size_t i = 1; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    std::string path = word;
    bool is_file = false;
    if (!word.starts_with("-") && word != "-") {
      if (!IsProcessPath(word)) {
        Argument argument;
        argument.text = word;
        std::vector<std::string> paths = KnownPaths(shell, argument);
        if (paths.size() == 1) path = paths[0];
      }
      is_file = shell.files.contains(path) || path == "/dev/stdin" ||
                path == "/dev/fd/0";
    }
    if (is_file || (word == "-" && copies)) {
      bool known = false;
      Values content =
          word == "-" ? input : ContentOf(shell, path, call.span, &known);
      joined = joined.empty() ? content : Concatenate(joined, content);
      if (from_file && !copies) return {};
      from_file = true;
    } else {
      rest.push_back(word);
    }
  }
  if (from_file) text = joined;
  if (!from_file && !reads_stdin && rest.size() > 1 && text.empty()) {
    *seen = true;
    return {};
  }
  return FilteredText(model, rest, text, seen);
}

// What the filter makes of each text that is known. `seen`: of none that the
// line shows, in whole or in part, it is unknown what becomes of it.
Values Evaluator::FilteredText(OutputModel model,
                               const std::vector<std::string>& words,
                               const Values& text, bool* seen) {
  Values out;
  *seen = true;
  for (const Value& value : text) {
    if (!value.known()) {
      *seen = *seen && value.chunks.size() == 1;
      continue;
    }
    std::optional<std::string> result;
    if (Spend(1 + value.text().size() / 64)) {
      result = RunFilter(model, words, value.text());
    }
    *seen = *seen && result;
    if (result)
      out = Union(out.empty() ? Values{Value::Of(*result)} : out,
                  {Value::Of(*result)});
  }
  return out;
}

// What `sed -i` leaves of a file that holds `content`.
Values Evaluator::EditedInPlace(const ProgramCall& call,
                                const ArgumentAnalysis& arguments,
                                const Values& content, bool* seen) {
  *seen = false;
  std::optional<std::vector<std::string>> words = KnownWords(call.argv);
  if (!words || arguments.output != OutputModel::kSedScript) return {};
  // Its files stand last.
  size_t count = words->size();
  while (count > 1 &&
         std::any_of(arguments.effects.begin(), arguments.effects.end(),
                     [&](const ArgumentEffect& effect) {
                       return effect.role == Role::kWrite &&
                              !effect.words.empty() &&
                              effect.words[0].text == (*words)[count - 1];
                     })) {
    --count;
  }
  std::vector<std::string> script = {(*words)[0]};
  for (size_t i = 1; i < count; ++i) {
    std::string word = (*words)[i];
    if (word.starts_with("-i") || word.starts_with("--i")) continue;
    if (word.size() > 2 && word[0] == '-' && word.back() == 'i' &&
        word.find_first_not_of("nEru", 1) == word.size() - 1) {
      word.pop_back();
    }
    script.push_back(word);
  }
  return FilteredText(arguments.output, script, content, seen);
}

}  // namespace gate::parser
