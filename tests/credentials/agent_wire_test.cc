#include "credentials/agent_wire.h"

#include <gtest/gtest.h>

#include "tests/credentials/agent_messages.h"

namespace gate::credentials {
namespace {

using test::Key;
using test::Sign;
using test::Sshsig;
using test::Str;
using test::U32;

constexpr const char* kEd25519 =
    "ssh-ed25519 "
    "AAAAC3NzaC1lZDI1NTE5AAAAIGv1v/UwYtt2VywLB/7+tIpPC79vW3k9Y3zBQdGql4cU";

// RFC 4252, 7: what a login signs.
std::string Login() {
  return Str(std::string(32, 's')) + "\x32" + Str("git") +
         Str("ssh-connection") + Str("publickey") + "\x01" +
         Str("ssh-ed25519") + Str(Key());
}

TEST(AgentWire, TakesWhatGitsSshKeygenAsks) {
  const struct {
    std::string key, hash;
    size_t bytes;
    uint32_t flags;
  } kRows[] = {
      {Key(), "sha512", 64, 0},
      {Key(), "sha256", 32, 0},
      {Key("ecdsa-sha2-nistp256"), "sha512", 64, 0},
      {Key("ecdsa-sha2-nistp384"), "sha512", 64, 0},
      {Key("ecdsa-sha2-nistp521"), "sha512", 64, 0},
      {Key("sk-ssh-ed25519@openssh.com"), "sha512", 64, 0},
      {Key("sk-ecdsa-sha2-nistp256@openssh.com"), "sha256", 32, 0},
      {Key("ssh-rsa"), "sha512", 64, 4},
      {Key("ssh-rsa"), "sha512", 64, 2},
  };
  for (const auto& row : kRows) {
    const std::string message =
        Sign(row.key, Sshsig("git", row.hash, row.bytes), row.flags);
    const auto request = ParseSignRequest(message);
    ASSERT_TRUE(request) << TypeOf(row.key) << request.error().message;
    EXPECT_EQ(request->blob, row.key);
    EXPECT_EQ(request->hash_name, row.hash);
    EXPECT_EQ(request->hash, std::string(row.bytes, 'h'));
    EXPECT_EQ(Encode(*request), message);
  }
}

TEST(AgentWire, TakesNothingElse) {
  const std::string good = Sshsig();
  const std::string kRows[] = {
      "",
      "\x0d",
      "\x0b",
      // Logins, bare and behind what a signature of git's begins with.
      Sign(Key(), Login()),
      Sign(Key(), "SSHSIG" + Login()),
      Sign(Key(), good + Login()),
      Sign(Key(), Login() + good),
      // A host's key exchange hash, a text, nothing.
      Sign(Key(), std::string(32, 'x')),
      Sign(Key(), "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n"),
      Sign(Key(), ""),
      // Other namespaces.
      Sign(Key(), Sshsig("file")),
      Sign(Key(), Sshsig("ssh")),
      Sign(Key(), Sshsig("")),
      Sign(Key(), Sshsig("Git")),
      Sign(Key(), Sshsig("GIT")),
      Sign(Key(), Sshsig(" git")),
      Sign(Key(), Sshsig("git ")),
      Sign(Key(), Sshsig("git,file")),
      Sign(Key(), Sshsig(std::string_view("git\0x", 5))),
      Sign(Key(), Sshsig(std::string_view("git\0", 4))),
      Sign(Key(), Sshsig("git@example.org")),
      Sign(Key(), Sshsig(std::string(9000, 'g'))),
      // Another magic.
      Sign(Key(), "sshsig" + good.substr(6)),
      Sign(Key(), "SSHSIH" + good.substr(6)),
      Sign(Key(), good.substr(6)),
      Sign(Key(), "SSHSIG"),
      // The reserved field, the hash and its length.
      Sign(Key(), Sshsig("git", "sha512", 64, "x")),
      Sign(Key(), Sshsig("git", "sha512", 64, std::string(1, '\0'))),
      Sign(Key(), Sshsig("git", "sha512", 32)),
      Sign(Key(), Sshsig("git", "sha512", 63)),
      Sign(Key(), Sshsig("git", "sha512", 65)),
      Sign(Key(), Sshsig("git", "sha256", 64)),
      Sign(Key(), Sshsig("git", "sha256", 0)),
      Sign(Key(), Sshsig("git", "sha1", 20)),
      Sign(Key(), Sshsig("git", "SHA512", 64)),
      Sign(Key(), Sshsig("git", "md5", 16)),
      Sign(Key(), Sshsig("git", "", 64)),
      Sign(Key(), Sshsig("git", "sha384", 48)),
      // Cut off, gone on, and lengths that lie.
      Sign(Key(), good.substr(0, good.size() - 1)),
      Sign(Key(), good + "x"),
      Sign(Key(), good + std::string(1, '\0')),
      Sign(Key(), good) + "x",
      Sign(Key(), good).substr(0, Sign(Key(), good).size() - 1),
      "\x0d" + Str(Key()) + Str(good),
      "\x0d" + Str(Key()),
      "\x0d" + U32(0xffffffff) + Key() + Str(good) + U32(0),
      "\x0d" + Str(Key()) + U32(0xffffffff) + good + U32(0),
      Sign(Key(), "SSHSIG" + U32(0xffffffff) + "git"),
      Sign(Key(), "SSHSIG" + U32(4) + "git" + Str("") + Str("sha512") +
                      Str(std::string(64, 'h'))),
      // Flags that the key does not have; SHA-1 for RSA.
      Sign(Key(), good, 1),
      Sign(Key(), good, 2),
      Sign(Key(), good, 4),
      Sign(Key(), good, 0x80000000),
      Sign(Key("ssh-rsa"), good, 0),
      Sign(Key("ssh-rsa"), good, 1),
      Sign(Key("ssh-rsa"), good, 6),
      Sign(Key("ssh-rsa"), good, 8),
      // Keys that do not sign for git.
      Sign(Key("ssh-ed25519-cert-v01@openssh.com"), good),
      Sign(Key("ssh-rsa-cert-v01@openssh.com"), good, 4),
      Sign(Key("ecdsa-sha2-nistp256-cert-v01@openssh.com"), good),
      Sign(Key("sk-ssh-ed25519-cert-v01@openssh.com"), good),
      Sign(Key("ssh-dss"), good),
      Sign(Key("webauthn-sk-ecdsa-sha2-nistp256@openssh.com"), good),
      Sign("", good),
      Sign("ssh-ed25519", good),
      Sign(U32(0xffffffff), good),
  };
  for (size_t i = 0; i < std::size(kRows); ++i)
    EXPECT_FALSE(ParseSignRequest(kRows[i])) << i;
  // Every other kind of message: add, remove, lock, unlock, tokens, extensions.
  for (int type = 0; type < 256; ++type) {
    std::string message = Sign(Key(), good);
    message[0] = static_cast<char>(type);
    EXPECT_EQ(ParseSignRequest(message).has_value(), type == 13) << type;
  }
  // And what is cut off anywhere.
  const std::string whole = Sign(Key(), good);
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(ParseSignRequest(whole.substr(0, size))) << size;
}

TEST(AgentWire, TakesMessagesByTheirLength) {
  size_t begin = 0;
  std::string buffer;
  PutAgentMessage("one", &buffer);
  PutAgentMessage("second", &buffer);
  EXPECT_EQ(**TakeAgentMessage(buffer, 16, &begin), "one");
  EXPECT_EQ(**TakeAgentMessage(buffer, 16, &begin), "second");
  EXPECT_EQ(*TakeAgentMessage(buffer, 16, &begin), std::nullopt);
  EXPECT_EQ(begin, buffer.size());
  for (const std::string& bad :
       {U32(0), U32(17) + "x", U32(0xffffffff), U32(10 << 20)}) {
    begin = 0;
    EXPECT_FALSE(TakeAgentMessage(bad, 16, &begin));
  }
  for (const std::string& part :
       {std::string(), U32(3).substr(1), U32(3), U32(3) + "ab"}) {
    begin = 0;
    const auto none = TakeAgentMessage(part, 16, &begin);
    ASSERT_TRUE(none);
    EXPECT_FALSE(*none);
    EXPECT_EQ(begin, 0u);
  }
}

TEST(AgentWire, BelievesNoAnswerThatIsNoSignatureOfTheKey) {
  SignRequest request;
  request.blob = Key();
  const auto answer = [](std::string_view type, std::string_view bytes,
                         const std::string& more = "") {
    return "\x0e" + Str(Str(type) + Str(bytes) + more);
  };
  const std::string good = answer("ssh-ed25519", std::string(64, 's'));
  ASSERT_TRUE(ParseSignature(request, good));
  EXPECT_EQ(*ParseSignature(request, good), good);
  for (const std::string& bad :
       {std::string(), std::string("\x05"), std::string("\x0e"), good + "x",
        good.substr(0, good.size() - 1), answer("ssh-rsa", "s"),
        answer("rsa-sha2-512", "s"), answer("ssh-ed25519", ""),
        answer("ssh-ed25519", "s", "flags"), "\x0e" + U32(0xffffffff),
        "\x0c" + good.substr(1),
        answer("ssh-ed25519", std::string(20000, 's'))})
    EXPECT_FALSE(ParseSignature(request, bad));
  request.blob = Key("ssh-rsa");
  request.flags = 4;
  EXPECT_TRUE(ParseSignature(request, answer("rsa-sha2-512", "s")));
  EXPECT_FALSE(ParseSignature(request, answer("rsa-sha2-256", "s")));
  EXPECT_FALSE(ParseSignature(request, answer("ssh-rsa", "s")));
  request.blob = Key("sk-ssh-ed25519@openssh.com");
  request.flags = 0;
  EXPECT_TRUE(ParseSignature(
      request, answer("sk-ssh-ed25519@openssh.com", "s", "\x01" + U32(7))));
  EXPECT_FALSE(
      ParseSignature(request, answer("sk-ssh-ed25519@openssh.com", "s")));
}

TEST(AgentWire, ListsKeysAndReadsLists) {
  const std::vector<PublicKey> keys = {{Key(), "me"}, {Key("ssh-rsa"), ""}};
  EXPECT_EQ(*ParseIdentities(EncodeIdentities(keys)), keys);
  EXPECT_TRUE(ParseIdentities(EncodeIdentities({}))->empty());
  for (const std::string& bad :
       {std::string(), std::string("\x0c"), "\x0c" + U32(1),
        "\x0c" + U32(0xffffffff), EncodeIdentities(keys) + "x",
        "\x0c" + U32(1) + U32(0xffffffff), "\x0e" + U32(0)})
    EXPECT_FALSE(ParseIdentities(bad));
}

TEST(AgentWire, ReadsPublicKeysOfSshKeygen) {
  const auto key = ParsePublicKey(std::string(kEd25519) + " me@host\nmore");
  ASSERT_TRUE(key);
  EXPECT_EQ(TypeOf(key->blob), "ssh-ed25519");
  EXPECT_EQ(Fingerprint(key->blob),
            "SHA256:Q+MJaNVM8ii7CRkyt1wE1lrYqLkVyVGSh13TJVmxuJ4");
  const std::string text(kEd25519);
  for (const std::string& bad :
       {std::string(), std::string("ssh-ed25519"), text.substr(12),
        "ssh-rsa" + text.substr(11), text.substr(0, 32), "x " + text,
        std::string("-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn\n"),
        std::string("ssh-ed25519 AAAA"), std::string("ssh-ed25519 !!!!"),
        std::string("ABCDEF0123456789")})
    EXPECT_FALSE(ParsePublicKey(bad)) << bad;
}

}  // namespace
}  // namespace gate::credentials
