// What the program in gpg's place inside a sandbox asks the signing agent for:
// a message of the ssh agent's protocol, of a name of its own
// (draft-ietf-sshm-ssh-agent, section 3.8). gpg itself cannot tell what it
// signs; here only an object of git's is signed. Pure and linear.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gate::credentials {

// A longer request ends its connection: a commit's text is in it whole.
inline constexpr size_t kMaxOpenPgpRequest = size_t{1} << 20;
// gpg's answer is a signature in ASCII and some lines of status.
inline constexpr size_t kMaxOpenPgpAnswer = size_t{32} << 10;

struct OpenPgpRequest {
  std::string key;      // as git gives it to `gpg -u`
  std::string payload;  // what is signed
};

struct OpenPgpAnswer {
  std::string status;     // gpg's lines for --status-fd, which git looks at
  std::string signature;  // in ASCII
};

bool IsOpenPgpRequest(std::string_view message);
std::string Encode(const OpenPgpRequest& request);
// kInvalid for every other message.
Result<OpenPgpRequest> ParseOpenPgpRequest(std::string_view message);
std::string Encode(const OpenPgpAnswer& answer);
Result<OpenPgpAnswer> ParseOpenPgpAnswer(std::string_view message);

// Whether `payload` is a commit or a tag as git signs it (git-cat-file(1); its
// header lines in their order, then an empty line). kInvalid with the reason
// for people for everything else: a mail, a release file, a certificate of
// `git push --signed`.
Status CheckGitObject(std::string_view payload);

}  // namespace gate::credentials
