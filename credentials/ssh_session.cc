#include "credentials/ssh_session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <list>
#include <map>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "credentials/outside_program.h"
#include "credentials/transport_wire.h"

namespace gate::credentials {
namespace {

constexpr int kSshExit = 255;
// What waits for a side that does not read. Then nothing more is read for it.
constexpr size_t kMaxWaiting = size_t{256} << 10;
constexpr size_t kReadBytes = size_t{32} << 10;
constexpr size_t kMaxSshReason = 1024;
constexpr int kNotPolled = -1;  // a descriptor that poll(2) passes over

// Starts ssh with the three ends of pipes; the kernel ends it with the broker.
pid_t StartSsh(const BrokerSetup& setup, const SshRequest& request, int in,
               int out, int err) {
  std::vector<std::string> words = SshArguments(request);
  words.insert(words.begin(), setup.program);
  std::vector<std::string> environment = setup.environment;
  if (request.protocol != 0)
    environment.push_back("GIT_PROTOCOL=version=" +
                          std::to_string(request.protocol));
  return StartProgram(std::move(words), std::move(environment), in, out, err);
}

// Writes what it can of `*waiting`. False when nobody will read more.
bool WriteWaiting(int fd, std::string* waiting) {
  size_t done = 0;
  bool open = true;
  while (done < waiting->size()) {
    const ssize_t wrote =
        ::write(fd, waiting->data() + done, waiting->size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) open = errno == EAGAIN;
    if (wrote <= 0) break;
    done += static_cast<size_t>(wrote);
  }
  waiting->erase(0, done);
  return open;
}

class Session {
 public:
  // `pushes`: the sessions that have begun for each target, of all.
  Session(Fd peer, size_t number, std::map<SshTarget, size_t>* pushes)
      : peer_(std::move(peer)), number_(number), pushes_(pushes) {}
  ~Session() { End(); }
  Session(const Session&) = delete;  // owns a process
  Session& operator=(const Session&) = delete;

  size_t number() const { return number_; }
  bool over() const { return over_; }
  const Transport& transport() const { return transport_; }

  static constexpr size_t kPolled = 5;

  void Want(pollfd* wanted) const {
    const bool room_inside = to_peer_.size() < kMaxWaiting;
    const bool room_outside = to_ssh_.size() < kMaxWaiting;
    short peer = room_outside && !exited_ ? POLLIN : 0;
    if (!to_peer_.empty()) peer |= POLLOUT;
    wanted[0] = {peer_.get(), peer, 0};
    wanted[1] = {to_ssh_.empty() ? kNotPolled : in_.get(), POLLOUT, 0};
    wanted[2] = {room_inside ? out_.get() : kNotPolled, POLLIN, 0};
    wanted[3] = {room_inside ? err_.get() : kNotPolled, POLLIN, 0};
    wanted[4] = {pidfd_.get(), POLLIN, 0};
  }

  void Serve(const pollfd* ready, const BrokerSetup& setup) {
    if ((ready[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) ReadPeer(setup);
    if (over_) return;
    FlushInput();
    if (out_ && ready[2].revents != 0) ReadSsh(&out_, FrameType::kOutput);
    if (err_ && ready[3].revents != 0) ReadSsh(&err_, FrameType::kError);
    if (pidfd_ && ready[4].revents != 0) Reap();
    if (!WriteWaiting(peer_.get(), &to_peer_)) over_ = true;
    if (exited_ && to_peer_.empty()) over_ = true;
  }

  // Ends ssh and what it started.
  void End() {
    if (pid_ <= 0) return;
    EndProgram(pid_);
    pid_ = -1;
  }

 private:
  // What git inside says is in the reason; the report has room for all.
  void Refuse(std::string why, const std::string& what = "") {
    if (why.size() > kMaxSshReason) why = why.substr(0, kMaxSshReason) + "…";
    transport_.refused = why;
    PutFrame(FrameType::kError, "gate: " + what + why + "\n", &to_peer_);
    Exit(kSshExit);
  }

  // Ends a push of which nothing was passed on.
  void RefusePush(const Error& why) {
    End();
    for (Fd* fd : {&in_, &out_, &err_, &pidfd_}) fd->reset();
    to_ssh_.clear();
    guard_.reset();
    Refuse(why.message,
           "the push to " + transport_.target + " is not passed on: ");
  }

  // Goes on with a push as far as what was said allows it.
  void Judge(const Status& said) {
    if (!said) return RefusePush(said.error());
    if (const auto claim = guard_->NextClaim())
      PutFrame(FrameType::kProve, claim->ancestor + " " + claim->commit,
               &to_peer_);
    if (!guard_->passed()) return;
    transport_.pushed = guard_->pushed();
    const std::string held = guard_->TakeHeld();
    transport_.sent += held.size();
    to_ssh_ += held;
    guard_.reset();
  }

  void Exit(int code) {
    const char byte = static_cast<char>(code);
    PutFrame(FrameType::kExit, {&byte, 1}, &to_peer_);
    exited_ = true;
  }

  void ReadPeer(const BrokerSetup& setup) {
    std::array<char, kReadBytes> buffer;
    const ssize_t got = ::read(peer_.get(), buffer.data(), buffer.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
      over_ = true;  // git inside is gone
      return;
    }
    if (exited_) return;
    from_peer_.append(buffer.data(), static_cast<size_t>(got));
    size_t taken = 0;
    while (!exited_) {
      const auto frame = TakeFrame(from_peer_, &taken);
      if (!frame || (*frame && !Obey(**frame, setup))) {
        over_ = true;
        return;
      }
      if (!*frame) break;
    }
    from_peer_.erase(0, taken);
  }

  // False for what no stub says here.
  bool Obey(const Frame& frame, const BrokerSetup& setup) {
    if (!asked_) {
      asked_ = true;
      if (frame.type != FrameType::kRequest) return false;
      Start(frame.bytes, setup);
      return true;
    }
    if (frame.type == FrameType::kProof || frame.type == FrameType::kProofEnd) {
      if (!guard_) return false;
      Judge(frame.type == FrameType::kProof ? guard_->AddProof(frame.bytes)
                                            : guard_->EndProof());
      return true;
    }
    if (input_ended_) return false;
    if (frame.type == FrameType::kInput && guard_) {
      Judge(guard_->FromGit(frame.bytes));
      return true;
    }
    if (frame.type == FrameType::kInput) {
      transport_.sent += frame.bytes.size();
      if (in_) to_ssh_.append(frame.bytes);
      return true;
    }
    input_ended_ = frame.type == FrameType::kInputEnd;
    return input_ended_;
  }

  void Start(std::string_view bytes, const BrokerSetup& setup) {
    const auto words = DecodeWords(bytes);
    if (!words || words->empty()) return Refuse("git's request is not one");
    const auto request =
        ParseSshArguments({words->begin() + 1, words->end()}, words->front());
    if (!request) return Refuse(request.error().message);
    transport_.service = Name(request->service);
    transport_.target = Describe(request->target).substr(0, kMaxSshReason);
    const bool push = request->service == SshService::kPush;
    if (push && setup.scope.sessions == 0)
      return Refuse("the line does not run `git push` itself");
    if (!(push ? setup.push : setup.fetch).contains(request->target)) {
      transport_.unpinned = true;
      return Refuse(transport_.target +
                    (push ? " is not where this repository pushed to when gate "
                            "first saw it"
                          : " is not a remote that this repository had when "
                            "gate first saw it"));
    }
    if (push && ++(*pushes_)[request->target] > setup.scope.sessions)
      return Refuse(
          "it is one push more than the line has; a hook's own is not "
          "passed on");
    if (setup.program.empty()) return Refuse("there is no ssh on this machine");
    Fd in, out, err;
    if (!MakePipe(&in, &in_) || !MakePipe(&out_, &out) ||
        !MakePipe(&err_, &err))
      return Refuse("ssh cannot be started");
    pid_ = StartSsh(setup, *request, in.get(), out.get(), err.get());
    // The call, since the C library may be older than its name there.
    if (pid_ > 0)
      pidfd_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!pidfd_) {
      End();
      return Refuse("ssh cannot be started");
    }
    DoNotWait(in_);
    DoNotWait(out_);
    DoNotWait(err_);
    if (push) guard_.emplace(setup.scope);
  }

  void FlushInput() {
    if (in_ && !WriteWaiting(in_.get(), &to_ssh_)) in_.reset();
    if (!in_) to_ssh_.clear();
    // What may be passed on goes before the end.
    const bool waits = guard_ && guard_->waits();
    if (in_ && input_ended_ && to_ssh_.empty() && !waits) in_.reset();
  }

  // False when there is no more at the moment.
  bool ReadSsh(Fd* from, FrameType type) {
    std::array<char, kReadBytes> buffer;
    const ssize_t got = ::read(from->get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && errno == EAGAIN) return false;
    if (got <= 0) {
      from->reset();
      return false;
    }
    const std::string_view bytes(buffer.data(), static_cast<size_t>(got));
    if (type == FrameType::kOutput) transport_.received += bytes.size();
    if (guard_ && type == FrameType::kOutput) {
      // Before git inside has it, so that a list that is none ends here.
      const Status read = guard_->FromServer(bytes);
      if (read) PutFrame(type, bytes, &to_peer_);
      Judge(read);
      return !exited_;
    }
    PutFrame(type, bytes, &to_peer_);
    return true;
  }

  // What ssh wrote last is still in its pipes, which hold 64 KiB each; what
  // others hold open is not waited for.
  void Reap() {
    // While it is not waited for, its group's number is nobody else's.
    ::kill(-pid_, SIGKILL);
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return;
    pid_ = -1;
    pidfd_.reset();
    // Where ssh went through a connection that was there, another process
    // holds the pipes and may write on.
    const size_t most = to_peer_.size() + kMaxWaiting;
    while (out_ && to_peer_.size() < most &&
           ReadSsh(&out_, FrameType::kOutput)) {
    }
    while (err_ && to_peer_.size() < most &&
           ReadSsh(&err_, FrameType::kError)) {
    }
    if (exited_) return;  // what it wrote last was refused
    out_.reset();
    err_.reset();
    in_.reset();
    transport_.exit_code =
        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    Exit(transport_.exit_code);
  }

  Fd peer_;
  size_t number_;
  std::map<SshTarget, size_t>* pushes_;
  std::optional<PushGuard> guard_;  // of a push, until it is judged
  Fd in_, out_, err_, pidfd_;
  pid_t pid_ = -1;
  std::string from_peer_, to_peer_, to_ssh_;
  bool asked_ = false, input_ended_ = false, exited_ = false, over_ = false;
  Transport transport_;
};

}  // namespace

std::vector<Transport> ServeSessions(const BrokerSetup& setup, int listener,
                                     int leash) {
  std::vector<Transport> all;
  std::list<Session> sessions;
  std::map<SshTarget, size_t> pushes;
  std::vector<pollfd> wanted;
  const auto remove = [&](std::list<Session>::iterator at) {
    at->End();
    all[at->number()] = at->transport();
    return sessions.erase(at);
  };
  for (;;) {
    wanted.assign(2 + sessions.size() * Session::kPolled, {});
    wanted[0] = {leash, POLLIN, 0};
    const bool room = sessions.size() < kMaxConnections;
    wanted[1] = {room ? listener : kNotPolled, POLLIN, 0};
    size_t at = 2;
    for (const Session& session : sessions) {
      session.Want(&wanted[at]);
      at += Session::kPolled;
    }
    if (::poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) break;
    if (wanted[0].revents != 0) break;
    at = 2;
    for (auto session = sessions.begin(); session != sessions.end();) {
      session->Serve(&wanted[at], setup);
      at += Session::kPolled;
      session = session->over() ? remove(session) : std::next(session);
    }
    if (wanted[1].revents == 0) continue;
    Fd peer(
        ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    // What comes beyond is not even listed.
    if (!peer || all.size() >= kMaxTransports) continue;
    sessions.emplace_back(std::move(peer), all.size(), &pushes);
    all.emplace_back();
  }
  while (!sessions.empty()) remove(sessions.begin());
  return all;
}

}  // namespace gate::credentials
