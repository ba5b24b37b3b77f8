// gate sessions: the networks that the lines of a session share, and what lines
// left running in none of these.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "backends/session_network.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "gateway/session_network.h"
#include "lasting/lasting_runs.h"

namespace gate::app {
namespace {

using backends::KeptNetwork;
using lasting::Entry;

void PrintSession(const KeptNetwork& kept, bool json) {
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

void PrintSession(const Entry& run, bool json) {
  const uint64_t now = NowMs();
  const uint64_t age_s =
      now > run.started_ms ? (now - run.started_ms) / 1000 : 0;
  if (!json) {
    std::printf("%s  left running for %llu s, in a network of its own  %s\n",
                run.id.c_str(), static_cast<unsigned long long>(age_s),
                Visible(run.command).c_str());
    return;
  }
  JsonWriter line;
  line.BeginObject().Field("schema", "gate.sessions/1");
  line.Field("id", run.id).Field("command", run.command);
  line.Field("age_s", static_cast<int64_t>(age_s)).EndObject();
  std::puts(line.text().c_str());
}

// All that is there to be listed or ended.
struct Found {
  std::vector<KeptNetwork> networks;
  std::vector<Entry> runs;
  // Of `runs`, those whose network is not kept: they never had that of a
  // session, or who kept it was killed.
  std::vector<Entry> alone;
};

Result<Found> Find(const std::string& state, const std::string& directory) {
  Found found;
  // First, so that a network that a new run is in is known.
  GATE_TRY(found.runs, lasting::ListRunning(state));
  GATE_TRY(found.networks, backends::KeptNetworks(directory));
  for (const Entry& run : found.runs)
    if (std::ranges::find(found.networks, run.network, &KeptNetwork::key) ==
        found.networks.end())
      found.alone.push_back(run);
  return found;
}

// False where it does not end.
bool EndRun(const std::string& state, const Entry& run) {
  const Status told = lasting::End(state, run.id);
  // One that ended by itself meanwhile has ended.
  if (told || told.error().code == ErrorCode::kNotFound) {
    std::printf("ended %s\n", Visible(run.command).c_str());
    return true;
  }
  Complain(Visible(run.command) + ": " + told.error().message);
  return false;
}

int End(const std::string& state, const std::string& directory,
        const Found& found, const std::string& id, bool every) {
  std::vector<const KeptNetwork*> networks;
  for (const KeptNetwork& kept : found.networks)
    if (every || kept.key.starts_with(id)) networks.push_back(&kept);
  std::vector<const Entry*> runs;
  for (const Entry& run : found.alone)
    if (every || run.id.starts_with(id)) runs.push_back(&run);
  const size_t chosen = networks.size() + runs.size();
  if (!every && chosen != 1) {
    Complain(chosen == 0 ? "nothing has the id `" + Visible(id) +
                               "`; `gate sessions` lists them"
                         : "several ids begin so");
    return kExitUsage;
  }
  int code = 0;
  for (const Entry* run : runs)
    if (!EndRun(state, *run)) code = kExitInternal;
  for (const KeptNetwork* kept : networks) {
    for (const Entry& run : found.runs)
      if (run.network == kept->key && !EndRun(state, run)) code = kExitInternal;
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
  Options app(
      "The networks that the contained lines of a session share, and what "
      "lines left running in networks of their own.",
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
  const std::string& state = facts.places.state;
  const auto found = Find(state, directory);
  if (!found) {
    Complain(found.error().message);
    return kExitInternal;
  }
  if (end.parsed()) return End(state, directory, *found, id, all);
  for (const KeptNetwork& kept : found->networks) PrintSession(kept, json);
  for (const Entry& run : found->alone) PrintSession(run, json);
  if (found->networks.empty() && found->alone.empty() && !json)
    std::puts("no session has a network now");
  return 0;
}

}  // namespace gate::app
