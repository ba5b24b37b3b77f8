// What people are told of a decision, wherever they are asked: the command
// line, a client, a stored question.
#pragma once

#include <string>

#include "gateway/gateway.h"

namespace gate::app {

// The shortest safe way on for a command that was stopped: what the deciding
// rule suggests, else what helps against the reason.
std::string WayOn(const Authorization& authorization);

// What a yes to an ask lets it do, as the end of a sentence that begins "it
// may run" or "it runs".
std::string AfterYes(const Authorization& authorization);
// What a yes to no more than the sandbox lets it do.
inline constexpr const char* kRunsInSandbox =
    "in a sandbox that changes nothing outside the workspace and package "
    "caches: what is to change elsewhere, the person runs";

}  // namespace gate::app
