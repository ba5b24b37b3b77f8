// gate sessions: the networks that the lines of a session share.
#include <cstdio>
#include <string>
#include <vector>

#include "backends/session_network.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/json_writer.h"
#include "cli/options.h"
#include "cli/session_network.h"
#include "lasting/lasting_runs.h"

namespace gate::cli {
namespace {

using backends::KeptNetwork;

void Print(const KeptNetwork& kept, bool json) {
  if (!json) {
    const std::string state =
        kept.lines > 0 ? std::to_string(kept.lines) + " running"
                       : "idle for " + std::to_string(kept.idle_s) + " s";
    std::printf("%s  %s, %llu s old, process %d  %s\n", kept.key.c_str(),
                state.c_str(), static_cast<unsigned long long>(kept.age_s),
                static_cast<int>(kept.pid), Visible(kept.label).c_str());
    return;
  }
  JsonWriter line;
  line.BeginObject().Field("schema", "gate.sessions/1");
  line.Field("id", kept.key).Field("session", kept.label);
  line.Field("pid", int64_t{kept.pid}).Field("lines", int64_t{kept.lines});
  line.Field("idle_s", int64_t{kept.idle_s});
  line.Field("age_s", static_cast<int64_t>(kept.age_s)).EndObject();
  std::puts(line.text().c_str());
}

// Ends what lines left running in the network `key`. False where that cannot
// be told, or something does not end.
bool EndRuns(const std::string& state, const std::string& key) {
  const auto runs = lasting::ListRunning(state);
  if (!runs) {
    Complain(runs.error().message);
    return false;
  }
  bool all = true;
  for (const lasting::Entry& run : *runs) {
    if (run.network != key) continue;
    const Status told = lasting::End(state, run.id);
    if (told || told.error().code == ErrorCode::kNotFound) {
      std::printf("ended %s\n", Visible(run.command).c_str());
      continue;
    }
    Complain(Visible(run.command) + ": " + told.error().message);
    all = false;
  }
  return all;
}

int End(const std::string& state, const std::string& directory,
        const std::vector<KeptNetwork>& all, const std::string& id,
        bool every) {
  std::vector<const KeptNetwork*> chosen;
  for (const KeptNetwork& kept : all)
    if (every || kept.key.starts_with(id)) chosen.push_back(&kept);
  if (!every && chosen.size() != 1) {
    Complain(chosen.empty() ? "no session has the id `" + Visible(id) +
                                  "`; `gate sessions` lists them"
                            : "several sessions have an id that begins so");
    return kExitUsage;
  }
  int code = 0;
  for (const KeptNetwork* kept : chosen) {
    if (!EndRuns(state, kept->key)) code = kExitInternal;
    const Status ended = backends::EndSessionNetwork(directory, kept->key);
    // One that ended by itself meanwhile has ended.
    if (ended || ended.error().code == ErrorCode::kNotFound) {
      std::printf("ended %s\n", kept->key.c_str());
      continue;
    }
    Complain(ended.error().message);
    code = kExitInternal;
  }
  return code;
}

}  // namespace

int SessionsCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app("The networks that the contained lines of a session share.",
              "gate sessions");
  bool json = false, all = false;
  std::string id;
  app.Flag("--json", json, "print a JSON object a line");
  app.Command("list", "those that are kept (the default)");
  Options& end = app.Command(
      "end", "end one, and what its lines left running in the background");
  end.Add("id", id, "its id, or how that begins");
  end.Flag("--all", all, "end all of them");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (end.parsed() && id.empty() != all) {
    Complain("give one id or --all");
    return kExitUsage;
  }
  const ProcessFacts facts = ReadProcessFacts(globals);
  const std::string directory = SessionNetworksDir(facts);
  const auto kept = backends::KeptNetworks(directory);
  if (!kept) {
    Complain(kept.error().message);
    return kExitInternal;
  }
  if (end.parsed()) return End(facts.places.state, directory, *kept, id, all);
  for (const KeptNetwork& one : *kept) Print(one, json);
  if (kept->empty() && !json) std::puts("no session has a network now");
  return 0;
}

}  // namespace gate::cli
