// Secrets that a line would print out of files of which most hold none: git's
// configuration, and the settings of package managers.
#pragma once

#include <string>

#include "facts/process_facts.h"
#include "parser/analysis.h"

namespace gate::app {

// Why running `analysis`, raw or contained, would print a token or a password:
// a git command that shows configuration (`config --list`, `config KEY`,
// `remote -v`) where the configuration that git reads there has one (an extra
// header, a URL with a password, a value that looks like a token), or a command
// that reads such a file, .npmrc, .yarnrc.yml, .condarc, pip.conf, bunfig.toml,
// auth.json or NuGet.Config, when it holds one. Values that only name a
// variable (`${NPM_TOKEN}`) are none. Empty if not, also when there is no such
// file; a file that cannot be understood counts as one that holds some. Reads
// files only for such commands: at most kMaxFiles of 1 MiB.
std::string PrintsSecret(const ProcessFacts& facts,
                         const parser::Analysis& analysis);

}  // namespace gate::app
