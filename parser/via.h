// What makes a line run a command that does not stand in it as a command of its
// own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/span.h"

namespace gate::parser {

enum class ViaKind : uint8_t {
  // These have a name.
  kProgram,   // a program by its base name, a script by its path, or the
              // language of embedded code
  kCode,      // text in an argument of that shell
  kFound,     // find(1), for what it finds
  kFunction,  // of the line
  kTrap,      // by its signal
  kVariable,  // whose value is run: PS4, EDITOR
  // These have none.
  kSubstitution,
  kBackquotes,
  kProcessInput,
  kProcessOutput,
  kCoprocess,
  kAlias,
  kStartupFile,
  kExportedFunction,
  kEval,
  kSource,
  kExec,
  kCommand,
  kBuiltin,
  kDeclare,
  kJobs,
  kMapfile,
  kCompgen,
  kPossible,  // words that a program may take for a command
};
inline constexpr size_t kViaKinds = 24;

// One step of the chain from the line to a command.
struct Via {
  ViaKind kind = ViaKind::kProgram;
  std::string name = {};
  Span span = {};
};

struct ViaText {
  std::string_view before, after;  // the name
};

// In the order of ViaKind.
inline constexpr std::array<ViaText, kViaKinds> kViaTexts = {{
    {"", ""},
    {"", " -c"},
    {"", " -exec"},
    {"function ", ""},
    {"trap ", ""},
    {"", ""},
    {"$(…)", ""},
    {"`…`", ""},
    {"<(…)", ""},
    {">(…)", ""},
    {"coproc", ""},
    {"alias", ""},
    {"start-up file", ""},
    {"BASH_FUNC", ""},
    {"eval", ""},
    {"source", ""},
    {"exec", ""},
    {"command", ""},
    {"builtin", ""},
    {"declare", ""},
    {"jobs -x", ""},
    {"mapfile -C", ""},
    {"compgen -C", ""},
    {"possible", ""},
}};
static_assert(static_cast<size_t>(ViaKind::kPossible) + 1 == kViaKinds);

// What rules, JSON and people call it: "sudo", "bash -c", "$(…)".
inline std::string Name(const Via& via) {
  const ViaText& text = kViaTexts[static_cast<size_t>(via.kind)];
  std::string name(text.before);
  name += via.name;
  name += text.after;
  return name;
}

// The first word of that: the program or builtin that starts it.
inline std::string_view StarterOf(const Via& via) {
  const std::string_view before =
      kViaTexts[static_cast<size_t>(via.kind)].before;
  const std::string_view word = before.empty() ? via.name : before;
  return word.substr(0, word.find(' '));
}

}  // namespace gate::parser
