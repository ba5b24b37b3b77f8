// The examples that stand in the descriptions are tests of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/json.h"

namespace gate::parser::programs {

// Reads every example of `json` by `image`; one that does not give what it
// says becomes a diagnostic that tells what it gave.
void RunExamples(std::string_view image, const std::string& file,
                 std::string_view text, const Json& json,
                 std::vector<Diagnostic>* diagnostics);

// An example's words: blanks separate, single quotes group; `$x` is a word
// that is not known and splits, `"$x"` one that is not known, `pre$x` one of
// which the beginning is known; `*` in a word makes it a pattern.
std::vector<struct ExampleWord> ExampleWords(std::string_view line);
struct ExampleWord {
  std::string text;
  bool known = true;
  bool splits = false;
  bool glob = false;
};

}  // namespace gate::parser::programs
