// Which files a tool works on that gate does not know by its name: a tool of
// another client, or of an MCP server. Internal to hooks/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "hooks/adapter.h"

namespace gate::hooks {

// Names of files that one input may give.
inline constexpr size_t kMaxToolFiles = 512;
// Values of one input that are looked at.
inline constexpr size_t kMaxToolValues = 20000;

struct ToolFiles {
  std::vector<ToolRead> reads;
  std::vector<std::string> writes;  // as given
};

// What the input of `tool` names, by the names under which the tools of clients
// and of MCP servers have files and directories (`file_path`, `path`, `paths`,
// `uri` with `file:`, …), at any depth and in lists too. What is done to them
// is told by the words of the tool's name: `read_many_files`, `list_directory`,
// `mcp__filesystem__write_file`. A name that says nothing reads; an input that
// brings text (`content`) writes as well. A path of an MCP server may be
// another machine's; it counts as one of this machine, so that only what is
// secret or protected here is stopped.
// kInvalid where a client's own tool has something else than text under such a
// name at the top of its input; kTooLarge beyond the limits.
Result<ToolFiles> FilesOfTool(std::string_view tool, const Json& input);

// Makes of `event`, whose tool has this input, one of files where it names
// some: kFileWrite where something is written, which may have reads as well,
// else kFileRead. Fails as FilesOfTool does.
Status TakeFiles(const Json& input, Event* event);

}  // namespace gate::hooks
