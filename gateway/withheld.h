// What a contained line that failed was kept from, and what of any line ended
// with its run.
//
// An agent that meets a bare "Permission denied" looks for another way. So a
// line that ends with an error says, in at most three lines on stderr, what
// gate withheld that it names, and one next step that works. A server that was
// left in the background for a later line is missed only then: so where it
// ended with the line (gateway/lasting.h says where it goes on), that line says
// so.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.h"
#include "gateway/gateway.h"

namespace gate::app {

// Fills `withheld`, `hints` and `instead` of an outcome of `authorization`.
// `withheld` is what the line's own commands name, as the parser read them, and
// what the kernel counted; `hints` are guesses. Both stay empty where nothing
// of the line is withheld. Of a line that ended with 0 only what it left in the
// background counts: what the backend counted, else by the line's text, which
// is a guess. Reads the line again where the authorization is a ticket's; a
// millisecond at most, and nothing where a line ended with 0 and left nothing.
void FillWithheld(const ProcessFacts& facts, const Authorization& authorization,
                  backends::Outcome* outcome);

// Fills `withheld` and `instead` for a line of which something goes on, with
// what that is not given of this machine (Authorization::not_forwarded).
void FillNotForwarded(const Authorization& authorization,
                      backends::Outcome* outcome);

// The lines for stderr, at most three, without "gate: ". Text is escaped.
std::vector<std::string> WithheldLines(const backends::Outcome& outcome);

}  // namespace gate::app
