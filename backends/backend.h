// One isolation technology each, one interface.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/permit.h"
#include "base/file.h"
#include "base/result.h"

namespace gate::backends {

// How much stands between the command and the machine. Ordered; landlock and
// seatbelt, and bwrap and native, are equal.
enum class Strength : uint8_t {
  kNone,
  kLandlock,   // and seatbelt
  kNamespace,  // bwrap and native
  kContainer,
  kGvisor,
  kMicrovm,
};
const char* Name(Strength strength);
std::optional<Strength> ParseStrength(const std::string& text);

enum class Network : uint8_t { kNone, kLoopback, kDomains, kOpen };
const char* Name(Network network);
std::optional<Network> ParseNetwork(const std::string& text);

// A socket inside that the filter of a network by name serves: it knows which
// names and ports the command may reach, and connects outside
// (net/network_filter.h).
enum class FilterSocket : uint8_t {
  kProxy,         // HTTP and SOCKS5, on 127.0.0.1:kFilterProxyPort
  kDnsDatagrams,  // the name server, on 127.0.0.1:53: UDP
  kDns,           // and TCP
  kHttp,          // port 80 of each address that the name server makes up
  kTls,           // port 443
};
inline constexpr uint16_t kFilterProxyPort = 1023;

// What a profile can require of a backend.
enum class Feature : uint8_t {
  kReadOnlyRoot,    // nothing outside the writable roots can be changed
  kReadDeny,        // named paths cannot be read
  kProtectedPaths,  // named paths inside writable roots cannot be changed
  kPrivateTmp,
  kNetworkNone,
  kNetworkLoopback,
  // With the network `domains` Profile::domains holds. With an open network
  // nothing holds what it denies.
  kNetworkDomains,
  kProcessIsolation,  // cannot see or signal outside processes
  kSeccomp,
  kLandlock,  // a second isolation layer
  kCleanEnvironment,
  kLimits,         // of each process
  kTreeLimits,     // of all processes of the run together
  kWatchExecs,     // every program start is judged (Profile::watch_execs)
  kReportBlocked,  // what was refused is reported exactly
  kOverlay,        // writable roots covered, for a preview (preview/preview.h)
  kLending,        // what is hidden is seen in part (Profile::lend)
};
inline constexpr int kFeatures = 17;
const char* Name(Feature feature);

// A set of features.
class FeatureSet {
 public:
  constexpr FeatureSet() = default;
  constexpr FeatureSet(std::initializer_list<Feature> features) {
    for (Feature feature : features) Add(feature);
  }
  constexpr void Add(Feature f) { bits_ |= 1u << static_cast<unsigned>(f); }
  constexpr bool Has(Feature f) const {
    return (bits_ >> static_cast<unsigned>(f)) & 1u;
  }
  // What is in this set and not in `other`.
  std::vector<Feature> Without(FeatureSet other) const;

 private:
  uint32_t bits_ = 0;
};

// Finite limits; the smaller of two layers wins. 0 means "no limit asked".
// What is counted for the run as a whole is counted over all its processes,
// dead and alive (Feature::kTreeLimits); the others hold for each process.
struct Limits {
  uint64_t wall_ms = 0;        // of the run
  uint64_t cpu_s = 0;          // of the run
  uint64_t memory_bytes = 0;   // of the run
  uint64_t processes = 0;      // of the run; threads count
  uint64_t open_files = 0;     // of each process
  uint64_t file_bytes = 0;     // of each file
  uint64_t written_bytes = 0;  // of the run, to files on disk
  uint64_t output_bytes = 0;   // of the run, stdout and stderr together
  uint64_t files = 0;          // of the run, made and left (file_count.h)
};

// A writable root that the command sees through an overlay: what it changes
// lands in `place`/upper, and the root itself is not written.
struct OverlayRoot {
  std::string root;   // a directory, no symbolic link in it
  std::string place;  // holds `upper` and `work`, on one file system
};

// A file, directory or socket that is seen although what it lies in is hidden.
struct Lent {
  std::string path;    // where the program looks for it
  std::string source;  // what is seen there: no symbolic link in it
  // A directory that may be written: what is seen is a private copy of `source`
  // (which need not be there) that is thrown away after the run. Else `source`
  // itself is seen, read-only.
  bool copy = false;
  std::string staged;  // where the copy is (backends/lending.h)
  bool operator==(const Lent&) const = default;
};

// A TCP port of this machine's loopback that a command with a network of its
// own finds on its own loopback.
struct LocalService {
  uint16_t port = 0;
  // Who has to listen there (services::AreNamedBy), and the same for people.
  std::string identity, shown;
  bool asked = false;            // a person has to say yes, or has
  bool four = true, six = true;  // where: 127.0.0.1, ::1
  bool operator==(const LocalService&) const = default;
};

// Which hosts a command with a network reaches, by host rules
// (net/host_list.h). What is denied is, whatever is allowed.
struct DomainFilter {
  std::vector<std::string> allow;  // Network::kDomains: that and nothing else
  std::vector<std::string> deny;   // and Network::kOpen
  bool operator==(const DomainFilter&) const = default;
};

// The session whose lines share a network namespace (session_network.h).
struct SessionNetwork {
  std::string key;    // hex digits; empty: a namespace of the run's own
  std::string label;  // for people: whose session, and where
  bool operator==(const SessionNetwork&) const = default;
};

// What a contained command may touch. Paths are absolute and normalised.
struct Profile {
  std::string name = "read-only";
  // Writable roots. No symbolic link is followed to one: where there is one by
  // now, something took its place since it was judged, and nothing starts.
  std::vector<std::string> write;
  std::vector<std::string> deny_read;  // hidden: cannot be read or listed
  std::vector<std::string> protect;    // inside `write`, exact paths that may
                                       // not be changed or created
  std::vector<std::string> protect_names;  // the same by name, at any depth
  std::vector<std::string>
      alias_checked_paths;  // outside `write`: must not change
                            // through a hard link in it, or where
                            // links lead from there into it
  std::string private_tmp;  // host directory that stands at /tmp, /var/tmp
                            // and /dev/shm (as sub-directories); empty: a
                            // fresh tmpfs for this run
  std::string workspace;    // stays visible where it lies below /tmp
  // Directories of `write` that the run fills: empty or new. They are looked
  // through after it as the workspace is.
  std::vector<std::string> made;
  // The host's files and directories below /tmp, /var/tmp and /dev/shm that are
  // seen inside (native), read-only, where the private ones have nothing but an
  // empty file or directory at that name.
  std::vector<std::string> host_tmp_binds;
  // Where protected files that a run created are moved to. Empty: a hidden
  // directory beside them, which is still reported.
  std::string quarantine_dir;
  // Gate's own directory: runs write in parts of it (their private /tmp), and
  // find out where it is. What leads git there is taken.
  std::string state_dir;
  // Where a run notes what is to be looked at and put back after it, for the
  // case that gate is killed meanwhile (backends/run_journal.h). Empty:
  // nowhere.
  std::string runs_dir;
  // The line runs git and nothing else: protected names that git exchanges are
  // judged when it is done, instead of being held (backends/protected_paths.h).
  bool git_only = false;
  // Files that a person trusted as they were: path and SHA-256 (hex).
  std::map<std::string, std::string> trusted;
  // Not empty: every root of `write` must be among them, or below one.
  std::vector<OverlayRoot> overlays;
  // For backends that run images: NAME@sha256:… or sha256:…. Empty: the host's
  // own tools.
  std::string image;
  Network network = Network::kNone;
  DomainFilter domains;
  // Without effect where the network is open, and without
  // Command::take_listeners (native).
  std::vector<LocalService> services;
  // With a network that leads nowhere: shared with the other lines of that
  // session (native, where the kernel keeps their abstract sockets apart). What
  // cannot share it has one of its own.
  SessionNetwork session;
  bool watch_execs = false;     // Command::judge_exec sees every program start
  bool report_blocked = false;  // refused writes and connections are reported
  bool report_reads = false;    // attempts to read hidden paths are reported
  std::vector<Lent> lend;  // after `deny_read`, which it opens in these places
  // What stands in the place of a file or directory of the home, where a
  // backend can do that (native, bwrap); others give less. A directory that may
  // be written (`copy`) is `staged` itself and stays after the run.
  std::vector<Lent> substitutes;
  std::vector<std::string> environment_keep;  // names; empty: the default list
  // Names that enter although they look secret or are host channels; never what
  // makes programs run other code.
  std::vector<std::string> environment_lend;
  std::map<std::string, std::string> environment_set;
  // What git inside is configured with over every file of its own, by key.
  std::map<std::string, std::string> git_settings;
  Limits limits;
  FeatureSet required;
};

// What the kernel starts in a script's place.
struct ExecInterpreter {
  std::string path;  // absolute, as the script names it
  std::string file;  // what that leads to, without links
  std::vector<std::string> argv;
};
// A program that a contained process asks the kernel to start, before it does.
struct ExecEvent {
  std::string path;               // absolute, as seen inside
  std::string file;               // what it leads to, without links
  std::vector<std::string> argv;  // as far as `complete`
  std::string cwd;
  // Where the file is a script, its interpreter, and the interpreter's own, if
  // that is a script too: the last one runs.
  std::vector<ExecInterpreter> interpreters;
  bool complete = true;  // false: too long or unreadable
};
struct ExecVerdict {
  bool allow = false;
  std::string reason;  // of a refusal
};

struct Outcome;
class LastingRun;

struct Command {
  Permit permit;                  // without it nothing starts
  std::vector<std::string> argv;  // argv[0] is looked up in PATH inside
  std::string cwd;                // absolute
  // The directory that `cwd` was when the command was judged, where the caller
  // knows it (inode not 0): where another one has its name by now, nothing
  // starts. native compares what the command enters, bwrap what it is told to
  // enter; the others do not look.
  dev_t cwd_device = 0;
  ino_t cwd_inode = 0;
  // What `cwd` must be, where it is known. Only what runs without a sandbox
  // looks: inside one it may be another directory by design.
  DirectoryId directory;
  std::vector<std::string> environment;  // NAME=VALUE, before cleaning
  // With Profile::watch_execs: called in the caller's thread for every program
  // start but the command's own. None: every start is refused.
  std::function<ExecVerdict(const ExecEvent&)> judge_exec;
  // Called in the caller's thread for a signal to a process by a number that
  // none of the run has (kill(2); native): 0 where it was sent elsewhere, else
  // the errno that the command gets. None: the kernel answers.
  std::function<int(pid_t number, int signal)> relay_signal;
  // Called once for each of Profile::services, in the caller's thread, with the
  // sockets that listen inside for it where it listens outside. Whoever takes
  // them passes on what comes. None: nothing listens inside.
  std::function<void(uint16_t port, std::vector<Fd> listeners)> take_listeners;
  // With Network::kDomains: called once for each FilterSocket before the
  // command starts, in the caller's thread. None: the command reaches nobody.
  std::function<void(FilterSocket kind, Fd socket)> take_filter_socket;
  // Not empty: may be called once with what Run is about to return, when
  // nothing of the command runs any more and only the sandbox is taken down.
  // Saves the caller that time. Backends that gain nothing do not call it.
  std::function<void(const Outcome&)> ended;
  // Not null: what the command leaves running goes on where the backend can do
  // that, and Run puts it here (backends/lasting.h). Null: it ends with the
  // command, as it does in every other backend.
  std::unique_ptr<LastingRun>* lasting = nullptr;
};

struct Io {
  int in = 0;
  int out = 1;
  int err = 2;
};

enum class OutcomeStatus : uint8_t {
  kSetupFailed,  // the command did not start; the default
  kExited,
  kSignalled,
  kTimeout,
  kLimit,
  kViolation,
  kUnobserved,  // allowed raw through a hook: gate does not see its end
};
const char* Name(OutcomeStatus status);

// What a command did, or tried to, that its profile does not let it do.
enum class ViolationKind : uint8_t {
  kProtectedPath,  // changed a protected path, or one could not be looked at
  kGitHook,        // made or changed a hook of git
  kGitConfig,      // made git's configuration run or read something
  kSystemCall,     // a call that ends the run
  kUnixSockets,    // whose sockets it sees could not be told
  kExec,           // started a program that it must not
  kHidden,         // looked for what is hidden
  kReadOnly,       // tried to write where it may not
  kPinned,         // tried to move a directory that holds protected paths
  kNoNetwork,      // tried to reach what Network::kNone does not give,
  kLoopbackOnly,   // or Network::kLoopback,
  kListedDomainsOnly,  // or Network::kDomains
  // Tried to change a protected path, by what it is.
  kShellStartup,
  kAgentSettings,
  kGit,
  kEditor,
  kToolSettings,
  kOtherProtected,
  kMore,  // a number of other attempts
};
inline constexpr int kViolationKinds = 19;
const char* Name(ViolationKind kind);
std::optional<ViolationKind> ParseViolationKind(std::string_view name);

struct Violation {
  ViolationKind kind = ViolationKind::kProtectedPath;
  std::string detail;
};

// A program that was started inside, with Profile::watch_execs.
struct StartedProgram {
  std::string path;
  uint64_t times = 0;
};
inline constexpr size_t kMaxStartedPrograms = 64;

struct Outcome {
  OutcomeStatus status = OutcomeStatus::kSetupFailed;
  std::string reason;      // for people; why setup failed, which limit
  int exit_code = 0;       // kExited
  int signal = 0;          // kSignalled
  bool not_found = false;  // the program does not exist (exit 127)
  uint64_t duration_ms = 0;
  std::vector<Violation> violations;
  // With Profile::watch_execs: the first kMaxStartedPrograms different ones,
  // and how many starts there were in all.
  std::vector<StartedProgram> programs;
  uint64_t starts = 0;
  // False when the search for protected names at depth ended at its limits
  // (backends/protected_paths.h) before every directory was seen.
  bool sweep_complete = true;
  std::string sweep_end;  // at which limit; empty: something was not opened
  // Processes that still ran when the command had ended, and were ended then;
  // only of backends that can tell.
  uint64_t left_running = 0;
  // A TCP port that one of them listened on, in the command's own process group
  // and a network of the run's own; 0: none that is certain.
  uint16_t left_listening = 0;
  // Something of the run goes on (Command::lasting): all the above is of the
  // command. When the run has ended too: how what was left came to its end.
  bool lasts = false;
  std::string left_end;
  // The command did not end with 0, and something of it tried to reach another
  // machine, or a name server, from a network that leads nowhere; only of
  // backends that can tell.
  bool tried_to_leave = false;
  // What gate withheld of what the line names or left in the background, and
  // what to do instead; and guesses about what else of it was missed, each of
  // which begins with "probably". Filled in by who knows the line.
  std::vector<std::string> withheld;
  std::vector<std::string> hints;
  std::string instead;
  // A signal meanwhile told gate to end, whatever the command made of it; only
  // of backends with Feature::kOverlay.
  bool interrupted = false;

  // Whether the command came to its own end, with whatever exit code.
  bool EndedByItself() const {
    return status == OutcomeStatus::kExited && !interrupted;
  }
};

struct Availability {
  bool available = false;
  std::string why;  // why not, or what version
  FeatureSet features;
  std::vector<std::string> lost;  // what is missing here of its full strength
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* Name() const = 0;
  virtual Strength GetStrength() const = 0;
  // Smaller is tried first (by cost).
  virtual int Priority() const = 0;
  // What works on this machine, by trying it. Milliseconds.
  virtual Availability Probe() = 0;
  // A hint that a Run will follow, probably with this profile and the process's
  // own streams: what can be made without knowing more may be made meanwhile.
  // Nothing of a command runs, and what Run cannot use is thrown away.
  virtual void Prepare(const Profile& /*likely*/) {}
  // Asks for `command.permit`, then runs to the end. Blocks. Forwards SIGINT,
  // SIGTERM, SIGHUP, SIGQUIT, SIGUSR1 and SIGUSR2 of the calling process to the
  // command; kills everything it started at the end.
  Outcome Run(const Profile& profile, const Command& command, const Io& io);

 private:
  // Run; the error says why nothing was run. Where the duration is left at 0,
  // Run puts it in.
  virtual Result<Outcome> TryRun(const Profile& profile, const Command& command,
                                 const Io& io) = 0;
};

// All backends of this build, in priority order. The caller owns the list.
std::vector<std::unique_ptr<Backend>> MakeBackends();

// Whether processes of a run may trace one another, as debuggers and sanitizers
// that look for leaks do.
enum class Tracing : uint8_t { kRefused, kEachOther };
// What native gives; every other backend refuses it. Refused where a program of
// the run has something for itself, a credential or an authorization of what it
// starts, into which no other may reach.
Tracing TracingOf(const Profile& profile);

// Environment names that never enter a sandbox, and the default that does.
// Pure. `environment` is NAME=VALUE.
std::vector<std::string> CleanEnvironment(
    const std::vector<std::string>& environment, const Profile& profile,
    Tracing tracing = Tracing::kRefused);

}  // namespace gate::backends
