// Rules of other tools -> a rule file of gate.
//
// Faithful or not at all: what cannot be said in gate's language as it stands
// is a problem with its line, never dropped and never loosened. Gate's own
// semantics stay (strictest wins, docs/rules.md); an order that mattered in
// the other tool becomes `unless`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/json.h"
#include "rules/action.h"

namespace gate::rules {

// A tool's format. Each is one file in rules/import, found by its name when the
// build is configured.
struct ImportFormat;
// Null for a name that no format has. Static lifetime.
const ImportFormat* ParseImportFormat(std::string_view name);
// In the order of their files.
std::vector<std::string> ImportFormatNames();

struct Imported {
  std::vector<Json> rules;
  // Errors: refused, with line. Notes: what is not about commands and stays
  // where it is.
  std::vector<Diagnostic> diagnostics;
};

// `allow_as`: what an allow of the other tool becomes, allow or sandbox.
Imported ImportRules(const ImportFormat& format, const std::string& file,
                     std::string_view text, Action allow_as);

// The whole file for `imported`, readable.
std::string ImportedFile(std::string_view pack, const Imported& imported);

}  // namespace gate::rules
