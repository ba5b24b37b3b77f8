#include "gateway/programs/engine_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "gateway/programs/program_verification.h"
#include "known/known.h"

namespace gate::app {
namespace {

// Configurations of engines' clients are a few lines long.
constexpr size_t kMaxConfig = 1024 * 1024;

std::unexpected<Error> NotPlain(std::string why) {
  return Fail(ErrorCode::kUnavailable, std::move(why));
}

std::string Variable(const ProcessFacts& facts, std::string_view name) {
  for (const std::string& entry : facts.environment)
    if (entry.size() > name.size() && entry.starts_with(name) &&
        entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return "";
}

// A variable that is set and changes which engine is meant, or none.
std::string_view FirstSet(const ProcessFacts& facts, known::List list) {
  for (const std::string_view name : known::Names(list))
    if (!Variable(facts, name).empty()) return name;
  return "";
}

// docker context: what the person chose by `docker context use`.
Result<std::string> DockerSocket(const ProcessFacts& facts) {
  if (const std::string_view name =
          FirstSet(facts, known::List::kDockerElsewhere);
      !name.empty())
    return NotPlain(std::string(name) + " is set");
  const std::string context = Variable(facts, "DOCKER_CONTEXT");
  if (!context.empty() && context != "default")
    return NotPlain("DOCKER_CONTEXT is set");
  const std::string host = Variable(facts, "DOCKER_HOST");
  if (!host.empty()) {
    constexpr std::string_view kUnix = "unix://";
    if (!host.starts_with(kUnix) || host.size() == kUnix.size() ||
        host[kUnix.size()] != '/')
      return NotPlain("DOCKER_HOST names no socket of this machine");
    return host.substr(kUnix.size());
  }
  if (facts.home.empty() || Variable(facts, "HOME") != facts.home)
    return NotPlain("the home directory is not known");
  const auto text = ReadFile(facts.home + "/.docker/config.json", kMaxConfig);
  if (text) {
    const auto config = ParseJson(*text);
    if (!config || !config->is_object())
      return NotPlain("~/.docker/config.json is not understood");
    const auto current = config->find("currentContext");
    if (current != config->end() && *current != "" && *current != "default")
      return NotPlain("a context of docker is in use");
  } else if (text.error().code != ErrorCode::kNotFound) {
    return NotPlain("~/.docker/config.json cannot be read");
  }
  return "/var/run/docker.sock";
}

// Whether a file of podman's configuration says where its engine or what it
// stores is. By words in lines that are no comments: more than needed counts.
bool NamesAnotherPodman(const std::string& path) {
  constexpr std::array<std::string_view, 6> kWords = {
      "service",    "remote",     "volume_path",
      "volume_plu", "network_co", "default_network"};
  const auto text = ReadFile(path, kMaxConfig);
  if (!text) return text.error().code != ErrorCode::kNotFound;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string_view::npos || line[first] == '#') continue;
    if (std::ranges::any_of(kWords, [&](std::string_view word) {
          return line.find(word) != std::string_view::npos;
        }))
      return true;
  }
  return false;
}

Result<std::string> PodmanSocket(const ProcessFacts& facts) {
  if (const std::string_view name =
          FirstSet(facts, known::List::kPodmanElsewhere);
      !name.empty())
    return NotPlain(std::string(name) + " is set");
  if (facts.home.empty() || Variable(facts, "HOME") != facts.home)
    return NotPlain("the home directory is not known");
  const std::string own = facts.home + "/.config/containers/";
  for (const std::string& file :
       {std::string("/usr/share/containers/containers.conf"),
        std::string("/etc/containers/containers.conf"),
        own + "containers.conf"})
    if (NamesAnotherPodman(file))
      return NotPlain(file + " may name another engine");
  for (const std::string& place :
       {std::string("/etc/containers/containers.conf.d"),
        own + "containers.conf.d", own + "storage.conf",
        own + "podman-connections.json"}) {
    struct stat info{};
    if (::lstat(place.c_str(), &info) == 0 || errno != ENOENT)
      return NotPlain(place + " may name another engine");
  }
  if (facts.uid == 0) return "/run/podman/podman.sock";
  const std::string runtime = Variable(facts, "XDG_RUNTIME_DIR");
  if (!runtime.starts_with('/')) return NotPlain("XDG_RUNTIME_DIR is not set");
  return runtime + "/podman/podman.sock";
}

// A package that gives docker's name to podman comes as a script.
Status CheckClient(const ProcessFacts& facts, const std::string& program) {
  const ProgramFile file = ResolveProgram(program, facts.path, "/");
  if (file.real.empty() || BaseName(file.real) != program)
    return NotPlain("`" + program + "` is not the engine's own client");
  const Fd opened(
      ::open(file.real.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  char start[2] = {};
  if (!opened || ::read(opened.get(), start, 2) != 2 ||
      (start[0] == '#' && start[1] == '!'))
    return NotPlain("`" + program + "` is not the engine's own client");
  return {};
}

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// The line that ends at the next CRLF, which is taken off as well; nothing
// where there is none or a control character stands in it.
std::optional<std::string_view> TakeLine(std::string_view* text) {
  const size_t end = text->find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text->substr(0, end);
  for (const char c : line)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f)
      return std::nullopt;
  text->remove_prefix(end + 2);
  return line;
}

// The chunks of `text`, which ends with the last one; no extensions, no
// trailers.
std::optional<std::string> JoinChunks(std::string_view text) {
  std::string body;
  while (true) {
    const auto line = TakeLine(&text);
    size_t size = 0;
    if (!line || line->empty() || line->size() > 8) return std::nullopt;
    const auto [end, error] =
        std::from_chars(line->data(), line->data() + line->size(), size, 16);
    if (error != std::errc() || end != line->data() + line->size())
      return std::nullopt;
    if (text.size() < size + 2 || text.substr(size, 2) != "\r\n")
      return std::nullopt;
    body += text.substr(0, size);
    text.remove_prefix(size + 2);
    if (size == 0)
      return text.empty() ? std::optional(std::move(body)) : std::nullopt;
  }
}

std::unexpected<Error> Junk() {
  return Fail(ErrorCode::kInvalid, "the engine's answer is not understood");
}

std::unexpected<Error> Silent() {
  return Fail(ErrorCode::kUnavailable, "the engine does not answer");
}

// Waits for `events`; false when the time is up.
bool Wait(int fd, short events, uint64_t deadline_us) {
  while (true) {
    const uint64_t now = MonotonicUs();
    if (now >= deadline_us) return false;
    pollfd one{fd, events, 0};
    const int left = static_cast<int>(
        std::min<uint64_t>((deadline_us - now + 999) / 1000, 60'000));
    const int ready = ::poll(&one, 1, left);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

Result<std::string> FindEngineSocket(const ProcessFacts& facts,
                                     const std::string& program,
                                     const std::vector<std::string>& writable) {
  if (program != "docker" && program != "podman")
    return NotPlain("`" + program + "` has no socket to ask");
  GATE_CHECK(CheckClient(facts, program));
  GATE_TRY(std::string named,
           program == "docker" ? DockerSocket(facts) : PodmanSocket(facts));
  // The engine's own runtime directory is often behind a link.
  const std::string real = RealPath(named);
  struct stat info{};
  if (real.empty() || ::lstat(real.c_str(), &info) != 0)
    return NotPlain("no engine is at " + named);
  if (!S_ISSOCK(info.st_mode)) return NotPlain(named + " is no socket");
  if (info.st_uid != 0 && info.st_uid != facts.uid)
    return Fail(ErrorCode::kPermission, named + " is another user's");
  if (IsWritablePlace(named, writable) || IsWritablePlace(real, writable) ||
      !CheckTrustedPlace(named, facts.uid) ||
      !CheckTrustedPlace(real, facts.uid))
    return Fail(ErrorCode::kPermission, named + " lies where others may write");
  return real;
}

Result<EngineAnswer> ReadEngineAnswer(std::string_view text, EngineBody kind) {
  const auto first = TakeLine(&text);
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  if (!first || !first->starts_with(kVersion)) return Junk();
  const std::string_view code = first->substr(kVersion.size(), 3);
  const std::string_view phrase =
      first->substr(std::min(first->size(), kVersion.size() + 3));
  if (code.size() != 3 || !IsDigits(code) ||
      (!phrase.empty() && phrase[0] != ' '))
    return Junk();
  EngineAnswer answer;
  answer.status =
      (code[0] - '0') * 100 + (code[1] - '0') * 10 + (code[2] - '0');
  std::optional<std::string> length, coding, type;
  while (true) {
    const auto line = TakeLine(&text);
    if (!line) return Junk();
    if (line->empty()) break;
    const size_t colon = line->find(':');
    // Also a line that continues the one before it: it begins with a blank.
    if (colon == std::string_view::npos || colon == 0 ||
        line->substr(0, colon).find_first_of(" \t") != std::string_view::npos)
      return Junk();
    const std::string name = LowerAscii(line->substr(0, colon));
    std::string_view value = line->substr(colon + 1);
    while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
      value.remove_prefix(1);
    while (!value.empty() && (value.back() == ' ' || value.back() == '\t'))
      value.remove_suffix(1);
    std::optional<std::string>* kept = name == "content-length"      ? &length
                                       : name == "transfer-encoding" ? &coding
                                       : name == "content-type"      ? &type
                                                                     : nullptr;
    if (name == "content-encoding") return Junk();
    if (kept == nullptr) continue;
    if (*kept) return Junk();
    *kept = LowerAscii(value);
  }
  if (!type ||
      (*type != "application/json" && !type->starts_with("application/json;")))
    return Junk();
  std::string body;
  if (coding) {
    if (length || *coding != "chunked") return Junk();
    auto joined = JoinChunks(text);
    if (!joined) return Junk();
    body = std::move(*joined);
  } else {
    if (!length || length->size() > 8 || !IsDigits(*length) ||
        *length != std::to_string(text.size()))
      return Junk();
    body = text;
  }
  auto json = ParseJson(body);
  if (!json ||
      !(kind == EngineBody::kList && answer.status == 200 ? json->is_array()
                                                          : json->is_object()))
    return Junk();
  answer.body = std::move(*json);
  return answer;
}

Result<EngineAnswer> AskEngine(const std::string& socket,
                               const std::string& path, uint64_t deadline_us,
                               EngineBody kind) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket.empty() || socket.size() >= sizeof address.sun_path)
    return Silent();
  std::memcpy(address.sun_path, socket.data(), socket.size());
  const Fd connection(
      ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection ||
      ::connect(connection.get(), reinterpret_cast<const sockaddr*>(&address),
                sizeof address) != 0)
    return Silent();
  const std::string request = "GET " + path +
                              " HTTP/1.1\r\nHost: localhost\r\n"
                              "Accept: application/json\r\n"
                              "Connection: close\r\n\r\n";
  std::string_view rest = request;
  while (!rest.empty()) {
    if (!Wait(connection.get(), POLLOUT, deadline_us)) return Silent();
    const ssize_t sent =
        ::send(connection.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent > 0)
      rest.remove_prefix(static_cast<size_t>(sent));
    else if (errno != EAGAIN && errno != EINTR)
      return Silent();
  }
  std::string text;
  while (true) {
    if (!Wait(connection.get(), POLLIN, deadline_us)) return Silent();
    char buffer[16 * 1024];
    const ssize_t got = ::recv(connection.get(), buffer, sizeof buffer, 0);
    if (got == 0) return ReadEngineAnswer(text, kind);
    if (got < 0) {
      if (errno == EAGAIN || errno == EINTR) continue;
      return Silent();
    }
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() >
        (kind == EngineBody::kList ? kMaxEngineList : kMaxEngineAnswer))
      return Fail(ErrorCode::kTooLarge, "the engine's answer is too long");
  }
}

}  // namespace gate::app
