// Reads the files of rules.d/clients. For the compilers that the build runs.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace gate::clients {

struct ClientFile {
  std::string client;  // the file's name without `.json`
  Json json;
};

// kInvalid, with the path in the message, for a file that cannot be read, is
// not JSON, or has a member that no client's file has, or one of another type.
Result<std::vector<ClientFile>> ReadClients(
    const std::vector<std::string>& paths);

}  // namespace gate::clients
