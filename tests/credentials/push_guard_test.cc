// What a push may do, against recorded and hostile streams of both sides.
#include "credentials/push_guard.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "base/hash.h"
#include "credentials/pkt_line.h"
#include "credentials/sha1.h"

namespace gate::credentials {
namespace {

std::string Pkt(std::string_view text) {
  char length[8];
  std::snprintf(length, sizeof(length), "%04zx", text.size() + 4);
  return length + std::string(text);
}
constexpr const char* kFlush = "0000";
using namespace std::string_literals;

const std::string kNone(40, '0');
const std::string kTree(40, '7');

std::string NameOf(const std::string& commit) {
  Sha1 hash;
  hash.Add("commit " + std::to_string(commit.size()) + '\0' + commit);
  return hash.Hex();
}
std::string CommitOf(const std::vector<std::string>& parents,
                     const std::string& message) {
  std::string text = "tree " + kTree + "\n";
  for (const std::string& parent : parents) text += "parent " + parent + "\n";
  return text + "author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\n\n" +
         message + "\n";
}
// As `git cat-file --batch` prints it.
std::string Printed(const std::string& commit) {
  return NameOf(commit) + " commit " + std::to_string(commit.size()) + "\n" +
         commit + "\n";
}

// one <- two <- three, and a merge of three and another.
const std::string kOne = CommitOf({}, "one");
const std::string kTwo = CommitOf({NameOf(kOne)}, "two");
const std::string kThree = CommitOf({NameOf(kTwo)}, "three");
const std::string kOther = CommitOf({}, "other");
const std::string kMerge = CommitOf({NameOf(kOther), NameOf(kThree)}, "merge");

const std::string kCapabilities =
    "report-status report-status-v2 delete-refs side-band-64k quiet atomic "
    "ofs-delta push-options object-format=sha1 agent=git/2.39.5";
const std::string kAsked =
    " report-status-v2 side-band-64k object-format=sha1 agent=git/2.39.5";

// The other machine has `main` at one, `old` at two, and a tag.
std::string Advertised() {
  return Pkt(NameOf(kOne) + " refs/heads/main\0"s + kCapabilities + "\n") +
         Pkt(NameOf(kTwo) + " refs/heads/old\n") +
         Pkt(NameOf(kOther) + " refs/tags/v1\n") +
         Pkt(NameOf(kThree) + " .have\n") + kFlush;
}

PushScope Scope() {
  PushScope scope;
  scope.refs = {"refs/heads/main", "refs/heads/old", "refs/heads/new",
                "refs/tags/v1", "refs/tags/v2"};
  scope.options = {"ci.skip"};
  scope.sessions = 1;
  return scope;
}

std::string Command(const std::string& before, const std::string& after,
                    const std::string& ref, const std::string& asked = "") {
  return Pkt(before + " " + after + " " + ref +
             (asked.empty() ? "" : '\0' + asked));
}

struct Ended {
  bool passed = false;
  std::string error, held, pushed;
  std::vector<std::string> claims;
};

// Both streams in parts of `part` bytes, with `proof` for every claim.
Ended Push(const PushScope& scope, const std::string& server,
           const std::string& git, const std::string& proof,
           size_t part = 100'000) {
  PushGuard guard(scope);
  Ended ended;
  const auto feed = [&](const std::string& bytes, auto&& take) {
    for (size_t at = 0; at < bytes.size(); at += part) {
      const Status taken = take(std::string_view(bytes).substr(at, part));
      if (!taken) return ended.error = taken.error().message, false;
    }
    return true;
  };
  if (!feed(server, [&](auto bytes) { return guard.FromServer(bytes); }) ||
      !feed(git, [&](auto bytes) { return guard.FromGit(bytes); }))
    return ended;
  while (const auto claim = guard.NextClaim()) {
    EXPECT_FALSE(guard.passed());
    ended.claims.push_back(claim->ancestor + " " + claim->commit);
    if (!feed(proof, [&](auto bytes) { return guard.AddProof(bytes); }))
      return ended;
    if (const Status end = guard.EndProof(); !end) {
      ended.error = end.error().message;
      return ended;
    }
  }
  ended.passed = guard.passed();
  if (ended.passed) ended.held = guard.TakeHeld();
  ended.pushed = guard.pushed();
  return ended;
}

Ended Push(const std::string& git, const std::string& proof = "",
           size_t part = 100'000) {
  return Push(Scope(), Advertised(), git, proof, part);
}

TEST(Sha1Test, HashesTheExamplesOfTheStandard) {
  const auto of = [](const std::string& text, size_t part) {
    Sha1 hash;
    for (size_t at = 0; at < text.size(); at += part)
      hash.Add(std::string_view(text).substr(at, part));
    return hash.Hex();
  };
  EXPECT_EQ(Sha1().Hex(), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(of("abc", 1), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 7),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(of(std::string(1'000'000, 'a'), 999),
            "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
}

TEST(PktLineTest, ReadsLinesThatComeInPartsAndNothingElse) {
  const std::string bytes = Pkt("ab\n") + "0000" + "0001" + "0002" + "0004";
  for (size_t size = 0; size < 7; ++size) {
    size_t begin = 0;
    const auto line = TakePktLine(bytes.substr(0, size), &begin);
    ASSERT_TRUE(line) << size;
    EXPECT_FALSE(*line) << size;
    EXPECT_EQ(begin, 0u);
  }
  size_t begin = 0;
  using Kind = PktLine::Kind;
  EXPECT_EQ((*TakePktLine(bytes, &begin))->text, "ab\n");
  for (const Kind kind :
       {Kind::kFlush, Kind::kDelimiter, Kind::kResponseEnd, Kind::kData})
    EXPECT_EQ((*TakePktLine(bytes, &begin))->kind, kind);
  EXPECT_EQ(begin, bytes.size());
  for (const char* bad : {"0003", "fff1", "ffff", "g", "00 8", "-001", "+004",
                          "0x04", "GET ", "\n"}) {
    begin = 0;
    EXPECT_FALSE(TakePktLine(bad, &begin)) << bad;
  }
  begin = 0;
  const auto longest = TakePktLine("fff0", &begin);
  EXPECT_TRUE(longest && !*longest);
}

TEST(PushGuardTest, PassesNewRefsAndWhatKeepsAllCommits) {
  const std::string one = NameOf(kOne), two = NameOf(kTwo),
                    three = NameOf(kThree), merge = NameOf(kMerge);
  const struct {
    const char* name;
    std::string git, proof;
    size_t claims;
    const char* pushed;
  } kRows[] = {
      {"new", Command(kNone, two, "refs/heads/new", kAsked) + kFlush, "", 0,
       "new refs/heads/new"},
      {"new tag", Command(kNone, two, "refs/tags/v2", kAsked) + kFlush, "", 0,
       "new refs/tags/v2"},
      {"forward", Command(one, two, "refs/heads/main", kAsked) + kFlush,
       Printed(kTwo), 1, nullptr},
      {"by two", Command(one, three, "refs/heads/main", kAsked) + kFlush,
       Printed(kThree) + Printed(kTwo), 1, nullptr},
      {"by a merge", Command(one, merge, "refs/heads/main", kAsked) + kFlush,
       Printed(kMerge) + Printed(kThree) + Printed(kTwo), 1, nullptr},
      {"the same", Command(one, one, "refs/heads/main", kAsked) + kFlush, "", 0,
       nullptr},
      {"two refs",
       Command(one, three, "refs/heads/main", kAsked + " atomic") +
           Command(kNone, two, "refs/heads/new") + kFlush,
       Printed(kThree) + Printed(kTwo), 1, nullptr},
      {"shallow",
       Pkt("shallow " + one) + Command(one, two, "refs/heads/main", kAsked) +
           kFlush,
       Printed(kTwo), 1, nullptr},
      {"an option",
       Command(kNone, two, "refs/heads/new", kAsked + " push-options") +
           kFlush + Pkt("ci.skip") + kFlush,
       "", 0, nullptr},
      {"no capabilities", Command(kNone, two, "refs/heads/new") + kFlush, "", 0,
       nullptr},
      {"nothing", kFlush, "", 0, ""},
      {"newlines", Pkt(kNone + " " + two + " refs/heads/new\n") + kFlush, "", 0,
       "new refs/heads/new"},
  };
  for (const auto& row : kRows)
    for (const size_t part : {size_t{1}, size_t{3}, size_t{100'000}}) {
      const std::string git = row.git + "PACK\0\0\0\2rest"s;
      const Ended ended = Push(git, row.proof, part);
      EXPECT_TRUE(ended.passed) << row.name << ended.error;
      EXPECT_EQ(ended.claims.size(), row.claims) << row.name;
      EXPECT_EQ(ended.held, git) << row.name;
      if (row.pushed != nullptr) {
        EXPECT_EQ(ended.pushed, row.pushed);
      }
    }
}

TEST(PushGuardTest, RefusesWhatLosesSomethingOrTheLineDoesNotName) {
  const std::string one = NameOf(kOne), two = NameOf(kTwo),
                    three = NameOf(kThree), other = NameOf(kOther);
  const std::string forward = Command(one, two, "refs/heads/main", kAsked);
  const std::string upper = "ABCDEF" + one.substr(6);
  const struct {
    const char* name;
    std::string git;
    const char* says;
  } kRows[] = {
      {"delete", Command(one, kNone, "refs/heads/main", kAsked) + kFlush,
       "deletes refs/heads/main"},
      {"delete of nothing", Command(kNone, kNone, "refs/heads/new") + kFlush,
       "deletes"},
      {"other ref", Command(kNone, two, "refs/heads/evil", kAsked) + kFlush,
       "does not name refs/heads/evil"},
      {"longer ref", Command(kNone, two, "refs/heads/main2") + kFlush,
       "does not name"},
      {"old that it has not", Command(two, three, "refs/heads/main") + kFlush,
       "is not what the other side has"},
      {"new that is there", Command(kNone, two, "refs/heads/main") + kFlush,
       "is not what the other side has"},
      {"old of a new one", Command(one, two, "refs/heads/new") + kFlush,
       "is not what the other side has"},
      {"a tag", Command(other, two, "refs/tags/v1") + kFlush,
       "replaces refs/tags/v1"},
      {"a second one that is bad",
       forward + Command(two, kNone, "refs/heads/old") + kFlush, "deletes"},
      {"twice", forward + forward + kFlush, "no list"},
      {"twice without capabilities",
       Command(one, one, "refs/heads/main") +
           Command(one, two, "refs/heads/main") + kFlush,
       "twice"},
      {"certificate",
       Pkt("push-cert\0"s + kAsked) + Pkt("certificate version 0.1\n"),
       "signed push"},
      {"certificate without words", Pkt("push-cert"), "signed push"},
      {"certificate later", forward + Pkt("push-cert\0x"s), "signed push"},
      {"unknown capability",
       Command(kNone, two, "refs/heads/new", kAsked + " make-it-so") + kFlush,
       "make-it-so"},
      {"capability of certificates",
       Command(kNone, two, "refs/heads/new", " push-cert=x") + kFlush,
       "push-cert=x"},
      {"option",
       Command(kNone, two, "refs/heads/new", " push-options") + kFlush +
           Pkt("merge_request.create") + kFlush,
       "push option `merge_request.create`"},
      {"one option of two",
       Command(kNone, two, "refs/heads/new", " push-options") + kFlush +
           Pkt("ci.skip") + Pkt("x") + kFlush,
       "push option `x`"},
      {"delimiter", forward + "0001", "no list"},
      {"end of a response", forward + "0002", "no list"},
      {"empty line", "0004", "no list"},
      {"length of 3", "0003", "no list"},
      {"no length", "PACK", "no list"},
      {"upper case", Command(upper, two, "refs/heads/main"), "no list"},
      {"ids of two kinds",
       Pkt(std::string(64, '0') + " " + two + " refs/heads/new"), "no list"},
      {"one id", Pkt(one + " refs/heads/main"), "no list"},
      {"no ref", Pkt(one + " " + two + " "), "no list"},
      {"HEAD", Command(one, two, "HEAD"), "no list"},
      {"a blank in it", Command(one, two, "refs/heads/main x"), "no list"},
      {"up", Command(one, two, "refs/heads/../main"), "no list"},
      {"newlines", Pkt(kNone + " " + two + " refs/heads/new\n\n"), "no list"},
      {"shallow later", forward + Pkt("shallow " + one), "no list"},
      {"shallow nothing", Pkt("shallow x"), "no list"},
      {"endless", Pkt(std::string(60'000, ' ')), "no list"},
  };
  for (const auto& row : kRows)
    for (const size_t part : {size_t{1}, size_t{100'000}}) {
      const Ended ended = Push(row.git, Printed(kTwo), part);
      EXPECT_FALSE(ended.passed) << row.name;
      EXPECT_NE(ended.error.find(row.says), std::string::npos)
          << row.name << ": " << ended.error;
      EXPECT_EQ(ended.held, "");
    }
}

TEST(PushGuardTest, BelievesNoProofThatIsNone) {
  const std::string one = NameOf(kOne);
  const std::string forged = CommitOf({one}, "not in it");
  std::string renamed = Printed(forged);
  renamed.replace(0, 40, NameOf(kOther));
  const std::string longer = "tree " + kTree + "\n\nparent " + one + "\n";
  const struct {
    const char* name;
    std::string after, proof;
  } kRows[] = {
      {"none", NameOf(kTwo), ""},
      {"of another", NameOf(kTwo), Printed(kOther)},
      {"of a forged one", NameOf(kOther), Printed(forged)},
      {"under another name", NameOf(kOther), renamed},
      {"of an unrelated one", NameOf(kOther), Printed(kOther)},
      {"with a hole", NameOf(kMerge), Printed(kMerge) + Printed(kTwo)},
      {"in no order", NameOf(kThree), Printed(kTwo) + Printed(kThree)},
      {"the ancestor alone", NameOf(kTwo), Printed(kOne)},
      {"cut off", NameOf(kTwo), Printed(kTwo).substr(0, 100)},
      {"missing", NameOf(kTwo), NameOf(kTwo) + " missing\n"},
      {"another type", NameOf(kTwo),
       NameOf(kTwo) + " blob " + std::to_string(kTwo.size()) + "\n" + kTwo},
      {"a size that is none", NameOf(kTwo), NameOf(kTwo) + " commit -1\n"},
      {"a huge size", NameOf(kTwo),
       NameOf(kTwo) + " commit 99999999999999999999\n"},
      {"no line", NameOf(kTwo), std::string(1000, 'x')},
      {"a parent in the message", NameOf(longer), Printed(longer)},
  };
  for (const auto& row : kRows) {
    const Ended ended =
        Push(Command(one, row.after, "refs/heads/main") + kFlush, row.proof);
    EXPECT_FALSE(ended.passed) << row.name;
    EXPECT_NE(ended.error.find("replaces commits of refs/heads/main"),
              std::string::npos)
        << row.name << ended.error;
  }
}

TEST(PushGuardTest, ProvesEachOfSeveralRefsAndHashesOfBothKinds) {
  const Ended both =
      Push(Command(NameOf(kOne), NameOf(kThree), "refs/heads/main", kAsked) +
               Command(NameOf(kTwo), NameOf(kThree), "refs/heads/old") + kFlush,
           Printed(kThree) + Printed(kTwo));
  EXPECT_TRUE(both.passed) << both.error;
  EXPECT_EQ(both.claims.size(), 2u);
  // Of one alone is no proof of the other.
  const Ended one = Push(
      Command(NameOf(kTwo), NameOf(kThree), "refs/heads/old") +
          Command(NameOf(kOne), NameOf(kOther), "refs/heads/main") + kFlush,
      Printed(kThree) + Printed(kTwo));
  EXPECT_FALSE(one.passed);

  const std::string before(64, 'a');
  const std::string commit =
      "tree " + std::string(64, '1') + "\nparent " + before + "\n\nx\n";
  const std::string after =
      Hex(Sha256("commit " + std::to_string(commit.size()) + '\0' + commit));
  const Ended sha256 = Push(
      Scope(), Pkt(before + " refs/heads/main\0"s + kCapabilities) + kFlush,
      Command(before, after, "refs/heads/main") + kFlush,
      after + " commit " + std::to_string(commit.size()) + "\n" + commit +
          "\n");
  EXPECT_TRUE(sha256.passed) << sha256.error;
}

TEST(PushGuardTest, ReadsWhatServersSayAndEndsAtWhatIsNoList) {
  const std::string push =
      Command(kNone, NameOf(kTwo), "refs/heads/new", kAsked) + kFlush;
  const std::string empty =
      Pkt(kNone + " capabilities^{}\0"s + kCapabilities) + kFlush;
  for (const std::string& server :
       {Advertised(), empty, Pkt("version 1\n") + Advertised(),
        Pkt(NameOf(kOne) + " refs/heads/main") + Pkt("shallow " + kTree) +
            kFlush,
        std::string(kFlush)})
    for (const size_t part : {size_t{1}, size_t{100'000}})
      EXPECT_TRUE(Push(Scope(), server, push, "", part).passed) << server;
  const std::string main = Pkt(NameOf(kOne) + " refs/heads/main\n");
  for (const std::string& server :
       {std::string("Welcome to this machine\n"), std::string("0001"),
        std::string("ffff"), Pkt("version 2") + kFlush, Pkt("x"), Pkt(""),
        Pkt(kTree), main + main, Pkt(kNone + " refs/heads/main"),
        main + Pkt("version 1"), Advertised() + "0000",
        Advertised() + Pkt("unpack ok\n")}) {
    const Ended ended = Push(Scope(), server, push, "");
    EXPECT_FALSE(ended.passed) << server;
    EXPECT_NE(ended.error, "") << server;
  }
  // What it says against the push goes to git, and nothing comes back.
  const Ended error = Push(Scope(), Pkt("ERR access denied"), push, "");
  EXPECT_FALSE(error.passed);
  EXPECT_EQ(error.error, "");
}

TEST(PushGuardTest, WaitsForWhatIsNotWhole) {
  const std::string git =
      Command(NameOf(kOne), NameOf(kTwo), "refs/heads/main", kAsked) + kFlush;
  for (size_t size = 0; size < git.size(); ++size) {
    const Ended ended = Push(git.substr(0, size), Printed(kTwo));
    EXPECT_FALSE(ended.passed) << size;
    EXPECT_EQ(ended.error, "") << size;
  }
  const std::string server = Advertised();
  for (size_t size = 0; size < server.size(); ++size)
    EXPECT_FALSE(Push(Scope(), server.substr(0, size), git, "").passed) << size;
}

TEST(PushGuardTest, TakesTenThousandRefsAndEndsAtItsLimits) {
  PushScope scope;
  scope.prefixes = {"refs/tags/"};
  const auto tags = [](size_t count) {
    std::string git;
    for (size_t i = 0; i < count; ++i)
      git += Command(kNone, NameOf(kTwo), "refs/tags/t" + std::to_string(i));
    return git + kFlush;
  };
  const Ended ended = Push(scope, Advertised(), tags(10'000), "", 4096);
  EXPECT_TRUE(ended.passed) << ended.error;
  EXPECT_NE(ended.pushed.find("; and more"), std::string::npos);
  EXPECT_LT(ended.pushed.size(), 1000u);
  EXPECT_FALSE(
      Push(scope, Advertised(), tags(kMaxPushCommands + 1), "").passed);
  EXPECT_NE(Push(scope, Pkt(NameOf(kOne) + " refs/heads/a"),
                 std::string(kMaxHeldBytes + 1, '0'), "")
                .error.find("holds"),
            std::string::npos);
  // A list that does not end.
  PushGuard guard(scope);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += Pkt(kTree + " refs/pull/1/head\n");
  Status status;
  size_t bytes = 0;
  for (; status && bytes < 2 * kMaxAdvertisedBytes; bytes += many.size())
    status = guard.FromServer(many);
  EXPECT_FALSE(status);
  EXPECT_LE(bytes, kMaxAdvertisedBytes + 2 * many.size());
}

TEST(PushGuardTest, CoversNamesAndPrefixes) {
  PushScope scope;
  scope.refs = {"refs/heads/a"};
  scope.prefixes = {"refs/tags/"};
  EXPECT_TRUE(Covers(scope, "refs/heads/a"));
  EXPECT_TRUE(Covers(scope, "refs/tags/b"));
  for (const char* ref : {"refs/heads/ab", "refs/heads", "refs/tag", "a", ""})
    EXPECT_FALSE(Covers(scope, ref)) << ref;
}

}  // namespace
}  // namespace gate::credentials
