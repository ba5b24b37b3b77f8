#include "tests/support/directory_watch.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/wait.h"

namespace gate::test {

DirectoryWatch::DirectoryWatch(const std::vector<std::string>& directories)
    : events_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  constexpr uint32_t kChanges = IN_CREATE | IN_DELETE | IN_MOVED_FROM |
                                IN_MOVED_TO | IN_MODIFY | IN_ATTRIB;
  for (const std::string& directory : directories)
    EXPECT_GE(inotify_add_watch(events_.get(), directory.c_str(), kChanges), 0)
        << directory;
}

void DirectoryWatch::Await(unsigned changes, pid_t process) const {
  const Fd ended(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  ASSERT_TRUE(ended) << "no such process: " << process;
  while (changes > 0) {
    pollfd fds[2] = {{events_.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}};
    const auto patience =
        std::chrono::duration_cast<std::chrono::milliseconds>(kPatience);
    if (::poll(fds, 2, static_cast<int>(patience.count())) <= 0) return;
    if (fds[0].revents == 0) return;
    // As many at once as there are: the kernel puts equal ones together.
    alignas(inotify_event) char buffer[4096];
    const ssize_t got = ::read(events_.get(), buffer, sizeof(buffer));
    for (ssize_t at = 0; at < got && changes > 0; --changes)
      at += static_cast<ssize_t>(
          sizeof(inotify_event) +
          reinterpret_cast<const inotify_event*>(buffer + at)->len);
  }
}

}  // namespace gate::test
