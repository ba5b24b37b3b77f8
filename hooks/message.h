// Reading a client's JSON event, and the parts of an answer that clients share.
// Internal to hooks/.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "hooks/adapter.h"

namespace gate::hooks {

// The event as an object. kTooLarge beyond kMaxInputBytes; kInvalid for what
// is not one JSON object with every key once and well-formed UTF-8.
Result<Json> ParseEvent(std::string_view text);

// The member `key` of `object` as a string without NUL. kInvalid when it is
// missing or something else.
Result<std::string> RequireText(const Json& object, const char* key);

// As RequireText, but empty when it is missing or null.
Result<std::string> OptionalText(const Json& object, const char* key);

// `cwd` of an event: empty, or absolute.
Result<std::string> EventDirectory(const Json& object);

// The command of a shell tool's input: a string under one of `keys`, or an
// array of strings, of which each is quoted as one word. kInvalid when there is
// none or it is empty.
Result<std::string> ShellCommand(const Json& input,
                                 std::initializer_list<const char*> keys);

// Whether a tool of the client that gate does not know is taken for one that
// runs a shell: its input has a string `command`, and it is no MCP server's.
bool MayRunAShell(std::string_view tool, const Json& input);

// A refusal that every client takes: exit 2, the reason on stderr.
Output RefuseWith(const Event& event, const Answer& answer);

// The reason in one form for people and models: no control characters, never
// empty.
std::string ReasonText(const Answer& answer);

}  // namespace gate::hooks
