#include "credentials/gpg_stub.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "base/file.h"
#include "credentials/agent_wire.h"
#include "credentials/openpgp_request.h"
#include "credentials/signing_agent.h"

namespace gate::credentials {
namespace {

constexpr int kGpgFailed = 2;
constexpr int kOutput = 1, kError = 2;
constexpr std::string_view kSign = "-bsau";

int ComplainAsGpg(std::string_view what) {
  (void)WriteAll(kError, "gate: " + std::string(what) + "\n");
  return kGpgFailed;
}

// The agent's answer to `message`; empty where there is none.
std::string Ask(std::string_view message) {
  const Fd peer(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ::strncpy(address.sun_path, kSigningSocket, sizeof(address.sun_path) - 1);
  std::string out, in;
  PutAgentMessage(message, &out);
  if (!peer ||
      ::connect(peer.get(), reinterpret_cast<sockaddr*>(&address),
                sizeof(address)) != 0 ||
      !WriteAll(peer.get(), out))
    return "";
  std::array<char, 4096> buffer{};
  for (;;) {
    size_t begin = 0;
    const auto answer = TakeAgentMessage(in, kMaxOpenPgpAnswer, &begin);
    if (!answer) return "";
    if (*answer) return std::string(**answer);
    const ssize_t got = ::read(peer.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return "";
    in.append(buffer.data(), static_cast<size_t>(got));
  }
}

int Sign(const std::string& key) {
  // An agent that closes its end is no reason to be killed.
  ::signal(SIGPIPE, SIG_IGN);
  auto payload = ReadAll(0, kMaxOpenPgpRequest);
  if (!payload)
    return ComplainAsGpg("what git would have signed: " +
                         payload.error().message);
  const auto answer =
      ParseOpenPgpAnswer(Ask(Encode(OpenPgpRequest{key, *payload})));
  if (!answer)
    return ComplainAsGpg("no signature by the key " + key +
                         " is lent to this line");
  return WriteAll(kOutput, answer->signature) &&
                 WriteAll(kError, answer->status)
             ? 0
             : kGpgFailed;
}

bool IsLent(std::string_view file) {
  return ::access((kPublicKeyrings + std::string(file)).c_str(), R_OK) == 0;
}

// A home for gpg, which writes beside its keyrings even where it only reads.
// The keys are seen through links; whom the person trusts is written anew.
class Home {
 public:
  Home() {
    const char* place = ::getenv("TMPDIR");
    std::string name = (place == nullptr || *place == 0 ? "/tmp" : place) +
                       std::string("/gate-gpg.XXXXXX");
    if (::mkdtemp(name.data()) == nullptr) return;
    path_ = name;
    for (const char* file : kPublicKeyringFiles) {
      const std::string from = kPublicKeyrings + std::string(file);
      const std::string to = path_ + "/" + file;
      if (std::string_view(file) != "trustdb.gpg") {
        if (IsLent(file)) (void)::symlink(from.c_str(), to.c_str());
      } else if (const auto text = ReadFile(from, kMaxTrustBytes)) {
        (void)WriteFileAtomically(to, *text, 0600);
      }
    }
  }
  Home(const Home&) = delete;  // owns a directory
  Home& operator=(const Home&) = delete;
  ~Home() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  static constexpr size_t kMaxTrustBytes = size_t{64} << 20;
  std::string path_;
};

int Start(std::vector<std::string> words) {
  words.insert(words.begin(), "gpg");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  return ComplainAsGpg(std::string("gpg cannot be started: ") +
                       ::strerror(errno));
}

}  // namespace

bool IsGpgCall(std::string_view first) {
  return first.starts_with("--status-fd=") ||
         first.starts_with("--keyid-format=");
}

int RunGitGpg(const std::vector<std::string>& words) {
  if (words.size() == 3 && words[1] == kSign) return Sign(words[2]);
  if (std::ranges::none_of(kPublicKeyringFiles, IsLent)) return Start(words);
  const Home home;
  if (home.path().empty()) return Start(words);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::setenv("GNUPGHOME", home.path().c_str(), 1);
    ::_exit(Start(words));
  }
  int status = 0;
  while (pid > 0 && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : kGpgFailed;
}

}  // namespace gate::credentials
