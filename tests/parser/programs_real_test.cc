// Wrappers against the real programs: whenever one starts the command behind
// its options, the reading has that command. Only `echo` is ever started.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>

#include "parser/programs.h"

namespace gate::parser {
namespace {

using Argv = std::vector<std::string>;

// What the program prints in an empty directory, with nothing to read.
std::string RunReal(const Argv& argv) {
  char directory[] = "/tmp/gate-programs-XXXXXX";
  if (mkdtemp(directory) == nullptr) return "";
  int out[2];
  if (pipe(out) != 0) return "";
  const pid_t pid = fork();
  if (pid == 0) {
    const int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(out[1], 1);
    dup2(null, 2);
    close(out[0]);
    close(out[1]);
    if (chdir(directory) != 0) _exit(126);
    alarm(5);
    std::vector<char*> words;
    for (const std::string& word : argv) {
      words.push_back(const_cast<char*>(word.c_str()));
    }
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
  }
  close(out[1]);
  std::string output;
  char buffer[4096];
  ssize_t n = 0;
  while ((n = read(out[0], buffer, sizeof buffer)) > 0) {
    output.append(buffer, static_cast<size_t>(n));
  }
  close(out[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  // What a wrapper was told to write has any name.
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return output;
}

bool Has(const ArgumentAnalysis& arguments, const Argv& command) {
  return std::any_of(arguments.effects.begin(), arguments.effects.end(),
                     [&](const ArgumentEffect& argument_effect) {
                       if (argument_effect.role != Role::kCommand &&
                           argument_effect.role != Role::kShellCode) {
                         return false;
                       }
                       if (argument_effect.words.empty()) return false;
                       if (!argument_effect.words[0].known) return true;
                       std::string all, wanted;
                       for (const Argument& word : argument_effect.words)
                         all += word.text + " ";
                       for (const std::string& word : command)
                         wanted += word + " ";
                       return all.find(wanted.substr(0, wanted.size() - 1)) !=
                              std::string::npos;
                     });
}

struct Wrapper {
  const char* name;
  std::vector<Argv> options;
  Argv before;  // operands that stand before the command
};

TEST(RealPrograms, WhatAWrapperStartsIsFound) {
  const Wrapper kWrappers[] = {
      {"env",
       {{"-i"},
        {"-"},
        {"-u", "X"},
        {"-uX"},
        {"--unset=X"},
        {"--uns", "X"},
        {"-C", "/tmp"},
        {"--chdir=/tmp"},
        {"-v"},
        {"--"},
        {"A=1"},
        {"-S", "A=b"},
        {"-S-i"},
        {"-iu", "X"},
        {"--ignore-env"},
        {"--split=B=1 -u C"},
        {"-vS", "D='a b'"},
        {"--odd"},
        {"-0"},
        {"C=-i"}},
       {}},
      {"timeout",
       {{"-k", "1"},
        {"-k1"},
        {"--kill-after=2"},
        {"--kill", "2"},
        {"-s", "KILL"},
        {"-sTERM"},
        {"--signal", "9"},
        {"--foreground"},
        {"--preserve"},
        {"-v"},
        {"--"},
        {"-vk", "1"},
        {"--odd"},
        {"-x"}},
       {"3"}},
      {"nice",
       {{"-n", "3"},
        {"-n3"},
        {"-3"},
        {"--adjustment=4"},
        {"--adj", "4"},
        {"--"},
        {"-19"},
        {"--odd"},
        {"-n"}},
       {}},
      {"nohup", {{"--"}, {"--odd"}, {"-x"}}, {}},
      {"setsid", {{"-w"}, {"--wait"}, {"-fw"}, {"--"}, {"-c"}, {"--odd"}}, {}},
      {"stdbuf",
       {{"-oL"},
        {"-o", "L"},
        {"-i0"},
        {"--output=L"},
        {"--err", "L"},
        {"--"},
        {"-e", "0"},
        {"--odd"}},
       {}},
      {"ionice",
       {{"-c", "3"},
        {"-c3"},
        {"-t"},
        {"--class=3"},
        {"-n", "7"},
        {"--ignore"},
        {"--classdata", "7"},
        {"--"},
        {"-tc", "3"}},
       {}},
      {"xargs",
       {{"-n", "1"},
        {"-n1"},
        {"-0"},
        {"-t"},
        {"--null"},
        {"-P2"},
        {"--max-args=1"},
        {"--max-a", "1"},
        {"-d", "x"},
        {"-dx"},
        {"-I", "X"},
        {"-IX"},
        {"-i"},
        {"-iX"},
        {"-L1"},
        {"-l"},
        {"-x"},
        {"-s", "900"},
        {"-a", "/dev/null"},
        {"--arg-file=/dev/null"},
        {"-E", "x"},
        {"-e"},
        {"--"},
        {"-0n1"},
        {"--replace"},
        {"--replace=X"},
        {"--odd"}},
       {}},
      {"flock",
       {{"-n"},
        {"-w", "1"},
        {"-w1"},
        {"--timeout=1"},
        {"-x"},
        {"-o"},
        {"-s"},
        {"--nonblock"},
        {"-nE", "3"},
        {"--verbose"},
        {"--"},
        {"-F"}},
       {"x"}},
      {"chrt", {{"-o"}, {"--other"}, {"-a"}, {"-v"}, {"--"}}, {"0"}},
      {"taskset", {{"-a"}, {"--"}, {"--all-tasks"}}, {"ff"}},
      {"setarch", {{"-R"}, {"-v"}, {"--"}, {"--addr-no-randomize"}}, {}},
      {"time",
       {{"-p"},
        {"-f", "%e"},
        {"-f%e"},
        {"--format=%e"},
        {"-o", "out"},
        {"-a"},
        {"-v"},
        {"-q"},
        {"--"},
        {"-ao", "out"},
        {"--outp=out"}},
       {}},
      {"find",
       {{"-maxdepth", "0"},
        {"-name", "*"},
        {"("},
        {"-true"},
        {"-type", "d"},
        {"!", "-empty"},
        {"-L"},
        {".", "-print"},
        {"-false", "-o"}},
       {}},
  };
  std::minstd_rand random(11);
  const Argv command = {"/bin/echo", "MARK", "-n"};
  for (const Wrapper& wrapper : kWrappers) {
    const std::string name = wrapper.name;
    if (access(("/usr/bin/" + name).c_str(), X_OK) != 0) {
      std::fprintf(stderr, "SKIPPED: %s is not installed\n", wrapper.name);
      continue;
    }
    int started = 0;
    for (int n = 0; n < 30; ++n) {
      Argv argv = {name};
      for (size_t k = random() % 4; k > 0; --k) {
        const Argv& option = wrapper.options[random() % wrapper.options.size()];
        argv.insert(argv.end(), option.begin(), option.end());
      }
      argv.insert(argv.end(), wrapper.before.begin(), wrapper.before.end());
      if (name == "find") argv.push_back("-exec");
      argv.insert(argv.end(), command.begin(), command.end());
      if (name == "find") argv.push_back(";");
      // With nothing to read, xargs still runs its command once.
      if (RunReal(argv).find("MARK -n") == std::string::npos) continue;
      ++started;
      std::vector<Argument> words(argv.size());
      std::string line;
      for (size_t k = 0; k < argv.size(); ++k) {
        words[k].text = argv[k];
        line += "[" + argv[k] + "]";
      }
      const ArgumentAnalysis arguments = ReadArguments(words);
      std::string all;
      for (const std::string& effect : Describe(arguments)) {
        all += effect + "\n";
      }
      EXPECT_TRUE(Has(arguments, command)) << line << "\n" << all;
    }
    EXPECT_GT(started, 0) << wrapper.name << " never started its command";
  }
}

TEST(RealPrograms, ShellsRunTheCodeThatIsFound) {
  const Argv kOptions[] = {{"-e"},
                           {"-u"},
                           {"-x"},
                           {"+x"},
                           {"-c"},
                           {"-ec"},
                           {"-o", "errexit"},
                           {"-eo", "errexit"},
                           {"-"},
                           {"--"},
                           {"-co", "errexit"},
                           {"-l"},
                           {"-s"},
                           {"-a"}};
  std::minstd_rand random(5);
  for (const std::string shell : {"bash", "dash"}) {
    if (access(("/bin/" + shell).c_str(), X_OK) != 0) continue;
    int started = 0;
    for (int n = 0; n < 50; ++n) {
      Argv argv = {shell};
      if (shell == "bash" && random() % 2 == 0) {
        const char* kLong[] = {"--norc", "--posix", "--noprofile", "--login"};
        argv.push_back(kLong[random() % std::size(kLong)]);
      }
      for (size_t k = random() % 4; k > 0; --k) {
        const Argv& option = kOptions[random() % std::size(kOptions)];
        argv.insert(argv.end(), option.begin(), option.end());
      }
      argv.push_back("echo MARK -n");
      if (random() % 3 == 0) argv.push_back("x");
      if (RunReal(argv).find("MARK -n") == std::string::npos) continue;
      ++started;
      std::vector<Argument> words(argv.size());
      std::string line;
      for (size_t k = 0; k < argv.size(); ++k) {
        words[k].text = argv[k];
        line += "[" + argv[k] + "]";
      }
      const ArgumentAnalysis arguments = ReadArguments(words);
      EXPECT_TRUE(Has(arguments, {"echo MARK -n"})) << line;
      EXPECT_TRUE(arguments.complete) << line;
    }
    EXPECT_GT(started, 4) << shell;
  }
}

}  // namespace
}  // namespace gate::parser
