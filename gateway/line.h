// A question as one line of text, for people and for the record.
#pragma once

#include <string>

#include "gateway/gateway.h"

namespace gate::app {

// The command line, the argument vector quoted for a shell, or what the
// agent's file tool writes.
std::string LineOf(const Question& question);

}  // namespace gate::app
