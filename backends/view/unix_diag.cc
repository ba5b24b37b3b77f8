#include "backends/view/unix_diag.h"

#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/file.h"

namespace gate::backends {
namespace {

// As much as the kernel fills at once (netlink_dump()).
constexpr size_t kAnswerBytes = size_t{32} << 10;
constexpr size_t kMaxSockets = 65536;

// Newer than the headers (Linux 5.3).
constexpr uint32_t kShowUid = 0x40;
constexpr uint16_t kUid = 7;

template <typename T>
bool Copy(std::string_view bytes, T* value) {
  if (bytes.size() < sizeof(T)) return false;
  memcpy(value, bytes.data(), sizeof(T));
  return true;
}

bool Ask(int kernel) {
  struct {
    nlmsghdr header;
    unix_diag_req request;
  } question = {};
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.request.sdiag_family = AF_UNIX;
  question.request.udiag_states = UINT32_MAX;
  question.request.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_VFS | kShowUid;
  return send(kernel, &question, sizeof(question), 0) ==
         static_cast<ssize_t>(sizeof(question));
}

// Adds the socket that one message is about. False when it is no such.
bool Add(std::string_view message, std::vector<UnixSocket>* sockets) {
  unix_diag_msg head = {};
  if (!Copy(message, &head)) return false;
  UnixSocket socket;
  socket.inode = head.udiag_ino;
  message.remove_prefix(std::min(message.size(), NLMSG_ALIGN(sizeof(head))));
  nlattr attribute = {};
  while (Copy(message, &attribute)) {
    const size_t size = attribute.nla_len;
    if (size < NLA_HDRLEN || size > message.size()) return false;
    const std::string_view value =
        message.substr(NLA_HDRLEN, size - NLA_HDRLEN);
    unix_diag_vfs vfs = {};
    uint32_t owner = 0;
    switch (attribute.nla_type) {
      case UNIX_DIAG_NAME:
        // Of what is bound to a file the zero at the end is part of the name;
        // one at the beginning says that there is no file.
        socket.name = value.substr(0, value.find('\0'));
        break;
      case UNIX_DIAG_VFS:
        if (Copy(value, &vfs)) {
          socket.file = vfs.udiag_vfs_ino;
          // The kernel's own numbers: MINORBITS of include/linux/kdev_t.h.
          socket.device = std::to_string(vfs.udiag_vfs_dev >> 20) + ":" +
                          std::to_string(vfs.udiag_vfs_dev & 0xfffff);
        }
        break;
      case kUid:
        if (Copy(value, &owner)) socket.owner = owner;
        break;
      default:
        break;
    }
    message.remove_prefix(
        std::min(message.size(), static_cast<size_t>(NLA_ALIGN(size))));
  }
  // A stream that is connected has the name of the socket that accepted it.
  constexpr uint8_t kConnected = 1;  // TCP_ESTABLISHED
  if (!socket.name.empty() &&
      (head.udiag_type == SOCK_DGRAM || head.udiag_state != kConnected))
    sockets->push_back(std::move(socket));
  return true;
}

}  // namespace

std::optional<UnixDump> DumpUnixSockets() {
  const Fd kernel(
      socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  if (!kernel || !Ask(kernel.get())) return std::nullopt;
  UnixDump dump;
  const auto buffer = std::make_unique<char[]>(kAnswerBytes);
  for (int answers = 0;; ++answers) {
    const ssize_t got = recv(kernel.get(), buffer.get(), kAnswerBytes,
                             MSG_DONTWAIT | MSG_TRUNC);
    if (got <= 0 || static_cast<size_t>(got) > kAnswerBytes)
      return std::nullopt;
    std::string_view answer(buffer.get(), static_cast<size_t>(got));
    nlmsghdr header = {};
    while (Copy(answer, &header)) {
      if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > answer.size())
        return std::nullopt;
      if (header.nlmsg_type == NLMSG_DONE) {
        dump.whole = answers <= 1;
        return dump;
      }
      if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY ||
          !Add(answer.substr(sizeof(header), header.nlmsg_len - sizeof(header)),
               &dump.sockets) ||
          dump.sockets.size() > kMaxSockets)
        return std::nullopt;
      answer.remove_prefix(std::min(
          answer.size(), static_cast<size_t>(NLMSG_ALIGN(header.nlmsg_len))));
    }
  }
}

}  // namespace gate::backends
