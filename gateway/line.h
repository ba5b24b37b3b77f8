// A question as one line of text, for people and for the record, and what that
// line would do.
#pragma once

#include <optional>
#include <string>

#include "gateway/gateway.h"

namespace gate::app {

// The command line, the argument vector quoted for a shell, or what the
// agent's file tool writes.
std::string LineOf(const Request& request);

// What the line of `authorization` would do: the authorization's own analysis,
// or for a ticket's line, which was judged elsewhere, `*again`, into which it
// is read (a millisecond) unless it was before.
const parser::Analysis& AnalysisOf(const ProcessFacts& facts,
                                   const Authorization& authorization,
                                   std::optional<parser::Analysis>* again);

}  // namespace gate::app
