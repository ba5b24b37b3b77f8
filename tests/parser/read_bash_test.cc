// Judged by bash itself: the reader accepts what `bash -n` accepts. bash -n
// reads and runs nothing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/parser/read_support.h"

namespace gate::parser {
namespace {

constexpr char kBash[] = "/bin/bash";

// What bash prints to standard error for `arguments`, and its status.
struct Answer {
  int status = -1;
  std::string text;
};

Answer Bash(std::vector<std::string> arguments, int from) {
  Answer answer;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return answer;
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  char path[] = "PATH=/nonexistent";
  char locale[] = "LC_ALL=C.UTF-8";
  char* environment[] = {path, locale, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 3 - from, "/dev/null", O_WRONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], from);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, kBash, &actions, nullptr, argv.data(), environment);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  char buffer[4096];
  for (ssize_t n = 0; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
    answer.text.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  if (error != 0) return answer;
  int status = 0;
  waitpid(pid, &status, 0);
  answer.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return answer;
}

bool BashAccepts(const std::string& text) {
  const Answer answer =
      Bash({"bash", "--norc", "--noprofile", "-n", "-c", "--", text}, 2);
  // Some errors are only printed.
  return answer.status == 0 &&
         answer.text.find("syntax error") == std::string::npos &&
         answer.text.find("unexpected") == std::string::npos &&
         answer.text.find("expected") == std::string::npos;
}

bool IsBash52() {
  const Answer answer = Bash({"bash", "--norc", "-c", "echo $BASH_VERSION"}, 1);
  return answer.text.rfind("5.2.", 0) == 0;
}

TEST(ReadBash, AcceptsWhatBashAccepts) {
  if (!IsBash52()) GTEST_SKIP() << "NOT TESTED: " << kBash << " is not 5.2";
  static const char* const kPieces[] = {
      "a",        "b",     "1",          "x=",          "y+=",   "z[1]=",
      "(",        ")",     "((",         "))",          "{ ",    "; }",
      "[[ ",      " ]]",   "\"",         "'",           "`",     "$(",
      "$((",      "${x:-", "}",          "<(",          "$'",    "\\",
      "\\\n",     "\n",    " ",          " ",           " ",     ";",
      "&",        "&&",    "||",         "|",           ";;",    "if ",
      " then ",   " fi",   "for ",       " in ",        " do ",  " done",
      "case ",    " esac", "function ",  "() ",         "time ", "! ",
      "coproc ",  "<<E\n", "\nE\n",      "<<<",         ">",     "<",
      "<>",       "&>",    "2>",         "{fd}>",       "#",     " #",
      "declare ", "x=(",   " == ",       " -f ",        "@(",    "*",
      "\t",       "\r",    "$x",         "=",           "(a)",   "{ a; }",
      "$(a)",     "`a`",   "f() { a; }", "[[ a == b ]]"};
  std::mt19937 random(11);
  int accepted = 0;
  for (int i = 0; i < 1200; ++i) {
    const std::string text = Soup(random, kPieces, 9);
    ReadOptions options;
    options.compare = false;
    const ReadStatus status = Read(text, options).status;
    const bool ours =
        status == ReadStatus::kOk || status == ReadStatus::kDisagreement;
    // bash gives up these without a word.
    if (text.find("[[") != std::string::npos && !ours) continue;
    accepted += ours;
    EXPECT_EQ(ours, BashAccepts(text)) << text;
  }
  EXPECT_GT(accepted, 200);
}

}  // namespace
}  // namespace gate::parser
