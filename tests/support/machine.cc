#include "tests/support/machine.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"

namespace gate::test {

std::string GateBinary() { return GATE_BINARY; }

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    ++count;
  return count;
}

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

Machine::Machine() {
  // Not below /tmp: that is private inside a sandbox.
  const char* base = std::getenv("GATE_TEST_DIR");
  std::string pattern = std::string(base != nullptr ? base : "/srv/gate-test");
  std::error_code error;
  std::filesystem::create_directories(pattern, error);
  if (error) pattern = std::filesystem::current_path().string();
  pattern += "/m.XXXXXX";
  root_ = ::mkdtemp(pattern.data());
  ::chmod(root_.c_str(), 0755);
  std::filesystem::create_directories(project());
}

Machine::~Machine() {
  std::error_code ignored;
  // What keeps the networks of its sessions would stay for minutes.
  if (std::filesystem::exists(state() + "/networks", ignored))
    Gate({"sessions", "end", "--all"});
  std::filesystem::remove_all(root_, ignored);
}

void Machine::Write(const std::string& path, const std::string& text,
                    unsigned mode) const {
  std::filesystem::create_directories(
      std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  ::chmod(path.c_str(), mode);
}

std::string Machine::Read(const std::string& path) const {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool Machine::Exists(const std::string& path) const {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

Done Machine::Gate(const std::vector<std::string>& arguments,
                   const std::string& input, const std::string& cwd) const {
  std::vector<std::string> argv{GateBinary()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return Run(argv, input, cwd);
}

Done Machine::Run(const std::vector<std::string>& argv,
                  const std::string& input, const std::string& cwd) const {
  int in[2], out[2], err[2];
  if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0 ||
      ::pipe2(err, O_CLOEXEC) != 0)
    return {};
  // A program may end before it has read all of its input.
  ::signal(SIGPIPE, SIG_IGN);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGPIPE, SIG_DFL);
    ::dup2(in[0], 0);
    ::dup2(out[1], 1);
    ::dup2(err[1], 2);
    // No controlling terminal: nobody can be asked.
    ::setsid();
    if (::chdir((cwd.empty() ? project() : cwd).c_str()) != 0) ::_exit(99);
    std::vector<std::string> variables = environment;
    const auto given = [&](const std::string& variable) {
      const std::string name = variable.substr(0, variable.find('=') + 1);
      return std::any_of(
          environment.begin(), environment.end(),
          [&](const std::string& one) { return one.starts_with(name); });
    };
    for (const std::string& variable :
         {"HOME=" + home(), std::string("USER=agent"),
          std::string("LOGNAME=agent"), std::string("LANG=C.UTF-8"),
          std::string("PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"),
          std::string("TERM=dumb")})
      if (!given(variable)) variables.push_back(variable);
    std::vector<char*> envp, args;
    for (std::string& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);
    std::vector<std::string> words = argv;
    for (std::string& word : words) args.push_back(word.data());
    args.push_back(nullptr);
    ::execvpe(args[0], args.data(), envp.data());
    ::_exit(98);
  }
  ::close(in[0]);
  ::close(out[1]);
  ::close(err[1]);
  ::fcntl(in[1], F_SETFL, O_NONBLOCK);
  Done done;
  size_t written = 0;
  bool open_in = true, open_out = true, open_err = true;
  const auto drain = [](int fd, std::string* text) {
    char buffer[65536];
    const ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got > 0) text->append(buffer, static_cast<size_t>(got));
    return got > 0;
  };
  while (open_out || open_err) {
    if (open_in && written == input.size()) {
      ::close(in[1]);
      open_in = false;
    }
    pollfd fds[3] = {{open_out ? out[0] : -1, POLLIN, 0},
                     {open_err ? err[0] : -1, POLLIN, 0},
                     {open_in ? in[1] : -1, POLLOUT, 0}};
    if (::poll(fds, 3, 120000) <= 0) break;
    if (fds[0].revents != 0) open_out = drain(out[0], &done.out);
    if (fds[1].revents != 0) open_err = drain(err[0], &done.err);
    if (fds[2].revents != 0) {
      const ssize_t put =
          ::write(in[1], input.data() + written, input.size() - written);
      if (put > 0)
        written += static_cast<size_t>(put);
      else
        written = input.size();
    }
  }
  if (open_in) ::close(in[1]);
  ::close(out[0]);
  ::close(err[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  done.exit_code =
      WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return done;
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
