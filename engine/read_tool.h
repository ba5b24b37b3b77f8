// kReadTool of engine/stages.h: a tool of the agent that reads, searches or
// lists files by itself, out of any sandbox.
//
// Such a tool is judged as the shell line that would show the same. This stage
// makes of that line's decision the tool's. Pure.
#pragma once

#include <functional>
#include <string>

#include "engine/decision.h"
#include "engine/evaluate.h"

namespace gate::engine {

struct ReadToolFacts {
  // The path or pattern that is in one of gate's own directories, for people;
  // empty: none is.
  std::string in_gates_directory;
  // Which files it searches is not known.
  bool unknown = false;
  // Decides on what is read alone, without the program that stands for the
  // tool. Called at most once, where a rule of the person's stopped the line.
  // Empty: the line has no effects that can be told so.
  std::function<Decision()> by_effects;
};

// allow  where the line would be allowed, or contained for another reason than
//        a secret;
// ask    where it would be asked, where the sandbox would have hidden a secret
//        from it, and where the files are not known;
// deny   where it would be denied, and in gate's own directories.
// A person's rules about programs (`cat`) say nothing about a tool; their rules
// about what is read do.
void ApplyReadTool(const ReadToolFacts& facts, Decision* decision,
                   Trace* trace = nullptr);

}  // namespace gate::engine
