// One adapter per agent client: its JSON in, its answer out.
//
// What each client accepts and how it fails is in docs/hooks.md and
// docs/clients. Adapters are pure: text in, values out. The caller reads stdin,
// arms the deadline, and prints the answer once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::hooks {

struct ClientSign;      // hooks/client_sign.h
struct FoundHook;       // hooks/settings.h
struct HookReview;      // hooks/installed.h
struct Installed;       // hooks/installed.h
struct InstallOptions;  // hooks/install.h
struct OwnSandbox;      // hooks/own_sandbox.h
struct ProcessView;     // hooks/person.h
struct SandboxPlaces;   // hooks/own_sandbox.h

inline constexpr size_t kMaxInputBytes = 1 << 20;

// What the client's message is about.
enum class EventKind : uint8_t {
  kNothing,      // not a tool gate judges: answer with silence
  kCommand,      // a shell command
  kFileWrite,    // a tool of the agent that writes files, and may read some
  kFileRead,     // one that reads, searches or lists files
  kCommandDone,  // a shell command that has ended, well or not
};

// What a tool of the agent looks at.
struct ToolRead {
  enum class How : uint8_t {
    kFile,    // prints it
    kSearch,  // prints what it finds in it, or in the files below it
    kList,    // names what is in it; of a pattern, what fits
  };
  How how = How::kFile;
  std::string path{};       // as given; empty: the working directory
  std::string pattern{};    // kList: a glob below `path`, or an absolute one
  std::string glob{};       // kSearch: only files with such names
  bool names_only = false;  // kSearch: no lines are shown
};

struct Event {
  EventKind kind = EventKind::kNothing;
  std::string command;             // kCommand
  std::vector<std::string> paths;  // kFileWrite, as given
  std::vector<ToolRead> reads;     // kFileRead; kFileWrite, of what it copies
  std::string cwd;                 // may be empty
  std::string project;             // the client's idea of the project
  std::string session;
  std::string agent;        // client name
  std::string tool;         // as the client calls it
  std::string tool_input;   // compact JSON of the tool's input
  std::string description;  // the agent's own words
  bool can_ask = false;     // the client can ask its person natively
  bool planning = false;    // nothing is to be changed until its person says so
  // `cwd` is where the command will run. Not so where the client's event leaves
  // out what its tool was told; silence would let the line run unseen.
  bool cwd_is_sure = true;
  // What silence allows runs in the person's own shell.
  bool persons_shell = false;
  // The next command starts where the shell of this one ends.
  bool keeps_directory = false;
  // The client's name for this call of a tool; empty where it gives none.
  std::string call;
  // The command goes on after the client has said that it is done.
  bool background = false;
  bool failed = false;  // kCommandDone: it did not end well, or did not start
  // What the event has that the client of this adapter does not send; empty:
  // nothing.
  std::string foreign;
  // It has all that every event of the client has in its supported versions
  // (`tool_use_id` only since 2.0.43).
  bool complete = false;
};

// What gate wants to say.
enum class AnswerKind : uint8_t { kAllow, kRewrite, kAsk, kDeny };

struct Answer {
  AnswerKind kind = AnswerKind::kDeny;
  std::string reason;   // never empty for kAsk and kDeny
  std::string command;  // kRewrite, and kAsk with a rewritten command
  std::string id;       // audit id
  // kRewrite: what runs is not contained, so that the client's own permissions
  // count as with silence, where the client can do that.
  bool direct = false;
  // kRewrite: let the client's person confirm, where the client can ask. Off
  // where what is rewritten runs in a sandbox and may change what it holds.
  bool confirm = false;
  // kDeny: the client is known to read a refusal from the answer's object. Else
  // it is said by the exit code, which every client takes.
  bool by_object = false;
};

// What to print and how to exit. Exit codes are 0 and 2 only.
struct Output {
  std::string out;
  std::string err;
  int exit_code = 2;
};

// `output.out` as the guard line of hooks/install.h reads it: between marks, so
// that nothing else than a whole answer of gate's is taken for one. Silence has
// its marks too, and so has a refusal.
std::string Framed(const Output& output);

class Adapter {
 public:
  virtual ~Adapter() = default;
  virtual const char* Name() const = 0;
  // kInvalid for anything that is not a complete event of this client, and
  // kTooLarge beyond kMaxInputBytes: the caller refuses.
  virtual Result<Event> Parse(std::string_view json) const = 0;
  virtual Output Format(const Event& event, const Answer& answer) const = 0;
  // The answer to an event after which nothing is decided: shows `message` to
  // the client's person, where the client can do that.
  virtual Output Tell(const std::string& message) const {
    return Output{"", "gate: " + message + "\n", 0};
  }
  // Who sent `event`, where other programs call themselves as this client does
  // (Capabilities::has_lookalikes): hooks/client_sign.h. Unless a client says
  // more, it is this one.
  virtual ClientSign Recognise(const Event& event,
                               const std::vector<std::string>& environment,
                               const std::vector<ProcessView>& ancestors) const;
  // Its own sandbox (Capabilities::has_own_sandbox), by what its settings and
  // its command line say. Not known, unless a client says more.
  virtual OwnSandbox ReadSandbox(const SandboxPlaces& places) const;
  // Whether it runs the entry that is `installed`, where a person reviews its
  // hooks (Capabilities::review). Unless a client says more, it does.
  virtual HookReview Review(const InstallOptions& options,
                            const Installed& installed) const;
  // Sets what Review looks for of an entry.
  virtual void MarkForReview(const FoundHook& hook, Installed* installed) const;
};

// The adapter called `client`, or null. Static lifetime.
const Adapter* FindAdapter(std::string_view client);
std::vector<std::string> AdapterNames();

// What every client takes as a refusal: exit 2, a reason on stderr, nothing on
// stdout. For failures before an adapter could speak.
Output Refuse(std::string_view reason);

}  // namespace gate::hooks
