// gate audit list|show|stats|verify|net.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "approvals/terminal.h"
#include "audit/log.h"
#include "audit/time.h"
#include "base/host.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/output/record_text.h"
#include "net/filter_report.h"
#include "net/host_list.h"

namespace gate::app {
namespace {

// 0 found, 1 nothing found, 3 storage; verify: 0 ok, 1 tampered, 2 unreadable,
// 3 ok but unanchored, where an anchor was given or required; 64 usage
// (docs/audit-format.md).
constexpr int kNothingFound = 1;
constexpr int kStorage = 3;

std::string RecordToJson(const audit::Record& record) {
  JsonWriter json;
  json.BeginObject().Field("schema", "gate.record/1");
  json.Field("seq", static_cast<int64_t>(record.sequence));
  json.Field("id", record.id).Field("kind", audit::Name(record.kind));
  json.Field("parent", record.parent).Field("time", TimeText(record.time_ns));
  json.Field("agent", record.agent).Field("session", record.session);
  json.Field("mode", record.mode).Flag("enforced", record.enforced);
  json.Field("command", record.command).Field("cwd", record.cwd);
  json.Field("action", record.action).Field("reason", record.reason);
  json.Field("rule", record.rule_id);
  json.Field("policy", record.policy_revision);
  json.Field("backend", record.backend).Field("status", record.status);
  json.Field("exit", int64_t{record.exit_code});
  json.Field("duration_ms", static_cast<int64_t>(record.duration_ms));
  json.Key("detail");
  if (ParseJson(record.detail))
    json.Raw(record.detail);
  else
    json.Null();
  json.Field("prev", record.previous).Field("hash", record.hash);
  json.EndObject();
  return json.Take();
}

struct FilterOptions {
  std::string since, until, actions;
  audit::Filter filter;
  bool json = false;
  bool reverse = false;
};

void AddFilter(Options& app, FilterOptions* options) {
  app.Add("--since", options->since,
          "2h, 3d, today, yesterday, or 2026-11-20T10:00 (local time; with a "
          "Z it is UTC, as what is listed)");
  app.Add("--until", options->until, "the same forms");
  app.Add("--action", options->actions, "deny,ask,sandbox,allow");
  app.Add("--agent", options->filter.agent, "the agent that asked");
  app.Add("--session", options->filter.session, "a session of an agent");
  app.Add("--rule", options->filter.rule_id, "the rule that decided");
  app.Add("--backend", options->filter.backend, "where it ran");
  app.Add("--mode", options->filter.mode, "hook, check, run, sandbox");
  app.Add("--cwd", options->filter.cwd_prefix, "at or below");
  app.Add("--text", options->filter.text, "part of the command");
  app.Add("-n", options->filter.limit, "at most so many (50)");
  app.Flag("--reverse", options->reverse, "oldest first");
  app.Flag("--json", options->json, "a JSON object a line");
}

bool FinishFilter(const ProcessFacts& facts, FilterOptions* options) {
  struct Bound {
    const std::string& text;
    uint64_t* ns;
  };
  for (const Bound& bound :
       {Bound{options->since, &options->filter.since_ns},
        Bound{options->until, &options->filter.until_ns}}) {
    if (bound.text.empty()) continue;
    const auto parsed = audit::ParseTime(bound.text, NowNs());
    if (!parsed) {
      Complain(parsed.error().message);
      return false;
    }
    *bound.ns = *parsed;
  }
  std::string rest = options->actions;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string action = rest.substr(0, comma);
    if (!rules::ParseAction(action)) {
      Complain("`" + action + "` is not allow, sandbox, ask or deny");
      return false;
    }
    options->filter.actions.push_back(action);
    rest = comma == std::string::npos ? "" : rest.substr(comma + 1);
  }
  // As records have it.
  std::string& cwd = options->filter.cwd_prefix;
  if (!cwd.empty()) cwd = Normalise(cwd, facts.cwd);
  options->filter.newest_first = !options->reverse;
  return true;
}

int StorageFailure(const Error& error) {
  Complain("the audit log: " + error.message);
  return kStorage;
}

// A misspelt word of a filter finds nothing either.
int NothingFound() {
  std::fputs("gate: no record matches\n", stderr);
  return kNothingFound;
}

int ListRecords(const ProcessFacts& facts, const Arguments& arguments) {
  Options app("Lists records, newest first. Filters are joined by AND.",
              "gate audit list");
  FilterOptions options;
  AddFilter(app, &options);
  if (auto code = ParseWith(app, arguments)) return *code;
  if (!FinishFilter(facts, &options)) return kExitUsage;
  auto log = audit::Log::OpenReadOnly(facts.places.state);
  if (!log) return StorageFailure(log.error());
  auto records = log->Query(options.filter);
  if (!records) return StorageFailure(records.error());
  const bool colour = WantsColour(STDOUT_FILENO);
  for (const audit::Record& record : *records)
    std::fputs(options.json ? (RecordToJson(record) + "\n").c_str()
                            : RowText(record, colour).c_str(),
               stdout);
  return records->empty() ? NothingFound() : 0;
}

int ShowRecord(const ProcessFacts& facts, const Arguments& arguments) {
  Options app("Shows one record whole, with what belongs to it.",
              "gate audit show");
  std::string reference = "last";
  bool json = false;
  app.Add("record", reference, "an id, a sequence number, or `last`");
  app.Flag("--json", json, "a JSON object a line");
  if (auto code = ParseWith(app, arguments)) return *code;
  auto log = audit::Log::OpenReadOnly(facts.places.state);
  if (!log) return StorageFailure(log.error());
  auto record = log->Find(reference);
  if (!record) {
    if (record.error().code != ErrorCode::kNotFound)
      return StorageFailure(record.error());
    Complain("no record `" + reference + "`");
    return kNothingFound;
  }
  auto children = log->Children(record->id);
  if (!children) return StorageFailure(children.error());
  std::vector<audit::Record> all{*record};
  all.insert(all.end(), children->begin(), children->end());
  for (const audit::Record& one : all) {
    if (json) {
      std::puts(RecordToJson(one).c_str());
      continue;
    }
    std::fputs(RecordText(one, WantsColour(STDOUT_FILENO)).c_str(), stdout);
  }
  return 0;
}

int Stats(const ProcessFacts& facts, const Arguments& arguments) {
  Options app("Counts records by a column.", "gate audit stats");
  FilterOptions options;
  std::string by = "action";
  AddFilter(app, &options);
  app.Add("--by", by, "action, rule, agent, backend, mode, status")
      .OneOf({"action", "rule", "agent", "backend", "mode", "status"});
  if (auto code = ParseWith(app, arguments)) return *code;
  if (!FinishFilter(facts, &options)) return kExitUsage;
  auto log = audit::Log::OpenReadOnly(facts.places.state);
  if (!log) return StorageFailure(log.error());
  auto stats = log->Count(by, options.filter);
  if (!stats) return StorageFailure(stats.error());
  if (options.json) {
    JsonWriter json;
    json.BeginObject().Field("schema", "gate.stats/1");
    json.Field("records", static_cast<int64_t>(stats->records));
    json.Field("bytes", static_cast<int64_t>(stats->bytes));
    json.Field("by", by).Key("rows").BeginObject();
    for (const auto& [name, count] : stats->rows)
      json.Field(name, static_cast<int64_t>(count));
    json.EndObject().EndObject();
    std::puts(json.text().c_str());
    return stats->records == 0 ? NothingFound() : 0;
  }
  std::printf("%llu records, %llu KiB",
              static_cast<unsigned long long>(stats->records),
              static_cast<unsigned long long>(stats->bytes / 1024));
  if (stats->records > 0)
    std::printf(", %s to %s", TimeText(stats->first_ns).c_str(),
                TimeText(stats->last_ns).c_str());
  std::puts("");
  for (const auto& [name, count] : stats->rows)
    std::printf("%8llu  %s\n", static_cast<unsigned long long>(count),
                name.empty() ? "-" : Visible(name).c_str());
  return stats->records == 0 ? NothingFound() : 0;
}

int Verify(const ProcessFacts& facts, const Arguments& arguments) {
  Options app("Checks that no record was changed, removed or reordered.",
              "gate audit verify");
  std::string anchor;
  bool json = false, required = false;
  app.Add("--anchor", anchor,
          "LOG:SEQ:HASH or HASH of earlier, kept elsewhere");
  app.Flag("--require-anchor", required,
           "exit with 3 where no anchor vouches for the end");
  app.Flag("--json", json, "print one JSON object");
  if (auto code = ParseWith(app, arguments)) return *code;
  auto log = audit::Log::OpenReadOnly(facts.places.state);
  if (!log) {
    Complain("the audit log: " + log.error().message);
    return 2;
  }
  auto verdict = log->Verify(anchor);
  if (!verdict) {
    Complain("the audit log: " + verdict.error().message);
    return verdict.error().code == ErrorCode::kInvalid ? kExitUsage : 2;
  }
  const bool ok = verdict->finding == audit::VerifyStatus::kOk;
  if (json) {
    JsonWriter out;
    out.BeginObject().Field("schema", "gate.verify/1");
    out.Field("finding", audit::Name(verdict->finding));
    out.Field("records", static_cast<int64_t>(verdict->records));
    if (!ok) out.Field("seq", static_cast<int64_t>(verdict->sequence));
    out.Field("first", static_cast<int64_t>(verdict->first));
    out.Field("pruned_through", static_cast<int64_t>(verdict->pruned_through));
    out.Field("pruned", verdict->pruned);
    out.Flag("anchored", verdict->anchored).Field("head", verdict->head);
    out.Field("anchor", verdict->anchor);
    out.Field("message", verdict->message).EndObject();
    std::puts(out.text().c_str());
  } else if (ok) {
    std::string end = ", anchored";
    if (!verdict->anchored && anchor.empty())
      end =
          "; not anchored: records cut off at the end would not show. Keep the "
          "anchor elsewhere and give it as --anchor";
    else if (!verdict->anchored)
      end = "; " + verdict->message.substr(std::strlen("ok but "));
    std::printf("ok: %llu records%s\n",
                static_cast<unsigned long long>(verdict->records), end.c_str());
    if (!verdict->pruned.empty())
      std::printf("%s\n", Visible(verdict->pruned).c_str());
    std::printf("anchor %s\n", verdict->anchor.c_str());
  } else {
    // Without a number it is the file as a whole.
    std::string where;
    if (verdict->sequence != 0)
      where = " at record " +
              std::to_string(static_cast<int64_t>(verdict->sequence));
    std::printf("%s%s: %s\n", audit::Name(verdict->finding), where.c_str(),
                Visible(verdict->message).c_str());
  }
  if (!ok) return verdict->finding == audit::VerifyStatus::kUnreadable ? 2 : 1;
  // Whoever gives an anchor asks whether it holds.
  return verdict->anchored || (anchor.empty() && !required) ? 0 : 3;
}

std::string ConnectionToJson(const audit::Record& record,
                             const net::Connection& one) {
  JsonWriter json;
  json.BeginObject().Field("schema", "gate.connection/1");
  json.Field("parent", record.parent).Field("time", TimeText(record.time_ns));
  json.Field("agent", record.agent).Field("session", record.session);
  json.Field("command", record.command);
  json.Field("host", one.host).Field("port", one.port);
  json.Field("via", one.via).Field("verdict", net::Name(one.verdict));
  json.Field("address", one.address);
  json.Field("sent", static_cast<int64_t>(one.bytes_out));
  json.Field("received", static_cast<int64_t>(one.bytes_in));
  json.Field("started_ms", static_cast<int64_t>(one.started_ms));
  json.Field("duration_ms", static_cast<int64_t>(one.duration_ms)).EndObject();
  return json.Take();
}

int Network(const ProcessFacts& facts, const Arguments& arguments) {
  Options app(
      "Lists whom commands reached, or tried to, where their network was "
      "limited to hosts.",
      "gate audit net");
  FilterOptions options;
  std::string host, verdict;
  bool sum = false;
  AddFilter(app, &options);
  app.Add("--host", host, "this host; with `*.` before it what is below it");
  app.Add("--verdict", verdict, "passed, not-listed, denied, address, …");
  app.Flag("--sum", sum, "a line a host and verdict, in place of each");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (!FinishFilter(facts, &options)) return kExitUsage;
  options.filter.kinds = {audit::Kind::kOutcome};
  auto log = audit::Log::OpenReadOnly(facts.places.state);
  if (!log) return StorageFailure(log.error());
  auto records = log->Query(options.filter);
  if (!records) return StorageFailure(records.error());
  const bool below = host.starts_with("*.");
  const std::string wanted =
      NormaliseHost(below ? host.substr(2) : host).normal;
  const auto is_meant = [&](const net::Connection& one) {
    return (verdict.empty() || net::Name(one.verdict) == verdict) &&
           (host.empty() ||
            (below ? one.host.ends_with("." + wanted) : one.host == wanted));
  };
  const auto print = [](const std::string& when, std::string_view verdict,
                        const std::string& host, uint64_t out, uint64_t in,
                        const std::string& rest) {
    std::printf("%s  %-12s %-40s %9llu out %9llu in  %s\n", when.c_str(),
                std::string(verdict).c_str(), host.c_str(),
                static_cast<unsigned long long>(out),
                static_cast<unsigned long long>(in), Visible(rest).c_str());
  };
  bool found = false;
  // By host and verdict; `total` of each counts them.
  std::map<std::pair<std::string, std::string_view>, net::FilterReport> sums;
  for (const audit::Record& record : *records)
    for (const net::Connection& one : net::ConnectionsIn(record.detail)) {
      if (!is_meant(one)) continue;
      found = true;
      const std::string name = net::PrintHostPort(one.host, one.port);
      net::FilterReport& all = sums[{name, net::Name(one.verdict)}];
      ++all.total;
      all.bytes_out += one.bytes_out;
      all.bytes_in += one.bytes_in;
      if (sum) continue;
      if (options.json)
        std::puts(ConnectionToJson(record, one).c_str());
      else
        print(TimeText(record.time_ns), net::Name(one.verdict), name,
              one.bytes_out, one.bytes_in, record.command);
    }
  if (!sum) return found ? 0 : NothingFound();
  for (const auto& [key, all] : sums) {
    if (!options.json) {
      print("", key.second, key.first, all.bytes_out, all.bytes_in,
            std::to_string(all.total) +
                (all.total == 1 ? " connection" : " connections"));
      continue;
    }
    JsonWriter json;
    json.BeginObject().Field("schema", "gate.connections/1");
    json.Field("host", key.first).Field("verdict", key.second);
    json.Field("connections", static_cast<int64_t>(all.total));
    json.Field("sent", static_cast<int64_t>(all.bytes_out));
    json.Field("received", static_cast<int64_t>(all.bytes_in)).EndObject();
    std::puts(json.text().c_str());
  }
  return found ? 0 : NothingFound();
}

}  // namespace

int AuditCommand(const GlobalOptions& globals, const Arguments& arguments) {
  struct Row {
    const char* name;
    int (*run)(const ProcessFacts&, const Arguments&);
  };
  static constexpr Row kRows[] = {{"list", ListRecords},
                                  {"show", ShowRecord},
                                  {"stats", Stats},
                                  {"verify", Verify},
                                  {"net", Network}};
  const std::string name = arguments.empty() ? "list" : arguments[0];
  const ProcessFacts facts = ReadProcessFacts(globals);
  for (const Row& row : kRows)
    if (name == row.name)
      return row.run(facts, arguments.empty() ? arguments
                                              : Arguments(arguments.begin() + 1,
                                                          arguments.end()));
  if (name == "--help" || name == "-h") {
    std::fputs(
        WithExamples("usage: gate audit [list | show | stats | verify | net] "
                     "[OPTIONS]\n\n"
                     "Queries and verifies the audit log.\n\n"
                     "  list    records, newest first (the default)\n"
                     "  show    one record whole\n"
                     "  stats   how many, by a column\n"
                     "  verify  whether the log was changed\n"
                     "  net     whom commands reached by name\n\n"
                     "`gate audit COMMAND --help` shows the options of each.\n",
                     "audit")
            .c_str(),
        stdout);
    return 0;
  }
  Complain("`" + name + "` is not a command of gate audit");
  std::fputs("help: gate audit list|show|stats|verify|net\n", stderr);
  return kExitUsage;
}

}  // namespace gate::app
