// Small files of tests.
#pragma once

#include <string>

namespace gate::test {

// Makes the directories above it. The mode holds whatever the umask is.
void WriteText(const std::string& path, const std::string& text,
               unsigned mode = 0644);

// Empty when it cannot be read.
std::string ReadText(const std::string& path);

// Whether anything has that name, a link that leads nowhere included.
bool Exists(const std::string& path);

// The least that git takes for a repository: `git_directory` with a HEAD that
// names the branch main, and `config` behind the version of the format.
void MakeRepository(const std::string& git_directory,
                    const std::string& config = "");

}  // namespace gate::test
