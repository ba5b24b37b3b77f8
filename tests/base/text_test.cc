#include "base/text.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <string>

namespace gate {
namespace {

using std::string_literals::operator""s;

TEST(Text, Utf8IsJudgedAsUnicodeDefinesIt) {
  struct Case {
    std::string bytes;
    size_t prefix;  // length of the well-formed prefix
    std::string repaired;
  };
  const std::string bad = "\xef\xbf\xbd";
  const Case cases[] = {
      {"", 0, ""},
      {"plain", 5, "plain"},
      {"a\0b"s, 3, "a\0b"s},
      {"\xc3\xa9", 2, "\xc3\xa9"},
      {"\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80"},
      {"\xf4\x8f\xbf\xbf", 4, "\xf4\x8f\xbf\xbf"},
      {"a\x80", 1, "a" + bad},
      {"\xc0\xaf", 0, bad + bad},            // overlong
      {"\xe0\x80\xaf", 0, bad + bad + bad},  // overlong
      {"\xed\xa0\x80", 0, bad + bad + bad},  // surrogate
      {"\xf4\x90\x80\x80", 0, bad + bad + bad + bad},
      {"\xf5\x80", 0, bad + bad},
      {"\xe2\x82", 0, bad},  // cut off
      {"\xe2\x82x", 0, bad + "x"},
      {"x\xf0\x9f\x98", 1, "x" + bad},
      {"\xff\xfe", 0, bad + bad},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(Hex(c.bytes));
    EXPECT_EQ(Utf8Prefix(c.bytes), c.prefix);
    EXPECT_EQ(IsUtf8(c.bytes), c.prefix == c.bytes.size());
    EXPECT_EQ(ToUtf8(c.bytes), c.repaired);
    EXPECT_TRUE(IsUtf8(ToUtf8(c.bytes)));
  }
}

TEST(Text, WhatAPersonDoesNotSeeIsFoundAndEscaped) {
  struct Case {
    std::string text;
    size_t hidden;  // bytes
    std::string visible;
  };
  const Case cases[] = {
      {"ls -l", 0, "ls -l"},
      {"a\tb\nc", 0, "a\\x09b\\x0ac"},
      {"a\x1b[2K", 1, "a\\x1b[2K"},
      {"a\0"s, 1, "a\\x00"},
      {"a\r", 1, "a\\x0d"},
      {"\x7f", 1, "\\x7f"},
      {"\xc2\x85", 2, "\\u0085"},  // C1 next line
      {"\xe2\x80\xae"
       "x",
       3, "\\u202ex"},                 // right-to-left override
      {"\xe2\x80\x8b", 3, "\\u200b"},  // zero width space
      {"\xef\xbb\xbf", 3, "\\ufeff"},
      {"\xf3\xa0\x81\x81", 4, "\\U000e0041"},  // tag character
      {"\xff", 1, "\\xff"},
      {"\xe3\x85\xa4", 3, "\\u3164"},  // Hangul filler
      {"\xc3\xa9\xe6\xbc\xa2", 0, "\xc3\xa9\xe6\xbc\xa2"},
      // A warning sign in emoji presentation, and a joined family.
      {"\xe2\x9a\xa0\xef\xb8\x8f ok", 0, "\xe2\x9a\xa0\xef\xb8\x8f ok"},
      {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7", 0,
       "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x91\xa7"},
      // The same characters anywhere else are hidden.
      {"rm\xef\xb8\x8f", 3, "rm\\ufe0f"},
      {"r\xe2\x80\x8dm", 3, "r\\u200dm"},
      {"\xe2\x9a\xa0\xef\xb8\x8f\xef\xb8\x8f", 3,
       "\xe2\x9a\xa0\xef\xb8\x8f\\ufe0f"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(Hex(c.text));
    size_t hidden = 0;
    for (const Span span : FindHidden(c.text)) hidden += span.size();
    EXPECT_EQ(hidden, c.hidden);
    EXPECT_EQ(Visible(c.text), c.visible);
  }
  EXPECT_EQ(Visible("a\tb\nc\r", true), "a\tb\nc\\x0d");
  EXPECT_EQ(FindHidden("a\x01\x02"
                       "b\x03"),
            (std::vector<Span>{{1, 3}, {4, 5}}));
}

TEST(Text, ShellQuoteQuotesWhatAShellWouldChange) {
  struct Case {
    const char* word;
    const char* quoted;
  };
  const Case cases[] = {
      {"", "''"},
      {"plain-1.0/x_y:z,@+", "plain-1.0/x_y:z,@+"},
      {"--flag=value", "--flag=value"},
      {"A=b", "'A=b'"},
      {"a b", "'a b'"},
      {"it's", "'it'\\''s'"},
      {"$HOME", "'$HOME'"},
      {"~", "'~'"},
      {"*", "'*'"},
      {"a\nb", "'a\nb'"},
      {"if", "'if'"},
      {"!", "'!'"},
      {"{a,b}", "'{a,b}'"},
      {"%1", "'%1'"},
      {"#x", "'#x'"},
      {"\xc3\xa9", "'\xc3\xa9'"},
  };
  for (const Case& c : cases) EXPECT_EQ(ShellQuote(c.word), c.quoted) << c.word;
}

TEST(Text, AShellReadsAQuotedWordBackUnchanged) {
  // Every byte but NUL, alone and in company.
  std::string line = "printf '%s\\0'";
  std::string expected;
  for (int c = 1; c < 256; ++c) {
    for (const std::string& word :
         {std::string(1, static_cast<char>(c)),
          "a" + std::string(1, static_cast<char>(c)) + "b"}) {
      line += " " + ShellQuote(word);
      expected += word + '\0';
    }
  }
  // The line is data for printf only: every word is quoted.
  const std::string script =
      testing::TempDir() + "/quote." + std::to_string(getpid());
  FILE* file = std::fopen(script.c_str(), "w");
  ASSERT_NE(file, nullptr);
  std::fwrite(line.data(), 1, line.size(), file);
  std::fclose(file);
  FILE* pipe = popen(("LC_ALL=C /bin/sh " + ShellQuote(script)).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string found;
  std::array<char, 4096> buffer;
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe))
    found.append(buffer.data(), got);
  EXPECT_EQ(pclose(pipe), 0);
  std::remove(script.c_str());
  EXPECT_EQ(Hex(found), Hex(expected));
}

TEST(Text, LocateCountsLinesAndBytesFromOne) {
  const std::string text = "ab\ncd\n";
  const struct {
    size_t offset, line, column;
  } cases[] = {{0, 1, 1}, {1, 1, 2}, {2, 1, 3}, {3, 2, 1},
               {5, 2, 3}, {6, 3, 1}, {99, 3, 1}};
  for (const auto& c : cases) {
    EXPECT_EQ(Locate(text, c.offset).line, c.line) << c.offset;
    EXPECT_EQ(Locate(text, c.offset).column, c.column) << c.offset;
  }
}

TEST(Text, Base64RoundTripsAndRefusesWhatIsNone) {
  const struct {
    std::string bytes;
    const char* text;
  } cases[] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
               {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\0"s, "//4A"}};
  for (const auto& c : cases) {
    EXPECT_EQ(Base64(c.bytes), c.text);
    std::string decoded = "junk";
    EXPECT_TRUE(DecodeBase64(c.text, &decoded));
    EXPECT_EQ(decoded, c.bytes);
  }
  std::string out;
  EXPECT_TRUE(DecodeBase64(" Zm\n9v\t", &out));
  EXPECT_EQ(out, "foo");
  EXPECT_TRUE(DecodeBase64("Zg", &out));
  EXPECT_EQ(out, "f");
  for (const char* bad : {"Z", "Zg=", "Zg===", "Zg==Zg==", "Zm9v=", "Zm-_", "=",
                          "Zm9vZ", "\xff"}) {
    out = "kept";
    EXPECT_FALSE(DecodeBase64(bad, &out)) << bad;
    EXPECT_EQ(out, "kept");
  }
}

TEST(Text, HexIsLowerCase) { EXPECT_EQ(Hex("\x00\xab\x7f"s), "00ab7f"); }

}  // namespace
}  // namespace gate
