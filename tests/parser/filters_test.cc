// RunFilter: what it says is what the real program prints. The second half
// compares with the programs of this machine on generated input.

#include "parser/filters/filters.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <random>

#include "parser/programs.h"

namespace gate::parser {
namespace {

using Argv = std::vector<std::string>;

std::string Show(const Argv& argv) {
  std::string all;
  for (const std::string& word : argv) all += "[" + word + "]";
  return all;
}

// By the model that the descriptions give to the program.
OutputModel ModelOf(const std::string& program) {
  Argument argument;
  argument.text = program;
  return ReadArguments({&argument, 1}).output;
}

std::optional<std::string> Filtered(const Argv& argv, std::string_view input) {
  if (argv.empty()) return RunFilter(OutputModel::kCopy, argv, input);
  return RunFilter(ModelOf(argv[0]), argv, input);
}

TEST(Filters, PrintWhatTheProgramsPrint) {
  const struct {
    Argv argv;
    std::string input, output;
  } kCases[] = {
      {{"base64", "-d"}, "cm0gLXJmIC8K", "rm -rf /\n"},
      {{"base64", "--decode"}, "cm0gL\nXJmIC8K\n", "rm -rf /\n"},
      {{"base64"}, "abcd", "YWJjZA==\n"},
      {{"base32", "-d"}, "NBUQ====", "hi"},
      {{"xxd", "-r", "-p"}, "6869\n0a", "hi\n"},
      {{"xxd", "-p"}, "hi", "6869\n"},
      {{"rev"}, "fr- mr\n", "rm -rf\n"},
      {{"tac"}, "a\nb\n", "b\na\n"},
      {{"tr", "a-y", "b-z"}, "ql", "rm"},
      {{"tr", "-d", "x"}, "rxmx", "rm"},
      {{"tr", "[:lower:]", "[:upper:]"}, "rm", "RM"},
      {{"tr", "A-Za-z", "N-ZA-Mn-za-m"}, "ez -es", "rm -rf"},
      {{"cut", "-c1-2"}, "rmx\n", "rm\n"},
      {{"cut", "-d:", "-f2,1"}, "a:b:c\n", "a:b\n"},
      {{"sed", "s/x/m/"}, "rx\n", "rm\n"},
      {{"sed", "-E", "s/(a)(b)/\\2\\1/g"}, "abab", "baba"},
      {{"sed", "-n", "2p"}, "a\nb\nc\n", "b\n"},
      {{"sed", "$d"}, "a\nb\n", "a\n"},
      {{"awk", "{print $2}"}, "a b c\n", "b\n"},
      {{"awk", "-F:", "{print $1 \"-\" $NF}"}, "a:b:c\n", "a-c\n"},
      {{"awk", "{print $NF}"}, "a b\n \t\n\n", "b\n \t\n\n"},
      {{"grep", "-v", "a"}, "a\nb\n", "b\n"},
      {{"grep", "-o", "[0-9]*x"}, "a12x3x\n", "12x\n3x\n"},
      {{"head", "-n1"}, "a\nb\n", "a\n"},
      {{"head", "-c", "-1"}, "abc", "ab"},
      {{"tail", "-n", "+2"}, "a\nb\nc", "b\nc"},
      {{"printf", "%s\\n", "a", "b"}, "", "a\nb\n"},
      {{"printf", "\\x72m"}, "", "rm"},
      {{"echo", "-e", "r\\x6d"}, "", "rm\n"},
      {{"echo", "-n", "a", "b"}, "", "a b"},
      {{"seq", "3"}, "", "1\n2\n3\n"},
      {{"seq", "-s,", "1", "2", "5"}, "", "1,3,5\n"},
      {{"paste", "-sd,"}, "a\nb\n", "a,b\n"},
      {{"paste", "-", "-"}, "a\nb\nc\n", "a\tb\nc\t\n"},
      {{"fold", "-w1"}, "abc", "a\nb\nc"},
      {{"sort", "-r"}, "a\nc\nb\n", "c\nb\na\n"},
      {{"sort", "-n"}, "10\n9\n", "9\n10\n"},
      {{"uniq", "-c"}, "a\na\nb\n", "      2 a\n      1 b\n"},
      {{"tee", "x"}, "a", "a"},
      {{"cat", "-"}, "a", "a"},
      {{"openssl", "base64", "-d", "-A"}, "cm0K", "rm\n"},
  };
  for (const auto& c : kCases) {
    const auto output = Filtered(c.argv, c.input);
    ASSERT_TRUE(output.has_value()) << Show(c.argv);
    EXPECT_EQ(*output, c.output) << Show(c.argv);
  }
}

TEST(Filters, GzipIsInflatedAndVerified) {
  // "rm x\n", level 9, no name.
  const std::string packed(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\xca\x55\xa8\xe0\x02\x00"
      "\x6c\x37\x02\xb3\x05\x00\x00\x00",
      25);
  EXPECT_EQ(Filtered({"gunzip"}, packed), std::string("rm x\n"));
  for (size_t k = 10; k < packed.size(); ++k) {
    if (k == 16) continue;  // its upper bits are padding
    std::string broken = packed;
    broken[k] = static_cast<char>(broken[k] ^ 0x10);
    EXPECT_NE(Filtered({"gunzip"}, broken), std::string("rm x\n")) << k;
    EXPECT_FALSE(Filtered({"zcat"}, packed.substr(0, k)).has_value());
  }
}

TEST(Filters, SayNothingWhereTheyDoNotKnow) {
  const struct {
    Argv argv;
    std::string input;
  } kCases[] = {
      {{}, ""},
      {{"rm", "x"}, ""},
      {{"cat", "file"}, "a"},
      {{"cat", "-A"}, "a"},
      {{"base64", "-d"}, "a@bc"},
      {{"base64", "-d"}, "YWJ=YWJj"},
      {{"base64", "-d"}, "YWJjZB=="},
      {{"xxd"}, "a"},
      {{"xxd", "-rp"}, "61"},
      {{"xxd", "-r", "-p"}, "6z"},
      {{"rev"}, "h\xc3\xa9"},
      {{"tr", "z-a", "x"}, "a"},
      {{"tr", "a", ""}, "a"},
      {{"tr", "a", "[:alpha:]"}, "a"},
      {{"tr", "a\\"}, "a"},
      {{"cut", "-f"}, "a"},
      {{"cut", "-c0"}, "a"},
      {{"cut", "-c1", "-f1"}, "a"},
      {{"sed", "e"}, "a"},
      {{"sed", "s/a/b/e"}, "a"},
      {{"sed", "s/a/b/w x"}, "a"},
      {{"sed", "-i", "s/a/b/"}, "a"},
      {{"sed", "s/\\(a\\|b\\)/x/"}, "a"},
      {{"sed", "s/a**/x/"}, "a"},
      {{"sed", "s/(a)*/x/", "-E"}, "a"},
      {{"sed", "--expr", "p", "f"}, "a"},
      {{"awk", "{system($1)}"}, "a"},
      {{"awk", "-v", "x=1", "{print $1}"}, "a"},
      {{"grep", "-P", "a"}, "a"},
      {{"grep", "-r", "a"}, "a"},
      {{"grep", "a", "file"}, "a"},
      {{"head", "-n", "1k"}, "a"},
      {{"sort"}, "a b\nA\n"},
      {{"sort", "-k2"}, "a\n"},
      {{"seq", "1.5"}, ""},
      {{"seq", "1", "0", "2"}, ""},
      {{"seq", "999999999"}, ""},
      {{"printf", "%d", "1"}, ""},
      {{"printf", "-v", "x"}, ""},
      {{"printf", "\\q"}, ""},
      {{"echo", "-e", "\\c"}, ""},
      {{"tee", "/dev/stdout"}, "a"},
      {{"openssl", "enc", "-d", "-aes128"}, "a"},
      {{"fold", "-w0"}, "a"},
      {{"paste", "-d", "\\t", "-s"}, "a\n"},
      {{"gzip"}, "a"},
      {{"gunzip"}, "not gzip"},
  };
  for (const auto& c : kCases) {
    EXPECT_FALSE(Filtered(c.argv, c.input).has_value()) << Show(c.argv);
  }
  EXPECT_FALSE(
      Filtered({"cat"}, std::string(kMaxFilterBytes + 1, 'a')).has_value());
  EXPECT_TRUE(IsFilter(ModelOf("tr")));
  EXPECT_FALSE(IsFilter(ModelOf("python")));
  EXPECT_FALSE(IsFilter(ModelOf("basename")));
}

// --- comparison with the real programs ---

bool Installed(const std::string& program) {
  for (const char* dir : {"/usr/bin/", "/bin/"}) {
    if (access((dir + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

// What the program prints, and whether it ended well without complaint.
bool RunReal(const Argv& argv, const std::string& input, std::string* output) {
  char path[] = "/tmp/gate-filters-XXXXXX";
  const int in = mkstemp(path);
  if (in < 0) return false;
  unlink(path);
  size_t written = 0;
  while (written < input.size()) {
    const ssize_t n = write(in, input.data() + written, input.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  lseek(in, 0, SEEK_SET);
  int out[2];
  if (pipe(out) != 0) {
    close(in);
    return false;
  }
  const pid_t pid = fork();
  if (pid == 0) {
    dup2(in, 0);
    dup2(out[1], 1);
    const int null = open("/dev/null", O_WRONLY);
    dup2(null, 2);
    close(out[0]);
    close(out[1]);
    if (chdir("/tmp") != 0) _exit(126);
    std::vector<char*> words;
    for (const std::string& word : argv) {
      words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
  }
  close(in);
  close(out[1]);
  output->clear();
  char buffer[65536];
  ssize_t n = 0;
  while ((n = read(out[0], buffer, sizeof buffer)) > 0) {
    output->append(buffer, static_cast<size_t>(n));
  }
  close(out[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && (WEXITSTATUS(status) == 0 ||
                               (argv[0] == "grep" && WEXITSTATUS(status) == 1));
}

class Comparison : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("LC_ALL");
    unsetenv("POSIXLY_CORRECT");
    setenv("LANG", "C.UTF-8", 1);
  }

  bool Available(const std::string& program) {
    const auto [it, added] = available_.try_emplace(program, false);
    if (added) {
      it->second = Installed(program);
      if (!it->second) {
        std::fprintf(stderr, "SKIPPED: %s is not installed\n", program.c_str());
      }
    }
    return it->second;
  }

  void Compare(const Argv& argv, const std::string& input) {
    if (!Available(argv[0])) return;
    const auto mine = Filtered(argv, input);
    if (!mine) return;
    ++known_;
    std::string real;
    const bool well = RunReal(argv, input, &real);
    EXPECT_TRUE(well) << Show(argv) << " refuses its input or arguments: "
                      << ::testing::PrintToString(input);
    EXPECT_EQ(*mine, real) << Show(argv) << " of "
                           << ::testing::PrintToString(input);
  }

  size_t Below(size_t n) { return random_() % n; }

  std::string Text(std::string_view alphabet, size_t most) {
    std::string text;
    for (size_t n = Below(most + 1); n > 0; --n) {
      text += alphabet[Below(alphabet.size())];
    }
    return text;
  }

  std::string Lines() {
    std::string text;
    for (size_t n = Below(6); n > 0; --n) {
      text += Text("aabbc:,- .xyzAB019\t", 12) + "\n";
    }
    if (Below(3) == 0) text += Text("abc: x", 5);
    return text;
  }

  std::minstd_rand random_{20240731};
  std::map<std::string, bool> available_;
  int known_ = 0;
};

TEST_F(Comparison, FixedArgumentsOverRandomLines) {
  const Argv kArgvs[] = {
      {"cat"},
      {"tac"},
      {"rev"},
      {"head"},
      {"head", "-2"},
      {"head", "-n-1"},
      {"head", "-c", "3"},
      {"head", "-c-2"},
      {"head", "--lines=1"},
      {"head", "-qn0"},
      {"tail"},
      {"tail", "-1"},
      {"tail", "-n", "+2"},
      {"tail", "-c3"},
      {"tail", "-c", "+3"},
      {"tail", "-n0"},
      {"tail", "-n", "+0"},
      {"fold", "-w3"},
      {"fold", "-b", "-w", "5"},
      {"uniq"},
      {"uniq", "-c"},
      {"uniq", "-d"},
      {"uniq", "-u"},
      {"sort"},
      {"sort", "-r"},
      {"sort", "-u"},
      {"sort", "-n"},
      {"sort", "-rn"},
      {"paste", "-s"},
      {"paste", "-sd,"},
      {"paste", "-d", ":;", "-", "-", "-"},
      {"paste"},
      {"tee"},
      {"base64"},
      {"base64", "-w0"},
      {"base64", "-w", "5"},
      {"base32"},
      {"base32", "-w7"},
      {"xxd", "-p"},
      {"xxd", "-p", "-c", "4"},
      {"xxd", "-ps", "-c3"},
      {"openssl", "base64"},
      {"openssl", "enc", "-base64", "-A"},
      {"awk", "{print $1}"},
      {"awk", "{print $1,$3}"},
      {"awk", "{print $NF}"},
      {"awk", "{print}"},
      {"awk", "-F:", "{print $2}"},
      {"awk", "-F", ",", "{print $1\"=\"$2;}"},
      {"awk", "-F.", "{print $1, $NF}"},
      {"awk", "NR==2{print $1}"},
      {"awk", "NR==1"},
      {"awk", "-F|", "{ print $0 }"},
      {"grep", "a"},
      {"grep", "-v", "b"},
      {"grep", "-F", "."},
      {"grep", "-i", "AB"},
      {"grep", "-c", "a"},
      {"grep", "-o", "[a-c]b"},
      {"grep", "-E", "a|x"},
      {"grep", "a\\|x"},
      {"grep", "^a"},
      {"grep", "b$"},
      {"grep", "-Fx", "a"},
      {"grep", "-m1", "a"},
      {"grep", "-E", "a+b?c"},
      {"grep", "-oE", "a+"},
      {"grep", "-Fi", "Ab"},
      {"sed", "s/a/X/"},
      {"sed", "s/a/X/g"},
      {"sed", "s/a*/X/g"},
      {"sed", "s/b*/-/2"},
      {"sed", "s/[a-c]*/<&>/"},
      {"sed", "-n", "2p"},
      {"sed", "2d"},
      {"sed", "$d"},
      {"sed", "2,3d"},
      {"sed", "2q"},
      {"sed", "/a/d"},
      {"sed", "/a/!d"},
      {"sed", "y/abc/xyz/"},
      {"sed", "-e", "s/a/b/", "-e", "s/b/c/"},
      {"sed", "s/a/b/;s/b/c/"},
      {"sed", "-n", "s/a/b/p"},
      {"sed", "-E", "s/(a+)(b*)/[\\2\\1]/g"},
      {"sed", "s/\\(a*\\)b/\\1/"},
      {"sed", "s/^/> /"},
      {"sed", "s/$/ </"},
      {"sed", "s,a,/,"},
      {"sed", "s/a/\\n/"},
      {"sed", "s/^.//"},
      {"sed", "s/.$//"},
      {"sed", "2,1d"},
      {"sed", "3,$d"},
      {"sed", "1!d"},
      {"sed", "s/A/x/I"},
      {"sed", "-E", "s/a{2}/x/"},
      {"sed", "p"},
      {"sed", "s/\\./x/g"},
      {"sed", "s/[[:space:]]//g"},
      {"cut", "-c2"},
  };
  for (const Argv& argv : kArgvs) {
    if (!Available(argv[0])) continue;
    known_ = 0;
    for (int n = 0; n < 12; ++n) Compare(argv, Lines());
    Compare(argv, "");
    Compare(argv, "\n");
    Compare(argv, "10\n9\n1\n");
    Compare(argv, "b\na\na\n");
    EXPECT_GT(known_, 0) << Show(argv) << " is never known";
  }
}

TEST_F(Comparison, RandomSetsOfTr) {
  constexpr std::string_view kSet = "aabcdxyz-AZ09[]:\\nt*,. ";
  for (int n = 0; n < 500; ++n) {
    Argv argv = {"tr"};
    switch (Below(8)) {
      case 0:
        argv.push_back("-d");
        break;
      case 1:
        argv.push_back("-s");
        break;
      case 2:
        argv.push_back("-cd");
        break;
      case 3:
        argv.push_back("-c");
        break;
      case 4:
        argv.push_back("-ds");
        break;
      case 5:
        argv.push_back("-t");
        break;
      default:
        break;
    }
    const char* kWhole[] = {
        "a-z",  "A-Z",   "[:upper:]",   "[:lower:]", "[:space:]", "[:digit:]",
        "[x*]", "[y*3]", "\\141-\\143", "a-cx-z",    "\\n",       "[:alpha:]"};
    const size_t sets = 1 + Below(2);
    for (size_t s = 0; s < sets; ++s) {
      argv.push_back(Below(2) == 0 ? kWhole[Below(std::size(kWhole))]
                                   : Text(kSet, 6));
    }
    Compare(argv, Text("abcdxyzABCXYZ019-[]:\\\n\t ,.*", 40));
  }
  EXPECT_GT(known_, 100);
}

TEST_F(Comparison, RandomListsOfCut) {
  for (int n = 0; n < 300; ++n) {
    Argv argv = {"cut"};
    const bool fields = Below(2) == 0;
    argv.push_back((fields ? "-f" : "-c") + Text("1234-,", 5));
    if (fields && Below(2) == 0) argv.push_back("-d" + Text(":, x", 1));
    if (fields && Below(3) == 0) argv.push_back("-s");
    if (Below(4) == 0) argv.push_back("--complement");
    if (fields && Below(5) == 0) argv.push_back("--output-delimiter=++");
    Compare(argv, Lines());
  }
  EXPECT_GT(known_, 60);
}

TEST_F(Comparison, RandomExpressionsOfSedAndGrep) {
  const char* kAtoms[] = {"a",    "b", "c", ".",    "[ab]",
                          "[^a]", "x", ":", "[a-c]"};
  for (int n = 0; n < 600; ++n) {
    const bool extended = Below(2) == 0;
    std::string pattern;
    if (Below(6) == 0) pattern += "^";
    const size_t atoms = 1 + Below(4);
    const size_t group = Below(6);
    for (size_t k = 0; k < atoms; ++k) {
      if (k == group) pattern += extended ? "(" : "\\(";
      pattern += kAtoms[Below(std::size(kAtoms))];
      switch (Below(6)) {
        case 0:
          pattern += "*";
          break;
        case 1:
          pattern += extended ? "+" : "\\+";
          break;
        case 2:
          pattern += extended ? "?" : "\\?";
          break;
        case 3:
          if (Below(2) == 0) pattern += extended ? "{1,2}" : "\\{2\\}";
          break;
        default:
          break;
      }
    }
    if (group < atoms) pattern += extended ? ")" : "\\)";
    if (Below(6) == 0) pattern += "$";
    const std::string text = Text("aabbcx:\n", 30);
    if (Below(2) == 0) {
      Compare({"sed", extended ? "-E" : "-u",
               "s/" + pattern + "/<&" + (group < atoms ? "|\\1" : "") + ">/" +
                   (Below(2) == 0   ? "g"
                    : Below(2) == 0 ? "2"
                                    : "")},
              text);
    } else {
      Compare({"grep", extended ? "-E" : "-G", Below(3) == 0 ? "-o" : "-h",
               pattern},
              text);
    }
  }
  EXPECT_GT(known_, 300);
}

TEST_F(Comparison, WhatIsEncodedIsDecoded) {
  const Argv kPairs[][2] = {
      {{"base64"}, {"base64", "-d"}},
      {{"base64", "-w0"}, {"base64", "--decode"}},
      {{"base32"}, {"base32", "-d"}},
      {{"xxd", "-p"}, {"xxd", "-r", "-p"}},
      {{"openssl", "base64"}, {"openssl", "base64", "-d"}},
      {{"openssl", "base64", "-A"}, {"openssl", "base64", "-d", "-A"}},
      {{"gzip", "-c"}, {"gunzip"}},
      {{"gzip", "-9n"}, {"gzip", "-dc"}},
      {{"gzip", "-1"}, {"zcat"}},
  };
  for (const auto& pair : kPairs) {
    if (!Available(pair[0][0]) || !Available(pair[1][0])) continue;
    for (int n = 0; n < 12; ++n) {
      std::string bytes;
      for (size_t k = Below(n % 3 == 0 ? 5000 : 90); k > 0; --k) {
        bytes += static_cast<char>(n % 2 == 0 ? 'a' + Below(5) : Below(256));
      }
      std::string encoded;
      ASSERT_TRUE(RunReal(pair[0], bytes, &encoded));
      const auto decoded = Filtered(pair[1], encoded);
      if (pair[1][0] == "openssl" && (encoded.empty() || n % 3 == 0)) continue;
      ASSERT_TRUE(decoded.has_value()) << Show(pair[1]) << bytes.size();
      EXPECT_EQ(*decoded, bytes) << Show(pair[1]);
      Compare(pair[1], encoded);
    }
  }
  // What is cut off or changed is decoded as the program does, or not at all.
  for (int n = 0; n < 200; ++n) {
    Compare({"base64", Below(4) == 0 ? "-di" : "-d"}, Text("abAB=\n12", 14));
    Compare({"base32", "-d"}, Text("ABCD27=\n", 18));
    Compare({"xxd", "-r", "-p"}, Text("0123abAB \n", 14));
    if (Available("openssl")) {
      Compare({"openssl", "base64", "-d"}, Text("abAB=\n12", 14));
    }
  }
}

TEST_F(Comparison, WordsOfEchoPrintfSeq) {
  for (int n = 0; n < 300; ++n) {
    Argv argv = {"/bin/echo"};
    if (Below(2) == 0) argv.push_back("-" + Text("neE", 3));
    for (size_t k = Below(3); k > 0; --k) argv.push_back(Text("ab\\x410n-", 6));
    std::string real;
    Argv mine = argv;
    mine[0] = "echo";
    if (const auto output = Filtered(mine, "")) {
      RunReal(argv, "", &real);
      EXPECT_EQ(*output, real) << Show(argv);
    }
    Compare({"printf", Text("ab%s\\x410n", 9), "X", Text("ab", 2)}, "");
    Compare({"seq", std::to_string(Below(12)), std::to_string(Below(12))}, "");
    Compare({"seq", "-s" + Text(",x", 2), std::to_string(Below(9)),
             "-" + std::to_string(1 + Below(3)), std::to_string(Below(9))},
            "");
  }
}

}  // namespace
}  // namespace gate::parser
