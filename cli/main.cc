// gate: a command gateway for AI agents. Dispatch only; one file per command.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "approvals/terminal.h"
#include "backends/exec_words.h"
#include "base/paths.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "credentials/gpg_stub.h"
#include "credentials/ssh_stub.h"
#include "gateway/log.h"
#include "hooks/adapter.h"

#ifndef GATE_VERSION
#define GATE_VERSION "0.0.0"
#endif

namespace gate::app {
namespace {

struct Command {
  const char* name;
  int (*run)(const GlobalOptions&, const Arguments&);
  const char* help;
};

constexpr Command kCommands[] = {
    {"check", CheckCommand, "decide on a command; nothing runs"},
    {"run", RunCommand, "decide on a command, and run it as decided"},
    {"sandbox", SandboxCommand, "run a command contained, whatever the policy"},
    {"parse", ParseCommand, "show what a command line runs and touches"},
    {"explain", ExplainCommand, "decide and show why"},
    {"hook", HookCommand, "answer an agent's pre-exec hook (JSON on stdin)"},
    {"install", InstallCommand, "put gate into a client's settings"},
    {"uninstall", UninstallCommand, "take gate out of a client's settings"},
    {"status", StatusCommand, "show what holds here and what happened last"},
    {"doctor", DoctorCommand, "say what is enforced here and what is not"},
    {"backends", BackendsCommand, "list the sandboxes that work here"},
    {"rules", RulesCommand, "list, show, lint and test rules"},
    {"replay", ReplayCommand, "decide recorded commands again"},
    {"audit", AuditCommand, "query and verify the audit log"},
    {"trust", TrustCommand, "trust a project's rules and agent settings"},
    {"untrust", UntrustCommand, "take that trust back"},
    {"allow", AllowCommand,
     "write a rule that allows a command (a person's act)"},
    {"approve", ApproveCommand, "answer a waiting question (a person's act)"},
    {"pending", PendingCommand, "list the questions that wait"},
    {"approvals", ApprovalsCommand, "list or revoke what was approved"},
    {"sessions", SessionsCommand, "list or end the networks of sessions"},
    {"pause", PauseCommand, "answer every question with yes for a while"},
    {"resume", ResumeCommand, "end a pause"},
};

void PrintHelp() {
  std::fputs(
      "usage: gate [--config-dir DIR] [--state-dir DIR] COMMAND …\n\n"
      "A command gateway for AI agents.\n\n",
      stdout);
  for (const Command& command : kCommands)
    std::printf("  %-10s %s\n", command.name, command.help);
  std::fputs(
      "\n`gate COMMAND --help` shows a command's options.\n"
      "Exit codes of check: 0 allow, 4 sandbox, 3 ask, 2 deny, 1 failure.\n",
      stdout);
  std::fputs(WithExamples("", "").c_str(), stdout);
}

// What an abort must not look like: some clients take any exit code but 2 for
// "go on". Set before anything else runs.
int failure_code = kExitInternal;

[[noreturn]] void OnTerminate() {
  static constexpr char kMessage[] = "gate: internal failure; refused\n";
  [[maybe_unused]] const ssize_t ignored =
      ::write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  ::_exit(failure_code);
}

// A standard stream that is closed would be the next file that is opened: the
// log, or what gate hands to process 1. The command would read and write it.
// `answers`: what gate prints is the result, so that writing to a stdout that
// was closed has to fail, and does where it is open for reading (so gnulib's
// stdopen.c has it). A command that gate starts gets an empty stream.
bool OpenClosedStreams(bool answers) {
  pollfd streams[3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
  int known = 0;
  do {
    known = ::poll(streams, 3, 0);
  } while (known < 0 && errno == EINTR);
  if (known == 0) return true;
  for (const pollfd& stream : streams) {
    if (known > 0 && (stream.revents & POLLNVAL) == 0) continue;
    // Where no files can be waited for, each is asked about.
    if (known < 0 && ::fcntl(stream.fd, F_GETFD) >= 0) continue;
    const bool reads = stream.fd == 0 || (stream.fd == 1 && answers);
    const int file = ::open("/dev/null", reads ? O_RDONLY : O_WRONLY);
    if (file < 0) return false;
    if (file == stream.fd) continue;
    // It was a mere handle, which can be neither read nor written.
    if (::dup2(file, stream.fd) < 0) return false;
    ::close(file);
  }
  return true;
}

bool StartsCommands(std::string_view command) {
  return command == "run" || command == "sandbox";
}

int FailureCodeOf(std::string_view command) {
  if (command == "hook") return kExitHookRefused;
  if (StartsCommands(command)) return kExitGateFailed;
  return kExitInternal;
}

// The first word that is a command's name.
std::string_view FirstCommand(int argc, char** argv) {
  for (int i = 1; i < argc; ++i)
    for (const Command& command : kCommands)
      if (std::strcmp(argv[i], command.name) == 0) return command.name;
  return "";
}

// Whether a line that cannot be read may be a hook's, whatever is wrong with
// it: clients run the command after any other code than that of a refusal.
bool MayBeHook(int argc, char** argv) {
  const bool known = !FirstCommand(argc, argv).empty();
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "hook") == 0 ||
        (!known && hooks::FindAdapter(argv[i]) != nullptr))
      return true;
  return false;
}

int Usage(const std::string& message) {
  Complain(message);
  std::fputs("help: `gate --help` lists the commands\n", stderr);
  return failure_code == kExitHookRefused ? kExitHookRefused : kExitUsage;
}

// A misspelt --config-dir would be a policy without the person's settings and
// rules. That of everybody need not be there.
bool IsConfigDir(const std::string& directory) {
  struct stat info = {};
  if (directory.empty() || Normalise(directory, "/") == FindPlaces().config)
    return true;
  return ::stat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

int Main(int argc, char** argv) {
  Arguments words(argv + 1, argv + argc);
  GlobalOptions globals;
  failure_code = MayBeHook(argc, argv)
                     ? kExitHookRefused
                     : FailureCodeOf(FirstCommand(argc, argv));
  size_t next = 0;
  while (next < words.size() && words[next].starts_with("-")) {
    const std::string& word = words[next];
    std::string* value = nullptr;
    if (word == "--config-dir") value = &globals.config_dir;
    if (word == "--state-dir") value = &globals.state_dir;
    if (value != nullptr) {
      if (next + 1 == words.size())
        return Usage("`" + word + "` needs a directory");
      *value = words[next + 1];
      if (!value->starts_with('/'))
        return Usage("`" + word + "` needs an absolute path");
      next += 2;
      continue;
    }
    if (word == "--verbose" || word == "-v") {
      globals.verbose = true;
      ++next;
      continue;
    }
    if (word == "--version") {
      std::puts("gate " GATE_VERSION);
      return 0;
    }
    if (word == "--help" || word == "-h") {
      PrintHelp();
      return 0;
    }
    return Usage("`" + word + "` is not an option of gate");
  }
  if (next == words.size()) {
    PrintHelp();
    return kExitUsage;
  }
  std::string name = words[next];
  // `gate help COMMAND …` is `gate COMMAND … --help`.
  Arguments rest(words.begin() + static_cast<ptrdiff_t>(next) + 1, words.end());
  if (name == "help") {
    if (rest.empty() || rest[0].starts_with('-')) {
      PrintHelp();
      return 0;
    }
    name = rest[0];
    rest.erase(rest.begin());
    rest.emplace_back("--help");
  }
  if (!IsConfigDir(globals.config_dir)) {
    Complain("`--config-dir " + globals.config_dir +
             "` is not a directory, so no settings and rules are known");
    return name == "hook" ? kExitHookRefused : kExitPolicy;
  }
  if (globals.verbose) StartLogging();
  for (const Command& command : kCommands) {
    if (name != command.name) continue;
    failure_code = FailureCodeOf(name);
    const int code = command.run(globals, rest);
    EndIfInterrupted();
    return code;
  }
  return Usage("`" + name + "` is not a command of gate");
}

// What a full disk did not take shows here, when all has been written and the
// file is closed (gnulib's close_stdout does the same): a result that was cut
// is none.
int CloseOutput(int code) {
  const bool failed = std::ferror(stdout) != 0;
  if (std::fclose(stdout) == 0 && !failed) return code;
  Complain("the output could not be written to its end");
  return failure_code;
}

}  // namespace

}  // namespace gate::app

int main(int argc, char** argv) {
  // Inside a sandbox, in the place of its command: nothing is to be decided.
  if (argc == 4 && std::string_view(argv[1]) == gate::backends::kExecWords)
    if (const int code = gate::backends::RunExecWords(argv[2], argv[3]);
        code >= 0)
      return code;
  if (argc > 1 &&
      std::string_view(argv[1]) == gate::credentials::kGitSshCommand)
    return gate::credentials::RunGitSsh({argv + 2, argv + argc});
  if (argc > 1 && gate::credentials::IsGpgCall(argv[1]))
    return gate::credentials::RunGitGpg({argv + 1, argv + argc});
  // Every client takes this code for a refusal.
  if (!gate::app::OpenClosedStreams(
          !gate::app::StartsCommands(gate::app::FirstCommand(argc, argv))))
    return gate::app::kExitHookRefused;
#ifdef __GLIBC__
  // The heap grows by 128 KB at a time otherwise, ten times for one decision,
  // and shrinks again.
  mallopt(M_TOP_PAD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
  std::set_terminate(gate::app::OnTerminate);
  try {
    return gate::app::CloseOutput(gate::app::Main(argc, argv));
  } catch (const std::exception& error) {
    gate::app::Complain(std::string("internal failure; refused: ") +
                        error.what());
  } catch (...) {
    gate::app::Complain("internal failure; refused");
  }
  return gate::app::failure_code;
}
