// Repositories on other machines that a line names, that are not among those of
// its own repository at first sight: a person is asked before git gets the ssh
// login for them.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "credentials/ssh_target.h"
#include "facts/process_facts.h"
#include "parser/analysis.h"

namespace gate::app {

// Where the commands of git in `analysis` go over ssh, by the URLs that they
// name and those of the remotes that they name, or `origin`, in the
// configuration of their repository as it is now, rewritten by its own rules
// and the person's; without those that are pinned for `workspace`, or would be
// by a run that began now. Empty where the person has no ssh login to lend, and
// for what is only known when the line runs. `writable` as for NoteRemotes'
// callers. With `only`, those of the commands that push, or of those that do
// not. Reads some small files where a command of git talks to a remote.
std::set<credentials::SshTarget> UnpinnedRemotes(
    const ProcessFacts& facts, const std::string& workspace,
    const std::vector<std::string>& writable, const parser::Analysis& analysis,
    std::optional<credentials::SshService> only = std::nullopt);

}  // namespace gate::app
