// Variables by what they do: what environment.cc decides with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gate::backends {

// Pure, all of them.
bool IsVariableName(std::string_view name);
// Makes a shell mean something else by a line that it is given.
bool ChangesTheShell(std::string_view name);
// Makes some program run other code or read another configuration, whatever the
// value is. What changes the shell does.
bool RunsOtherCode(std::string_view name);
// Begins as names do of which no list can be whole (LD_, OP_SESSION_).
bool HasClosedPrefix(std::string_view name);
// For a variable that names a program, or options by which one runs code:
// whether the value is one of the harmless ones. Nothing for other variables.
std::optional<bool> IsHarmlessProgram(std::string_view name,
                                      std::string_view value);
// Leads to the host: sockets, engines, credentials, places that are not the
// same inside.
bool IsDoor(std::string_view name);
// Says where temporary files go: TMPDIR and its kin, host channels as well.
bool NamesTemporaryPlace(std::string_view name);
bool LooksSecret(std::string_view name, std::string_view value);

// Whether bash reads a line under these as gate does (base/locale.h): no name
// of a locale chooses another charset, and none is looked for elsewhere.
bool HasSafeLocale(const std::vector<std::string>& environment);
// C.UTF-8 in place of every locale that is not safe. Every command gets this,
// whoever has approved it: what was approved is the line as gate reads it.
void MakeLocaleSafe(std::vector<std::string>* environment);

// `place` alone says where temporary files go.
void SetTemporaryPlace(const std::string& place,
                       std::vector<std::string>* environment);

// For a command that runs as it is. What was judged is the line, so nothing
// stays by which the shell means something else by it; of a line that nobody
// was asked about (`approved` false) nor what makes one of its programs run
// other code.
std::vector<std::string> RawEnvironment(
    const std::vector<std::string>& environment, bool approved);

}  // namespace gate::backends
