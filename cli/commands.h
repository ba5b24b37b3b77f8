// The sub-commands of gate. Each reads its own arguments, prints, and returns
// the exit code (cli/exit_codes.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facts/process_facts.h"

namespace gate::app {

class Options;

using Arguments = std::vector<std::string>;

int CheckCommand(const GlobalOptions& globals, const Arguments& arguments);
int ExplainCommand(const GlobalOptions& globals, const Arguments& arguments);
int ParseCommand(const GlobalOptions& globals, const Arguments& arguments);
int RunCommand(const GlobalOptions& globals, const Arguments& arguments);
int SandboxCommand(const GlobalOptions& globals, const Arguments& arguments);
int HookCommand(const GlobalOptions& globals, const Arguments& arguments);
int InstallCommand(const GlobalOptions& globals, const Arguments& arguments);
int UninstallCommand(const GlobalOptions& globals, const Arguments& arguments);
int DoctorCommand(const GlobalOptions& globals, const Arguments& arguments);
int StatusCommand(const GlobalOptions& globals, const Arguments& arguments);
int BackendsCommand(const GlobalOptions& globals, const Arguments& arguments);
int RulesCommand(const GlobalOptions& globals, const Arguments& arguments);
int RulesDiffCommand(const Arguments& arguments);
int RulesLintCommand(const GlobalOptions& globals, const Arguments& arguments);
int RulesFmtCommand(const GlobalOptions& globals, const Arguments& arguments);
int RulesImportCommand(const Arguments& arguments);
int RulesSuggestCommand(const GlobalOptions& globals,
                        const Arguments& arguments);
int ReplayCommand(const GlobalOptions& globals, const Arguments& arguments);
int AuditCommand(const GlobalOptions& globals, const Arguments& arguments);
int AllowCommand(const GlobalOptions& globals, const Arguments& arguments);
int ApproveCommand(const GlobalOptions& globals, const Arguments& arguments);
int PendingCommand(const GlobalOptions& globals, const Arguments& arguments);
int ApprovalsCommand(const GlobalOptions& globals, const Arguments& arguments);
int SessionsCommand(const GlobalOptions& globals, const Arguments& arguments);
int PauseCommand(const GlobalOptions& globals, const Arguments& arguments);
int ResumeCommand(const GlobalOptions& globals, const Arguments& arguments);
int TrustCommand(const GlobalOptions& globals, const Arguments& arguments);
int UntrustCommand(const GlobalOptions& globals, const Arguments& arguments);

// Parses `arguments` with `app`. Returns the exit code when the command is
// over (help was printed, or the usage was wrong), nothing when it goes on.
std::optional<int> ParseWith(Options& app, const Arguments& arguments);

// `message` as "gate: message" on stderr.
void Complain(const std::string& message);
// Complains of `error`; the exit code of an internal failure.
int FailedInternally(const Error& error);

// Refuses sub-commands that only a person may use. Returns the exit code when
// there is no person's terminal.
std::optional<int> RequirePerson(const char* what);

}  // namespace gate::app
