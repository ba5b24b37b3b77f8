// What the readers of the formats share. Internal to rules/import.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "rules/action.h"
#include "rules/import.h"

namespace gate::rules {

// The program that a glob of gate means; empty when it means several.
std::string ProgramOf(const std::string& glob);
// A name as a part of a JSON pointer.
std::string EscapePointer(const std::string& name);

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

  virtual ~Importer() = default;
  Importer(const Importer&) = delete;
  Importer& operator=(const Importer&) = delete;
  // Reads the whole text.
  virtual void Read() = 0;
  Imported Take() { return std::move(result_); }

 protected:
  void Refuse(size_t offset, std::string message, std::string help = {});
  void Note(size_t offset, std::string message);
  // Refuses and notes by line and column.
  void RefuseAt(size_t line, size_t column, std::string message,
                std::string help = {});
  void NoteAt(size_t line, size_t column, std::string message);
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
  void Add(const std::string& id, Action action, std::string reason, Json match,
           Json more = Json::object());

  std::string file_;
  std::string_view text_;
  Action allow_as_;
  Imported result_;
  std::set<std::string> ids_;  // taken by rules that are not added yet
};

struct ImportFormat {
  std::string_view name;  // as `gate rules import` calls it
  std::unique_ptr<Importer> (*make)(std::string file, std::string_view text,
                                    Action allow_as);
};
// A format whose reader is the class `Reader`.
template <typename Reader>
constexpr ImportFormat FormatOf(std::string_view name) {
  return {name,
          [](std::string file, std::string_view text,
             Action allow_as) -> std::unique_ptr<Importer> {
            return std::make_unique<Reader>(std::move(file), text, allow_as);
          }};
}

// One for each NAME.cc in this folder, but import.cc: NAME::Get().
std::span<const ImportFormat* (*const)()> AllImportFormats();

}  // namespace gate::rules
