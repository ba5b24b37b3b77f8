#include "hooks/ticket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include <filesystem>
#include <set>

#include "base/file.h"

namespace gate::hooks {
namespace {

constexpr uint64_t kNow = 1795237567000;

class TicketTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern =
        std::filesystem::temp_directory_path().string() + "/gate-ticket-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    state_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(state_); }

  static Ticket Make() {
    Ticket ticket;
    ticket.command = std::string("echo 'a b'\n\0\xff", 13);
    ticket.cwd = "/w";
    ticket.place = "1:2 /w";
    ticket.policy_revision = "r1";
    ticket.plan = "{\"mode\":\"sandbox\"}";
    ticket.decision_id = "d";
    ticket.agent = "codex";
    ticket.session = "s";
    ticket.asked = true;
    ticket.client = "claude 2.1.330";
    ticket.trial = true;
    ticket.expires_ms = kNow + kTicketLifetimeMs;
    return ticket;
  }
  std::string Issue() {
    auto name = IssueTicket(state_, Make());
    EXPECT_TRUE(name) << name.error().message;
    return name ? *name : "";
  }
  ErrorCode RedeemError(const std::string& name, uint64_t now = kNow) {
    auto ticket = RedeemTicket(state_, name, now);
    EXPECT_FALSE(ticket);
    return ticket ? ErrorCode::kInternal : ticket.error().code;
  }
  std::string File(const std::string& name) {
    return state_ + "/tickets/" + name;
  }

  std::string state_;
};

TEST_F(TicketTest, CarriesEveryField) {
  const std::string name = Issue();
  EXPECT_EQ(name.size(), 32u);
  struct stat info{};
  ASSERT_EQ(stat(File(name).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  ASSERT_EQ(stat((state_ + "/tickets").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700u);
  const auto ticket = RedeemTicket(state_, name, kNow);
  ASSERT_TRUE(ticket) << ticket.error().message;
  const Ticket made = Make();
  EXPECT_EQ(ticket->command, made.command);
  EXPECT_EQ(ticket->cwd, made.cwd);
  EXPECT_EQ(ticket->place, made.place);
  EXPECT_EQ(ticket->policy_revision, made.policy_revision);
  EXPECT_EQ(ticket->plan, made.plan);
  EXPECT_EQ(ticket->decision_id, made.decision_id);
  EXPECT_EQ(ticket->agent, made.agent);
  EXPECT_EQ(ticket->session, made.session);
  EXPECT_EQ(ticket->asked, made.asked);
  EXPECT_EQ(ticket->expires_ms, made.expires_ms);
}

TEST_F(TicketTest, IsUsedOnce) {
  const std::string name = Issue();
  EXPECT_TRUE(RedeemTicket(state_, name, kNow));
  EXPECT_EQ(RedeemError(name), ErrorCode::kNotFound);
}

TEST_F(TicketTest, ExpiresAndIsGoneThen) {
  const std::string name = Issue();
  EXPECT_EQ(RedeemError(name, kNow + kTicketLifetimeMs), ErrorCode::kTimeout);
  EXPECT_EQ(RedeemError(name), ErrorCode::kNotFound);
}

TEST_F(TicketTest, SaysWhyItIsTooLate) {
  Ticket ticket = Make();
  for (const auto& [asked, says] :
       {std::pair{false, "more than ten minutes old"},
        std::pair{true, "open for more than an hour"}}) {
    ticket.asked = asked;
    const auto name = IssueTicket(state_, ticket);
    ASSERT_TRUE(name);
    const auto late = RedeemTicket(state_, *name, ticket.expires_ms);
    ASSERT_FALSE(late);
    EXPECT_NE(late.error().message.find(says), std::string::npos)
        << late.error().message;
  }
}

TEST_F(TicketTest, OneThatCannotBeUsedUpIsNotOneThatIsNotThere) {
  const std::string name = Issue();
  // As a user whom permissions hold back.
  const pid_t child = fork();
  if (child == 0) {
    if (chmod((state_ + "/tickets").c_str(), 0500) != 0 ||
        (geteuid() == 0 && (chown((state_ + "/tickets").c_str(), 65534, 0) ||
                            chown(File(name).c_str(), 65534, 0) ||
                            chown(state_.c_str(), 65534, 0) ||
                            chown((state_ + "/ticket.key").c_str(), 65534, 0) ||
                            setuid(65534) != 0)))
      _exit(9);
    const auto kept = RedeemTicket(state_, name, kNow);
    const auto none =
        RedeemTicket(state_, "00000000000000000000000000000000", kNow);
    if (kept || kept.error().code != ErrorCode::kIo) _exit(1);
    if (none || none.error().code != ErrorCode::kNotFound) _exit(2);
    _exit(std::filesystem::exists(File(name)) ? 0 : 3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  chmod((state_ + "/tickets").c_str(), 0700);
}

TEST_F(TicketTest, NamesAreNumbersOnly) {
  Issue();
  for (const char* name :
       {"", "x", "../ticket.key", "0123456789ABCDEF0123456789abcdef",
        "0123456789abcdef0123456789abcde/", "00000000000000000000000000000000",
        "..", "."}) {
    EXPECT_EQ(RedeemError(name), ErrorCode::kNotFound) << name;
  }
  EXPECT_TRUE(std::filesystem::exists(state_ + "/ticket.key"));
}

TEST_F(TicketTest, TamperingIsFoundWhereverItIs) {
  const std::string sample = Issue();
  const auto size = std::filesystem::file_size(File(sample));
  for (size_t at = 0; at < size; at += 7) {
    const std::string name = Issue();
    const int fd = open(File(name).c_str(), O_RDWR);
    char byte = 0;
    ASSERT_EQ(pread(fd, &byte, 1, static_cast<off_t>(at)), 1);
    byte = static_cast<char>(byte ^ 1);
    ASSERT_EQ(pwrite(fd, &byte, 1, static_cast<off_t>(at)), 1);
    close(fd);
    EXPECT_EQ(RedeemError(name), ErrorCode::kPermission) << at;
    EXPECT_EQ(RedeemError(name), ErrorCode::kNotFound);
  }
  for (const auto length : {size_t{0}, size_t{31}, size_t{32}, size - 1}) {
    const std::string name = Issue();
    ASSERT_EQ(truncate(File(name).c_str(), static_cast<off_t>(length)), 0);
    EXPECT_EQ(RedeemError(name), ErrorCode::kPermission) << length;
  }
}

TEST_F(TicketTest, ContentOfAnotherTicketDoesNotCount) {
  const std::string one = Issue();
  const std::string other(32, 'a');
  std::filesystem::rename(File(one), File(other));
  EXPECT_EQ(RedeemError(other), ErrorCode::kPermission);
}

TEST_F(TicketTest, AnotherKeyDoesNotCount) {
  const std::string name = Issue();
  std::filesystem::remove(state_ + "/ticket.key");
  EXPECT_EQ(RedeemError(name), ErrorCode::kPermission);
}

TEST_F(TicketTest, FileMustBeGates) {
  std::string name = Issue();
  chmod(File(name).c_str(), 0644);
  EXPECT_EQ(RedeemError(name), ErrorCode::kPermission);
  name = Issue();
  const std::string link(32, 'b');
  ASSERT_EQ(symlink(File(name).c_str(), File(link).c_str()), 0);
  EXPECT_NE(RedeemError(link), ErrorCode::kInternal);
  const std::string fifo(32, 'c');
  ASSERT_EQ(mkfifo(File(fifo).c_str(), 0600), 0);
  EXPECT_EQ(RedeemError(fifo), ErrorCode::kPermission);
  EXPECT_TRUE(RedeemTicket(state_, name, kNow));
}

TEST_F(TicketTest, OneOfManyRedeemersWins) {
  for (int round = 0; round < 10; ++round) {
    const std::string name = Issue();
    std::vector<pid_t> children;
    int gate[2];
    ASSERT_EQ(pipe(gate), 0);
    for (int i = 0; i < 8; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        close(gate[1]);
        char byte = 0;
        if (read(gate[0], &byte, 1) != 0) _exit(2);
        _exit(RedeemTicket(state_, name, kNow) ? 0 : 1);
      }
      children.push_back(child);
    }
    close(gate[0]);
    close(gate[1]);  // all start now
    int winners = 0;
    for (const pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      winners += status == 0;
    }
    EXPECT_EQ(winners, 1);
  }
}

TEST_F(TicketTest, OfACallIsFoundByTheCallUntilItIsUsed) {
  EXPECT_EQ(TakeUnredeemed(state_, "c1").error().code, ErrorCode::kNotFound);
  const auto name = IssueTicket(state_, Make(), "c1");
  ASSERT_TRUE(name);
  const auto other = IssueTicket(state_, Make(), "c2");
  ASSERT_TRUE(other);
  EXPECT_NE(*name, *other);
  EXPECT_FALSE(TakeUnredeemed(state_, "c3"));
  EXPECT_FALSE(TakeUnredeemed(state_, ""));
  const auto peeked = PeekTicket(state_, *name);
  ASSERT_TRUE(peeked);
  EXPECT_EQ(peeked->client, "claude 2.1.330");

  const auto taken = TakeUnredeemed(state_, "c1");
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->command, Make().command);
  EXPECT_FALSE(TakeUnredeemed(state_, "c1"));
  EXPECT_EQ(RedeemError(*name), ErrorCode::kNotFound);
  EXPECT_EQ(PeekTicket(state_, *name).error().code, ErrorCode::kNotFound);

  EXPECT_TRUE(RedeemTicket(state_, *other, kNow));
  EXPECT_FALSE(TakeUnredeemed(state_, "c2"));
  // Another state directory gives the same call another name.
  const auto elsewhere = IssueTicket(state_ + "/other", Make(), "c1");
  ASSERT_TRUE(elsewhere);
  EXPECT_NE(*elsewhere, *name);
}

TEST_F(TicketTest, TwoForOneCallAreOneWhereTheySayTheSame) {
  const auto first = IssueTicket(state_, Make(), "c");
  Ticket again = Make();
  again.decision_id = "another";
  again.expires_ms += 5;
  EXPECT_EQ(*IssueTicket(state_, again, "c"), *first);
  again.command = "echo other";
  const auto other = IssueTicket(state_, again, "c");
  ASSERT_TRUE(other);
  EXPECT_NE(*other, *first);
  // Which of the two the client was to use is not known.
  EXPECT_FALSE(TakeUnredeemed(state_, "c"));
  EXPECT_TRUE(RedeemTicket(state_, *other, kNow));

  // One that came to nothing long ago makes room.
  ASSERT_TRUE(IssueTicket(state_, Make(), "d"));
  again.expires_ms = Make().expires_ms + 3600 * 1000;
  ASSERT_TRUE(IssueTicket(state_, again, "d"));
  EXPECT_EQ(TakeUnredeemed(state_, "d")->command, "echo other");
}

TEST_F(TicketTest, OfACallIsUsedOrFoundUnusedButNotBoth) {
  for (int round = 0; round < 20; ++round) {
    const std::string call = std::to_string(round);
    const auto name = IssueTicket(state_, Make(), call);
    ASSERT_TRUE(name);
    const pid_t child = fork();
    if (child == 0) _exit(RedeemTicket(state_, *name, kNow) ? 0 : 1);
    const bool found = TakeUnredeemed(state_, call).has_value();
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_NE(found, status == 0);
  }
}

TEST_F(TicketTest, SweepTakesTheExpiredOnly) {
  std::set<std::string> old;
  for (int i = 0; i < 5; ++i) {
    const std::string name = Issue();
    const utimbuf times{1000, 1000};
    ASSERT_EQ(utime(File(name).c_str(), &times), 0);
    old.insert(name);
  }
  const std::string fresh = Issue();
  struct stat info{};
  ASSERT_EQ(stat(File(fresh).c_str(), &info), 0);
  const uint64_t now = static_cast<uint64_t>(info.st_mtime) * 1000 + 5000;
  SweepTickets(state_, now, 0);
  EXPECT_TRUE(std::filesystem::exists(File(*old.begin())));
  SweepTickets(state_, now, 100);
  for (const std::string& name : old) {
    EXPECT_FALSE(std::filesystem::exists(File(name)));
  }
  EXPECT_TRUE(std::filesystem::exists(File(fresh)));
  SweepTickets(state_ + "/none", now, 100);
}

}  // namespace
}  // namespace gate::hooks
