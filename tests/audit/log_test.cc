#include "audit/log.h"
#include "audit/pending.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "tests/audit/log_fixture.h"

namespace gate::audit {
namespace {

class LogTest : public TemporaryState {
 protected:
  std::string Bytes(const std::string& path) {
    auto bytes = ReadFile(path, size_t{1} << 28);
    return bytes ? *bytes : "";
  }
  ErrorCode OpenError() {
    auto log = Log::Open(state_, Options{.busy_timeout_ms = 200});
    EXPECT_FALSE(log);
    return log ? ErrorCode::kInternal : log.error().code;
  }
};

TEST_F(LogTest, AppendedRecordIsReadBackWhole) {
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log) << log.error().message;
  Record record = Decision("git status");
  record.parent = "p";
  record.enforced = false;
  record.backend = "native";
  record.status = "exited";
  record.exit_code = -7;
  record.duration_ms = 12;
  record.command += std::string("\0\xff", 2);
  ASSERT_TRUE(log->Append(&record));
  EXPECT_EQ(record.sequence, 1u);
  EXPECT_EQ(record.hash.size(), 64u);
  log->Close();

  auto reader = Log::OpenReadOnly(state_);
  ASSERT_TRUE(reader);
  for (const std::string& reference :
       {record.id, std::string("1"), std::string("last")}) {
    const auto found = reader->Find(reference);
    ASSERT_TRUE(found) << reference;
    EXPECT_EQ(found->kind, Kind::kDecision);
    EXPECT_EQ(found->id, record.id);
    EXPECT_EQ(found->parent, "p");
    EXPECT_EQ(found->time_ns, record.time_ns);
    EXPECT_EQ(found->command, record.command);
    EXPECT_EQ(found->cwd, record.cwd);
    EXPECT_FALSE(found->enforced);
    EXPECT_EQ(found->exit_code, -7);
    EXPECT_EQ(found->duration_ms, 12u);
    EXPECT_EQ(found->detail, record.detail);
    EXPECT_EQ(found->hash, record.hash);
  }
  EXPECT_EQ(reader->Find("nope").error().code, ErrorCode::kNotFound);
}

TEST_F(LogTest, FilesAreForTheOwnerOnly) {
  Fill(3);
  struct stat info{};
  ASSERT_EQ(stat(state_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  for (const char* suffix : {"", "-wal", "-shm"}) {
    ASSERT_EQ(stat((database_ + suffix).c_str(), &info), 0) << suffix;
    EXPECT_EQ(info.st_mode & 07777, 0600u) << suffix;
  }
}

TEST_F(LogTest, QueriesFilter) {
  {
    auto log = Log::Open(state_, Options{});
    ASSERT_TRUE(log);
    const char* const actions[] = {"allow", "deny", "ask", "sandbox"};
    for (int i = 0; i < 20; ++i) {
      Record record = Decision("run " + std::to_string(i));
      record.action = actions[i % 4];
      record.agent = i % 2 == 0 ? "claude" : "codex";
      record.cwd = i < 10 ? "/w/a" : "/w/ab";
      record.time_ns += static_cast<uint64_t>(i);
      ASSERT_TRUE(log->Append(&record));
      if (i == 19) {
        Record outcome = Decision("run");
        outcome.kind = Kind::kOutcome;
        outcome.parent = record.id;
        ASSERT_TRUE(log->Append(&outcome));
        const auto children = log->Children(record.id);
        ASSERT_TRUE(children);
        ASSERT_EQ(children->size(), 1u);
        EXPECT_EQ(children->front().id, outcome.id);
      }
    }
  }
  auto log = Log::OpenReadOnly(state_);
  ASSERT_TRUE(log);
  const auto count = [&](const Filter& filter) {
    const auto rows = log->Query(filter);
    EXPECT_TRUE(rows);
    return rows ? rows->size() : 0;
  };
  const std::vector<Kind> decisions = {Kind::kDecision};
  EXPECT_EQ(count({}), 21u);
  EXPECT_EQ(count({.actions = {"deny", "ask"}, .kinds = decisions}), 10u);
  EXPECT_EQ(count({.agent = "codex", .kinds = decisions}), 10u);
  EXPECT_EQ(count({.cwd_prefix = "/w/a", .kinds = decisions}), 10u);
  EXPECT_EQ(count({.cwd_prefix = "/w/", .kinds = decisions}), 20u);
  EXPECT_EQ(count({.cwd_prefix = "/", .kinds = decisions}), 20u);
  EXPECT_EQ(count({.text = "run 1", .kinds = decisions}), 11u);
  EXPECT_EQ(count({.text = "' OR 1=1 --"}), 0u);
  EXPECT_EQ(count({.kinds = {Kind::kOutcome}}), 1u);
  EXPECT_EQ(count({.limit = 5}), 5u);
  const uint64_t base = Decision("").time_ns;
  EXPECT_EQ(count({.since_ns = base + 5, .until_ns = base + 8}), 3u);
  EXPECT_EQ(log->Query({.newest_first = false, .limit = 1})->front().sequence,
            1u);
  const auto stats = log->Count("action", {.kinds = decisions});
  ASSERT_TRUE(stats);
  EXPECT_EQ(stats->records, 20u);
  EXPECT_EQ(stats->rows.size(), 4u);
  EXPECT_EQ(log->Count("command", {}).error().code, ErrorCode::kInvalid);
}

TEST_F(LogTest, ReadOnlyLogTakesNoRecord) {
  Fill(1);
  auto log = Log::OpenReadOnly(state_);
  ASSERT_TRUE(log);
  Record record = Decision("x");
  EXPECT_FALSE(log->Append(&record));
  EXPECT_EQ(record.sequence, 0u);
  EXPECT_FALSE(log->Prune(UINT64_MAX, "x"));
}

TEST_F(LogTest, ReadOnlyOfNothingIsNotFound) {
  EXPECT_EQ(Log::OpenReadOnly(state_).error().code, ErrorCode::kNotFound);
}

TEST_F(LogTest, SecretsNeverReachTheFiles) {
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log);
  const std::string secret = "pl4ntedS3cret";
  Record record =
      Decision("export API_TOKEN=" + secret + "; curl -u a:" + secret +
               " https://u:" + secret + "@h/?token=" + secret +
               " -H 'Authorization: Bearer " + secret + "'");
  record.reason = "would run TOKEN=" + secret;
  record.cwd = "/tmp/TOKEN=" + secret;
  record.detail = "{\"argv\":[\"t\",\"--password\",\"" + secret +
                  "\"],\"env\":{\"DB_PASSWORD\":\"" + secret + "\"}}";
  ASSERT_TRUE(log->Append(&record));
  EXPECT_NE(record.detail.find("\"redacted\":["), std::string::npos);
  log->Close();
  for (const char* suffix : {"", "-wal", "-shm"}) {
    EXPECT_EQ(Bytes(database_ + suffix).find(secret), std::string::npos);
  }
  EXPECT_EQ(Bytes(PendingPath(state_)).find(secret), std::string::npos);
  EXPECT_NE(Bytes(PendingPath(state_)).find("[redacted:"), std::string::npos);
  auto again = Log::Open(state_, Options{});
  ASSERT_TRUE(again);
  ASSERT_TRUE(again->Prune(0, "none"));  // checkpoints the WAL
  again->Close();
  EXPECT_EQ(Bytes(database_).find(secret), std::string::npos);
  EXPECT_NE(Bytes(database_).find("[redacted:"), std::string::npos);
  EXPECT_EQ(VerifyLog().finding, VerifyStatus::kOk);
}

TEST_F(LogTest, LongTextsAreCut) {
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log);
  Record record = Decision(std::string(1 << 20, '('));
  record.detail = "{\"a\":\"" + std::string(1 << 20, 'x') + "\"}";
  ASSERT_TRUE(log->Append(&record));
  EXPECT_LT(record.command.size(), 65u * 1024);
  EXPECT_NE(record.command.find("[cut:"), std::string::npos);
  EXPECT_LT(record.detail.size(), 64u * 1024);
  EXPECT_EQ(ParseJson(record.detail)->value("detail_cut", 0), (1 << 20) + 8);
  EXPECT_EQ(VerifyLog().finding, VerifyStatus::kOk);
}

TEST_F(LogTest, ALongDetailKeepsWhatFitsAndSaysHowMuchThereWas) {
  Json detail = Json::object();
  detail["reason"] = "exited";
  detail["flag"] = false;
  detail["lost"] = Json::array();
  detail["violations"] = Json::array();
  detail["preview"]["changes"] = Json::array();
  detail["long"] = std::string(100000, '\x01');
  for (int i = 0; i < 3000; ++i) {
    Json one = Json::object();
    one["kind"] = "protected-path";
    one["detail"] = "/home/u/project/t/" + std::to_string(i) +
                    "/.envrc: created or changed by the run";
    detail["violations"].push_back(one);
    detail["preview"]["changes"].push_back("/home/u/project/" +
                                           std::to_string(i));
  }
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log);
  const struct {
    const char* what;
    std::string text;
  } none[] = {{"no object", "[" + std::string(100000, ' ') + "1]"},
              {"no JSON", "{\"a\":" + std::string(100000, 'x')}};
  Record record = Decision("c");
  record.detail = Dump(detail);
  const size_t size = record.detail.size();
  ASSERT_TRUE(log->Append(&record));
  EXPECT_LE(record.detail.size(), 64u * 1024);
  const auto kept = ParseJson(record.detail);
  ASSERT_TRUE(kept) << record.detail.substr(0, 200);
  EXPECT_EQ((*kept)["detail_cut"], size);
  EXPECT_EQ((*kept)["cut"]["violations"], 3000);
  EXPECT_EQ((*kept)["cut"]["preview.changes"], 3000);
  EXPECT_EQ((*kept)["reason"], "exited");
  EXPECT_EQ((*kept)["flag"], false);
  EXPECT_EQ((*kept)["lost"], Json::array());
  const Json& violations = (*kept)["violations"];
  EXPECT_GT(violations.size(), 100u);
  EXPECT_LT(violations.size(), 3000u);
  for (size_t i = 0; i < violations.size(); ++i)
    EXPECT_EQ(violations[i], detail["violations"][i]);
  EXPECT_GT((*kept)["preview"]["changes"].size(), 100u);
  for (const auto& c : none) {
    Record other = Decision("c");
    other.detail = c.text;
    ASSERT_TRUE(log->Append(&other)) << c.what;
    EXPECT_EQ(ParseJson(other.detail)->size(), 1u) << c.what;
  }
  // One violation that is longer than a record is not lost whole either.
  detail = Json::object();
  detail["violations"] = Json::array({Json::object()});
  detail["violations"][0]["kind"] = "protected-path";
  detail["violations"][0]["detail"] = std::string(200000, 'x');
  Record one = Decision("c");
  one.detail = Dump(detail);
  ASSERT_TRUE(log->Append(&one));
  EXPECT_EQ((*ParseJson(one.detail))["violations"][0]["kind"],
            "protected-path");
  log->Close();
  EXPECT_EQ(VerifyLog().finding, VerifyStatus::kOk);
}

TEST_F(LogTest, RefusesWhatIsNotItsFile) {
  const auto replace = [&](auto make) {
    std::filesystem::remove_all(state_);
    ASSERT_EQ(mkdir(state_.c_str(), 0700), 0);
    make();
  };
  replace([&] {
    std::ofstream(database_) << std::string(8192, 'g');
    chmod(database_.c_str(), 0600);
  });
  EXPECT_EQ(OpenError(), ErrorCode::kCorrupt);
  replace([&] {
    std::ofstream(database_) << "short";
    chmod(database_.c_str(), 0600);
  });
  EXPECT_EQ(OpenError(), ErrorCode::kCorrupt);
  replace([&] { mkdir(database_.c_str(), 0700); });
  EXPECT_EQ(OpenError(), ErrorCode::kPermission);
  replace([&] { mkfifo(database_.c_str(), 0600); });
  EXPECT_EQ(OpenError(), ErrorCode::kPermission);
  replace([&] {
    std::ofstream(root_ + "/other") << "";
    ASSERT_EQ(symlink((root_ + "/other").c_str(), database_.c_str()), 0);
  });
  EXPECT_EQ(OpenError(), ErrorCode::kPermission);
  replace([&] { ASSERT_EQ(symlink("/nonexistent/x", database_.c_str()), 0); });
  EXPECT_EQ(OpenError(), ErrorCode::kPermission);
  replace([&] {
    std::ofstream(database_) << "";
    chmod(database_.c_str(), 0600);
    ASSERT_EQ(link(database_.c_str(), (root_ + "/hard").c_str()), 0);
  });
  EXPECT_EQ(OpenError(), ErrorCode::kPermission);
}

TEST_F(LogTest, RefusesFilesOpenToOthers) {
  Fill(1);
  chmod(database_.c_str(), 0644);
  EXPECT_EQ(OpenError(), ErrorCode::kPermission);
  chmod(database_.c_str(), 0600);
  chmod(state_.c_str(), 0755);
  EXPECT_EQ(OpenError(), ErrorCode::kPermission);
  chmod(state_.c_str(), 0700);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(database_.c_str(), 12345, 12345), 0);
    EXPECT_EQ(OpenError(), ErrorCode::kPermission);
    ASSERT_EQ(chown(database_.c_str(), 0, 0), 0);
    ASSERT_EQ(chown(state_.c_str(), 12345, 12345), 0);
    EXPECT_EQ(OpenError(), ErrorCode::kPermission);
    ASSERT_EQ(chown(state_.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(VerifyLog().records, 1u);
}

TEST_F(LogTest, FullDiskIsAnErrorAndStoresNothing) {
  Fill(2);
  const pid_t child = fork();
  if (child == 0) {
    // The limit stands for a full disk: writing past it fails.
    signal(SIGXFSZ, SIG_IGN);
    struct stat info{};
    stat((database_ + "-wal").c_str(), &info);
    const rlimit limit{static_cast<rlim_t>(info.st_size) + 8192,
                       static_cast<rlim_t>(info.st_size) + 8192};
    auto log = Log::Open(state_, Options{});
    if (!log) _exit(2);
    setrlimit(RLIMIT_FSIZE, &limit);
    for (int i = 0; i < 100; ++i) {
      Record record = Decision(std::string(2000, 'x'));
      const auto status = log->Append(&record);
      if (!status) {
        _exit(status.error().code == ErrorCode::kIo && record.sequence == 0
                  ? 0
                  : 3);
      }
    }
    _exit(4);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(VerifyLog().finding, VerifyStatus::kOk);
  Fill(1);
  EXPECT_EQ(VerifyLog().finding, VerifyStatus::kOk);
}

TEST_F(LogTest, MaintainKeepsTheWalSmall) {
  uint64_t largest = 0;
  int due = 0;
  for (int i = 0; i < 200; ++i) {
    auto log = Log::Open(state_, Options{});
    ASSERT_TRUE(log);
    Record record = Decision(std::string(2000, 'c') + std::to_string(i));
    ASSERT_TRUE(log->Append(&record));
    if (log->MaintenanceDue()) {
      ++due;
      log->Maintain(record.time_ns);
    }
    log->Close();
    for (const std::string& file : {database_ + "-wal", PendingPath(state_)}) {
      largest = std::max<uint64_t>(largest, std::filesystem::file_size(file));
    }
  }
  EXPECT_GT(due, 2);
  EXPECT_LT(largest, 150u * 1024);
  const VerifyReport verdict = VerifyLog();
  EXPECT_EQ(verdict.finding, VerifyStatus::kOk);
  EXPECT_EQ(verdict.records, 200u);
}

TEST_F(LogTest, MaintainSkipsWhatIsBusy) {
  Fill(100);
  // A reader in the middle of a query is a process of its own.
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log);
  log->Maintain(Decision("").time_ns);
  Record record = Decision("after");
  EXPECT_TRUE(log->Append(&record));
  EXPECT_EQ(record.sequence, 101u);
}

TEST_F(LogTest, MaintainDropsRecordsOlderThan90Days) {
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log);
  const uint64_t day = 86400ull * 1000000000ull;
  for (int i = 0; i < 100; ++i) {
    Record record = Decision(std::string(2000, 'c') + std::to_string(i));
    if (i >= 60) record.time_ns += 100 * day;
    ASSERT_TRUE(log->Append(&record));
  }
  log->Maintain(Decision("").time_ns + 100 * day);
  log->Close();
  const VerifyReport verdict = VerifyLog();
  EXPECT_EQ(verdict.finding, VerifyStatus::kOk) << verdict.message;
  EXPECT_EQ(verdict.records, 41u);
}

TEST_F(LogTest, PruneLeavesACheckpointAndVerifies) {
  Fill(50);
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log);
  const auto head = log->Head();
  ASSERT_TRUE(head);
  EXPECT_EQ(*log->Prune(0, "nothing is so old"), 0u);
  EXPECT_EQ(*log->Prune(UINT64_MAX, "test"), 50u);
  const auto last = log->Find("last");
  ASSERT_TRUE(last);
  EXPECT_EQ(last->kind, Kind::kCheckpoint);
  EXPECT_NE(last->detail.find("\"actions\":{\"allow\":50}"), std::string::npos);
  log->Close();
  Fill(5);
  VerifyReport verdict = VerifyLog(*head);
  EXPECT_EQ(verdict.finding, VerifyStatus::kOk) << verdict.message;
  EXPECT_EQ(verdict.first, 51u);
  EXPECT_EQ(verdict.pruned_through, 50u);
  EXPECT_NE(verdict.pruned.find("records up to 50 were removed"),
            std::string::npos)
      << verdict.pruned;
  // What it was compared with is gone.
  EXPECT_FALSE(verdict.anchored);
  EXPECT_EQ(verdict.records, 6u);
  // The name of the log outlives its first record, and a second prune.
  EXPECT_EQ(verdict.anchor.substr(0, 16), head->substr(0, 16));
  auto again = Log::Open(state_, Options{});
  ASSERT_TRUE(again);
  EXPECT_EQ(*again->Prune(UINT64_MAX, "again"), 6u);
  EXPECT_EQ(again->Verify("")->anchor.substr(0, 16), head->substr(0, 16));
}

// What an anchor is worth once records before it, or its own, were pruned.
TEST_F(LogTest, AnAnchorVouchesForNoPruneThatWasNotDue) {
  constexpr uint64_t kDay = 86400ull * 1000000000ull;
  timespec clock{};
  clock_gettime(CLOCK_REALTIME, &clock);
  const uint64_t now = static_cast<uint64_t>(clock.tv_sec) * 1000000000u;
  const struct {
    const char* what;
    uint64_t age_days;  // of the record that is left first
    uint64_t anchor;    // number of its record
    bool bare;          // its hash alone
    uint64_t after;     // records between the anchor and the prune
    bool anchored;
    VerifyStatus finding;
    const char* says;
  } cases[] = {
      {"due, kept", 89, 7, false, 2, true, VerifyStatus::kOk,
       "part of the log"},
      {"due, kept, bare", 89, 7, true, 2, true, VerifyStatus::kOk, "part of"},
      {"due, the first kept", 89, 6, false, 2, true, VerifyStatus::kOk,
       "part of"},
      {"due, where it was cut", 89, 5, false, 2, false, VerifyStatus::kOk,
       "proves nothing"},
      {"due, where it was cut, bare", 89, 5, true, 2, false, VerifyStatus::kOk,
       "proves nothing"},
      {"due, pruned", 89, 3, false, 2, false, VerifyStatus::kOk,
       "proves nothing"},
      {"due, pruned, bare", 89, 3, true, 2, false, VerifyStatus::kOk,
       "no record has the anchor's hash"},
      {"not due, kept", 80, 7, false, 2, false, VerifyStatus::kOk,
       "removed after it was made"},
      {"not due, kept, bare", 1, 7, true, 2, false, VerifyStatus::kOk,
       "removed after it was made"},
      {"not due, where it was cut", 0, 5, false, 2, false, VerifyStatus::kOk,
       "proves nothing"},
      {"not due, and before the anchor", 0, 9, false, 0, true,
       VerifyStatus::kOk, "part of the log"},
  };
  for (const auto& c : cases) {
    std::filesystem::remove_all(state_);
    auto log = Log::Open(state_, Options{});
    ASSERT_TRUE(log);
    std::string anchor;
    uint64_t sequence = 0;
    const auto append = [&](uint64_t age_days) {
      Record record = Decision("x");
      record.time_ns = now - age_days * kDay;
      ASSERT_TRUE(log->Append(&record));
      if (++sequence == c.anchor) anchor = *log->Head();
    };
    for (int i = 0; i < 5; ++i) append(c.age_days + 1);
    append(c.age_days);
    append(c.age_days);
    if (c.after != 0)
      for (uint64_t i = 0; i < c.after; ++i) append(c.age_days);
    EXPECT_EQ(*log->Prune(now - c.age_days * kDay, "older than 90 days"), 5u);
    ++sequence;  // the checkpoint
    if (c.after == 0) append(c.age_days);
    log->Close();
    ASSERT_FALSE(anchor.empty()) << c.what;
    if (c.bare) anchor = anchor.substr(anchor.rfind(':') + 1);
    const VerifyReport verdict = VerifyLog(anchor);
    EXPECT_EQ(verdict.finding, c.finding) << c.what;
    EXPECT_EQ(verdict.anchored, c.anchored) << c.what << verdict.message;
    EXPECT_NE(verdict.message.find(c.says), std::string::npos)
        << c.what << ": " << verdict.message;
    EXPECT_EQ(verdict.pruned_through, 5u) << c.what;
  }
}

TEST_F(LogTest, RollbackJournalWorksAndConvertsBothWays) {
  for (const bool rollback : {true, false, true}) {
    auto log = Log::Open(state_, Options{.rollback_journal = rollback});
    ASSERT_TRUE(log) << log.error().message;
    Record record = Decision("x");
    ASSERT_TRUE(log->Append(&record));
    log->Close();
    EXPECT_EQ(std::filesystem::exists(database_ + "-wal"), !rollback);
  }
  auto log = Log::Open(state_, Options{.rollback_journal = true});
  ASSERT_TRUE(log);
  EXPECT_EQ(log->Verify("")->records, 3u);
}

TEST_F(LogTest, FullDurabilityAppends) {
  auto log = Log::Open(state_, Options{.full_durability = true});
  ASSERT_TRUE(log);
  Record record = Decision("x");
  EXPECT_TRUE(log->Append(&record));
}

TEST_F(LogTest, ClosedLogIsAnError) {
  Fill(1);
  auto log = Log::Open(state_, Options{});
  ASSERT_TRUE(log);
  log->Close();
  Record record = Decision("x");
  EXPECT_FALSE(log->Append(&record));
  EXPECT_FALSE(log->Query({}));
  EXPECT_FALSE(log->Verify(""));
  log->Maintain(0);
}

}  // namespace
}  // namespace gate::audit
