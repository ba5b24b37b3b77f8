#include "backends/escape_probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "base/file.h"

namespace gate::backends {
namespace {

constexpr int kRan = 42;
constexpr uint64_t kWallMs = 60000;

std::string Try(Backend* backend, const std::string& directory) {
  const std::string file = directory + "/file";
  if (!WriteFileAtomically(file, "canary", 0600))
    return "no test file could be made in " + directory;
  const Fd port(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  if (!port || bind(port.get(), raw, size) != 0 || listen(port.get(), 4) != 0 ||
      getsockname(port.get(), raw, &size) != 0)
    return "no port could be opened to try the network with";

  Profile profile;
  profile.limits.wall_ms = kWallMs;
  Command command;
  command.permit = Permit::Given();
  command.argv = {
      "/bin/bash", "-c",
      "(echo x >\"$0/file\"; echo x >\"$0/new\"; rm -f \"$0/file\"; "
      "exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null; exit 42",
      directory, std::to_string(ntohs(address.sin_port))};
  command.cwd = "/";
  command.environment = {"PATH=/usr/bin:/bin"};
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const Outcome outcome =
      backend->Run(profile, command, {null.get(), null.get(), null.get()});
  if (outcome.status != OutcomeStatus::kExited || outcome.exit_code != kRan)
    return "the test command did not run: " + outcome.reason;
  const Result<std::string> kept = ReadFile(file, 64);
  if (!kept || *kept != "canary") return "a file outside was changed";
  if (access((directory + "/new").c_str(), F_OK) == 0)
    return "a file was made outside";
  const Fd visitor(accept(port.get(), nullptr, nullptr));
  if (visitor) return "a port of this host was reached";
  return "";
}

std::string TryImage(Backend* backend, const std::string& image,
                     const std::string& directory) {
  Profile profile;
  profile.limits.wall_ms = kWallMs;
  profile.workspace = directory;
  profile.image = image;
  Command command;
  command.permit = Permit::Given();
  command.argv = {"/bin/sh", "-c", "echo x >new; exit 42"};
  command.cwd = directory;
  const Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  const Outcome outcome =
      backend->Run(profile, command, {null.get(), null.get(), null.get()});
  if (outcome.status != OutcomeStatus::kExited || outcome.exit_code != kRan)
    return "the image's /bin/sh did not run: " + outcome.reason;
  if (access((directory + "/new").c_str(), F_OK) == 0)
    return "a file was made outside";
  return "";
}

// `trial` in a fresh directory below `place`.
std::string In(const std::string& place,
               const std::function<std::string(const std::string&)>& trial) {
  if (!MakeDirectories(place, 0700)) return "cannot make " + place;
  std::string directory = place + "/canary-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr)
    return "cannot make a directory in " + place;
  std::string trouble = trial(directory);
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  return trouble;
}

}  // namespace

std::string ProveContainment(Backend* backend, const std::string& place) {
  return In(place, [&](const std::string& directory) {
    return Try(backend, directory);
  });
}

std::string ProveImage(Backend* backend, const std::string& image,
                       const std::string& place) {
  return In(place, [&](const std::string& directory) {
    return TryImage(backend, image, directory);
  });
}

}  // namespace gate::backends
