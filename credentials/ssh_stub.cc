#include "credentials/ssh_stub.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "base/file.h"
#include "credentials/pkt_line.h"
#include "credentials/transport_wire.h"

namespace gate::credentials {
namespace {

constexpr int kSshFailed = 255;  // ssh(1), "EXIT STATUS"
constexpr int kInput = 0, kOutput = 1, kError = 2;

int ComplainAsSsh(std::string_view what) {
  (void)WriteAll(kError, "gate: " + std::string(what) + "\n");
  return kSshFailed;
}

Fd ConnectToBroker() {
  Fd peer(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ::strncpy(address.sun_path, kTransportSocket, sizeof(address.sun_path) - 1);
  if (peer && ::connect(peer.get(), reinterpret_cast<sockaddr*>(&address),
                        sizeof(address)) != 0) {
    const int error = errno;
    peer.reset();
    errno = error;
  }
  return peer;
}

// One read; 0 at the end, -1 for an error.
ssize_t ReadOnce(int fd, char* buffer, size_t size) {
  ssize_t got = 0;
  do {
    got = ::read(fd, buffer, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

// Sends what it can of `*waiting` without waiting. False: the broker is gone.
bool SendSome(int peer, std::string* waiting) {
  while (!waiting->empty()) {
    const ssize_t sent = ::send(peer, waiting->data(), waiting->size(),
                                MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN;
    waiting->erase(0, static_cast<size_t>(sent));
  }
  return true;
}

bool SendAll(int peer, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

// Sends the commits that lead from one of `claim` to the other, as git here
// has them. What it does not have is no proof, and the broker says so.
void Prove(int peer, std::string_view claim) {
  const size_t blank = claim.find(' ');
  const std::string ancestor(claim.substr(0, blank));
  const std::string commit(blank == claim.npos ? "" : claim.substr(blank + 1));
  if (!IsObjectId(ancestor) || !IsObjectId(commit)) return;
  // Both hold digits alone. What replaces objects would be no proof.
  const std::string git = "git --no-replace-objects ";
  const std::string line = git + "rev-list --topo-order --ancestry-path " +
                           ancestor + ".." + commit +
                           " 2>/dev/null </dev/null | " + git +
                           "cat-file --batch --buffer 2>/dev/null";
  FILE* commits = ::popen(line.c_str(), "re");
  std::array<char, size_t{32} << 10> buffer{};
  std::string frame;
  bool wanted = true;
  while (commits != nullptr && wanted) {
    const size_t got = ::fread(buffer.data(), 1, buffer.size(), commits);
    if (got == 0) break;
    frame.clear();
    PutFrame(FrameType::kProof, {buffer.data(), got}, &frame);
    wanted = SendAll(peer, frame);
  }
  if (commits != nullptr) ::pclose(commits);
  frame.clear();
  PutFrame(FrameType::kProofEnd, "", &frame);
  (void)SendAll(peer, frame);
}

}  // namespace

int RunGitSsh(const std::vector<std::string>& words) {
  const Fd peer = ConnectToBroker();
  if (!peer)
    return ComplainAsSsh(
        std::string("git over ssh is passed on for lines that run git fetch, "
                    "pull, push, clone or ls-remote themselves; this run has "
                    "no such way out: ") +
        ::strerror(errno));
  const char* protocol = ::getenv("GIT_PROTOCOL");
  std::vector<std::string> request = {protocol == nullptr ? "" : protocol};
  request.insert(request.end(), words.begin(), words.end());
  const std::string encoded = EncodeWords(request);
  if (encoded.size() > kMaxFrameBytes)
    return ComplainAsSsh("git's request for ssh is too long");
  std::string waiting, received;
  PutFrame(FrameType::kRequest, encoded, &waiting);
  std::array<char, size_t{32} << 10> buffer{};
  bool input = true;
  for (;;) {
    // What the broker no longer takes shows in what it says.
    if (!SendSome(peer.get(), &waiting)) waiting.clear();
    const short events = waiting.empty() ? POLLIN : POLLIN | POLLOUT;
    std::array<pollfd, 2> wanted = {
        pollfd{peer.get(), events, 0},
        pollfd{input && waiting.empty() ? kInput : -1, POLLIN, 0},
    };
    if (::poll(wanted.data(), wanted.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return ComplainAsSsh("git's ssh cannot wait");
    }
    if (wanted[1].revents != 0) {
      const ssize_t got = ReadOnce(kInput, buffer.data(), buffer.size());
      input = got > 0;
      PutFrame(input ? FrameType::kInput : FrameType::kInputEnd,
               {buffer.data(), input ? static_cast<size_t>(got) : 0}, &waiting);
    }
    if ((wanted[0].revents & ~POLLOUT) == 0) continue;
    const ssize_t got = ReadOnce(peer.get(), buffer.data(), buffer.size());
    if (got <= 0)
      return ComplainAsSsh("the way to the other machine ended early");
    received.append(buffer.data(), static_cast<size_t>(got));
    size_t taken = 0;
    for (;;) {
      const auto frame = TakeFrame(received, &taken);
      if (!frame) return ComplainAsSsh("the answer of gate's broker is none");
      if (!*frame) break;
      const std::string_view bytes = (*frame)->bytes;
      switch ((*frame)->type) {
        case FrameType::kOutput:
          // git that has gone takes nothing; then this ends too.
          if (!WriteAll(kOutput, bytes)) return kSshFailed;
          break;
        case FrameType::kError:
          (void)WriteAll(kError, bytes);
          break;
        case FrameType::kProve:
          // Behind what git has said so far.
          if (SendAll(peer.get(), waiting)) Prove(peer.get(), bytes);
          waiting.clear();
          break;
        case FrameType::kExit:
          return bytes.empty() ? kSshFailed
                               : static_cast<unsigned char>(bytes[0]);
        default:
          return ComplainAsSsh("the answer of gate's broker is none");
      }
    }
    received.erase(0, taken);
  }
}

}  // namespace gate::credentials
