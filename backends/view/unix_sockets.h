// Local sockets that outside processes listen on.
//
// A read-only mount does not stop connect(), and until Landlock ABI 9 nothing
// else does by path; so what is bound when a command starts is covered like a
// hidden path. The kernel lists the name that a socket was bound by, as it was
// given then, and the number of its file. That a name has one socket, and leads
// to that file with no other name, is by far the usual case, and costs one
// look. Else the file is looked for:
//
//   a name more (link), or none (rename, unlink): the sockets of the directory
//     that it was bound in, and of the one above;
//   a relative name: below the working directories of all processes;
//   a name below /proc (`/proc/self/fd/7/s`): as each process sees it, and
//     where the one who listens no longer has that descriptor, by the paths of
//     its arguments and of its other files;
//   one that was bound by a process with another root or other mounts: below
//     that root.
//
// What is not found so and lies on a file system that the command sees, but for
// a file that was removed, or a table that cannot be read, leaves sockets open
// that nobody knows; then the run may make none that could connect to them
// (OutsideSockets::unknown).
//
// Sockets of other network namespaces are in no table; those directly in
// SocketSearch::places are found all the same. Not seen: the others, those
// bound later, and those moved elsewhere.
#pragma once

#include <sys/stat.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/view/mounts.h"
#include "backends/view/unix_diag.h"

namespace gate::backends {

// The sockets in `table`, the text of /proc/net/unix, that can be connected to
// by a path. A name's line breaks are kept. Pure.
std::vector<UnixSocket> ParseUnixSockets(std::string_view table);

struct SocketFile {
  std::string path;  // no links in it
  struct stat info = {};
};
struct SocketSearch {
  std::function<std::optional<UnixDump>()> dump = DumpUnixSockets;
  // Read where the dump is none or not whole.
  const char* table = "/proc/self/net/unix";
  const char* processes = "/proc";
  // What a path leads to; nothing where it is not there or out of reach.
  std::function<std::optional<SocketFile>(const std::string&)> look;
  // Whether nothing of the host's but `places` is seen in this directory.
  std::function<bool(const std::string&)> covered;
  std::vector<std::string> places;  // directories
  bool look_in_places = true;
  std::vector<HostMount> mounts;  // gate's
};
struct OutsideSockets {
  std::vector<std::string> paths;  // no links in them
  // Not empty: there may be others. Why, for people.
  std::string unknown;
};
OutsideSockets FindUnixSockets(const SocketSearch& search);

// Whether some process has a socket bound to this file, in whatever network
// namespace. Nobody there notices the question: it is a connection of the wrong
// type.
bool IsLiveSocket(const std::string& path);

}  // namespace gate::backends
