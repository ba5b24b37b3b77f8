// Paths that go through /proc lead back into the file system they are in:
// /proc/self/root/etc/passwd is /etc/passwd. Sources: proc(5) (root, cwd, fd,
// map_files, task), path_resolution(7).
#pragma once

#include <string_view>

#include "parser/analysis.h"

namespace gate::parser {

// `path` from `cwd`, absolute and normalised as base/paths has it, with links
// of /proc taken as they are: the root of any process is taken for this one's,
// `cwd` for the directory that /proc/self/cwd means. Not known, with the end
// that is, where it goes through what only another process knows: its
// directory, its open files. `..` behind such a link is not the directory
// before it.
Argument PathFrom(std::string_view path, std::string_view cwd);

// Whether a link that is there leads `path`, absolute, into /proc, where gate
// finds its own directory and descriptors instead of the command's. Looks at
// the file system.
bool LeadsThroughProc(std::string_view path);

// True when such a path is what a descriptor of the shell leads to, or below.
bool IsDescriptor(std::string_view path);

}  // namespace gate::parser
