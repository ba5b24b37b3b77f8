// A process outside that answers one contained run on a socket, in a directory
// that belongs to this run alone.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

#include "base/file.h"
#include "base/result.h"

namespace gate::credentials {

class OutsideSocket {
 public:
  // Runs in the new process, with nothing open but these two: what connects,
  // and the leash, at whose end it must return. `own` is a name in the
  // directory that it may use. Returns the report.
  using Serve = std::function<std::string(int listener, int leash,
                                          const std::string& own)>;

  // Makes a directory below `directory` with the socket, and starts the
  // process. kIo, kPermission; kTooLarge when the socket's name is too long for
  // the kernel. Removes what killed ones left there. A millisecond.
  static Result<OutsideSocket> Start(const std::string& directory, int backlog,
                                     const Serve& serve);
  OutsideSocket(OutsideSocket&&) noexcept;
  OutsideSocket(const OutsideSocket&) = delete;  // owns a process
  OutsideSocket& operator=(const OutsideSocket&) = delete;
  ~OutsideSocket();  // as Finish

  const std::string& path() const { return path_; }
  bool finished() const { return pid_ < 0; }

  // Ends the process and returns its report, at most `limit` bytes of it; empty
  // where it has none or more. Once; later calls return nothing.
  std::string Finish(size_t limit);

 private:
  OutsideSocket() = default;
  std::string path_;
  Fd leash_;  // the process ends when this is closed
  Fd report_;
  pid_t pid_ = -1;
};

}  // namespace gate::credentials
