// What the tests of imports share.
#pragma once

#include <gtest/gtest.h>

#include "rules/import.h"
#include "rules/policy.h"

namespace gate::rules {

inline Imported Import(const char* format, std::string_view text) {
  return ImportRules(*ParseImportFormat(format), "f", text, Action::kAllow);
}

inline size_t Errors(const Imported& imported) {
  size_t count = 0;
  for (const Diagnostic& diagnostic : imported.diagnostics)
    count += diagnostic.severity == Severity::kError ? 1 : 0;
  return count;
}

inline void ExpectLoads(const Imported& imported) {
  RuleFile file;
  file.name = "imported";
  file.layer = Layer::kUser;
  file.text = ImportedFile("p", imported);
  const Policy policy = MakePolicy({file}, true);
  for (const Diagnostic& diagnostic : policy.diagnostics())
    ADD_FAILURE() << Render(diagnostic) << file.text;
}

}  // namespace gate::rules
