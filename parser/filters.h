// What ordinary filters print for literal input: base64 -d, rev, tr, cut, …
//
// Used to see through text that is decoded on its way to a shell. Each is the
// program's documented behaviour for the options named in filters.cc; any
// other option gives nullopt, never a guess.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gate::parser {

// Most bytes a filter may print.
inline constexpr size_t kMaxFilterBytes = 256 * 1024;

// What `argv` prints for `input` on its standard input; nullopt when that is
// not known. argv[0] is the base name. Pure and bounded.
std::optional<std::string> RunFilter(const std::vector<std::string>& argv,
                                     std::string_view input);

// True when `program` is one that RunFilter knows at all.
bool IsFilter(std::string_view program);

}  // namespace gate::parser
