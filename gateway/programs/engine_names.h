// Does a name in a container line stand for a part of this machine?
//
// A volume is a directory of the engine's, or any directory of this machine
// when it was made with options; a network can be the machine's own; a
// container that is entered or started again may have been given either, or the
// rights of root. Only the engine knows, so it is asked right before the line
// runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "facts/process_facts.h"
#include "gateway/programs/engine_socket.h"
#include "parser/analysis.h"

namespace gate::app {

// A person waits for each command: what an engine has not said by then about
// all names of a line is not known.
inline constexpr uint64_t kEnginePatienceMs = 150;
// More names on one line are not looked at.
inline constexpr size_t kMaxEngineNames = 8;

enum class EngineThing : uint8_t { kVolume, kNetwork, kContainer };

struct EngineName {
  EngineThing thing = EngineThing::kVolume;
  std::string name;
  std::string program;  // docker, podman
  bool operator==(const EngineName&) const = default;
};

// What container lines of `analysis` call volumes and networks, and the
// containers that they enter or start again.
struct EngineNames {
  std::vector<EngineName> names;  // each once, in order
  // Why they cannot be looked at, or are not all; empty when they can.
  std::string trouble;
};

// Reads what the descriptions say of the lines' options; no files. Nothing is
// in either member when no line names anything. `line` is the text that was
// analysed, empty for an argument vector: a shell that sets a variable on the
// way may make the client use another engine.
EngineNames FindEngineNames(const parser::Analysis& analysis,
                            const std::string& line);

// Why `answer` does not show that `name` is harmless: a volume of the local
// driver without options, a bridge network with settings known to stay inside
// the engine, or nothing (an engine makes a volume that is not there by its
// local driver, and starts nothing on a network that is not there), or a
// container without more rights than an engine gives by itself, with nothing of
// this machine mounted. Empty if it does.
std::string AnswerDoubt(const EngineName& name, const EngineAnswer& answer);

// Asks the engines that the line would use about `names`, in `patience_ms`
// together. Why one of them may be more than the engine's own, for people;
// empty when none is. The volumes and the network that a container has are
// asked about as well. At most kMaxEngineNames questions.
std::string EngineDoubt(const ProcessFacts& facts, const EngineNames& names,
                        const std::vector<std::string>& writable,
                        uint64_t patience_ms = kEnginePatienceMs);

// The reason to ask because of `names` when it was not possible to look.
std::string NotLookedAt(const EngineNames& names, const std::string& why);

}  // namespace gate::app
