// What code in another language was seen to do. Internal to the evaluator.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/analysis.h"
#include "parser/models.h"

namespace gate::parser {

// foreign.cc: commands that code in other languages starts.
struct EmbeddedCommand {
  bool shell = false;  // argv[0] is text for a shell
  std::vector<std::string> argv;
};
// What such code does to a file (`text` is its path) or a host (`text` is a
// URL, or empty).
struct EmbeddedEffect {
  EffectKind kind = EffectKind::kRead;
  std::string text;
  bool recursive = false;
  bool listens = false;
};
struct EmbeddedCode {
  std::vector<EmbeddedCommand> commands;
  std::vector<EmbeddedEffect> effects;
  bool unclear = false;   // it may start something else
  bool computed = false;  // it touches files whose names it computes
  // sed: what comes out may be more than what it read with parts left out,
  // put in, or replaced by what stands in the code.
  bool rewrites = false;
  std::vector<std::string> puts;  // sed: texts that it puts in, about
};
EmbeddedCode ScanEmbedded(Language language, std::string_view code);

}  // namespace gate::parser
