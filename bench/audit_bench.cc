// What a record costs in a process of its own, as a hook is one: at record 1,
// 100, 1,000 and 10,000, by step. Each measured process is this program again;
// it prints its times, and the medians of RUNS of them make a row. The library
// row is Log::Open, Append and Close; the rows below it repeat the same SQLite
// calls one by one. Last, the process as a whole beside /bin/true.
#include <fcntl.h>
#include <spawn.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "audit/log.h"
#include "base/hash.h"

extern char** environ;

namespace {

using gate::audit::Kind;
using gate::audit::Log;
using gate::audit::Record;

constexpr int kRuns = 101;

double Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 +
         static_cast<double>(now.tv_nsec) / 1e3;
}

Record Sample() {
  Record record;
  record.kind = Kind::kDecision;
  record.time_ns = 1795237567ull * 1000000000ull;
  record.id = gate::NewUuid(record.time_ns / 1000000);
  record.agent = "claude";
  record.session = "3c0f6d1e-8f34-4c8e-9b2a-0d1f2a3b4c5d";
  record.mode = "hook";
  record.command = "cd src && npm run build 2>&1 | tail -20 && git status";
  record.cwd = "/home/user/projects/example";
  record.action = "sandbox";
  record.reason = "no rule matched; the default is to contain";
  record.rule_id = "default";
  record.policy_revision = "b8f1c2d3e4f5";
  record.backend = "native";
  record.detail =
      "{\"host\":\"devbox\",\"uid\":1000,\"plan\":{\"mode\":\"sandbox\","
      "\"profile\":\"workspace-write\",\"network\":\"none\"},\"programs\":["
      "\"cd\",\"npm\",\"tail\",\"git\"],\"eval_us\":31}";
  return record;
}

// The library, as a hook uses it.
int MeasureLibrary(const std::string& state) {
  const double start = Now();
  auto log = Log::Open(state, {});
  if (!log) {
    std::fprintf(stderr, "%s\n", log.error().message.c_str());
    return 1;
  }
  const double opened = Now();
  Record record = Sample();
  if (auto stored = log->Append(&record); !stored) {
    std::fprintf(stderr, "%s\n", stored.error().message.c_str());
    return 1;
  }
  const double appended = Now();
  const bool due = log->MaintenanceDue();
  const double before_close = Now();
  log->Close();
  const double closed = Now();
  std::printf("open %.1f append %.1f close %.1f all %.1f", opened - start,
              appended - opened, closed - before_close, closed - start);
  if (due) {
    auto again = Log::Open(state, {});
    const double begin = Now();
    again->Maintain(record.time_ns);
    std::printf(" maintain %.1f", Now() - begin);
  }
  std::printf("\n");
  return 0;
}

// The same calls one by one.
int MeasureSteps(const std::string& state) {
  sqlite3* db = nullptr;
  double last = Now();
  const auto lap = [&](const char* name) {
    const double now = Now();
    std::printf("%s %.1f ", name, now - last);
    last = Now();
  };
  const auto run = [&](const char* sql) {
    return sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
  };
  sqlite3_initialize();
  lap("initialize");
  const std::string path = state + "/audit.db";
  if (sqlite3_open_v2(path.c_str(), &db,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK) {
    return 1;
  }
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  lap("open");
  if (!run("PRAGMA synchronous=NORMAL")) return 1;
  lap("schema+wal");
  if (!run("BEGIN IMMEDIATE")) return 1;
  lap("begin");
  sqlite3_stmt* row = nullptr;
  sqlite3_prepare_v2(db, "SELECT seq,hash FROM log ORDER BY seq DESC LIMIT 1",
                     -1, &row, nullptr);
  sqlite3_step(row);
  sqlite3_finalize(row);
  lap("read-head");
  const Record record = Sample();
  gate::Sha256(record.command + record.detail);
  lap("hash");
  if (!run("INSERT INTO log SELECT seq+1,v,kind,id,parent,time_ns,agent,"
           "session,mode,enforced,command,cwd,action,reason,rule_id,"
           "policy_revision,backend,status,exit_code,duration_ms,detail,hash,"
           "hash FROM log ORDER BY seq DESC LIMIT 1")) {
    return 1;
  }
  lap("insert");
  // Rolled back, so that the log stays one that verifies; the commit's cost is
  // in the library row.
  if (!run("ROLLBACK")) return 1;
  lap("rollback");
  sqlite3_close(db);
  lap("close");
  std::printf("\n");
  return 0;
}

using Row = std::map<std::string, std::vector<double>>;

std::string Self() { return std::filesystem::canonical("/proc/self/exe"); }

// Starts `words`, waits, and returns what it printed.
std::string Start(std::vector<std::string> words, double* microseconds) {
  int ends[2];
  if (pipe(ends) != 0) abort();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const double start = Now();
  pid_t child = 0;
  if (posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ) !=
      0) {
    abort();
  }
  int status = 0;
  waitpid(child, &status, 0);
  *microseconds = Now() - start;
  close(ends[1]);
  posix_spawn_file_actions_destroy(&actions);
  std::string text(4096, '\0');
  const ssize_t got = read(ends[0], text.data(), text.size());
  close(ends[0]);
  text.resize(got > 0 ? static_cast<size_t>(got) : 0);
  if (status != 0) abort();
  return text;
}

void Collect(const std::string& text, Row* row) {
  char name[32];
  double value = 0;
  int used = 0;
  for (const char* at = text.c_str();
       std::sscanf(at, "%31s %lf%n", name, &value, &used) == 2; at += used) {
    (*row)[name].push_back(value);
  }
}

double Median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void Print(const char* what, const Row& row,
           std::initializer_list<const char*> names) {
  std::printf("  %-8s", what);
  for (const char* name : names) {
    const auto found = row.find(name);
    if (found != row.end()) {
      std::printf(" %s %.0f", name, Median(found->second));
    }
  }
  std::printf("\n");
}

void Fill(const std::string& state, int until) {
  auto log = Log::Open(state, {});
  if (!log) abort();
  Record record = Sample();
  do {
    record = Sample();
    if (!log->Append(&record)) abort();
    log->Maintain(record.time_ns);
  } while (record.sequence + 1 < static_cast<uint64_t>(until));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "library") == 0) {
    return MeasureLibrary(argv[2]);
  }
  if (argc == 3 && std::strcmp(argv[1], "steps") == 0) {
    return MeasureSteps(argv[2]);
  }
  if (argc == 2 && std::strcmp(argv[1], "nothing") == 0) return 0;
  std::string root =
      std::filesystem::temp_directory_path().string() + "/gate-bench-XXXXXX";
  if (mkdtemp(root.data()) == nullptr) return 1;
  const std::string state = root + "/state";
  std::printf("microseconds, medians of %d processes each\n", kRuns);
  for (const int record : {1, 100, 1000, 10000}) {
    if (record > 1) Fill(state, record);
    Row library, steps, whole;
    for (int run = 0; run < kRuns; ++run) {
      double wall = 0;
      Collect(Start({Self(), "library", state}, &wall), &library);
      whole["record"].push_back(wall);
      Collect(Start({Self(), "steps", state}, &wall), &steps);
      Start({"/bin/true"}, &wall);
      whole["true"].push_back(wall);
      Start({Self(), "nothing"}, &wall);
      whole["nothing"].push_back(wall);
    }
    std::printf("at record %d\n", record);
    Print("library", library, {"open", "append", "close", "all", "maintain"});
    Print("steps", steps,
          {"initialize", "open", "schema+wal", "begin", "read-head", "hash",
           "insert", "rollback", "close"});
    std::printf(
        "  process  record %.0f, no record %.0f, /bin/true %.0f: "
        "%.2f x\n",
        Median(whole["record"]), Median(whole["nothing"]),
        Median(whole["true"]), Median(whole["record"]) / Median(whole["true"]));
  }
  std::filesystem::remove_all(root);
  return 0;
}
