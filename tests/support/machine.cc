#include "tests/support/machine.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/json.h"

namespace gate::test {

std::string GateBinary() { return GATE_BINARY; }

std::string RefusalIn(const Done& done) {
  if (done.exit_code == 2) return done.out.empty() ? done.err : "";
  if (done.exit_code != 0 || !done.err.empty()) return "";
  const auto json = ParseJson(done.out);
  if (!json || json->size() != 1 || !json->contains("hookSpecificOutput"))
    return "";
  const Json& answer = (*json)["hookSpecificOutput"];
  return answer.size() == 3 &&
                 answer.value("hookEventName", "") == "PreToolUse" &&
                 answer.value("permissionDecision", "") == "deny"
             ? answer.value("permissionDecisionReason", "")
             : "";
}

bool HasSandbox(const Machine& machine) {
  const Done done = machine.Gate({"sandbox", "--", "true"});
  if (done.exit_code == 0) return true;
  EXPECT_FALSE(MustWork("native")) << done.err;
  return false;
}

Machine::~Machine() {
  std::error_code ignored;
  // What keeps the networks of its sessions would stay for minutes.
  if (std::filesystem::exists(state() + "/networks", ignored))
    Gate({"sessions", "end", "--all"});
}

Done Machine::Gate(const std::vector<std::string>& arguments,
                   const std::string& input, const std::string& cwd) const {
  std::vector<std::string> argv{GateBinary()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return Run(argv, input, cwd);
}

namespace {

// The first process of a namespace of its own, with its own /proc. The caller
// gets the exit status of what `body` becomes.
template <class Body>
[[noreturn]] void AsFirstProcess(const Body& body) {
  const bool own = ::unshare(CLONE_NEWPID | CLONE_NEWNS) == 0;
  const pid_t first = ::fork();
  if (first == 0) {
    if (own && (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) ||
                ::mount("proc", "/proc", "proc", 0, nullptr)))
      ::_exit(97);
    body();
    ::_exit(98);
  }
  int status = 0;
  ::waitpid(first, &status, 0);
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

}  // namespace

std::pair<int, std::string> Machine::OnTerminal(
    const std::vector<std::string>& arguments,
    const std::string& answer) const {
  int terminal = -1, slave = -1;
  if (::openpty(&terminal, &slave, nullptr, nullptr, nullptr) != 0)
    return {-1, "no terminal"};
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(terminal);
    AsFirstProcess([&] {
      if (::login_tty(slave) != 0) ::_exit(96);
      ::setenv("HOME", home().c_str(), 1);
      ::setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
      ::setenv("TERM", "dumb", 1);
      for (const char* name :
           {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME",
            "CLAUDE_CONFIG_DIR", "CODEX_HOME"})
        ::unsetenv(name);
      if (::chdir(project().c_str()) != 0) ::_exit(99);
      std::vector<std::string> words = {GateBinary()};
      words.insert(words.end(), arguments.begin(), arguments.end());
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
    });
  }
  ::close(slave);
  std::string text;
  size_t typed = 0, seen = 0;
  char buffer[4096];
  while (true) {
    const ssize_t got = ::read(terminal, buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
    const size_t question = text.find("[N]o", seen);
    if (typed == answer.size() || question == std::string::npos ||
        text.find(": ", question) == std::string::npos)
      continue;
    const std::string line = {answer[typed++], '\n'};
    (void)!::write(terminal, line.data(), line.size());
    seen = text.size();
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

bool Machine::NoPerson(const std::string& shown) {
  const bool none = shown.find("is a person's act") != std::string::npos;
  EXPECT_FALSE(none && ::geteuid() == 0) << shown;
  return none;
}

}  // namespace gate::test
