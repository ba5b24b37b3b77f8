// What an Analysis says, as lines of text for tables.
#pragma once

#include <algorithm>
#include <set>
#include <string>

#include "base/text.h"
#include "parser/analysis.h"

namespace gate::parser {

inline Context TestContext() {
  Context context;
  context.cwd = "/w";
  context.home = "/home/u";
  context.user = "u";
  context.path = "/usr/bin:/bin";
  return context;
}

inline std::string Show(const Argument& word) {
  if (word.known)
    return word.glob ? "<" + word.text + ">" : ShellQuote(word.text);
  return word.text + "?" + word.suffix;
}

// One invocation a line: words, `[via > via]`; builtins are left out unless
// asked for; unknowns that hide commands follow as `!code`.
inline std::string Show(const Analysis& analysis, bool builtins = false) {
  std::string out;
  for (const Invocation& invocation : analysis.invocations) {
    if (invocation.builtin && !builtins) continue;
    std::string line;
    for (const Argument& word : invocation.argv) {
      if (!line.empty()) line += ' ';
      line += Show(word);
    }
    std::string via;
    for (const Via& step : invocation.via) {
      if (!via.empty()) via += " > ";
      via += Name(step);
    }
    if (!via.empty()) line += " [" + via + "]";
    out += line + "\n";
  }
  std::set<std::string> codes;
  for (const Unknown& unknown : analysis.unknowns) {
    if (HidesCommands(unknown.code)) codes.insert(Name(unknown.code));
  }
  for (const std::string& code : codes) out += "!" + code + "\n";
  return out;
}

inline std::string ShowLine(std::string_view line) {
  return Show(Analyze(line, TestContext()));
}

// Names and arguments only: without via.
inline std::string Commands(std::string_view line) {
  Analysis analysis = Analyze(line, TestContext());
  for (Invocation& invocation : analysis.invocations) invocation.via.clear();
  return Show(analysis);
}

struct Case {
  const char* line;
  const char* expected;
};

}  // namespace gate::parser
