#include "git/format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gate {
namespace {

using Names = std::vector<std::string>;

TEST(GitFormat, TheHashIsTheOneThatEveryGitObeys) {
  const struct {
    const char* text;
    int bytes;  // 0: not known
  } rows[] = {
      {"", 20},
      {"[core]\nrepositoryformatversion = 0\n", 20},
      {"[core]\nrepositoryformatversion = 1\n", 20},
      {"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = "
       "sha256\n",
       32},
      {"[extensions]\nobjectFormat = sha256\n[core]\nrepositoryFormatVersion "
       "= 1\n",
       32},
      {"[core]\nrepositoryformatversion = 1\n[EXTENSIONS]\nOBJECTFORMAT = "
       "\"sha256\" # x\n",
       32},
      {"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = "
       "sha1\n",
       20},
      {"[extensions]\nobjectFormat = sha1\n", 20},
      {"[extensions]\nobjectFormat = sha256\n", 0},
      {"[core]\nrepositoryformatversion = 0\n[extensions]\nobjectFormat = "
       "sha256\n",
       0},
      {"[core]\nrepositoryformatversion = 01\n[extensions]\nobjectFormat = "
       "sha256\n",
       0},
      {"[core]\nrepositoryformatversion = 2\n[extensions]\nobjectFormat = "
       "sha256\n",
       0},
      {"[core]\nrepositoryformatversion = 1\nrepositoryformatversion = 0\n"
       "[extensions]\nobjectFormat = sha256\n",
       0},
      {"[core]\nrepositoryformatversion\n[extensions]\nobjectFormat = "
       "sha256\n",
       0},
      {"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = "
       "SHA256\n",
       0},
      {"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = "
       "sha512\n",
       0},
      {"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat\n", 0},
      {"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat =\n",
       0},
      {"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = "
       "sha256\nobjectFormat = sha1\n",
       0},
      {"[core]\nrepositoryformatversion = 1\n[extensions]\nobjectFormat = "
       "sha256\nobjectFormat = sha256\n",
       32},
      {"[core]\nrepositoryformatversion = 1\n[extensions \"x\"]\n"
       "objectFormat = sha256\n",
       20},
  };
  for (const auto& row : rows) {
    std::vector<GitEntry> entries;
    ASSERT_TRUE(ParseGitConfig(row.text, &entries)) << row.text;
    const auto hash = ObjectFormatOf(entries);
    EXPECT_EQ(hash ? static_cast<int>(*hash) : 0, row.bytes) << row.text;
  }
}

TEST(GitFormat, AlternatesAreLinesAndNothingElse) {
  const struct {
    std::string text;
    Names names;
  } rows[] = {
      {"", {}},
      {"\n\n", {}},
      {"/a/objects\n", {"/a/objects"}},
      {"/a/objects", {"/a/objects"}},
      {"# x\n../b\n", {"../b"}},
      {"/a\n\n/b\n", {"/a", "/b"}},
      {" /a\n", {" /a"}},
      {"/a \r\n", {"/a \r"}},
      {"/a\"b\n", {"/a\"b"}},
      {"/a:/b\n", {"/a:/b"}},
      {"a#b\n", {"a#b"}},
  };
  for (const auto& row : rows) {
    const auto names = ParseAlternates(row.text);
    ASSERT_TRUE(names) << row.text;
    EXPECT_EQ(*names, row.names) << row.text;
  }
  for (const std::string& text :
       {std::string("\"/a\"\n"), std::string("/a\n\"/b\n"),
        std::string("/a\0/b\n", 6), std::string("\0", 1)})
    EXPECT_FALSE(ParseAlternates(text)) << text;
}

}  // namespace
}  // namespace gate
