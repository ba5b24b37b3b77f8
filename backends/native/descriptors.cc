// Descriptors between gate and process 1.
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "backends/native/calls/calls.h"

namespace gate::backends {

ssize_t ReceiveMessage(int socket, void* message, size_t size, int* files,
                       int* count) {
  iovec part = {message, size};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t got = 0;
  do {
    got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  *count = 0;
  const cmsghdr* item = got > 0 ? CMSG_FIRSTHDR(&header) : nullptr;
  if (item == nullptr || item->cmsg_type != SCM_RIGHTS) return got;
  const size_t bytes = item->cmsg_len - CMSG_LEN(0);
  *count = static_cast<int>(bytes / sizeof(int));
  memcpy(files, CMSG_DATA(item), bytes);
  return got;
}

Result<Fd> ReceiveListener(int socket, void* message, size_t size,
                           ssize_t* got) {
  int files[kMaxDescriptors], count = 0;
  *got = ReceiveMessage(socket, message, size, files, &count);
  if (count == 0) return Fail(ErrorCode::kNotFound, "no descriptor came");
  return Fd(files[0]);  // only one is ever sent
}

int SendDescriptors(int socket, const int* files, int count) {
  const size_t size = static_cast<size_t>(count) * sizeof(int);
  char byte = 'l';
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = CMSG_SPACE(size);
  cmsghdr* item = CMSG_FIRSTHDR(&header);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(item), files, size);
  return sendmsg(socket, &header, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

int ReceiveDescriptors(int socket, int* files, int count) {
  char byte = 0;
  int all[kMaxDescriptors], came = 0;
  const ssize_t got = ReceiveMessage(socket, &byte, 1, all, &came);
  if (got < 0) return -1;
  if (came != count) {
    errno = EPROTO;
    return -1;
  }
  memcpy(files, all, static_cast<size_t>(count) * sizeof(int));
  return 0;
}

int SendListener(int socket, int listener) {
  return SendDescriptors(socket, &listener, 1);
}

}  // namespace gate::backends
