// Abstract strings: what the evaluator knows of a value.
//
// A Value is a sequence of known text and unknown parts. A Values is a small
// set of Values, one of which is the real one: branches that assign different
// constants, and results of programs that are taken at their word together
// with "anything else". Sets are bounded; beyond the bound they become one
// Value that is an unknown part.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "parser/analysis.h"

namespace gate::parser {

// Most alternatives of one value, and of one expanded command.
inline constexpr size_t kMaxAlternatives = 8;
// Longest value that is kept; a longer one becomes an unknown part.
inline constexpr size_t kMaxValueBytes = 256 * 1024;

struct Chunk {
  std::string text;  // known text; empty for an unknown part
  bool unknown = false;
  // An unknown part of digits only ($$, $?, $#, an arithmetic result): never
  // splits, never a pattern, never empty.
  bool digits = false;
  UnknownCode code = UnknownCode::kDynamicArgument;  // of an unknown part
  Span span;  // of an unknown part, in the line's source

  friend bool operator==(const Chunk&, const Chunk&) = default;
};

struct Value {
  std::vector<Chunk> chunks;  // no two neighbours known; none empty

  static Value Of(std::string text);
  static Value Unknown(UnknownCode code, Span span, bool digits = false);

  bool known() const;
  // The text of a known value (empty when there are no chunks).
  std::string_view text() const;
  std::string Prefix() const;  // known text before the first unknown part
  std::string Suffix() const;  // known text after the last unknown part
  void Append(std::string_view text);
  void Append(const Value& other);

  friend bool operator==(const Value&, const Value&) = default;
};

// 1..kMaxAlternatives values without duplicates; front() is the most likely.
using Values = std::vector<Value>;

// One value that stands for any of `values` (at least one): an unknown part
// between what all of them begin and end with.
Value OneOf(const Values& values);
// The union, bounded.
Values Union(const Values& a, const Values& b);
// Every a followed by every b, bounded.
Values Concatenate(const Values& a, const Values& b);

// One word of an expanded command line.
struct Field {
  Value value;
  bool glob = false;    // has unquoted glob characters: the value is a pattern
                        // (quoted glob characters are escaped by a backslash
                        // in `pattern`, not in `value`)
  std::string pattern;  // when glob and known: as fnmatch reads it
  bool splits = false;  // holds an unquoted unknown part: any number of words
  Span span;
};
using Fields = std::vector<Field>;

}  // namespace gate::parser
