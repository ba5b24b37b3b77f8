// Running the examples of descriptions.

#include "parser/programs/examples.h"

#include <algorithm>

#include "base/text.h"
#include "parser/programs.h"

namespace gate::parser::programs {

std::vector<ExampleWord> ExampleWords(std::string_view line) {
  std::vector<ExampleWord> words;
  ExampleWord word;
  bool open = false, quoted = false;
  bool in_double = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quoted) {
      if (c == '\'') {
        quoted = false;
      } else {
        word.text += c;
      }
      continue;
    }
    if (c == '\'' && !in_double) {
      quoted = open = true;
      continue;
    }
    if (c == '"') {
      in_double = !in_double;
      open = true;
      continue;
    }
    if (c == ' ' && !in_double) {
      if (open) words.push_back(std::move(word));
      word = {};
      open = false;
      continue;
    }
    open = true;
    if (c == '$') {
      word.known = false;
      word.splits |= !in_double;
      while (i + 1 < line.size() && line[i + 1] >= 'a' && line[i + 1] <= 'z') {
        ++i;
      }
      continue;
    }
    if (c == '*' && !in_double) word.glob = true;
    word.text += c;
  }
  if (open) words.push_back(std::move(word));
  return words;
}

namespace {

struct Runner {
  std::string_view image;
  const std::string& file;
  std::string_view text;
  std::vector<Diagnostic>* diagnostics;

  void Report(const std::string& pointer, std::string message) const {
    Diagnostic d;
    d.code = "program-example";
    d.file = file;
    const LineColumn at = Locate(text, LocatePointer(text, pointer));
    d.line = at.line;
    d.column = at.column;
    d.message = std::move(message);
    diagnostics->push_back(std::move(d));
  }

  static std::string Joined(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) {
      all += all.empty() ? "" : " | ";
      all += line;
    }
    return all.empty() ? "nothing" : all;
  }

  // "[act look, possible secret]"
  static std::string ActsAsText(const ActsRead& acts) {
    std::string text;
    for (int k = 0; k < kActKinds; ++k) {
      const uint16_t bit = Bit(static_cast<Act>(k));
      if ((acts.possible & bit) == 0) continue;
      text += text.empty() ? " " : ", ";
      if ((acts.certain & bit) == 0) text += "possible ";
      text += Name(static_cast<Act>(k));
    }
    return "[act" + text + "]";
  }

  void Run(const std::string& line, const Json& expect,
           const std::string& pointer) const {
    std::vector<Argument> argv;
    for (ExampleWord& word : ExampleWords(line)) {
      Argument argument;
      argument.text = std::move(word.text);
      argument.known = word.known;
      argument.splits = word.splits;
      argument.glob = word.glob;
      argv.push_back(std::move(argument));
    }
    const ArgumentAnalysis arguments = ReadArgumentsWith(image, argv);
    std::vector<std::string> given = Describe(arguments);
    // Lines in brackets say more than argument effects.
    std::vector<std::string> wanted;
    bool incomplete = false;
    for (const Json& item : expect) {
      std::string text_of = item.is_string() ? item.get<std::string>() : "?";
      if (text_of == "[incomplete]") {
        incomplete = true;
        continue;
      }
      if (text_of.starts_with("[")) {
        Fact(line, arguments, text_of, pointer);
        continue;
      }
      wanted.push_back(std::move(text_of));
    }
    if (!arguments.known) {
      Report(pointer, "`" + line + "`: not a described program");
      return;
    }
    if (incomplete == arguments.complete) {
      Report(pointer, "`" + line + "`: the reading is " +
                          (arguments.complete ? "complete" : "not complete"));
    }
    std::sort(wanted.begin(), wanted.end());
    if (wanted != given) {
      Report(pointer, "`" + line + "` should give " + Joined(wanted) +
                          "; gives " + Joined(given));
    }
  }

  void Fact(const std::string& line, const ArgumentAnalysis& arguments,
            const std::string& fact, const std::string& pointer) const {
    bool holds = false;
    if (fact == "[reads stdin]") {
      holds = arguments.reads_stdin;
    } else if (fact == "[no stdin]") {
      holds = !arguments.reads_stdin;
    } else if (fact == "[prints input]") {
      holds = arguments.prints_input;
    } else if (fact == "[prints network]") {
      holds = arguments.prints_network;
    } else if (fact == "[decodes]") {
      holds = arguments.decodes;
    } else if (fact.starts_with("[sub ")) {
      std::string all;
      for (const std::string& word : arguments.subcommand) all += " " + word;
      holds = "[sub" + all + "]" == fact;
    } else if (fact.starts_with("[act")) {
      holds = ActsAsText(arguments.acts) == fact;
      if (!holds)
        Report(pointer, "`" + line + "`: " + ActsAsText(arguments.acts));
    } else if (fact.starts_with("[redirects ")) {
      std::string all = "[redirects";
      for (int k = 0; k < kRedirectKinds; ++k)
        if ((arguments.acts.redirects >> k & 1) != 0)
          all += std::string(" ") + Name(static_cast<RedirectTo>(k));
      holds = all + "]" == fact;
    } else if (fact.starts_with("[option ")) {
      holds = std::any_of(
          arguments.options.begin(), arguments.options.end(),
          [&](std::string_view option) {
            return "[option " + std::string(CanonicalName(option)) + "]" ==
                   fact;
          });
    }
    if (!holds) Report(pointer, "`" + line + "`: not so: " + fact);
  }

  void Node(const Json& node, const std::string& pointer, int depth) const {
    if (!node.is_object() || depth > 16) return;
    if (node.contains("examples")) {
      const std::string where = pointer + "/examples";
      if (!node["examples"].is_object()) {
        return Report(where, "expected an object of lines");
      }
      for (const auto& [line, expect] : node["examples"].items()) {
        Run(line, expect, where);
      }
    }
    if (!node.contains("commands")) return;
    for (const auto& [name, child] : node["commands"].items()) {
      Node(child, pointer + "/commands/" + name, depth + 1);
    }
  }
};

}  // namespace

void RunExamples(std::string_view image, const std::string& file,
                 std::string_view text, const Json& json,
                 std::vector<Diagnostic>* diagnostics) {
  const Runner runner{image, file, text, diagnostics};
  if (!json.is_object() || !json.contains("programs")) return;
  const Json& programs = json["programs"];
  for (size_t k = 0; k < programs.size(); ++k) {
    runner.Node(programs[k], "/programs/" + std::to_string(k), 0);
  }
}

}  // namespace gate::parser::programs
