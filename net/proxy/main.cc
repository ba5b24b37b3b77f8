// gate-net: lets one contained run reach the hosts of its policy, and no other
// (net/network_filter.h). gate starts it; it has no options.
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/proxy/confine.h"
#include "net/proxy/server.h"

namespace gate::net::proxy {
namespace {

constexpr size_t kMaxConfigBytes = size_t{1} << 20;

bool IsControl(int fd) {
  int type = 0, domain = 0;
  socklen_t size = sizeof(type);
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 &&
         type == SOCK_SEQPACKET &&
         ::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 &&
         domain == AF_UNIX;
}

// The whole policy, which nobody can change any more, or nothing.
Result<Policy> TakePolicy(int fd) {
  constexpr int kSeals = F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK;
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals)
    return Fail(ErrorCode::kInvalid, "the policy is not sealed");
  if (::lseek(fd, 0, SEEK_SET) != 0) return FailErrno("no policy");
  GATE_TRY(const std::string text, ReadAll(fd, wire::kMaxPolicyBytes));
  GATE_TRY(const FilterPolicy policy, ReadFilterPolicy(text));
  return CompilePolicy(policy);
}

std::string TextOf(const char* path) {
  auto text = ReadFile(path, kMaxConfigBytes);
  return text ? std::move(*text) : std::string();
}

int Main() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2,
                           SIGPIPE, SIGTSTP, SIGTTOU, SIGTTIN})
    ::signal(signal, SIG_IGN);
  ::umask(077);
  struct stat report = {};
  if (!IsControl(wire::kControl) || ::fstat(wire::kReport, &report) != 0 ||
      report.st_size != static_cast<off_t>(wire::kReportBytes))
    return wire::kByHand;
  Fd control(wire::kControl), report_file(wire::kReport);
  Result<Policy> policy = Fail(ErrorCode::kInternal, "");
  {
    const Fd policy_file(wire::kPolicy);
    policy = TakePolicy(policy_file.get());
  }
  if (!policy) return wire::kBadPolicy;
  std::vector<Endpoint> servers =
      policy->resolver ? std::vector<Endpoint>{*policy->resolver}
                       : ReadNameServers(TextOf("/etc/resolv.conf"));
  HostsFile hosts;
  if (!policy->resolver) hosts = ReadHosts(TextOf("/etc/hosts"));
  if (!OwnAddresses()) return wire::kNoNetwork;
  asio::io_context io(1);
  Resolver resolver(io, std::move(servers), std::move(hosts),
                    policy->limits.resolve_ms);
  Reporter reporter(std::move(report_file), wire::kReportBytes);
  Context context(io, *policy, resolver, reporter);
  // The loop makes its own descriptors at the first use.
  const Socket first_use(io, Fd());
  size_t descriptors = 0;
  if (!Confine(&descriptors)) return wire::kNotConfined;
  Server server(context, std::move(control), descriptors);
  server.Run();
  reporter.Finish();
  // Nothing that is still open is worth its destructor.
  ::_exit(wire::kEnded);
}

}  // namespace
}  // namespace gate::net::proxy

int main() { return gate::net::proxy::Main(); }
