// What ordinary filters print for literal input: base64 -d, rev, tr, cut, …
//
// Used to see through text that is decoded on its way to a shell. Each is the
// program's documented behaviour for a part of its options; any other option,
// and input whose result depends on the locale or the program's version
// (mostly: bytes that are not ASCII, input that the program would complain
// of), gives nullopt, never a guess. tests/parser/filters_test.cc compares
// them with the real programs.
//
// Descriptions say which program is which filter (`output`, docs/programs.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parser/models.h"

namespace gate::parser {

// Most bytes a filter may print.
inline constexpr size_t kMaxFilterBytes = 256 * 1024;

// What a program of that model prints for `input` on its standard input;
// nullopt when that is not known, or the model is no filter. argv[0] is not
// looked at. Pure and bounded. What kEndlessLine gives is the beginning, whole
// lines up to kMaxFilterBytes: the whole only where a `head` takes less.
std::optional<std::string> RunFilter(OutputModel model,
                                     const std::vector<std::string>& argv,
                                     std::string_view input);

}  // namespace gate::parser
