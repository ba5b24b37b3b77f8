// The environment of a program that works outside in the person's name.
#pragma once

#include <string>
#include <vector>

#include "facts/process_facts.h"

namespace gate::app {

// What ssh and gpg need of gate's own environment, which the agent's shell may
// have made, to find the person's keys and agents, with `path` as PATH. None of
// it names a program, and no socket that a sandboxed command could serve is an
// agent.
std::vector<std::string> PersonsEnvironment(
    const ProcessFacts& facts, const std::string& path,
    const std::vector<std::string>& writable);

// What a program needs to ask the person for a passphrase on their own screen,
// beside the others: X11's local display, Wayland's.
std::vector<std::string> PersonsDisplay(
    const ProcessFacts& facts, const std::vector<std::string>& writable);

}  // namespace gate::app
