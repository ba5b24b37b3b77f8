// Variables that bash itself sets, whatever the line assigned to them.
#pragma once

#include <cstdint>
#include <string_view>

namespace gate::parser {

enum class SpecialKind : uint8_t {
  kOrdinary,
  kDigits,     // always a number (RANDOM, LINENO)
  kNumbers,    // an array of numbers, of which the first exists (PIPESTATUS)
  kText,       // not followed (BASH_COMMAND, FUNCNAME)
  kZero,       // an assignment sets $0
  kCommands,   // elements make names mean other programs or text
  kTruncates,  // an assignment shortens a file
  kBehaviour,  // an assignment changes how bash reads and expands
};

struct Special {
  std::string_view name;
  SpecialKind kind = SpecialKind::kOrdinary;
  bool integer = false;   // assignments are evaluated as arithmetic
  bool readonly = false;  // assignments fail
};

// kind kOrdinary for an ordinary name.
const Special& FindSpecial(std::string_view name);

}  // namespace gate::parser
