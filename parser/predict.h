// The prediction of `gate parse --batch`: what a line's text makes the shell
// and the wrappers that gate knows start, in the format that is compared with
// what bash did.
#pragma once

#include <string>
#include <string_view>

#include "parser/analysis.h"

namespace gate::parser {

// One JSON object, without a newline:
// {"id":ID,"commands":[{"argv":[string|null,…]}],"writes":[string|null,…],
//  "dynamic":bool,"parse_error":bool,"reasons":[string,…]}.
// `id` is JSON text and stands as it is. null stands for any number of words;
// a word with unquoted pattern characters stands as its pattern. Never fails.
std::string PredictionToJson(const Analysis& analysis, std::string_view id);

// The prediction for an input line that could not be read: nothing listed, both
// flags set.
std::string UnreadablePrediction(std::string_view id);

}  // namespace gate::parser
