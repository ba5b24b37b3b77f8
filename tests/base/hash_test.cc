#include "base/hash.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/support/temporary_directory.h"

namespace gate {
namespace {

TEST(Hash, Sha256AgreesWithTheStandard) {
  // FIPS 180-4 examples.
  EXPECT_EQ(Hex(Sha256("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Hex(Sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Hash, MacIsKeyedBlake2b) {
  // What Python's hashlib.blake2b(…, key=…, digest_size=32) says.
  Hash key = {};
  key[0] = 'J';
  key[1] = 'e';
  key[2] = 'f';
  key[3] = 'e';
  EXPECT_EQ(Hex(Mac(key, "what do ya want for nothing?")),
            "7743ecd292db13f0bf9430a054ee8e74fe54ca8864a90d0a6575a2e72f5ff153");
  std::string counted;
  for (int i = 0; i < 200; ++i) counted += static_cast<char>(i);
  for (size_t i = 0; i < key.size(); ++i)
    key[i] = static_cast<unsigned char>(i);
  EXPECT_EQ(Hex(Mac(key, counted)),
            "a39ff6e7e838226fd50e24a55375ff3a39419fd93e32cc463f3f74323291c425");
}

TEST(Hash, HexRoundTripsAndRefusesWhatIsNone) {
  const Hash hash = Sha256("x");
  Hash parsed = {};
  ASSERT_TRUE(ParseHex(Hex(hash), &parsed));
  EXPECT_TRUE(Equal(hash, parsed));
  parsed[31] = static_cast<unsigned char>(parsed[31] ^ 1);
  EXPECT_FALSE(Equal(hash, parsed));
  EXPECT_FALSE(ParseHex("", &parsed));
  EXPECT_FALSE(ParseHex(Hex(hash) + "0", &parsed));
  EXPECT_FALSE(ParseHex(std::string(64, 'g'), &parsed));
}

TEST(Hash, UuidsAreOfVersionSevenAndSortByTime) {
  const std::string early = NewUuid(0x0123456789abULL);
  const std::string late = NewUuid(0x0123456789acULL);
  EXPECT_EQ(early.size(), 36u);
  EXPECT_EQ(early.substr(0, 15), "01234567-89ab-7");
  EXPECT_NE(std::string("89ab").find(early[19]), std::string::npos);
  EXPECT_LT(early, late);
  EXPECT_NE(NewUuid(1), NewUuid(1));
  EXPECT_EQ(RandomBytes(0), "");
  EXPECT_NE(RandomBytes(16), RandomBytes(16));
}

TEST(Key, IsMadeOnceWithModeSixHundred) {
  const TemporaryDirectory dir;
  const auto key = LoadOrCreateKey(dir / "key");
  ASSERT_TRUE(key) << key.error().message;
  struct stat info = {};
  ASSERT_EQ(stat((dir / "key").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(info.st_size, 32);
  EXPECT_TRUE(Equal(*key, *LoadOrCreateKey(dir / "key")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}),
            1);
}

TEST(Key, IsRefusedWhenOthersCouldKnowIt) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(LoadOrCreateKey(dir / "key"));
  ASSERT_EQ(chmod((dir / "key").c_str(), 0640), 0);
  EXPECT_EQ(LoadOrCreateKey(dir / "key").error().code, ErrorCode::kPermission);
  std::filesystem::create_symlink(dir / "key", dir / "link");
  EXPECT_EQ(LoadOrCreateKey(dir / "link").error().code, ErrorCode::kPermission);
  if (geteuid() == 0) {
    ASSERT_EQ(chmod((dir / "key").c_str(), 0600), 0);
    ASSERT_EQ(chown((dir / "key").c_str(), 12345, 0), 0);
    EXPECT_EQ(LoadOrCreateKey(dir / "key").error().code,
              ErrorCode::kPermission);
  }
}

TEST(Key, OfAnotherLengthIsNeverUsedAndNeverReplaced) {
  const TemporaryDirectory dir;
  ASSERT_TRUE(WriteFileAtomically(dir / "short", "abc", 0600));
  EXPECT_EQ(LoadOrCreateKey(dir / "short").error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(*ReadFile(dir / "short", 10), "abc");
  ASSERT_TRUE(WriteFileAtomically(dir / "long", std::string(33, 'x'), 0600));
  EXPECT_FALSE(LoadOrCreateKey(dir / "long"));
  ASSERT_EQ(mkfifo((dir / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(LoadOrCreateKey(dir / "fifo").error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(LoadOrCreateKey(dir / "no/key"));
}

TEST(Key, IsTheSameForProcessesThatMakeItTogether) {
  for (int round = 0; round < 10; ++round) {
    const TemporaryDirectory dir;
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        const auto key = LoadOrCreateKey(dir / "key");
        if (!key) _exit(1);
        (void)WriteAll(ends[1], Hex(*key));
        _exit(0);
      }
      children.push_back(child);
    }
    close(ends[1]);
    const std::string all = *ReadAll(ends[0], 1000);
    close(ends[0]);
    for (const pid_t child : children) {
      int status = -1;
      waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    ASSERT_EQ(all.size(), 4 * 64u);
    std::set<std::string> keys;
    for (size_t i = 0; i < all.size(); i += 64) keys.insert(all.substr(i, 64));
    EXPECT_EQ(keys.size(), 1u);
  }
}

}  // namespace
}  // namespace gate
