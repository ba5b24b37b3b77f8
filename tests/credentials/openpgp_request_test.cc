// What the program in gpg's place may ask for.
#include "credentials/openpgp_request.h"

#include <gtest/gtest.h>

namespace gate::credentials {
namespace {

const std::string kId(40, 'a');
const std::string kWho = "N M <n@example.org> 1700000000 +0100\n";
const std::string kCommit = "tree " + kId + "\nparent " + kId + "\nauthor " +
                            kWho + "committer " + kWho;
const std::string kTag =
    "object " + kId + "\ntype commit\ntag v1\ntagger " + kWho;

TEST(CheckGitObject, TakesCommitsAndTags) {
  for (const std::string& text :
       {kCommit + "\nwords\n", kCommit + "\n",
        kCommit + "encoding latin1\n\nwords",
        kCommit + "mergetag object " + kId + "\n type commit\n \n x\n\nwords",
        "tree " + kId + "\nauthor " + kWho + "committer " + kWho + "\nroot\n",
        kTag + "\nwords\n"})
    EXPECT_TRUE(CheckGitObject(text)) << text;
}

TEST(CheckGitObject, RefusesEverythingElse) {
  for (const std::string& text :
       {std::string(), std::string("text\n"), kCommit,
        "Origin: Debian\n\n" + kCommit + "\n",
        "certificate version 0.1\npusher " + kWho + "\n",
        "tree x\nauthor " + kWho + "committer " + kWho + "\nroot\n",
        "tree " + kId + "\ncommitter " + kWho + "\nroot\n",
        kCommit + "word\n\nwords", kCommit + "\nwo" + std::string(1, 0),
        kTag + "more\n\nwords", "object " + kId + "\n\nwords"})
    EXPECT_FALSE(CheckGitObject(text)) << text;
}

TEST(OpenPgpRequest, ComesBackAsItWas) {
  const auto request = ParseOpenPgpRequest(Encode(OpenPgpRequest{"K", "P\n"}));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->key, "K");
  EXPECT_EQ(request->payload, "P\n");
  const auto answer = ParseOpenPgpAnswer(Encode(OpenPgpAnswer{"s", "g"}));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->signature, "g");
}

TEST(OpenPgpRequest, IsNothingElse) {
  const std::string good = Encode(OpenPgpRequest{"K", "P"});
  for (const std::string& text :
       {std::string(), good.substr(0, good.size() - 1), good + "x",
        "\x0d" + good.substr(1), Encode(OpenPgpAnswer{"K", "P"})})
    EXPECT_FALSE(ParseOpenPgpRequest(text));
  EXPECT_FALSE(ParseOpenPgpAnswer(good));
  EXPECT_FALSE(ParseOpenPgpAnswer(std::string(1, 5)));
}

}  // namespace
}  // namespace gate::credentials
