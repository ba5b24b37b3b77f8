// process_bench ROUNDS FILE: times whole processes side by side.
//
// FILE holds one program per line: NAME<TAB>STDIN-FILE or -<TAB>ARGV words
// parted by tabs. Every round runs each program once, in turn, so that what
// disturbs the machine disturbs all alike; medians and their ratios to the
// first line are printed.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

extern char** environ;

namespace {

struct Program {
  std::string name;
  std::string input;
  std::vector<std::string> argv;
  std::vector<double> us;
  int status = 0;
};

std::vector<std::string> SplitTabs(const std::string& line) {
  std::vector<std::string> parts;
  size_t start = 0;
  while (true) {
    const size_t tab = line.find('\t', start);
    parts.push_back(line.substr(start, tab - start));
    if (tab == std::string::npos) return parts;
    start = tab + 1;
  }
}

double Now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 +
         static_cast<double>(now.tv_nsec) / 1e3;
}

bool RunOnce(Program* program) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(
      &actions, 0, program->input == "-" ? "/dev/null" : program->input.c_str(),
      O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (std::string& word : program->argv) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const double start = Now();
  const int error =
      ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  ::waitpid(pid, &program->status, 0);
  program->us.push_back(Now() - start);
  return true;
}

double Quantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(static_cast<double>(values.size() - 1) *
                                    q)];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: process_bench ROUNDS FILE\n");
    return 64;
  }
  const int rounds = std::atoi(argv[1]);
  std::vector<Program> programs;
  std::ifstream file(argv[2]);
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> parts = SplitTabs(line);
    if (parts.size() < 3) continue;
    programs.push_back(
        {parts[0], parts[1], {parts.begin() + 2, parts.end()}, {}, 0});
  }
  if (programs.empty() || rounds < 1) return 64;
  for (int round = -3; round < rounds; ++round) {
    for (Program& program : programs) {
      if (!RunOnce(&program)) {
        std::fprintf(stderr, "cannot start %s\n", program.argv[0].c_str());
        return 1;
      }
      if (round < 0) program.us.clear();  // warm the caches
    }
  }
  const double base = Quantile(programs[0].us, 0.5);
  std::printf("%-34s %10s %10s %8s %6s\n", "what", "median us", "p95 us",
              "x first", "exit");
  for (const Program& program : programs) {
    const double median = Quantile(program.us, 0.5);
    std::printf("%-34s %10.0f %10.0f %8.2f %6d\n", program.name.c_str(), median,
                Quantile(program.us, 0.95), median / base,
                WIFEXITED(program.status) ? WEXITSTATUS(program.status)
                                          : 128 + WTERMSIG(program.status));
  }
  return 0;
}
