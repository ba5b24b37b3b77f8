// What `check`, `explain` and `parse` are given to look at.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "gateway/gateway.h"

namespace gate::app {

struct LookOptions {
  bool json = false;
  bool explain = false;
  bool trace = false;  // with every rule that was tried
  bool batch = false;
  std::string why_not;  // allow, sandbox, ask or deny; empty: not asked
  std::string cwd;      // as given; may be relative
  std::string agent;
  Request request;  // command or argv, and the absolute cwd
};

// Reads the arguments of `name`; stdin for `-`. Returns the exit code when the
// command is over.
std::optional<int> ReadLookArguments(const char* name, const char* help,
                                     const ProcessFacts& facts,
                                     const Arguments& arguments,
                                     LookOptions* options);

// One line of a batch: {"id", "cmd"[, "cwd"]}.
struct BatchItem {
  std::string id_json;  // the id as JSON text; "null" when there is none
  std::string command;
  std::string cwd;    // empty: the process's
  std::string error;  // why the line cannot be used; empty when it can
};

// Answers each line of stdin that is not blank by what `answer` says of it, a
// line each; the exit code.
int AnswerBatch(
    const std::function<std::string(size_t number, const BatchItem&)>& answer);
// What `options` ask for, of the command of one line.
Request RequestOf(const LookOptions& options, const BatchItem& item);

}  // namespace gate::app
