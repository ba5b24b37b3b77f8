// Which machine a command of git asks over http, where it may need a login.
#pragma once

#include <string>

#include "parser/analysis.h"

namespace gate::app {

// "https://host" of `invocation`, a command of git that talks to a remote: of
// the URL that it names, else of the remote that it names, or `origin`, in the
// configuration of its repository. Without user names and passwords. Empty
// where it is another kind of URL or cannot be told. Reads that file, at most 1
// MiB.
std::string HttpHostOf(const parser::Invocation& invocation);

// What such a command may have missed, for people: "git's logins for
// https://host (its credential helper)", or without a host all that git uses.
std::string GitLoginOf(const parser::Invocation& invocation);

}  // namespace gate::app
