// What code in other languages does to files and hosts, as far as its calls
// say so with literals. Names built from parts are not found, so such code is
// never taken for harmless. Internal to the evaluator.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "parser/eval/evaluate.h"

namespace gate::parser {

// A string literal at `at` of `code`; its value, and `*end` after it. Literals
// that hold a character of `interpolated` between double quotes, or unusual
// escapes, are not read. (foreign.cc)
std::optional<std::string> EmbeddedLiteral(std::string_view code, size_t at,
                                           std::string_view interpolated,
                                           size_t* end);

// Adds to `out` what the calls of `code` read, write, delete, move and reach.
// A path that is computed becomes each literal of the code that looks like a
// path, or an effect without a path when there is none. Languages that gate
// does not know add nothing. (foreign_files.cc)
void ScanEmbeddedFiles(Language language, std::string_view code,
                       EmbeddedCode* out);

}  // namespace gate::parser
