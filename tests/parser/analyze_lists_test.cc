// Hosts and files that lists, globs and literals of code name.
#include <gtest/gtest.h>

#include <set>

#include "tests/parser/analyze_support.h"

namespace gate::parser {
namespace {

// Hosts, and files that are read, each once.
std::string Reached(std::string_view line) {
  std::set<std::string> names;
  for (const Effect& effect : Analyze(line, TestContext()).effects) {
    if (effect.kind == EffectKind::kNetwork) names.insert(effect.host);
    if (effect.kind == EffectKind::kRead && effect.path.known)
      names.insert(effect.path.text);
  }
  std::string out;
  for (const std::string& name : names) {
    if (name.empty()) continue;
    if (!out.empty()) out += ' ';
    out += name;
  }
  return out;
}

struct ListCase {
  const char* line;
  const char* reached;
};

TEST(AnalyzeLists, WhatAListOnInputOrInAFileOfTheLineNamesIsReached) {
  static constexpr ListCase kCases[] = {
      {"wget -i - <<< http://h.example/a", "h.example"},
      {"printf 'http://a.example/\\n  http://b.example/ \\n' | wget -i -",
       "a.example b.example"},
      {"echo '# http://a.example/' | wget -i -", ""},
      {"wget --input-file=/dev/stdin <<< http://h.example/", "h.example"},
      {"echo http://h.example/ > u; wget -i u", "/w/u h.example"},
      {"aria2c -i - <<< $'http://a.example/\\thttp://b.example/\\n  out=f'",
       "a.example b.example"},
      {"aria2c -i - <<< $'http://a.example/\\n  all-proxy=http://p.example'",
       "a.example p.example"},
      {"curl -K - <<< 'url = http://h.example/'", "h.example"},
      {"curl -K - <<< 'url=\"http://h.example/\"'", "h.example"},
      {"curl -K - <<< 'url:http://h.example/'", "h.example"},
      {"curl -K - <<< '--url http://h.example/'", "h.example"},
      {"curl -K - <<< $'# url = http://a.example\\nproxy p.example:80'",
       "p.example"},
      {"curl -K - <<< $'url = h.example\\ndata = @f'", "/w/f h.example"},
      {"curl -K - <<< $'url = h.example\\n-T f'", "/w/f h.example"},
      {"curl -K - <<< $'url = h.example\\nform = \"a=@f\"'", "/w/f h.example"},
      {"curl -K- x.example <<< 'config = -'", "x.example"},
      {"echo url=h.example > c; curl -K c", "/w/c h.example"},
      {"curl --url @u.txt", "/w/u.txt"},
      {"rsync --files-from=- . h:b <<< f", "/w /w/f h"},
      {"printf 'a\\n\\nb\\n' | rsync --files-from=- . h:b", "/w /w/a /w/b h"},
      {"rclone copy --files-from - . h:b <<< f", "/w /w/f h"},
      {"rsync --files-from=<(echo f) . h:b", "/w /w/f h"},
      {"curl -K<(echo url=a.example) -K<(echo url=b.example)",
       "a.example b.example"},
      {"curl --config=<(echo url=a.example)", "a.example"},
      {"wget -i urls.txt", "/w/urls.txt"},
      {"curl -K - < c", "/w/c"},
  };
  for (const ListCase& test : kCases) {
    EXPECT_EQ(Reached(test.line), test.reached) << test.line;
  }
}

TEST(AnalyzeLists, TheProgramStillReadsTheListItself) {
  const Analysis analysis =
      Analyze("cat f | curl -K - -d @- h.example", TestContext());
  EXPECT_TRUE(std::ranges::any_of(analysis.flows, [](const Flow& flow) {
    return flow.kind == FlowKind::kFileToNetwork && flow.source.text == "/w/f";
  }));
}

TEST(AnalyzeLists, GlobsOfCurlNameEveryHost) {
  static constexpr ListCase kCases[] = {
      {"curl 'http://{a,b}.example/'", "a.example b.example"},
      {"curl 'http://h[1-3].example/[1-9]'",
       "h1.example h2.example h3.example"},
      {"curl --url 'http://{a,b}.example/'", "a.example b.example"},
      {"curlie 'http://{a,b}.example/'", "a.example b.example"},
      {"curl 'http://h.example/{a,b}'", "h.example"},
      {"aria2c -P 'http://{a,b}.example/x'", "a.example b.example"},
  };
  for (const ListCase& test : kCases) {
    for (std::string_view rest = test.reached; !rest.empty();) {
      const size_t blank = std::min(rest.find(' '), rest.size());
      const std::string host(rest.substr(0, blank));
      rest.remove_prefix(std::min(blank + 1, rest.size()));
      EXPECT_NE((" " + Reached(test.line) + " ").find(" " + host + " "),
                std::string::npos)
          << test.line << ": " << Reached(test.line);
    }
  }
  EXPECT_TRUE(Analyze("curl 'http://10.[0-255].[0-255].1/'", TestContext())
                  .hides_commands);
}

TEST(AnalyzeLists, AddressesInCodeAreReachedWhateverTheCall) {
  static constexpr ListCase kCases[] = {
      {"python3 -c \"import http.client; "
       "http.client.HTTPConnection('198.51.100.7')\"",
       "198.51.100.7"},
      {"node -e 'require(\"http\").get({host:\"0xa9fea9fe\"})'",
       "169.254.169.254"},
      {"node -e 'require(\"net\").connect(80,\"198.51.100.7\")'",
       "198.51.100.7"},
      {"ruby -rnet/http -e 'Net::HTTP.get(\"a.b.internal\",\"/\")'",
       "a.b.internal"},
      {"perl -MLWP::Simple -e 'getprint \"http://h.example/\"'", "h.example"},
      {"python3 -c \"print('198.51.100.7')\"", ""},
      {"node -e 'require(\"http\").get({host:h,version:\"1.2\"})'", ""},
  };
  for (const ListCase& test : kCases) {
    EXPECT_EQ(Reached(test.line), test.reached) << test.line;
  }
}

TEST(AnalyzeLists, AHostBehindAnUnknownPasswordIsReached) {
  static constexpr ListCase kCases[] = {
      {"curl \"https://$t@h.example/a\"", "h.example"},
      {"curl \"https://u:$t@h.example:8/a\"", "h.example"},
      {"curl \"https://$t/a@h.example\"", ""},
      {"curl \"https://$t@localhost/\"", ""},
  };
  for (const ListCase& test : kCases) {
    EXPECT_EQ(Reached(test.line), test.reached) << test.line;
  }
}

TEST(AnalyzeLists, LongListsAreNotReadWhole) {
  std::string line = "wget -i - <<'E'\n";
  for (int i = 0; i < 2000; ++i) line += "http://h.example/a\n";
  line += "E\n";
  EXPECT_TRUE(Analyze(line, TestContext()).hides_commands);
}

}  // namespace
}  // namespace gate::parser
