#include "credentials/openpgp_signer.h"

#include <errno.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/file.h"
#include "credentials/outside_program.h"

namespace gate::credentials {
namespace {

constexpr std::string_view kStatus = "[GNUPG:] ";
constexpr std::string_view kCreated = "[GNUPG:] SIG_CREATED ";
constexpr std::string_view kArmour = "-----BEGIN PGP SIGNATURE-----\n";
constexpr std::string_view kMessage = "gpg: ";
constexpr size_t kMaxGpgReason = 300;

// gpg's three streams, from this side. The process is ended with it.
struct Gpg {
  Gpg() = default;
  Gpg(const Gpg&) = delete;  // owns a process
  Gpg& operator=(const Gpg&) = delete;
  ~Gpg() { EndProgram(pid); }

  bool Start(const SigningSetup& setup, const std::string& key) {
    Fd read_in, write_out, write_err;
    if (!MakePipe(&read_in, &in) || !MakePipe(&out, &write_out) ||
        !MakePipe(&err, &write_err))
      return false;
    for (const Fd* fd : {&in, &out, &err}) DoNotWait(*fd);
    pid = StartProgram({setup.gpg_program, "--status-fd=2", "-bsau", key},
                       setup.gpg_environment, read_in.get(), write_out.get(),
                       write_err.get());
    return pid > 0;
  }

  Fd in, out, err;
  pid_t pid = -1;
};

// Reads what is there. Closes `*fd` at the end or for an error.
bool ReadFromGpg(Fd* fd, std::string* text) {
  std::array<char, 4096> buffer;
  const ssize_t got = ::read(fd->get(), buffer.data(), buffer.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (got > 0) text->append(buffer.data(), static_cast<size_t>(got));
  if (got <= 0) fd->reset();
  return text->size() <= kMaxOpenPgpAnswer / 2;
}

void WriteToGpg(Fd* fd, std::string_view* rest) {
  const ssize_t wrote = ::write(fd->get(), rest->data(), rest->size());
  if (wrote > 0) rest->remove_prefix(static_cast<size_t>(wrote));
  // What gpg does not read shows in what it says.
  if (rest->empty() || (wrote < 0 && errno != EAGAIN && errno != EINTR))
    fd->reset();
}

// The lines of status, and what gpg said last to people.
void Sort(std::string_view text, std::string* status, std::string* said) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    const std::string_view line = text.substr(0, end + 1);
    if (line.starts_with(kStatus))
      *status += line;
    else if (line.starts_with(kMessage))
      *said = line.substr(kMessage.size(),
                          std::min(end - kMessage.size(), kMaxGpgReason));
    text.remove_prefix(end + 1);
  }
}

std::unexpected<Error> GpgUnavailable(std::string why) {
  return Fail(ErrorCode::kUnavailable, std::move(why));
}

}  // namespace

Result<OpenPgpAnswer> SignByGpg(const SigningSetup& setup,
                                const OpenPgpRequest& request, int leash) {
  Gpg gpg;
  if (setup.gpg_program.empty()) return GpgUnavailable("there is no gpg");
  if (!gpg.Start(setup, request.key))
    return GpgUnavailable("gpg cannot be started");
  const uint64_t deadline =
      MonotonicMs() + static_cast<uint64_t>(kAgentPatienceMs);
  std::string_view rest = request.payload;
  std::string signature, errors;
  while (gpg.out || gpg.err) {
    std::array<pollfd, 4> wanted = {{{leash, POLLIN, 0},
                                     {gpg.in.get(), POLLOUT, 0},
                                     {gpg.out.get(), POLLIN, 0},
                                     {gpg.err.get(), POLLIN, 0}}};
    const uint64_t now = MonotonicMs();
    const int ready = now >= deadline
                          ? 0
                          : ::poll(wanted.data(), wanted.size(),
                                   static_cast<int>(deadline - now));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || wanted[0].revents != 0)
      return GpgUnavailable(
          "gpg does not answer; it may wait for a passphrase that nobody is "
          "asked for");
    if (gpg.in && wanted[1].revents != 0) WriteToGpg(&gpg.in, &rest);
    if ((gpg.out && wanted[2].revents != 0 &&
         !ReadFromGpg(&gpg.out, &signature)) ||
        (gpg.err && wanted[3].revents != 0 && !ReadFromGpg(&gpg.err, &errors)))
      return Fail(ErrorCode::kInvalid, "gpg writes more than a signature");
  }
  int status = 0;
  while (::waitpid(gpg.pid, &status, 0) < 0 && errno == EINTR) {
  }
  gpg.pid = -1;
  OpenPgpAnswer answer;
  std::string said;
  Sort(errors, &answer.status, &said);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return GpgUnavailable("gpg does not sign" +
                          (said.empty() ? std::string() : ": " + said));
  if (answer.status.find(kCreated) == std::string::npos ||
      !signature.starts_with(kArmour))
    return Fail(ErrorCode::kInvalid, "what gpg writes is no signature");
  answer.signature = std::move(signature);
  return answer;
}

}  // namespace gate::credentials
