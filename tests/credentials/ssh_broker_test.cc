// The broker against a stand-in for ssh and insides that do not play by the
// rules.
#include "credentials/ssh_broker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "credentials/transport_wire.h"
#include "tests/support/files.h"
#include "tests/support/temporary_directory.h"

namespace gate::credentials {
namespace {

// A directory with `ssh`, which writes down its arguments and environment and
// is then `script`.
class Outside {
 public:
  explicit Outside(const std::string& script) {
    setup.directory = root_ + "/transports";
    setup.program = root_ + "/ssh";
    setup.environment = {"PATH=/usr/bin:/bin", "MARK=1"};
    setup.fetch = {{"git", "host", 0, "a"}, {"", "host", 22, "/b c"}};
    test::WriteText(setup.program,
                    "#!/bin/sh\nprintf '%s\\n' \"$@\" >>" + root_ +
                        "/asked\nenv >>" + root_ + "/environment\n" + script +
                        "\n",
                    0755);
  }

  std::string Read(const std::string& name) const {
    return test::ReadText(root_ + "/" + name);
  }
  const std::string& root() const { return root_; }

  BrokerSetup setup;

 private:
  const TemporaryDirectory made_;
  const std::string root_ = made_.path();
};

Fd Connect(const std::string& path) {
  Fd peer(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  if (::connect(peer.get(), reinterpret_cast<sockaddr*>(&address),
                sizeof(address)) != 0)
    peer.reset();
  return peer;
}

struct Answer {
  std::string out, err;
  int exit_code = -1;  // the connection ended without one
};

Answer ReadAnswer(int peer) {
  Answer answer;
  std::string bytes;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(peer, buffer, sizeof(buffer))) > 0;)
    bytes.append(buffer, static_cast<size_t>(got));
  size_t begin = 0;
  for (;;) {
    const auto frame = TakeFrame(bytes, &begin);
    if (!frame || !*frame) return answer;
    if ((*frame)->type == FrameType::kOutput) answer.out += (*frame)->bytes;
    if ((*frame)->type == FrameType::kError) answer.err += (*frame)->bytes;
    if ((*frame)->type == FrameType::kExit)
      answer.exit_code = static_cast<unsigned char>((*frame)->bytes[0]);
  }
}

std::string Request(const std::vector<std::string>& words,
                    const std::string& input = "") {
  std::vector<std::string> all = {"version=2"};
  all.insert(all.end(), words.begin(), words.end());
  std::string bytes;
  PutFrame(FrameType::kRequest, EncodeWords(all), &bytes);
  if (!input.empty()) PutFrame(FrameType::kInput, input, &bytes);
  PutFrame(FrameType::kInputEnd, "", &bytes);
  return bytes;
}

Answer Ask(const SshBroker& broker, const std::string& bytes) {
  const Fd peer = Connect(broker.socket());
  EXPECT_TRUE(WriteAll(peer.get(), bytes));
  return ReadAnswer(peer.get());
}

SshBroker StartIn(const Outside& outside) {
  auto broker = SshBroker::Start(outside.setup);
  if (!broker) throw std::runtime_error(broker.error().message);
  return std::move(*broker);
}

TEST(SshBrokerTest, PassesTheStreamsOfAPinnedTargetAndSaysSo) {
  const Outside outside("cat; echo told >&2; exit 7");
  SshBroker broker = StartIn(outside);
  const std::string input(60000, 'x');
  const Answer answer = Ask(broker, Request({"-o", "SendEnv=GIT_PROTOCOL",
                                             "git@host", "git-upload-pack 'a'"},
                                            input));
  EXPECT_EQ(answer.out, input);
  EXPECT_EQ(answer.err, "told\n");
  EXPECT_EQ(answer.exit_code, 7);
  EXPECT_NE(outside.Read("asked").find("--\ngit@host\ngit-upload-pack 'a'\n"),
            std::string::npos);
  EXPECT_NE(outside.Read("environment").find("GIT_PROTOCOL=version=2"),
            std::string::npos);
  // Nothing of the process that started it.
  EXPECT_EQ(outside.Read("environment").find("HOME="), std::string::npos);
  const auto transports = broker.Finish();
  ASSERT_EQ(transports.size(), 1u);
  EXPECT_EQ(transports[0].target, "git@host:a");
  EXPECT_EQ(transports[0].service, "git-upload-pack");
  EXPECT_EQ(transports[0].refused, "");
  EXPECT_EQ(transports[0].exit_code, 7);
  EXPECT_EQ(transports[0].sent, input.size());
  EXPECT_EQ(transports[0].received, input.size());
  EXPECT_FALSE(std::filesystem::exists(broker.socket()));
  EXPECT_TRUE(broker.Finish().empty());
}

TEST(SshBrokerTest, StartsSshForNothingElse) {
  const Outside outside("exit 0");
  SshBroker broker = StartIn(outside);
  using Words = std::vector<std::string>;
  for (const Words& words : {
           Words{"git@host", "git-upload-pack 'other'"},
           Words{"git@other", "git-upload-pack 'a'"},
           Words{"root@host", "git-upload-pack 'a'"},
           Words{"host", "git-upload-pack 'a'"},
           Words{"-p", "2222", "git@host", "git-upload-pack 'a'"},
           Words{"-p", "22", "git@host", "git-upload-pack 'a'"},
           Words{"host", "git-upload-pack '/b c'"},
           Words{"git@host", "git-upload-pack './a'"},
           Words{"git@host", "git-upload-pack 'a/../b'"},
           Words{"git@host", "git-receive-pack 'a'"},
           Words{"git@host", "git-upload-archive 'a'"},
           Words{"git@host", "git-upload-pack 'a'; id"},
           Words{"git@host", "sh"},
           Words{"git@host"},
           Words{"-oProxyCommand=id", "git@host", "git-upload-pack 'a'"},
           Words{"-o", "ProxyCommand=id", "git@host", "git-upload-pack 'a'"},
           Words{"-oProxyCommand=id", "git-upload-pack 'a'"},
           Words{"-F", "/w/c", "git@host", "git-upload-pack 'a'"},
           Words{"-A", "git@host", "git-upload-pack 'a'"},
           Words{"GIT@HOST", "git-upload-pack 'a'"},
           Words{},
       }) {
    const Answer answer = Ask(broker, Request(words, "input"));
    EXPECT_EQ(answer.exit_code, 255);
    EXPECT_TRUE(answer.err.starts_with("gate: ")) << answer.err;
  }
  for (const Transport& transport : broker.Finish())
    EXPECT_NE(transport.refused, "");
  EXPECT_EQ(outside.Read("asked"), "");
}

TEST(SshBrokerTest, EndsConnectionsThatSpeakSomethingElseAndServesTheNext) {
  const Outside outside("cat");
  SshBroker broker = StartIn(outside);
  std::string twice = Request({"git@host", "git-upload-pack 'a'"});
  twice += Request({"git@host", "git-upload-pack 'a'"});
  std::string early, empty;
  PutFrame(FrameType::kInput, "before any request", &early);
  PutFrame(FrameType::kRequest, "", &empty);
  std::string malformed;
  PutFrame(FrameType::kRequest, "\xff\xff\xff\xff", &malformed);
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.0\r\n\r\n"), std::string(100000, '\0'),
        std::string("R\xff\xff\xff\xff", 5), early, twice}) {
    const Fd peer = Connect(broker.socket());
    // It may be over before all of it is sent.
    (void)::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(peer.get(), SHUT_WR);
    EXPECT_EQ(ReadAnswer(peer.get()).out, "");
  }
  EXPECT_EQ(Ask(broker, empty).exit_code, 255);
  EXPECT_EQ(Ask(broker, malformed).exit_code, 255);
  EXPECT_EQ(Ask(broker, Request({"git@host", "git-upload-pack 'a'"}, "ok")).out,
            "ok");
}

TEST(SshBrokerTest, EndsSshWithItsConnection) {
  // Says where it is, then does not end by itself.
  const Outside outside("echo $$; exec sleep 1000");
  SshBroker broker = StartIn(outside);
  Fd peer = Connect(broker.socket());
  ASSERT_TRUE(
      WriteAll(peer.get(), Request({"git@host", "git-upload-pack 'a'"})));
  char buffer[64] = {};
  ASSERT_GT(::read(peer.get(), buffer, sizeof(buffer) - 1), 0);
  const pid_t ssh = std::atoi(buffer + kFrameHead);
  ASSERT_GT(ssh, 1);
  EXPECT_EQ(::kill(ssh, 0), 0);
  peer.reset();
  // The next one is served after the first was ended.
  (void)Ask(broker, Request({"git@host", "git-upload-pack 'x'"}));
  EXPECT_NE(::kill(ssh, 0), 0);
}

TEST(SshBrokerTest, EndsWhatStillRunsWhenTheRunEnds) {
  const Outside outside("echo $$; exec sleep 1000");
  SshBroker broker = StartIn(outside);
  const Fd peer = Connect(broker.socket());
  ASSERT_TRUE(
      WriteAll(peer.get(), Request({"git@host", "git-upload-pack 'a'"})));
  char buffer[64] = {};
  ASSERT_GT(::read(peer.get(), buffer, sizeof(buffer) - 1), 0);
  const pid_t ssh = std::atoi(buffer + kFrameHead);
  const auto transports = broker.Finish();
  ASSERT_EQ(transports.size(), 1u);
  EXPECT_EQ(transports[0].exit_code, -1);
  EXPECT_NE(::kill(ssh, 0), 0);
  EXPECT_TRUE(std::filesystem::is_empty(outside.setup.directory));
}

TEST(SshBrokerTest, SaysWhenThereIsNoSshAndWhenItDoesNotStart) {
  Outside outside("exit 0");
  outside.setup.program.clear();
  SshBroker none = StartIn(outside);
  EXPECT_EQ(Ask(none, Request({"git@host", "git-upload-pack 'a'"})).err,
            "gate: there is no ssh on this machine\n");
  outside.setup.program = outside.root() + "/absent";
  SshBroker absent = StartIn(outside);
  EXPECT_EQ(Ask(absent, Request({"git@host", "git-upload-pack 'a'"})).exit_code,
            127);
}

TEST(SshBrokerTest, RefusesADirectoryWhoseNameIsTooLong) {
  Outside outside("exit 0");
  outside.setup.directory += "/" + std::string(120, 'd');
  const auto broker = SshBroker::Start(outside.setup);
  ASSERT_FALSE(broker);
  EXPECT_EQ(broker.error().code, ErrorCode::kTooLarge);
  EXPECT_TRUE(std::filesystem::is_empty(outside.setup.directory));
}

TEST(SshBrokerTest, RemovesWhatAKilledOneLeft) {
  const Outside outside("exit 0");
  // No process has this number (/proc/sys/kernel/pid_max).
  const std::string left = outside.setup.directory + "/4194999-00";
  std::filesystem::create_directories(left);
  std::ofstream(left + "/s") << "";
  SshBroker broker = StartIn(outside);
  EXPECT_FALSE(std::filesystem::exists(left));
}

TEST(SshBrokerTest, CountsTheTransportsOfOneRun) {
  const Outside outside("exit 0");
  SshBroker broker = StartIn(outside);
  const std::string bytes = Request({"git@host", "git-upload-pack 'other'"});
  for (size_t i = 0; i < kMaxTransports; ++i) Ask(broker, bytes);
  // Those beyond are closed, perhaps before they have asked.
  for (size_t i = 0; i < 3; ++i) {
    const Fd peer = Connect(broker.socket());
    (void)::send(peer.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    EXPECT_EQ(ReadAnswer(peer.get()).out, "");
  }
  EXPECT_EQ(broker.Finish().size(), kMaxTransports);
}

TEST(SshBrokerTest, SaysWhenWhatItDidIsNotKnown) {
  const Outside outside("exit 0");
  SshBroker broker = StartIn(outside);
  EXPECT_EQ(Ask(broker, Request({"git@host", "git-upload-pack 'a'"})).exit_code,
            0);
  std::ifstream children("/proc/self/task/" + std::to_string(::getpid()) +
                         "/children");
  pid_t pid = 0;
  if (!(children >> pid)) GTEST_SKIP() << "no list of children here";
  ASSERT_EQ(::kill(pid, SIGKILL), 0);
  const auto transports = broker.Finish();
  ASSERT_EQ(transports.size(), 1u);
  EXPECT_EQ(transports[0].service, kUnknownService);
  EXPECT_TRUE(broker.Finish().empty());
}

constexpr const char* kOld = "1111111111111111111111111111111111111111";
constexpr const char* kNew = "2222222222222222222222222222222222222222";

// One ref, which is at kOld, and what comes then.
std::string Receiver(const std::string& then) {
  return "printf '003d" + std::string(kOld) + " refs/heads/main\\n0000'; " +
         then;
}

TEST(SshBrokerTest, PushesWhereAndAsOftenAsTheLineDoes) {
  Outside outside(Receiver("cat >/dev/null"));
  outside.setup.push = {{"git", "host", 0, "a"}};
  const std::string bytes =
      Request({"git@host", "git-receive-pack 'a'"}, "0000");
  SshBroker none = StartIn(outside);
  EXPECT_NE(Ask(none, bytes).err.find("does not run `git push`"),
            std::string::npos);
  outside.setup.scope.sessions = 1;
  outside.setup.scope.refs = {"refs/heads/main"};
  SshBroker broker = StartIn(outside);
  EXPECT_NE(Ask(broker, Request({"host", "-p", "22", "x"})).exit_code, 0);
  EXPECT_NE(Ask(broker, Request({"git@host", "git-receive-pack 'b'"}))
                .err.find("is not where this repository pushed to"),
            std::string::npos);
  EXPECT_EQ(Ask(broker, bytes).exit_code, 0);
  EXPECT_NE(Ask(broker, bytes).err.find("one push more"), std::string::npos);
}

TEST(SshBrokerTest, HoldsAPushUntilItIsProven) {
  Outside outside(Receiver("cat >>" + std::string("\"$0\".got")));
  outside.setup.push = {{"git", "host", 0, "a"}};
  outside.setup.scope.sessions = 10;
  outside.setup.scope.refs = {"refs/heads/main"};
  SshBroker broker = StartIn(outside);
  const std::string text = std::string(kOld) + " " + kNew + " refs/heads/main";
  char length[8];
  std::snprintf(length, sizeof(length), "%04zx", text.size() + 4);
  const std::string push = length + text + "0000PACK";
  // Ends its input, and proves nothing, another thing, or what nobody asked.
  for (const char* proof : {"", "garbage", "x commit 1\ny\n"}) {
    std::string bytes = Request({"git@host", "git-receive-pack 'a'"}, push);
    const Fd peer = Connect(broker.socket());
    ASSERT_TRUE(WriteAll(peer.get(), bytes));
    // Until it is asked for the proof.
    std::string seen;
    char buffer[4096];
    while (seen.find(std::string(kOld) + " " + kNew) == seen.npos) {
      const ssize_t got = ::read(peer.get(), buffer, sizeof(buffer));
      ASSERT_GT(got, 0);
      seen.append(buffer, static_cast<size_t>(got));
    }
    bytes.clear();
    PutFrame(FrameType::kProof, proof, &bytes);
    PutFrame(FrameType::kProofEnd, "", &bytes);
    ASSERT_TRUE(WriteAll(peer.get(), bytes));
    const Answer answer = ReadAnswer(peer.get());
    EXPECT_EQ(answer.exit_code, 255);
    EXPECT_NE(answer.err.find("replaces commits of refs/heads/main"),
              std::string::npos)
        << answer.err;
  }
  std::string early = Request({"git@host", "git-receive-pack 'a'"});
  PutFrame(FrameType::kProof, "x", &early);
  EXPECT_EQ(Ask(broker, early).out.find("unpack"), std::string::npos);
  for (const Transport& transport : broker.Finish()) {
    EXPECT_EQ(transport.pushed, "");
    EXPECT_EQ(transport.sent, 0u);
  }
  EXPECT_EQ(outside.Read("ssh.got"), "");
}

}  // namespace
}  // namespace gate::credentials
