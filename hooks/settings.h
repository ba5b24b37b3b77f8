// Editing a client's JSON settings. Internal to hooks/; pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace gate::hooks {

// The one entry of hooks.PreToolUse that gate owns.
struct HookEntry {
  std::string client;  // as in `gate hook CLIENT`
  std::string matcher;
  std::string command;  // the guard line
  int timeout_s = 15;
  bool block_on_failure = false;  // writes "onFailure": "block"
};

// `text` (a settings file; white space counts as {}) with exactly this entry of
// gate's, everything else as it was: keys keep their order, indentation is
// kept. kInvalid when the text is not valid JSON, when its hooks have another
// shape than the client's, or when it switches hooks off.
Result<std::string> WithHook(std::string_view text, const HookEntry& entry);

// `text` without any entry of gate's for `client`, and without what that leaves
// empty.
Result<std::string> WithoutHook(std::string_view text, std::string_view client);

}  // namespace gate::hooks
