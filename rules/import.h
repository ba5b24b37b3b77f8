// Rules of other tools -> a rule file of gate.
//
// Faithful or not at all: what cannot be said in gate's language as it stands
// is a problem with its line, never dropped and never loosened. Gate's own
// semantics stay (strictest wins, docs/rules.md); an order that mattered in
// the other tool becomes `unless`.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/json.h"
#include "rules/action.h"

namespace gate::rules {

struct DataValue;  // rules/data.h

enum class ImportFormat : uint8_t {
  kCodex,
  kClaude,
  kGemini,
  kOpencode,
  kDcg,
  kSafetyNet,
};
std::optional<ImportFormat> ParseImportFormat(std::string_view name);

struct Imported {
  std::vector<Json> rules;
  // Errors: refused, with line. Notes: what is not about commands and stays
  // where it is.
  std::vector<Diagnostic> diagnostics;
};

// `allow_as`: what an allow of the other tool becomes, allow or sandbox.
Imported ImportRules(ImportFormat format, const std::string& file,
                     std::string_view text, Action allow_as);

// The whole file for `imported`, readable.
std::string ImportedFile(std::string_view pack, const Imported& imported);

// --- For the readers of the formats ---

// Whether no command can begin with `word` as gate sees it: an assignment, or
// a word of the shell's grammar. What another tool says of such a text would
// never match here.
bool IsNoProgram(std::string_view word);

// What of a regex speaks of text that gate has resolved before it matches
// (quotes, operators, `~`, `$X`, assignments), or means something else to RE2.
// Empty: nothing.
std::string EmbeddedIn(std::string_view regex);

class Importer {
 public:
  Importer(std::string file, std::string_view text, Action allow_as)
      : file_(std::move(file)), text_(text), allow_as_(allow_as) {}

  void Codex();
  void Claude();
  void Gemini();
  void Dcg();
  void Opencode();
  void SafetyNet();
  Imported Take() { return std::move(result_); }

 private:
  void Refuse(size_t offset, std::string message, std::string help = {});
  void Note(size_t offset, std::string message);
  // Refuses and notes by line and column.
  void RefuseAt(size_t line, size_t column, std::string message,
                std::string help = {});
  void NoteAt(size_t line, size_t column, std::string message);
  void GeminiSettings();                // import_gemini.cc
  void DcgPack(const DataValue& pack);  // import_dcg.cc
  void DcgSettings(const DataValue& settings);
  // The byte of the value that JSON pointer `pointer` names.
  size_t At(const std::string& pointer) const;
  // An id that no rule has yet, made of `words`.
  std::string Id(std::string_view prefix, std::string_view words);
  // Reads the text as JSON; refuses it otherwise.
  std::optional<Json> ReadJson();
  // `pattern` (with `*`, and `?` when `question`) as a glob of gate; nothing,
  // after refusing, when gate matches another text than the other tool.
  std::optional<std::string> GlobOf(size_t offset, const std::string& pattern,
                                    bool question, Action action);
  // Refuses what opencode says of the shell anywhere but in permission.bash.
  void OpencodeElsewhere(const Json& settings);
  void Add(const std::string& id, Action action, std::string reason, Json match,
           Json more = Json::object());

  std::string file_;
  std::string_view text_;
  Action allow_as_;
  Imported result_;
  std::set<std::string> ids_;  // taken by rules that are not added yet
};

}  // namespace gate::rules
