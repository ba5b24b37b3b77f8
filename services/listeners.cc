#include "services/listeners.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::services {
namespace {

// Of the kernel's tables, some 7,000 lines.
constexpr size_t kMaxTableBytes = size_t{1} << 20;
// More processes and files of one than these are not looked at; a socket whose
// holder is not found has none that is known.
constexpr size_t kMaxProcesses = 65'536;
constexpr size_t kMaxFilesOfProcess = 65'536;
constexpr size_t kMaxSmallFile = 4096;
constexpr size_t kMaxAnswer = size_t{64} << 10;
constexpr size_t kMaxScript = 255;
// No IdentityOf begins so.
constexpr std::string_view kSessionIdentity = "session ";

template <class Number>
std::optional<Number> NumberIn(std::string_view text, int base = 10) {
  Number number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return std::nullopt;
  return number;
}

// The next word of `*line`, which is taken off.
std::string_view TakeWord(std::string_view* line) {
  const size_t begin = line->find_first_not_of(' ');
  if (begin == std::string_view::npos) {
    *line = {};
    return {};
  }
  line->remove_prefix(begin);
  const size_t end = std::min(line->find(' '), line->size());
  const std::string_view word = line->substr(0, end);
  line->remove_prefix(end);
  return word;
}

// Where an address of the tables leads to. They are words of 32 bits in the
// machine's order, as hexadecimal numbers.
struct AddressRow {
  std::string_view text;
  const char* address;
  bool four, six;
};
constexpr auto kAddresses = std::to_array<AddressRow>({
    {"00000000", "0.0.0.0", true, false},
    {"0100007F", "127.0.0.1", true, false},
    {"00000000000000000000000000000000", "::", true, true},
    {"00000000000000000000000001000000", "::1", false, true},
    {"0000000000000000FFFF00000100007F", "127.0.0.1", true, false},
    {"0000000000000000FFFF000000000000", "0.0.0.0", true, false},
});

// The beginning of a file of /proc; nothing where it cannot be opened.
std::optional<std::string> ReadStart(const std::string& path, size_t limit) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file) return std::nullopt;
  std::string text;
  char part[16 * 1024];
  while (text.size() < limit) {
    const ssize_t got =
        ::read(file.get(), part, std::min(sizeof(part), limit - text.size()));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(part, static_cast<size_t>(got));
  }
  return text;
}

std::string ReadSmall(const std::string& path) {
  return ReadStart(path, kMaxSmallFile).value_or("");
}

std::string LinkOf(const std::string& path) {
  char text[PATH_MAX];
  const ssize_t size = ::readlink(path.c_str(), text, sizeof(text));
  return size > 0 && size < static_cast<ssize_t>(sizeof(text))
             ? std::string(text, static_cast<size_t>(size))
             : "";
}

using Directory = std::unique_ptr<DIR, int (*)(DIR*)>;

// Calls `each` for the names in `path`, at most `limit` of them.
template <class Each>
void EachName(const std::string& path, size_t limit, Each each) {
  const Directory directory(::opendir(path.c_str()), ::closedir);
  while (directory != nullptr && limit-- > 0) {
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) return;
    each(entry->d_name);
  }
}

// What is shown of a process: its program and, of an interpreter, the script
// that stands right behind it. Other words may be secrets.
std::string CommandOf(const std::string& place, const std::string& program) {
  const std::string words = ReadSmall(place + "/cmdline");
  std::string shown(BaseName(program));
  std::string_view script = words;
  script.remove_prefix(std::min(script.find('\0'), script.size()));
  if (!script.empty()) script.remove_prefix(1);
  script = script.substr(0, script.find('\0'));
  const bool is_name = std::ranges::all_of(script, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' ||
           c == '/';
  });
  if (!script.empty() && script.size() <= kMaxScript && is_name &&
      !script.starts_with('-') && script.find('.') != script.npos)
    shown += " " + std::string(BaseName(script));
  return shown;
}

std::string UserOf(uid_t uid) {
  return UserName(uid).value_or(std::to_string(uid));
}

}  // namespace

std::vector<ListeningSocket> ParseListening(std::string_view table, bool six) {
  std::vector<ListeningSocket> sockets;
  size_t end = table.find('\n');  // a line of headings
  while (end != std::string_view::npos) {
    table.remove_prefix(end + 1);
    end = table.find('\n');
    std::string_view line = table.substr(0, end);
    //   0: 0100007F:1F40 00000000:0000 0A 0:0 00:0 0 1000 0 12345 …
    if (TakeWord(&line).empty()) break;
    const std::string_view local = TakeWord(&line);
    TakeWord(&line);  // the remote side
    if (TakeWord(&line) != "0A") break;
    for (int i = 0; i < 3; ++i) TakeWord(&line);  // queues, timer, retransmits
    const auto uid = NumberIn<uid_t>(TakeWord(&line));
    TakeWord(&line);  // timeout
    const auto inode = NumberIn<uint64_t>(TakeWord(&line));
    const size_t colon = local.find(':');
    const auto port = colon == local.npos
                          ? std::nullopt
                          : NumberIn<uint16_t>(local.substr(colon + 1), 16);
    if (!uid || !inode || !port) break;
    const auto row = std::ranges::find(kAddresses, local.substr(0, colon),
                                       &AddressRow::text);
    if (row == kAddresses.end() || (row->text.size() == 8) == six) continue;
    sockets.push_back({*port, row->four, row->six, row->address, *uid, *inode});
  }
  return sockets;
}

bool ParseDiagnosed(std::string_view messages,
                    std::vector<ListeningSocket>* sockets) {
  while (messages.size() >= sizeof(nlmsghdr)) {
    nlmsghdr header{};
    std::memcpy(&header, messages.data(), sizeof(header));
    if (header.nlmsg_len < sizeof(header) ||
        header.nlmsg_len > messages.size() ||
        header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
      return false;
    std::string_view body =
        messages.substr(sizeof(header), header.nlmsg_len - sizeof(header));
    messages.remove_prefix(
        std::min<size_t>(NLMSG_ALIGN(header.nlmsg_len), messages.size()));
    inet_diag_msg found{};
    if (body.size() < sizeof(found)) return false;
    std::memcpy(&found, body.data(), sizeof(found));
    const bool six = found.idiag_family == AF_INET6;
    // The words of an address, in the order in which the tables have them.
    std::string address;
    for (int i = 0; i < (six ? 4 : 1); ++i) {
      char word[9];
      std::snprintf(word, sizeof(word), "%08X", found.id.idiag_src[i]);
      address += word;
    }
    const auto row = std::ranges::find(kAddresses, address, &AddressRow::text);
    if (row == kAddresses.end()) continue;
    bool four = row->four;
    for (body.remove_prefix(NLMSG_ALIGN(sizeof(found)));
         body.size() >= sizeof(nlattr);) {
      nlattr attribute{};
      std::memcpy(&attribute, body.data(), sizeof(attribute));
      if (attribute.nla_len < sizeof(attribute) ||
          attribute.nla_len > body.size())
        break;
      if (attribute.nla_type == INET_DIAG_SKV6ONLY &&
          attribute.nla_len > sizeof(attribute) && body[sizeof(attribute)] != 0)
        four = false;
      body.remove_prefix(
          std::min<size_t>(NLA_ALIGN(attribute.nla_len), body.size()));
    }
    sockets->push_back({ntohs(found.id.idiag_sport), four, row->six,
                        row->address, found.idiag_uid, found.idiag_inode});
  }
  return true;
}

namespace {

// Asks the kernel for the sockets of one family that listen. False where it
// does not say.
bool Diagnose(int family, uint16_t port,
              std::vector<ListeningSocket>* sockets) {
  const Fd netlink(
      ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
  struct {
    nlmsghdr header;
    inet_diag_req_v2 request;
  } question = {};
  question.header.nlmsg_len = sizeof(question);
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  question.request.sdiag_family = static_cast<uint8_t>(family);
  question.request.sdiag_protocol = IPPROTO_TCP;
  question.request.idiag_states = 1u << TCP_LISTEN;
  question.request.id.idiag_sport = htons(port);
  if (!netlink || ::send(netlink.get(), &question, sizeof(question), 0) !=
                      static_cast<ssize_t>(sizeof(question)))
    return false;
  std::vector<char> space(kMaxAnswer);
  while (true) {
    const ssize_t got = ::recv(netlink.get(), space.data(), space.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < static_cast<ssize_t>(sizeof(nlmsghdr))) return false;
    const std::string_view messages(space.data(), static_cast<size_t>(got));
    nlmsghdr first{};
    std::memcpy(&first, messages.data(), sizeof(first));
    if (first.nlmsg_type == NLMSG_DONE) return true;
    if (first.nlmsg_type != SOCK_DIAG_BY_FAMILY) return false;
    // The end of a list may stand behind its last answers.
    if (!ParseDiagnosed(messages, sockets)) return true;
  }
}

std::vector<ListeningSocket> InOrder(std::vector<ListeningSocket> sockets) {
  std::ranges::sort(sockets, {}, &ListeningSocket::inode);
  return sockets;
}

}  // namespace

Result<std::vector<ListeningSocket>> FindListening(const ProcPlace& proc,
                                                   uint16_t port) {
  std::vector<ListeningSocket> all;
  if (proc.root == ProcPlace().root && Diagnose(AF_INET, port, &all) &&
      Diagnose(AF_INET6, port, &all))
    return InOrder(std::move(all));
  all.clear();
  for (const bool six : {false, true}) {
    // What listens stands first, so that the beginning is enough.
    const auto table =
        ReadStart(proc.root + (six ? "/net/tcp6" : "/net/tcp"), kMaxTableBytes);
    if (!table) {
      // Without IPv6 there is one table.
      if (six && errno == ENOENT) continue;
      return FailErrno("the kernel's table of sockets cannot be read");
    }
    for (ListeningSocket& socket : ParseListening(*table, six))
      if (port == 0 || socket.port == port) all.push_back(std::move(socket));
  }
  return InOrder(std::move(all));
}

uint64_t StartTimeOf(const ProcPlace& proc, pid_t pid) {
  const std::string text =
      ReadSmall(proc.root + "/" + std::to_string(pid) + "/stat");
  // The second field is a name in parentheses, with anything in it; of the
  // others the 22nd is meant (proc_pid_stat(5)).
  const size_t close = text.rfind(')');
  if (close == std::string::npos) return 0;
  std::string_view rest = std::string_view(text).substr(close + 1);
  std::string_view word;
  for (int field = 3; field <= 22; ++field) word = TakeWord(&rest);
  return NumberIn<uint64_t>(word).value_or(0);
}

std::vector<Listener> FindHolders(const ProcPlace& proc,
                                  const std::vector<ListeningSocket>& sockets) {
  std::vector<Listener> listeners;
  std::map<std::string, size_t> wanted;  // links of open files
  for (const ListeningSocket& socket : sockets) {
    wanted["socket:[" + std::to_string(socket.inode) + "]"] = listeners.size();
    listeners.push_back({socket, std::nullopt});
  }
  if (wanted.empty()) return listeners;
  EachName(proc.root, kMaxProcesses, [&](const char* name) {
    const auto pid = NumberIn<pid_t>(name);
    if (!pid) return;
    const std::string place = proc.root + "/" + name;
    uint64_t start = 0;
    EachName(place + "/fd", kMaxFilesOfProcess, [&](const char* file) {
      const auto found = wanted.find(LinkOf(place + "/fd/" + file));
      if (found == wanted.end()) return;
      if (start == 0) start = StartTimeOf(proc, *pid);
      std::optional<Process>& holder = listeners[found->second].process;
      // Of several that inherited it, the first.
      if (start == 0 ||
          (holder && (holder->start_time < start ||
                      (holder->start_time == start && holder->pid <= *pid))))
        return;
      const std::string program = LinkOf(place + "/exe");
      holder = Process{*pid, start, program, CommandOf(place, program)};
    });
  });
  return listeners;
}

std::string IdentityOf(const ProcPlace& proc,
                       const std::vector<Listener>& listeners) {
  if (listeners.empty()) return "";
  std::vector<std::string> parts;
  for (const Listener& listener : listeners) {
    std::string part = std::to_string(listener.socket.port) + " " +
                       std::to_string(listener.socket.uid);
    if (listener.process)
      part += " " + std::to_string(listener.process->pid) + " " +
              std::to_string(listener.process->start_time) + " " +
              listener.process->program;
    else
      part += " socket " + std::to_string(listener.socket.inode);
    parts.push_back(std::move(part));
  }
  std::ranges::sort(parts);
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  std::string identity;
  for (const std::string& part : parts) identity += part + "\n";
  std::string boot = ReadSmall(proc.root + "/sys/kernel/random/boot_id");
  while (boot.ends_with('\n')) boot.pop_back();
  return identity + boot;
}

std::string SessionIdentity(const std::string& private_tmp) {
  return std::string(kSessionIdentity) + private_tmp;
}

bool RunsInSession(pid_t pid, const std::string& private_tmp) {
  if (private_tmp.empty()) return false;
  const std::string seen = "/proc/" + std::to_string(pid) + "/root/tmp";
  const std::string own = private_tmp + "/tmp";
  struct stat there = {}, here = {};
  return lstat(seen.c_str(), &there) == 0 && lstat(own.c_str(), &here) == 0 &&
         S_ISDIR(here.st_mode) && there.st_dev == here.st_dev &&
         there.st_ino == here.st_ino;
}

SessionProcesses FindSessionProcesses(const std::string& private_tmp) {
  SessionProcesses found;
  const std::string network = LinkOf("/proc/self/ns/net");
  EachName("/proc", kMaxProcesses, [&](const char* name) {
    const auto pid = NumberIn<pid_t>(name);
    if (!pid || !RunsInSession(*pid, private_tmp)) return;
    const std::string own = LinkOf(std::string("/proc/") + name + "/ns/net");
    if (own.empty()) return;
    (own == network ? found.open : found.closed) = true;
  });
  return found;
}

bool AreNamedBy(const ProcPlace& proc, const std::vector<Listener>& listeners,
                const std::string& identity) {
  if (listeners.empty()) return false;
  if (!identity.starts_with(kSessionIdentity))
    return IdentityOf(proc, listeners) == identity;
  const std::string tmp = identity.substr(kSessionIdentity.size());
  return std::ranges::all_of(listeners, [&](const Listener& listener) {
    return listener.process && RunsInSession(listener.process->pid, tmp);
  });
}

std::string Describe(const std::vector<Listener>& listeners) {
  std::string text;
  for (const Listener& listener : listeners) {
    const std::string one =
        listener.process
            ? "`" + Visible(listener.process->command) + "` (process " +
                  std::to_string(listener.process->pid) + ")"
            : "a program of the user " + Visible(UserOf(listener.socket.uid));
    if (text.find(one) != std::string::npos) continue;
    text += (text.empty() ? "" : " and ") + one;
  }
  return text;
}

}  // namespace gate::services
