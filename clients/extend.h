// Puts what clients' files say into the shipped rules and descriptions, when
// the build compiles these. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "clients/read.h"

namespace gate::clients {

// One text that is compiled, and where it comes from.
struct SourceText {
  std::string path;
  std::string text;
};

// Adds the `classes` and `lists` of each client to those that one of the rule
// files defines (`"NAME": [`). Lines stay where they are. kInvalid where no
// file has such a list.
Status ExtendRules(const std::vector<ClientFile>& clients,
                   std::vector<SourceText>* rules);

// Adds the programs of `described_as` to the description (`"name": "…"`) that
// has the program they are described as. kInvalid where there is none.
Status ExtendPrograms(const std::vector<ClientFile>& clients,
                      std::vector<SourceText>* families);

}  // namespace gate::clients
