// Who holds the other end of a pseudo-terminal.
//
// What is typed on a terminal comes from the process that made it: a terminal
// program, an ssh daemon, a multiplexer for a person; the agent itself for an
// agent that gate knows no name of.
#pragma once

#include <string>
#include <vector>

#include "hooks/person.h"

namespace gate::hooks {

// Why the maker of the terminal of `chain`'s first process is none that a
// person types into; empty when nothing speaks against it, also when none of
// `chain`, the ancestors from the nearest on, holds it.
std::string ObjectToMaker(const ProcessSource& source,
                          const std::vector<ProcessView>& chain);

// The real one, for ProcessSource::look.
Hold LookAtHolder(const ProcessView& process, long terminal);

}  // namespace gate::hooks
