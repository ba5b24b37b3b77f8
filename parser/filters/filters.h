// What ordinary filters print for literal input: base64 -d, rev, tr, cut, …
//
// Used to see through text that is decoded on its way to a shell. Each is the
// program's documented behaviour for a part of its options; any other option,
// and input whose result depends on the locale or the program's version
// (mostly: bytes that are not ASCII, input that the program would complain
// of), gives nullopt, never a guess. tests/parser/filters_test.cc compares
// them with the real programs.
//
// Known: awk base32 base64 cat cut echo fold grep gunzip gzip head openssl
// paste printf rev sed seq sort tac tail tee tr uniq xxd yes zcat.
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

// True for `yes`, which prints until its reader closes the pipe: what
// RunFilter gives is the beginning, whole lines up to kMaxFilterBytes, and
// stands for the whole only where a `head` follows that takes less.
bool IsEndless(const std::vector<std::string>& argv);

}  // namespace gate::parser
