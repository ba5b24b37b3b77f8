#include "credentials/outside_program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

namespace gate::credentials {

pid_t StartProgram(std::vector<std::string> words,
                   std::vector<std::string> environment, int in, int out,
                   int err) {
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& entry : environment) envp.push_back(entry.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
                           SIGPIPE, SIGTSTP, SIGTTOU, SIGTTIN})
    ::signal(signal, SIG_DFL);
  // What else is open closes by itself.
  if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) ::_exit(1);
  ::execve(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

void EndProgram(pid_t pid) {
  if (pid <= 0) return;
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

bool MakePipe(Fd* reader, Fd* writer) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  *reader = Fd(ends[0]);
  *writer = Fd(ends[1]);
  return true;
}

void DoNotWait(const Fd& fd) {
  ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace gate::credentials
