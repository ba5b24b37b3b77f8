// Problems of a user's own files, with place and help.
//
// A Diagnostic is data inside a successful result: the loader did its work and
// found something to say. Rendered as  FILE:LINE:COLUMN: severity: message
// [CODE]  with an indented help line, which editors and CI understand.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gate {

enum class Severity : unsigned char { kNote, kWarning, kError };

const char* Name(Severity severity);

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code;     // stable, e.g. "rule-unknown-key"
  std::string file;     // as given; empty when there is none
  size_t line = 0;      // 1-based; 0 when the whole file is meant
  size_t column = 0;    // 1-based, in bytes
  std::string message;  // lower case, no final period, input in backticks
  std::string help;     // what to do; may be empty
};

bool HasErrors(const std::vector<Diagnostic>& diagnostics);

// One diagnostic as text, ending in a newline.
std::string Render(const Diagnostic& diagnostic);

}  // namespace gate
