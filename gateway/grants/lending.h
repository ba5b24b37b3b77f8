// What a line that gets the profile `tool` is lent here: the credentials of its
// program where this person keeps them, looked at before it runs.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/tool_access.h"
#include "facts/process_facts.h"
#include "parser/analysis.h"
#include "router/plan.h"

namespace gate::app {

// What `access` (which is given) lends. kPermission, with what stands in the
// way, when a file of it is in a place that sandboxed commands may write
// (`writable`), when the caller's environment makes the program talk elsewhere,
// and when a file of the workspace that it reads by itself does. Looks at some
// ten files.
Result<router::Lending> FindLending(const ProcessFacts& facts,
                                    const parser::Analysis& analysis,
                                    const engine::ToolAccess& access,
                                    const std::string& workspace,
                                    const std::vector<std::string>& writable);

// `path` (PATH) without what sandboxed commands may write: what is started by a
// name alone is the system's or the person's. The system's places where nothing
// is left.
std::string SafePath(const std::string& path,
                     const std::vector<std::string>& writable);

}  // namespace gate::app
