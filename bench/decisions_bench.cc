// decisions_bench: asks several guards about the same commands, as a client
// would, and prints what each stops and how long it takes.
//
//   decisions_bench --guards FILE --project DIR
//                   [--attacks FILE] [--benign FILE] [--agent FILE]
//                   [--stands-for DIR] [--timeout-ms N] [--every N]
//                   [--by-category] [--rows FILE] [--disagreements]
//
// Every command is put to every guard in turn before the next command is, so
// that what disturbs the machine disturbs all alike. The project stands for
// DIR, and for any directory of a row that does not exist here. decisions.h
// says how files are read and answers judged. The commands are never run.
#include "bench/decisions.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

extern char** environ;

namespace {

using gate::bench::Answer;
using gate::bench::Command;
using gate::bench::Guard;
using gate::bench::Verdict;

constexpr size_t kMaxAnswer = size_t{1} << 20;
constexpr int kWarmUp = 3;

struct Options {
  std::string guards;
  std::string project;
  std::vector<std::pair<std::string, std::string>> inputs;  // set, file
  std::string stands_for;
  int timeout_ms = 30000;
  int every = 1;
  bool by_category = false;
  std::string rows;
  bool disagreements = false;
};

double Now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 +
         static_cast<double>(now.tv_nsec) / 1e3;
}

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// A pipe's reading end and what it gave.
void Drain(int fd, std::string* out) {
  char buffer[65536];
  while (true) {
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) return;
    if (out->size() < kMaxAnswer) out->append(buffer, static_cast<size_t>(n));
  }
}

// Whether one of `settings` (NAME=VALUE) sets the name of `variable` too.
bool Overridden(std::string_view variable,
                const std::vector<std::string>& settings) {
  const std::string_view name = variable.substr(0, variable.find('='));
  return std::ranges::any_of(settings, [&](std::string_view setting) {
    return setting.substr(0, setting.find('=')) == name;
  });
}

// The guard's answer to what `input` holds; `us` is the time from its start to
// its end. False: it could not be started.
bool Ask(const Guard& guard, int input, int timeout_ms, Answer* answer,
         double* us) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
  ::fcntl(ends[1], F_SETFL, 0);
  ::lseek(input, 0, SEEK_SET);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  for (const std::string& word : guard.argv)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  std::vector<char*> env;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!Overridden(*variable, guard.environment)) env.push_back(*variable);
  for (const std::string& variable : guard.environment)
    env.push_back(const_cast<char*>(variable.c_str()));
  env.push_back(nullptr);

  pid_t pid = 0;
  const double start = Now();
  const int error = ::posix_spawn(&pid, argv[0], &actions, &attributes,
                                  argv.data(), env.data());
  ::close(ends[1]);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    ::close(ends[0]);
    return false;
  }
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  pollfd watched[2] = {{handle, POLLIN, 0}, {ends[0], POLLIN, 0}};
  while (true) {
    const double left = timeout_ms - (Now() - start) / 1000;
    const int ready =
        left <= 0 ? 0 : ::poll(watched, 2, static_cast<int>(left) + 1);
    if (ready < 0) continue;
    if (ready == 0) {
      answer->timed_out = true;
      ::kill(-pid, SIGKILL);
      break;
    }
    if (watched[1].revents != 0) {
      Drain(ends[0], &answer->out);
      if ((watched[1].revents & POLLHUP) != 0) watched[1].fd = -1;
    }
    if (watched[0].revents != 0) break;
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  *us = Now() - start;
  Drain(ends[0], &answer->out);
  ::close(handle);
  ::close(ends[0]);
  answer->status =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

bool AskAll(const Options& options, const std::vector<Command>& commands,
            std::vector<Guard>* guards) {
  char path[] = "/tmp/decisions_bench.XXXXXX";
  const int input = ::mkostemp(path, O_CLOEXEC);
  if (input < 0) return false;
  ::unlink(path);
  const auto put = [&](const std::string& event) {
    return ::ftruncate(input, 0) == 0 &&
           ::pwrite(input, event.data(), event.size(), 0) ==
               static_cast<ssize_t>(event.size());
  };
  for (int i = -kWarmUp; i < static_cast<int>(commands.size()); ++i) {
    const Command& command = commands[static_cast<size_t>(std::max(i, 0))];
    struct stat seen{};
    std::string cwd =
        gate::bench::StandIn(command.cwd, options.stands_for, options.project);
    if (cwd.empty() || ::stat(cwd.c_str(), &seen) != 0) cwd = options.project;
    const std::string text =
        gate::bench::StandIn(command.text, options.stands_for, options.project);
    if (!put(gate::bench::Event("bench-" + command.set, cwd, text)))
      return false;
    for (Guard& guard : *guards) {
      Answer answer;
      double us = 0;
      if (!Ask(guard, input, options.timeout_ms, &answer, &us)) {
        std::fprintf(stderr, "decisions_bench: cannot start %s\n",
                     guard.argv[0].c_str());
        return false;
      }
      if (i < 0) continue;  // warms the caches
      guard.us.push_back(us);
      guard.verdicts.push_back(gate::bench::Judge(answer, guard.argv[0], text));
    }
    if (i > 0 && i % 200 == 0)
      std::fprintf(stderr, "decisions_bench: %d of %zu\n", i, commands.size());
  }
  ::close(input);
  return true;
}

bool ParseOptions(int argc, char** argv, Options* options) {
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--by-category") {
      options->by_category = true;
      continue;
    }
    if (name == "--disagreements") {
      options->disagreements = true;
      continue;
    }
    if (i + 1 == argc) return false;
    const std::string value = argv[++i];
    if (name == "--guards")
      options->guards = value;
    else if (name == "--project")
      options->project = value;
    else if (name == "--stands-for")
      options->stands_for = value;
    else if (name == "--rows")
      options->rows = value;
    else if (name == "--timeout-ms")
      options->timeout_ms = std::atoi(argv[i]);
    else if (name == "--every")
      options->every = std::atoi(argv[i]);
    else if (name == "--attacks" || name == "--benign" || name == "--agent")
      options->inputs.emplace_back(name.substr(2), value);
    else
      return false;
  }
  return !options->guards.empty() && !options->project.empty() &&
         !options->inputs.empty() && options->timeout_ms > 0 &&
         options->every > 0;
}

int Fail(const std::string& message, int status) {
  std::fprintf(stderr, "decisions_bench: %s\n", message.c_str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options))
    return Fail("usage: see the head of bench/decisions_bench.cc", 64);
  const auto guard_text = ReadFile(options.guards);
  if (!guard_text) return Fail("cannot read " + options.guards, 66);
  auto guards = gate::bench::ReadGuards(*guard_text);
  if (!guards) return Fail(options.guards + ": " + guards.error(), 65);

  std::vector<Command> commands;
  for (const auto& [set, file] : options.inputs) {
    const auto text = ReadFile(file);
    if (!text) return Fail("cannot read " + file, 66);
    gate::bench::Commands read = gate::bench::ReadCommands(set, file, *text);
    for (const std::string& why : read.refused)
      std::fprintf(stderr, "decisions_bench: left out: %s\n", why.c_str());
    if (read.rows.empty()) return Fail(file + " holds no command", 65);
    for (size_t i = 0; i < read.rows.size();
         i += static_cast<size_t>(options.every))
      commands.push_back(std::move(read.rows[i]));
  }
  if (!AskAll(options, commands, &*guards))
    return Fail("stopped: not every guard could be asked", 1);

  std::fputs(Report(commands, *guards, options.by_category).c_str(), stdout);
  if (options.disagreements) {
    std::printf("\nwhere one stops and another does not\n\n%s",
                Rows(commands, *guards, true).c_str());
  }
  if (!options.rows.empty()) {
    std::ofstream file(options.rows, std::ios::binary);
    file << Rows(commands, *guards, false);
    if (!file.flush()) return Fail("cannot write " + options.rows, 73);
  }
  return 0;
}
