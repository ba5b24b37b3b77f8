#include "credentials/persons_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "credentials/outside_program.h"

namespace gate::credentials {
namespace {

// An agent lists its keys, and one is started, without a person.
constexpr int kQuickMs = 5'000;
// A key that was not found so often is not looked for again.
constexpr size_t kMaxLooks = 16;

std::unexpected<Error> AgentUnavailable(std::string why) {
  return Fail(ErrorCode::kUnavailable, std::move(why));
}

// Not waiting: an agent that accepts nobody is none.
Fd ConnectToAgent(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path)) return Fd();
  std::memcpy(address.sun_path, path.data(), path.size());
  Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket && ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address),
                          sizeof(address)) != 0)
    socket.reset();
  return socket;
}

// Starts a program that asks nobody; its output goes to `out`.
pid_t Spawn(std::vector<std::string> words,
            std::vector<std::string> environment, int out) {
  return StartProgram(std::move(words), std::move(environment), 0, out, 2);
}

}  // namespace

PersonsAgent::PersonsAgent(const SigningSetup& setup, int leash,
                           std::string own_socket)
    : setup_(setup), leash_(leash), own_socket_(std::move(own_socket)) {}

PersonsAgent::~PersonsAgent() {
  EndProgram(agent_);
  if (agent_ > 0) ::unlink(own_socket_.c_str());
}

bool PersonsAgent::WaitFor(int fd, short events, uint64_t deadline) {
  for (;;) {
    std::array<pollfd, 2> wanted = {{{fd, events, 0}, {leash_, POLLIN, 0}}};
    const uint64_t now = MonotonicMs();
    if (now >= deadline) return false;
    const int got =
        ::poll(wanted.data(), wanted.size(), static_cast<int>(deadline - now));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0 || wanted[1].revents != 0) return false;
    return true;
  }
}

Result<std::string> PersonsAgent::Ask(const std::string& socket,
                                      const std::string& message,
                                      int patience_ms) {
  const uint64_t deadline = MonotonicMs() + static_cast<uint64_t>(patience_ms);
  const Fd fd = ConnectToAgent(socket);
  if (!fd) return AgentUnavailable("the person's ssh agent is not there");
  std::string out, in;
  PutAgentMessage(message, &out);
  for (size_t done = 0; done < out.size();) {
    const ssize_t wrote =
        ::write(fd.get(), out.data() + done, out.size() - done);
    if (wrote > 0) {
      done += static_cast<size_t>(wrote);
    } else if (errno != EINTR &&
               (errno != EAGAIN || !WaitFor(fd.get(), POLLOUT, deadline))) {
      return AgentUnavailable("the person's ssh agent does not listen");
    }
  }
  std::array<char, 16384> buffer;
  for (;;) {
    if (!WaitFor(fd.get(), POLLIN, deadline))
      return AgentUnavailable("the person's ssh agent does not answer");
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (got <= 0) return AgentUnavailable("the person's ssh agent is gone");
    in.append(buffer.data(), static_cast<size_t>(got));
    size_t begin = 0;
    GATE_TRY(const auto answer, TakeAgentMessage(in, kMaxAgentAnswer, &begin));
    if (answer) return std::string(*answer);
  }
}

bool PersonsAgent::Has(const std::string& socket, const PublicKey& key) {
  const auto answer =
      Ask(socket,
          std::string(1, static_cast<char>(AgentMessage::kRequestIdentities)),
          kQuickMs);
  if (!answer) return false;
  const auto keys = ParseIdentities(*answer);
  return keys && std::ranges::any_of(*keys, [&](const PublicKey& each) {
           return each.blob == key.blob;
         });
}

bool PersonsAgent::StartAgent() {
  if (agent_ > 0) return true;
  int ends[2];
  if (setup_.agent_program.empty() || setup_.add_program.empty() ||
      ::pipe2(ends, O_CLOEXEC) != 0)
    return false;
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  agent_ = Spawn({setup_.agent_program, "-D", "-a", own_socket_},
                 setup_.environment, writer.get());
  writer.reset();
  // It says where it listens once it does.
  char byte = 0;
  if (agent_ > 0 && WaitFor(reader.get(), POLLIN, MonotonicMs() + kQuickMs) &&
      ::read(reader.get(), &byte, 1) == 1)
    return true;
  EndProgram(agent_);
  agent_ = -1;
  return false;
}

Status PersonsAgent::Load(const SigningKey& key) {
  if (!StartAgent()) return AgentUnavailable("no ssh-agent can be started");
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  std::vector<std::string> environment = setup_.environment;
  environment.push_back("SSH_AUTH_SOCK=" + own_socket_);
  environment.emplace_back("SSH_ASKPASS_REQUIRE=never");
  const pid_t pid = Spawn({setup_.add_program, "-q", "--", key.file},
                          std::move(environment), null.get());
  if (pid <= 0) return AgentUnavailable("no ssh-add can be started");
  // The call, since the C library may be older than its name there.
  const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const bool ended =
      pidfd && WaitFor(pidfd.get(), POLLIN, MonotonicMs() + kQuickMs);
  if (!ended) {
    EndProgram(pid);
    return AgentUnavailable("ssh-add does not end");
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return AgentUnavailable("the key's file needs a passphrase");
  return {};
}

Status PersonsAgent::Find(const SigningKey& key) {
  for (const auto& [blob, socket] : found_)
    if (blob == key.key.blob) return {};
  const bool look = verification_cache_ < kMaxLooks;
  if (look) ++verification_cache_;
  if (look && Has(setup_.agent, key.key)) {
    found_.emplace_back(key.key.blob, setup_.agent);
    return {};
  }
  if (look && !key.file.empty() && Load(key) && Has(own_socket_, key.key)) {
    found_.emplace_back(key.key.blob, own_socket_);
    return {};
  }
  return AgentUnavailable("the key " + Fingerprint(key.key.blob) +
                          " is not in the person's ssh agent");
}

Result<std::string> PersonsAgent::Sign(const SignRequest& request) {
  for (const auto& [blob, socket] : found_) {
    if (blob != request.blob) continue;
    GATE_TRY(const std::string answer,
             Ask(socket, Encode(request), kAgentPatienceMs));
    return ParseSignature(request, answer);
  }
  return AgentUnavailable("the key is in no ssh agent");
}

}  // namespace gate::credentials
