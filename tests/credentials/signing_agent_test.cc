// The signing agent with real keys, and between two sides that lie.
#include "credentials/signing_agent.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "tests/credentials/agent_messages.h"
#include "tests/support/temporary_directory.h"

namespace gate::credentials {
namespace {

using test::Key;
using test::Sign;
using test::Sshsig;
using test::Str;
using test::U32;

const std::string kFailure = "\x05";

Fd SocketAt(const std::string& path, bool listen) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  const bool good = listen ? ::bind(fd.get(), name, sizeof(address)) == 0 &&
                                 ::listen(fd.get(), 8) == 0
                           : ::connect(fd.get(), name, sizeof(address)) == 0;
  return good ? std::move(fd) : Fd();
}

// One message; nothing when the other side ends.
std::optional<std::string> Receive(int fd) {
  std::string buffer;
  for (;;) {
    size_t begin = 0;
    const auto message = TakeAgentMessage(buffer, kMaxAgentAnswer, &begin);
    if (!message) return std::nullopt;
    if (*message) return std::string(**message);
    char byte[4096];
    const ssize_t got = ::read(fd, byte, sizeof(byte));
    if (got <= 0) return std::nullopt;
    buffer.append(byte, static_cast<size_t>(got));
  }
}

std::optional<std::string> Ask(int fd, const std::string& message) {
  std::string out;
  PutAgentMessage(message, &out);
  if (::send(fd, out.data(), out.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(out.size()))
    return std::nullopt;
  return Receive(fd);
}

// The person's agent, which answers as it is told; nothing: it hangs up.
class FakeAgent {
 public:
  using Answers =
      std::function<std::optional<std::string>(const std::string& request)>;

  FakeAgent(const std::string& path, Answers answers)
      : path_(path), listener_(SocketAt(path, true)) {
    thread_ = std::thread([this, answers = std::move(answers)] {
      for (;;) {
        const Fd peer(::accept(listener_.get(), nullptr, nullptr));
        if (!peer) return;
        const auto request = Receive(peer.get());
        if (!request) continue;
        if (*request == "end") return;
        if (const auto answer = answers(*request))
          (void)!::send(peer.get(), answer->data(), answer->size(),
                        MSG_NOSIGNAL);
      }
    });
  }
  ~FakeAgent() {
    const Fd last = SocketAt(path_, false);
    std::string end;
    PutAgentMessage("end", &end);
    (void)!::send(last.get(), end.data(), end.size(), MSG_NOSIGNAL);
    thread_.join();
  }

 private:
  std::string path_;
  Fd listener_;
  std::thread thread_;
};

class SigningAgentTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(root_, "");
    setup_.directory = root_ + "/state";
    setup_.agent = root_ + "/agent";
    setup_.keys = {{{Key(), "me"}, ""}};
  }

  static std::string Whole(const std::string& message) {
    std::string out;
    PutAgentMessage(message, &out);
    return out;
  }

  static std::string GoodAnswer() {
    return "\x0e" + Str(Str("ssh-ed25519") + Str(std::string(64, 's')));
  }

  // An agent that has the key and signs.
  static std::optional<std::string> Honest(const std::string& request) {
    return Whole(request[0] == '\x0b'
                     ? EncodeIdentities({{Key("ssh-rsa"), ""}, {Key(), "x"}})
                     : GoodAnswer());
  }

  const TemporaryDirectory made_;
  const std::string root_ = made_.path();
  SigningSetup setup_;
};

TEST_F(SigningAgentTest, ShowsTheOneKeyAndSignsForGitAlone) {
  std::vector<std::string> seen;
  FakeAgent person(setup_.agent, [&](const std::string& request) {
    seen.push_back(request);
    return Honest(request);
  });
  auto agent = SigningAgent::Start(setup_);
  ASSERT_TRUE(agent) << agent.error().message;
  const Fd fd = SocketAt(agent->socket(), false);
  ASSERT_TRUE(fd);
  EXPECT_EQ(Ask(fd.get(), "\x0b"), EncodeIdentities({{Key(), "me"}}));
  EXPECT_EQ(Ask(fd.get(), Sign(Key(), Sshsig())), GoodAnswer());
  // Nothing of these reaches the person's agent.
  const size_t before = seen.size();
  for (const std::string& message :
       {Sign(Key(), Sshsig("file")), Sign(Key(), "login"),
        Sign(Key("ssh-rsa"), Sshsig(), 4), Sign(Key("ssh-dss"), Sshsig()),
        std::string("\x0b\x0b"), std::string("\x11"), std::string("\x13"),
        "\x16" + Str("password"), "\x17" + Str("password"),
        "\x1b" + Str("session-bind@openssh.com"), "\x1b" + Str("query"),
        std::string("\x01"), std::string(9000, '\x0d')})
    EXPECT_EQ(Ask(fd.get(), message), kFailure);
  EXPECT_EQ(seen.size(), before);
  const SigningReport report = agent->Finish();
  ASSERT_GE(report.signatures.size(), 2u);
  EXPECT_EQ(report.signatures[0].key, Fingerprint(Key()));
  EXPECT_EQ(report.signatures[0].hash_name, "sha512");
  EXPECT_EQ(report.signatures[0].hash,
            "6868686868686868686868686868686868686868");
  EXPECT_EQ(report.signatures[0].refused, "");
  EXPECT_EQ(report.refusals, 13u);
  EXPECT_TRUE(agent->finished());
  EXPECT_TRUE(std::filesystem::is_empty(setup_.directory));
}

TEST_F(SigningAgentTest, EndsConnectionsThatAreNone) {
  FakeAgent person(setup_.agent, Honest);
  auto agent = SigningAgent::Start(setup_);
  ASSERT_TRUE(agent);
  for (const std::string& bytes :
       {U32(0), U32(0xffffffff), U32(10 << 20), U32((1 << 20) + 1),
        U32(16385) + "\x0b", std::string(8, '\xff')}) {
    const Fd fd = SocketAt(agent->socket(), false);
    ASSERT_EQ(::send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    EXPECT_FALSE(Receive(fd.get()));
  }
  // One that says nothing, and a message in parts, hinder nobody.
  const Fd silent = SocketAt(agent->socket(), false);
  const Fd slow = SocketAt(agent->socket(), false);
  const std::string whole = Whole("\x0b");
  for (const char c : whole) ASSERT_EQ(::send(slow.get(), &c, 1, 0), 1);
  EXPECT_EQ(Receive(slow.get()), EncodeIdentities({{Key(), "me"}}));
}

TEST_F(SigningAgentTest, GivesNothingThatALyingAgentSays) {
  const struct {
    const char* what;
    std::optional<std::string> keys, signature;
  } kRows[] = {
      {"no list", kFailure, std::nullopt},
      {"hangs up", std::nullopt, std::nullopt},
      {"another key", EncodeIdentities({{Key("ssh-rsa"), ""}}), GoodAnswer()},
      {"a list too long", "\x0c" + U32(0xffffffff), GoodAnswer()},
      {"refuses", EncodeIdentities({{Key(), ""}}), kFailure},
      {"hangs up later", EncodeIdentities({{Key(), ""}}), std::nullopt},
      {"another type", EncodeIdentities({{Key(), ""}}),
       "\x0e" + Str(Str("ssh-rsa") + Str("s"))},
      {"goes on", EncodeIdentities({{Key(), ""}}), GoodAnswer() + "x"},
      {"keys again", EncodeIdentities({{Key(), ""}}),
       EncodeIdentities({{Key(), ""}})},
      {"10 MB", EncodeIdentities({{Key(), ""}}),
       std::string(size_t{10} << 20, 'x')},
  };
  for (const auto& row : kRows) {
    const std::string path = setup_.agent = root_ + "/" + row.what;
    FakeAgent person(path, [&](const std::string& request) {
      const auto& answer = request[0] == '\x0b' ? row.keys : row.signature;
      return answer ? std::optional(Whole(*answer)) : std::nullopt;
    });
    auto agent = SigningAgent::Start(setup_);
    ASSERT_TRUE(agent);
    const Fd fd = SocketAt(agent->socket(), false);
    EXPECT_EQ(Ask(fd.get(), Sign(Key(), Sshsig())), kFailure) << row.what;
    const SigningReport report = agent->Finish();
    ASSERT_EQ(report.signatures.size(), 1u) << row.what;
    EXPECT_NE(report.signatures[0].refused, "") << row.what;
  }
}

TEST_F(SigningAgentTest, AnAgentThatHangsEndsWithTheRun) {
  Fd never = SocketAt(setup_.agent, true);
  auto agent = SigningAgent::Start(setup_);
  ASSERT_TRUE(agent);
  const Fd fd = SocketAt(agent->socket(), false);
  const std::string out = Whole(Sign(Key(), Sshsig()));
  ASSERT_EQ(::send(fd.get(), out.data(), out.size(), 0),
            static_cast<ssize_t>(out.size()));
  // It asks the person's agent, which accepts and says nothing.
  const Fd asked(::accept(never.get(), nullptr, nullptr));
  ASSERT_TRUE(asked);
  const SigningReport report = agent->Finish();
  ASSERT_EQ(report.signatures.size(), 1u);
  EXPECT_NE(report.signatures[0].refused, "");
}

TEST_F(SigningAgentTest, GivesSoManySignaturesAndNoMore) {
  FakeAgent person(setup_.agent, Honest);
  auto agent = SigningAgent::Start(setup_);
  ASSERT_TRUE(agent);
  const Fd fd = SocketAt(agent->socket(), false);
  for (size_t i = 0; i < kMaxSignatures; ++i)
    ASSERT_EQ(Ask(fd.get(), Sign(Key(), Sshsig())), GoodAnswer()) << i;
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(Ask(fd.get(), Sign(Key(), Sshsig("git", "sha256", 32))),
              kFailure);
  const SigningReport report = agent->Finish();
  EXPECT_EQ(report.signatures.size(), kMaxSignatures + 1);
  EXPECT_EQ(report.refusals, 100u);
}

TEST_F(SigningAgentTest, WithoutAnAgentThereIsNoKey) {
  for (const std::string& none : {std::string(), root_ + "/none", root_}) {
    setup_.agent = none;
    auto agent = SigningAgent::Start(setup_);
    ASSERT_TRUE(agent);
    const Fd fd = SocketAt(agent->socket(), false);
    EXPECT_EQ(Ask(fd.get(), "\x0b"), EncodeIdentities({}));
    EXPECT_EQ(Ask(fd.get(), Sign(Key(), Sshsig())), kFailure);
    const SigningReport report = agent->Finish();
    ASSERT_GE(report.signatures.size(), 1u);
    EXPECT_NE(
        report.signatures[0].refused.find("not in the person's ssh agent"),
        std::string::npos);
  }
}

TEST_F(SigningAgentTest, SignsByAFileWithoutAPassphraseWithoutAnAgent) {
  for (const bool passphrase : {false, true}) {
    const std::string file = root_ + (passphrase ? "/with" : "/without");
    ASSERT_EQ(
        std::system(("ssh-keygen -q -t ed25519 -C '' -N '" +
                     std::string(passphrase ? "secret" : "") + "' -f " + file)
                        .c_str()),
        0);
    std::ifstream in(file + ".pub");
    std::string line;
    std::getline(in, line);
    auto key = ParsePublicKey(line);
    ASSERT_TRUE(key);
    setup_.keys = {{*key, file}};
    setup_.agent.clear();
    setup_.agent_program = "/usr/bin/ssh-agent";
    setup_.add_program = "/usr/bin/ssh-add";
    setup_.environment = {"HOME=" + root_, "PATH=/usr/bin:/bin"};
    auto agent = SigningAgent::Start(setup_);
    ASSERT_TRUE(agent);
    std::ofstream(root_ + "/text") << "text";
    std::filesystem::remove(root_ + "/text.sig");
    const std::string sign = "SSH_AUTH_SOCK=" + agent->socket() +
                             " ssh-keygen -q -Y sign -f " + file + ".pub -n ";
    const std::string rest = " " + root_ + "/text >/dev/null 2>&1";
    // The private half is elsewhere, as it is for a contained run.
    std::filesystem::rename(file, file + ".away");
    setup_.keys[0].file = file + ".away";
    auto away = SigningAgent::Start(setup_);
    ASSERT_TRUE(away);
    const std::string by_away = "SSH_AUTH_SOCK=" + away->socket() +
                                " ssh-keygen -q -Y sign -f " + file +
                                ".pub -n ";
    EXPECT_NE(std::system((by_away + "file" + rest).c_str()), 0);
    EXPECT_EQ(std::system((by_away + "git" + rest).c_str()) == 0, !passphrase);
    EXPECT_NE(std::system((sign + "git2" + rest).c_str()), 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(setup_.directory));
}

}  // namespace
}  // namespace gate::credentials
