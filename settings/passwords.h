// Passwords for services of this machine, out of PostgreSQL's password file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gate::settings {

// The lines of a password file (`HOST:PORT:DATABASE:USER:PASSWORD`, PostgreSQL
// documentation, "The Password File") that are for this machine, by name, and
// one of `ports`; written anew with that port in the place of a `*`. Lines for
// any host, comments and lines that do not parse are left out: what they hold
// opens more than the port. Empty where none is left. Pure and linear.
std::string PasswordsFor(std::string_view text,
                         const std::vector<uint16_t>& ports);

}  // namespace gate::settings
