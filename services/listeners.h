// Who listens on a TCP port of this machine's loopback.
//
// The kernel's tables say which sockets listen; which process holds one stands
// in the lists of open files below /proc, which only the process's own user and
// root may read. Of another user's server only the user is known, and the
// number of its socket, which no other has as long as it is open.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::services {

// A socket that listens where 127.0.0.1 (`four`) or ::1 (`six`) leads to.
struct ListeningSocket {
  uint16_t port = 0;
  bool four = false, six = false;
  std::string address;  // "127.0.0.1", "0.0.0.0", "::1", "::"
  uid_t uid = 0;        // of who made it
  uint64_t inode = 0;
  bool operator==(const ListeningSocket&) const = default;
};

// The answers of sock_diag(7) in `messages` that are whole (struct nlmsghdr);
// false after the last one.
bool ParseDiagnosed(std::string_view messages,
                    std::vector<ListeningSocket>* sockets);

// The sockets that listen in a table as /proc/net/tcp (or, with `six`, tcp6)
// has it: listening sockets first, one a line. What is not understood is not
// among them; it ends the list. Linear up to the first that does not listen.
std::vector<ListeningSocket> ParseListening(std::string_view table, bool six);

struct Process {
  pid_t pid = 0;
  uint64_t start_time = 0;  // in ticks since the boot
  std::string program;      // the file that it runs, absolute
  std::string command;      // what it is, for people: "node server.js"
};

struct Listener {
  ListeningSocket socket;
  std::optional<Process> process;  // the first that holds it, where known
};

// Where the kernel tells; tests have one of their own.
struct ProcPlace {
  std::string root = "/proc";
};

// All that listen on loopback, or on `port` where that is not 0, in the order
// of their numbers: by sock_diag(7), or where the kernel has none by its
// tables, which a machine with many connections takes milliseconds to write.
// kIo when neither can be had.
Result<std::vector<ListeningSocket>> FindListening(const ProcPlace& proc,
                                                   uint16_t port = 0);

// Adds who holds the sockets. Looks at every process that this user may look
// at: milliseconds.
std::vector<Listener> FindHolders(const ProcPlace& proc,
                                  const std::vector<ListeningSocket>& sockets);

// Who listens, as one text that is another one for every other program, process
// or start of it, and for every boot; empty where nobody does. What a person's
// yes holds for.
std::string IdentityOf(const ProcPlace& proc,
                       const std::vector<Listener>& listeners);

// In place of that: whoever listens in a sandbox of the session whose
// directories for temporary files are below `private_tmp` (backends::Profile).
// A server that comes later is such a one, and another start of it.
std::string SessionIdentity(const std::string& private_tmp);

// Whether process `pid` runs in such a sandbox: it sees the session's /tmp as
// its own, and gate alone decides who does. False for an empty `private_tmp`,
// and where that cannot be told. Two system calls.
bool RunsInSession(pid_t pid, const std::string& private_tmp);

// What of a session runs now.
struct SessionProcesses {
  bool open = false;    // with the network of this process
  bool closed = false;  // with another
};
// Looks at every process that this user may look at: milliseconds.
SessionProcesses FindSessionProcesses(const std::string& private_tmp);

// Whether those who listen are, all of them, whom `identity` (IdentityOf or
// SessionIdentity) names; false where nobody does.
bool AreNamedBy(const ProcPlace& proc, const std::vector<Listener>& listeners,
                const std::string& identity);

// The time at which a process was started, 0 where there is none.
uint64_t StartTimeOf(const ProcPlace& proc, pid_t pid);

// Who listens, for people: "`node server.js` (process 4711)", "a program of the
// user postgres". Escaped.
std::string Describe(const std::vector<Listener>& listeners);

}  // namespace gate::services
