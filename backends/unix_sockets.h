// Local sockets that outside processes listen on.
//
// A read-only mount does not stop connect(), and until Landlock ABI 9 nothing
// else does by path; so what is bound when a command starts is covered like a
// hidden path. Sockets in other network namespaces, those bound under another
// name than the one they have here, and those bound later are not seen.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gate::backends {

// The absolute paths in `table`, the text of /proc/net/unix. Pure.
std::vector<std::string> ParseUnixSockets(std::string_view table);

// Those of this network namespace. Empty when the table cannot be read.
std::vector<std::string> FindUnixSockets();

}  // namespace gate::backends
