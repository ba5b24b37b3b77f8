// Many writers, killed at random moments. A record is acknowledged by one byte
// string through a pipe after Append returned; nothing acknowledged may be
// missing afterwards.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <set>

#include "audit/log.h"
#include "tests/audit/log_fixture.h"

namespace gate::audit {
namespace {

class StormTest : public TemporaryState {
 protected:
  // Appends for ever, acknowledging each id; a gate process writes one or two
  // records, so that the log is opened anew each time.
  [[noreturn]] void Write(int acknowledge) {
    while (true) {
      auto log = Log::Open(state_, Options{});
      if (!log) _exit(3);
      Record record = Decision("storm " + std::to_string(getpid()));
      if (!log->Append(&record)) _exit(4);
      std::string line = record.id + "\n";
      if (write(acknowledge, line.data(), line.size()) < 0) _exit(5);
      if (log->MaintenanceDue()) log->Maintain(record.time_ns);
    }
  }
};

TEST_F(StormTest, NoAcknowledgedRecordIsLost) {
  constexpr int kWriters = 6;
  constexpr int kRounds = 10;
  std::mt19937 random(7);
  std::set<std::string> acknowledged;
  Fill(1);
  for (int round = 0; round < kRounds; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::vector<pid_t> writers;
    for (int i = 0; i < kWriters; ++i) {
      const pid_t writer = fork();
      ASSERT_GE(writer, 0);
      if (writer == 0) {
        close(ends[0]);
        Write(ends[1]);
      }
      writers.push_back(writer);
    }
    close(ends[1]);
    std::string lines;
    // Reads what is acknowledged next; false: nothing will be any more.
    const auto more = [&] {
      char buffer[4096];
      const ssize_t got = read(ends[0], buffer, sizeof buffer);
      if (got > 0) lines.append(buffer, static_cast<size_t>(got));
      return got > 0;
    };
    // One of them dies when all together have got so far.
    for (const pid_t writer : writers) {
      for (int reads = std::uniform_int_distribution<int>(1, 6)(random);
           reads > 0 && more(); --reads) {
      }
      kill(writer, SIGKILL);
    }
    while (more()) {
    }
    close(ends[0]);
    for (const pid_t writer : writers) {
      int status = 0;
      waitpid(writer, &status, 0);
      EXPECT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
    }
    for (size_t at = 0, end = 0;
         (end = lines.find('\n', at)) != std::string::npos; at = end + 1) {
      acknowledged.insert(lines.substr(at, end - at));
    }
    const VerifyReport verdict = VerifyLog();
    ASSERT_EQ(verdict.finding, VerifyStatus::kOk) << verdict.message;
  }
  auto log = Log::OpenReadOnly(state_);
  ASSERT_TRUE(log);
  const auto records = log->Query({.limit = UINT64_MAX});
  ASSERT_TRUE(records);
  std::set<std::string> stored;
  for (const Record& record : *records) {
    EXPECT_TRUE(stored.insert(record.id).second) << "twice: " << record.id;
  }
  for (const std::string& id : acknowledged) {
    EXPECT_TRUE(stored.contains(id)) << "lost: " << id;
  }
  EXPECT_GT(acknowledged.size(), 100u);
  std::printf("kills %d, acknowledged %zu, stored %zu\n", kWriters * kRounds,
              acknowledged.size(), stored.size());
}

TEST_F(StormTest, FirstUseByManyAtOnceMakesOneLog) {
  std::vector<pid_t> writers;
  for (int i = 0; i < 8; ++i) {
    const pid_t writer = fork();
    if (writer == 0) {
      auto log = Log::Open(state_, Options{});
      Record record = Decision("first");
      _exit(log && log->Append(&record) ? 0 : 1);
    }
    writers.push_back(writer);
  }
  for (const pid_t writer : writers) {
    int status = 0;
    waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const VerifyReport verdict = VerifyLog();
  EXPECT_EQ(verdict.finding, VerifyStatus::kOk);
  EXPECT_EQ(verdict.records, 8u);
}

}  // namespace
}  // namespace gate::audit
