// Rule files of one layer -> one image (rules/rule.h).
//
// Used by the build for the shipped policy and at start for users' files.
// docs/rules.md is the manual of what is read here.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "rules/action.h"
#include "rules/rule.h"

namespace gate::rules {

struct SourceFile {
  std::string name;
  std::string_view text;
  bool trusted = false;  // of the project layer, by the user
};

struct CompileOptions {
  Layer layer = Layer::kUser;
  // Lists and classes that the files may use besides their own.
  const RuleView* known = nullptr;
  // Keeps examples in the image (for `rules test`, `rules show`).
  bool examples = true;
};

struct CompiledRules {
  std::string image;
  std::vector<Diagnostic> diagnostics;
  // A file has errors: its rules that loosen are left out, the rest is in.
  bool broken = false;
};

// Never fails. Linear in the text; about 2 us for a simple rule.
CompiledRules CompileRules(std::span<const SourceFile> files,
                           const CompileOptions& options);

}  // namespace gate::rules
