// What a program needs although no line names it, and no sandbox gives.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "parser/analysis.h"
#include "router/plan.h"

namespace gate::app {

// "the desktop (its sockets)" of `xclip`, as far as `plan` withholds it; empty
// for a program of which nothing is known. A guess: a program may fail for
// reasons of its own.
std::string_view MissedByProgram(std::string_view program,
                                 const router::Plan& plan);

// The file of the home out of which `program` takes passwords without being
// told to (".pgpass" of `psql`); empty where none is known.
std::string_view PasswordFileOf(std::string_view program);

// Whether `$variable` or `${variable` stands in `line`.
bool NamesVariable(std::string_view line, std::string_view variable);

// Whether `invocation` has ssh carry it to another machine (`rsync -a d h:`).
bool GoesBySsh(const parser::Invocation& invocation);

// The repositories of this machine that `invocation` of git pushes to, by path:
// what it names itself, else the remotes of the repository that it works in, as
// these stand now. Reads the repository's configuration, at most 1 MiB; what
// cannot be read has none.
std::vector<std::string> PushedPlaces(const parser::Invocation& invocation);

}  // namespace gate::app
