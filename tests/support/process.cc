#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace gate::test {

Done RunProcess(std::vector<std::string> argv,
                std::vector<std::string> environment, const std::string& cwd,
                const std::string& input) {
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
    if (::chdir(cwd.c_str()) != 0) ::_exit(99);
    std::vector<char*> envp, args;
    for (std::string& variable : environment) envp.push_back(variable.data());
    envp.push_back(nullptr);
    for (std::string& word : argv) args.push_back(word.data());
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

}  // namespace gate::test
