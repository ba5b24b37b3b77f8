// What the person's own configuration and environment of git make of a
// workspace.
//
// An agent does not write ~/.gitconfig, but what that names may lie where it
// writes: a program or a directory of hooks by a relative name, which git takes
// from the repository; an interpreter that takes modules from the directory it
// is started in; a file by a relative name, which can be a link.
#pragma once

#include <string>
#include <vector>

#include "facts/process_facts.h"
#include "git/config.h"

namespace gate::app {

// Why git in `directory` might run a program that lies in the workspace, or
// quote a file outside of it, because the system's or the person's
// configuration (with all that it includes, whatever the condition) or its
// environment says so; empty if not. Programs by a plain name or an absolute
// path outside of `writable` are the person's own. Settings of commands that
// are never allowed (aliases, difftool, merge drivers, …) are not looked at.
// `git`: those of `directory`. Reads two or three files; some microseconds for
// each program that they name.
std::string UnsafeUserConfigReason(const ProcessFacts& facts,
                                   const std::string& directory,
                                   const GitDirectories& git,
                                   const std::vector<std::string>& writable);

}  // namespace gate::app
