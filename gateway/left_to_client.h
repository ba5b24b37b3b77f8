// Mode `intent` of a hook: gate denies and asks as ever, and what it would
// contain is left to the client's own sandbox, out of gate's sight.
#pragma once

#include <string>
#include <vector>

#include "gateway/gateway.h"
#include "hooks/adapter.h"
#include "hooks/capabilities.h"
#include "hooks/own_sandbox.h"

namespace gate::app {

// The client's sandbox for this person in `directory`; `words`: what the
// running client was started with.
hooks::OwnSandbox FindOwnSandbox(const ProcessFacts& facts,
                                 const hooks::Capabilities& client,
                                 const std::string& directory,
                                 std::vector<std::string> words);

// What gate relies on and commands in `sandbox` may write: its state, its
// configuration, its program, the client's own settings; empty when there is
// none.
std::string OwnPlaceWrittenIn(const hooks::OwnSandbox& sandbox,
                              const hooks::Capabilities& client,
                              const ProcessFacts& facts);

// What comes of a hook in such a client, for the person who installs it or asks
// the doctor: who contains, or why nothing will run, and what to do. `intent`:
// the hook's mode.
struct SandboxOutlook {
  bool works = false;   // some sandbox contains, and commands run
  bool certain = true;  // else the settings could not be read
  std::string text, help;
};
SandboxOutlook ForesightOf(const hooks::Capabilities& client,
                           const hooks::OwnSandbox& sandbox,
                           const ProcessFacts& facts, bool intent);

// Sets `left_to` of the authorization of a command where the client's sandbox
// takes what is let through. It stays empty, and gate contains as in mode
// `contain`, where the client's sandbox is off or not known, may write what
// gate relies on, is less than what gate's settings ask of a sandbox, or where
// the decision counts on gate's: the agent named it, or the preset `autonomous`
// put it in place of a question.
void LeaveToClient(Gateway& gateway, const hooks::Event& event,
                   Authorization* authorization);

// The answer that lets the client run the line in its own sandbox. Where the
// event does not tell the directory, the line first looks whether it is the one
// that was judged. A refusal, with what to send instead, where the person's
// shell would read the line otherwise than bash does.
hooks::Answer AnswerLeft(const Gateway& gateway, const hooks::Event& event,
                         const Authorization& authorization);

// Takes gate's own containment out of what is recorded.
void RecordAsLeft(Authorization* authorization);

}  // namespace gate::app
