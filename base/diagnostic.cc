#include "base/diagnostic.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gate {
namespace {

constexpr std::array kSeverityNames = {"note", "warning", "error"};
static_assert(kSeverityNames.size() ==
              static_cast<size_t>(Severity::kError) + 1);

}  // namespace

const char* Name(Severity severity) {
  return kSeverityNames[static_cast<size_t>(severity)];
}

bool HasErrors(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(
      diagnostics.begin(), diagnostics.end(),
      [](const Diagnostic& d) { return d.severity == Severity::kError; });
}

std::string Render(const Diagnostic& diagnostic) {
  // Everything here may quote a hostile file, so it is made visible.
  std::string out;
  if (!diagnostic.file.empty()) {
    out += Visible(diagnostic.file) + ":";
    if (diagnostic.line > 0) {
      out += std::to_string(diagnostic.line) + ":";
      if (diagnostic.column > 0) out += std::to_string(diagnostic.column) + ":";
    }
    out += " ";
  }
  out += Name(diagnostic.severity);
  out += ": " + Visible(diagnostic.message);
  if (!diagnostic.code.empty()) out += " [" + Visible(diagnostic.code) + "]";
  out += "\n";
  if (!diagnostic.help.empty())
    out += "    help: " + Visible(diagnostic.help) + "\n";
  return out;
}

}  // namespace gate
