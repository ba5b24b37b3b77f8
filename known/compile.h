// Files of rules.d/known -> the lists as C++. Internal to the tool and its
// tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "clients/read.h"

namespace gate::known {

// `files`: the name without ".json", and the text; `programs` is that of
// rules.d/lending, of whose members only the caches count. Returns the source
// of what known.h declares. kInvalid, with file and place: no JSON, a member or
// a list that is not known, an entry without a reason or a source, a name twice
// in a file, a value that is none of its list, a list of kListNames that is
// empty.
//
// A list of `hosts` may be an object, with its `meaning` and the `programs`
// that need its hosts.
//
// In each client's file (rules.d/clients) the member `home` adds names to lists
// of home.json, and `variable` puts its `directory` elsewhere.
Result<std::string> Compile(
    const std::vector<std::pair<std::string, std::string>>& files,
    const std::vector<clients::ClientFile>& clients = {});

}  // namespace gate::known
