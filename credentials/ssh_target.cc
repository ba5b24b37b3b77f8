#include "credentials/ssh_target.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace gate::credentials {
namespace {

constexpr int kMaxPort = 65535;

bool IsLetterOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9');
}

// The characters are those that no shell, ProxyCommand or `Match exec` of a
// configuration takes for anything else.
bool IsPlain(std::string_view text, std::string_view others, size_t limit) {
  return !text.empty() && text.size() <= limit && text[0] != '-' &&
         std::ranges::all_of(text, [&](char c) {
           return IsLetterOrDigit(c) || others.find(c) != others.npos;
         });
}

bool IsPath(std::string_view path) {
  return !path.empty() && path.size() <= kMaxSshPathBytes && path[0] != '-' &&
         std::ranges::all_of(path, [](char c) {
           return static_cast<unsigned char>(c) >= ' ' && c != 0x7f;
         });
}

// 0: it is none.
int PortOf(std::string_view text) {
  int port = 0;
  if (text.empty() || text.size() > 5) return 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    port = port * 10 + (c - '0');
  }
  return port <= kMaxPort ? port : 0;
}

// `[user@]host`.
std::optional<SshTarget> ParseMachine(std::string_view text) {
  SshTarget target;
  if (const size_t at = text.find('@'); at != text.npos) {
    target.user = text.substr(0, at);
    text.remove_prefix(at + 1);
    if (!IsPlain(target.user, "._+-", kMaxSshUserBytes)) return std::nullopt;
  }
  if (!IsPlain(text, "._-", kMaxSshHostBytes)) return std::nullopt;
  target.host = text;
  return target;
}

// `'…'`, as git's sq_quote_buf() writes it: quotes and exclamation marks stand
// outside, behind a backslash.
std::optional<std::string> Unquoted(std::string_view text) {
  std::string out;
  if (text.size() < 2 || text[0] != '\'') return std::nullopt;
  for (size_t i = 1; i < text.size(); ++i) {
    if (text[i] != '\'') {
      out += text[i];
      continue;
    }
    if (i + 1 == text.size()) return out;
    if (text.size() - i < 4 || text[i + 1] != '\\' || text[i + 3] != '\'' ||
        (text[i + 2] != '\'' && text[i + 2] != '!'))
      return std::nullopt;
    out += text[i + 2];
    i += 3;
  }
  return std::nullopt;
}

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '!')
      out += std::string("'\\") + c + "'";
    else
      out += c;
  }
  return out + "'";
}

std::unexpected<Error> NotAllowed(std::string why) {
  return Fail(ErrorCode::kInvalid, std::move(why));
}

}  // namespace

std::string Describe(const SshTarget& target) {
  std::string text = target.user.empty() ? "" : target.user + "@";
  text += target.host;
  if (target.port != 0)
    return Visible("ssh://" + text + ":" + std::to_string(target.port) +
                   (target.path.starts_with('/') ? "" : "/") + target.path);
  return Visible(text + ":" + target.path);
}

std::optional<SshTarget> ParseSshUrl(std::string_view url) {
  constexpr auto kSchemes =
      std::to_array<std::string_view>({"ssh://", "git+ssh://", "ssh+git://"});
  for (const std::string_view scheme : kSchemes) {
    if (!url.starts_with(scheme)) continue;
    url.remove_prefix(scheme.size());
    const size_t slash = url.find('/');
    if (slash == url.npos) return std::nullopt;
    std::string_view machine = url.substr(0, slash);
    std::string_view path = url.substr(slash);
    if (path.starts_with("/~")) path.remove_prefix(1);
    int port = 0;
    if (const size_t colon = machine.rfind(':'); colon != machine.npos) {
      port = PortOf(machine.substr(colon + 1));
      if (port == 0) return std::nullopt;
      machine = machine.substr(0, colon);
    }
    std::optional<SshTarget> target = ParseMachine(machine);
    // git decodes these; what it is then is not this text.
    if (!target || !IsPath(path) || url.find('%') != url.npos)
      return std::nullopt;
    target->port = port;
    target->path = path;
    return target;
  }
  // A colon before any slash; `name::…` is a remote helper's.
  const size_t colon = url.find(':'), slash = url.find('/');
  if (colon == url.npos || slash < colon ||
      url.substr(colon + 1).starts_with(':') ||
      url.substr(colon + 1).starts_with("//"))
    return std::nullopt;
  std::optional<SshTarget> target = ParseMachine(url.substr(0, colon));
  std::string_view path = url.substr(colon + 1);
  if (path.starts_with("/~")) path.remove_prefix(1);
  if (!target || !IsPath(path)) return std::nullopt;
  target->path = path;
  return target;
}

const char* Name(SshService service) {
  return service == SshService::kFetch ? "git-upload-pack" : "git-receive-pack";
}

Result<SshRequest> ParseSshArguments(const std::vector<std::string>& words,
                                     std::string_view git_protocol) {
  SshRequest request;
  size_t next = 0;
  int port = 0;
  bool sends_protocol = false;
  for (; next < words.size() && words[next].starts_with('-'); ++next) {
    const std::string& word = words[next];
    const std::string value = next + 1 < words.size() ? words[next + 1] : "";
    if (word == "-4" || word == "-6") {
      request.family = word[1] - '0';
    } else if (word == "-o" && value == "SendEnv=GIT_PROTOCOL") {
      sends_protocol = true;
      ++next;
    } else if (word == "-p" && PortOf(value) != 0) {
      port = PortOf(value);
      ++next;
    } else {
      return NotAllowed("ssh is passed on without the option `" +
                        Visible(word) + "`");
    }
  }
  if (words.size() - next != 2)
    return NotAllowed("ssh is passed on for one host and one command of git");
  std::optional<SshTarget> target = ParseMachine(words[next]);
  if (!target)
    return NotAllowed("`" + Visible(words[next]) +
                      "` is not a plain user and host");
  const std::string_view command = words[next + 1];
  const size_t space = std::min(command.find(' '), command.size());
  const std::string_view service = command.substr(0, space);
  if (service == Name(SshService::kFetch))
    request.service = SshService::kFetch;
  else if (service == Name(SshService::kPush))
    request.service = SshService::kPush;
  else
    return NotAllowed("ssh is passed on for git-upload-pack alone");
  const auto path =
      Unquoted(command.substr(std::min(space + 1, command.size())));
  if (!path || !IsPath(*path))
    return NotAllowed("the repository's path is not one plain quoted word");
  request.target = std::move(*target);
  request.target.port = port;
  request.target.path = *path;
  if (sends_protocol && request.service == SshService::kFetch) {
    if (git_protocol == "version=1") request.protocol = 1;
    if (git_protocol == "version=2") request.protocol = 2;
  }
  return request;
}

std::vector<std::string> SshArguments(const SshRequest& request) {
  std::vector<std::string> words = {
      "-a", "-x", "-T", "-oBatchMode=yes", "-oClearAllForwardings=yes",
      "-oForwardAgent=no", "-oForwardX11=no", "-oTunnel=no",
      "-oPermitLocalCommand=no", "-oRemoteCommand=none",
      // A connection that is there already may be used; none outlives this one.
      "-oControlMaster=no", "-oControlPersist=no"};
  if (request.family != 0)
    words.push_back("-" + std::to_string(request.family));
  if (request.protocol != 0) words.emplace_back("-oSendEnv=GIT_PROTOCOL");
  if (request.target.port != 0) {
    words.emplace_back("-p");
    words.push_back(std::to_string(request.target.port));
  }
  words.emplace_back("--");
  words.push_back(request.target.user.empty()
                      ? request.target.host
                      : request.target.user + "@" + request.target.host);
  words.push_back(std::string(Name(request.service)) + " " +
                  Quoted(request.target.path));
  return words;
}

}  // namespace gate::credentials
