#include "services/listeners.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "tests/support/servers.h"
#include "tests/support/temporary_directory.h"

namespace gate::services {
namespace {

constexpr std::string_view kHeadings =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when "
    "retrnsmt"
    "   uid  timeout inode\n";

TEST(ListenersTest, AreReadFromTheKernelsTable) {
  const std::string table =
      std::string(kHeadings) +
      "   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 "
      "00000000  1000        0 12345 1 0000000000000000 100 0 0 10 0\n"
      "   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 "
      "00000000     0        0 777 1 0000000000000000 100 0 0 10 0\n"
      "   2: 3500007F:0035 00000000:0000 0A 00000000:00000000 00:00000000 "
      "00000000   101        0 888 1 0000000000000000 100 0 0 10 0\n"
      "   3: 0A0200C0:1F41 00000000:0000 0A 00000000:00000000 00:00000000 "
      "00000000  1000        0 999 1 0000000000000000 100 0 0 10 0\n"
      "   4: 0100007F:1F40 0100007F:9C4A 01 00000000:00000000 00:00000000 "
      "00000000  1000        0 4711 1 0000000000000000 100 0 0 10 0\n"
      "   5: 0100007F:0050 00000000:0000 0A 00000000:00000000 00:00000000 "
      "00000000  1000        0 1 1 0000000000000000 100 0 0 10 0\n";
  // Not those of other addresses of this machine, nor what comes behind the
  // first that is no listener.
  EXPECT_EQ(ParseListening(table, false),
            (std::vector<ListeningSocket>{
                {8000, true, false, "127.0.0.1", 1000, 12345},
                {22, true, false, "0.0.0.0", 0, 777}}));
}

TEST(ListenersTest, AreReadFromTheTableOfIPv6) {
  const auto line = [](const std::string& address, int inode) {
    return "   0: " + address +
           " 00000000000000000000000000000000:0000 0A 00000000:00000000 "
           "00:00000000 00000000     0        0 " +
           std::to_string(inode) + " 1 0000000000000000 100 0 0 10 0\n";
  };
  const std::string table = std::string(kHeadings) +
                            line("00000000000000000000000000000000:0BB8", 1) +
                            line("00000000000000000000000001000000:0BB9", 2) +
                            line("0000000000000000FFFF00000100007F:0BBA", 3) +
                            line("B80D0120000000000000000001000000:0BBB", 4);
  EXPECT_EQ(
      ParseListening(table, true),
      (std::vector<ListeningSocket>{{3000, true, true, "::", 0, 1},
                                    {3001, false, true, "::1", 0, 2},
                                    {3002, true, false, "127.0.0.1", 0, 3}}));
}

TEST(ListenersTest, WhatIsNotUnderstoodIsNone) {
  for (const char* text : {"", "x", "headings only\n", "h\n0: zz 00 0A\n",
                           "h\n0: 0100007F:ZZZZ 0:0 0A 0 0 0 0 0 1\n",
                           "h\n0: 0100007F:123456 0:0 0A 0 0 0 0 0 1\n",
                           "h\n0: 0100007F 0:0 0A 0 0 0 0 0 1\n",
                           "h\n0: 0100007F:0050 0:0 0A 0 0 0 -1 0 1\n",
                           "h\n0: 0100007F:0050 0:0 0A 0 0 0 0 0\n"})
    EXPECT_TRUE(ParseListening(text, false).empty()) << text;
}

TEST(ListenersTest, JunkOfTheKernelsAnswerIsNone) {
  std::vector<ListeningSocket> sockets;
  for (const std::string& junk :
       {std::string(), std::string(7, 'x'), std::string(200, '\0'),
        std::string(200, '\xff')})
    ParseDiagnosed(junk, &sockets);
  EXPECT_TRUE(sockets.empty());
}

// A place like /proc, with one process.
class FakeProc {
 public:
  explicit FakeProc(const std::string& root) : root_(root) {
    Write("sys/kernel/random/boot_id", "boot-1\n");
    Write("net/tcp6", std::string(kHeadings));
    Listen("0100007F:0BB8", 55, 1000);
  }
  ProcPlace place() const { return {root_}; }
  void Write(const std::string& name, const std::string& text) const {
    const std::string path = root_ + "/" + name;
    ASSERT_TRUE(MakeDirectories(path.substr(0, path.rfind('/')), 0755));
    ASSERT_TRUE(WriteFileAtomically(path, text, 0644));
  }
  void Listen(const std::string& address, int inode, int uid) const {
    Write("net/tcp", std::string(kHeadings) + "   0: " + address +
                         " 00000000:0000 0A 0:0 00:0 0 " + std::to_string(uid) +
                         " 0 " + std::to_string(inode) + " 1\n");
  }
  void Add(int pid, int start, const std::string& program, int inode) const {
    const std::string place = std::to_string(pid);
    Write(place + "/stat",
          place + " (a) b) S 1 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 " +
              std::to_string(start) + " 1 1\n");
    Write(place + "/cmdline", program + std::string("\0--dev\0", 7));
    ASSERT_TRUE(MakeDirectories(root_ + "/" + place + "/fd", 0755));
    ASSERT_EQ(
        ::symlink(program.c_str(), (root_ + "/" + place + "/exe").c_str()), 0);
    ASSERT_EQ(::symlink(("socket:[" + std::to_string(inode) + "]").c_str(),
                        (root_ + "/" + place + "/fd/3").c_str()),
              0);
  }
  std::string Identity() const {
    const auto sockets = FindListening(place(), 3000);
    return sockets ? IdentityOf(place(), FindHolders(place(), *sockets)) : "?";
  }

 private:
  std::string root_;
};

TEST(ListenersTest, AnIdentityIsOfPortProgramAndStart) {
  const TemporaryDirectory space;
  std::vector<std::string> seen;
  int number = 0;
  const auto identity = [&](int start, const std::string& program,
                            int uid = 1000, const std::string& boot = "") {
    const FakeProc proc(space.path() + "/" + std::to_string(number++));
    proc.Listen("0100007F:0BB8", 55, uid);
    if (!start) return proc.Identity();
    proc.Add(42, start, program, 55);
    if (!boot.empty()) proc.Write("sys/kernel/random/boot_id", boot);
    return proc.Identity();
  };
  const std::string first = identity(700, "/usr/bin/node");
  EXPECT_EQ(first, identity(700, "/usr/bin/node"));
  EXPECT_NE(first, identity(701, "/usr/bin/node"));
  EXPECT_NE(first, identity(700, "/usr/bin/python3"));
  EXPECT_NE(first, identity(700, "/usr/bin/node", 1001));
  EXPECT_NE(first, identity(700, "/usr/bin/node", 1000, "boot-2"));
  // Another user's, of which the process is not seen.
  EXPECT_NE(first, identity(0, ""));
  EXPECT_NE(identity(0, ""), identity(0, "", 1001));
}

TEST(ListenersTest, OfSeveralThatHoldASocketTheFirstCounts) {
  const TemporaryDirectory space;
  const FakeProc proc(space.path());
  proc.Add(42, 900, "/usr/sbin/child", 55);
  proc.Add(77, 700, "/usr/sbin/first", 55);
  proc.Add(99, 100, "/usr/sbin/other", 56);
  const auto sockets = FindListening(proc.place(), 3000);
  ASSERT_TRUE(sockets);
  const auto holders = FindHolders(proc.place(), *sockets);
  ASSERT_EQ(holders.size(), 1u);
  ASSERT_TRUE(holders[0].process);
  EXPECT_EQ(holders[0].process->pid, 77);
  EXPECT_EQ(Describe(holders), "`first` (process 77)");
  EXPECT_TRUE(FindListening(proc.place(), 3001)->empty());
}

TEST(ListenersTest, ThisProcessFindsItself) {
  const test::Server server(AF_INET);
  const auto sockets = FindListening({}, server.port());
  ASSERT_TRUE(sockets);
  ASSERT_EQ(sockets->size(), 1u);
  EXPECT_TRUE(sockets->front().four);
  EXPECT_FALSE(sockets->front().six);
  const auto holders = FindHolders({}, *sockets);
  ASSERT_TRUE(holders[0].process);
  EXPECT_EQ(holders[0].process->pid, ::getpid());
  EXPECT_EQ(holders[0].process->start_time, StartTimeOf({}, ::getpid()));
  EXPECT_NE(StartTimeOf({}, ::getpid()), 0u);
}

// What listens for both is found for both, and what is for IPv6 alone is not
// taken for the other.
TEST(ListenersTest, SocketsOfIPv6SayWhomTheyTake) {
  for (const bool only : {false, true}) {
    const test::Server server(AF_INET6, only);
    if (server.port() == 0) GTEST_SKIP() << "no IPv6 here";
    const auto sockets = FindListening({}, server.port());
    ASSERT_TRUE(sockets);
    ASSERT_EQ(sockets->size(), 1u);
    EXPECT_TRUE(sockets->front().six);
    EXPECT_EQ(sockets->front().four, !only);
  }
}

// Both ways to ask the kernel say the same.
TEST(ListenersTest, TheTablesSayWhatTheKernelAnswers) {
  const test::Server server(AF_INET);
  const auto asked = FindListening({}, server.port());
  const auto read = FindListening({"/proc/self/root/proc"}, server.port());
  ASSERT_TRUE(asked && read);
  EXPECT_EQ(*asked, *read);
}

TEST(RunsInSession, IsToldByTheDirectoryThatIsItsTmp) {
  // This process has the machine's own /tmp.
  EXPECT_FALSE(RunsInSession(::getpid(), ""));
  EXPECT_FALSE(RunsInSession(::getpid(), "/var"));
  EXPECT_FALSE(RunsInSession(::getpid(), "/nowhere"));
  EXPECT_FALSE(RunsInSession(0, ""));
  EXPECT_TRUE(RunsInSession(::getpid(), "/"));
}

}  // namespace
}  // namespace gate::services
