// Shared by filters_*.cc: one function a program, and what they need.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gate::parser::filters {

using Argv = std::vector<std::string>;
using Output = std::optional<std::string>;

Output Awk(const Argv& argv, std::string_view input);
Output Base32(const Argv& argv, std::string_view input);
Output Base64(const Argv& argv, std::string_view input);
Output Cat(const Argv& argv, std::string_view input);
Output Cut(const Argv& argv, std::string_view input);
Output Echo(const Argv& argv, std::string_view input);
Output Fold(const Argv& argv, std::string_view input);
Output Grep(const Argv& argv, std::string_view input);
Output Gunzip(const Argv& argv, std::string_view input);
Output Gzip(const Argv& argv, std::string_view input);
Output Head(const Argv& argv, std::string_view input);
Output Openssl(const Argv& argv, std::string_view input);
Output Paste(const Argv& argv, std::string_view input);
Output Printf(const Argv& argv, std::string_view input);
Output Rev(const Argv& argv, std::string_view input);
Output Sed(const Argv& argv, std::string_view input);
Output Seq(const Argv& argv, std::string_view input);
Output Sort(const Argv& argv, std::string_view input);
Output Tac(const Argv& argv, std::string_view input);
Output Tail(const Argv& argv, std::string_view input);
Output Tee(const Argv& argv, std::string_view input);
Output Tr(const Argv& argv, std::string_view input);
Output Uniq(const Argv& argv, std::string_view input);
Output Xxd(const Argv& argv, std::string_view input);
Output Yes(const Argv& argv, std::string_view input);

// Options as getopt_long reads them.
struct Parsed {
  std::vector<std::pair<char, std::string>> options;
  std::vector<std::string> operands;

  bool Has(char option) const;
  // The last value given; nullptr when there is none.
  const std::string* Value(char option) const;
};

// `shorts` as getopt's string ("n:c:q"); `longs` are all long options of the
// program but help and version (so that abbreviations are judged right), with
// the short letter that they stand for where they are supported: "lines=n
// verbose". False for anything else.
// `posix`: options end at the first operand.
bool Parse(const Argv& argv, std::string_view shorts, std::string_view longs,
           Parsed* parsed, bool posix = false);

// True when the operands say "standard input" and nothing else.
bool OnlyStdin(const Parsed& parsed);

// Lines with their newlines; the last may have none.
std::vector<std::string_view> Lines(std::string_view text);
std::string_view WithoutNewline(std::string_view line);

bool IsAscii(std::string_view text);  // also no NUL
// Digits only, below 10^9.
bool ParseCount(std::string_view text, size_t* value);

}  // namespace gate::parser::filters
