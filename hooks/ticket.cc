// A ticket is one file named by its number. The file's bytes are a MAC and the
// fields with their lengths; the MAC covers the name too, so that the content
// of one ticket cannot stand in for another. Whoever unlinks the file has
// redeemed it: unlink succeeds for one process only.
#include "hooks/ticket.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"

namespace gate::hooks {
namespace {

constexpr size_t kNameDigits = 32;
constexpr std::string_view kDomain = "gate.ticket/5\n";
constexpr size_t kMaxTicketBytes = 4 << 20;
// Beyond the longest lifetime by so much a file is swept whatever it is.
constexpr uint64_t kSweepSlackMs = 60 * 1000;

std::string Directory(const std::string& state_dir) {
  return state_dir + "/tickets";
}

Result<Hash> Key(const std::string& state_dir) {
  return LoadOrCreateKey(state_dir + "/ticket.key");
}

void Put(std::string_view text, std::string* out) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    out->push_back(static_cast<char>((text.size() >> shift) & 0xff));
  }
  out->append(text);
}

bool Take(std::string_view* in, std::string* out) {
  if (in->size() < 8) return false;
  uint64_t size = 0;
  for (int i = 0; i < 8; ++i) {
    size = size << 8 | static_cast<unsigned char>((*in)[size_t(i)]);
  }
  in->remove_prefix(8);
  if (size > in->size()) return false;
  *out = in->substr(0, size);
  in->remove_prefix(size);
  return true;
}

std::string Encode(const std::string& name, const Ticket& ticket) {
  std::string out(kDomain);
  for (const std::string* field :
       {&name, &ticket.command, &ticket.cwd, &ticket.place,
        &ticket.policy_revision, &ticket.plan, &ticket.decision_id,
        &ticket.agent, &ticket.session, &ticket.bound, &ticket.client}) {
    Put(*field, &out);
  }
  Put(ticket.asked ? "1" : "0", &out);
  Put(ticket.trial ? "1" : "0", &out);
  Put(std::to_string(ticket.expires_ms), &out);
  return out;
}

bool Decode(std::string_view in, const std::string& name, Ticket* ticket) {
  if (!in.starts_with(kDomain)) return false;
  in.remove_prefix(kDomain.size());
  std::string stored_name;
  std::string asked;
  std::string trial;
  std::string expires;
  for (std::string* field :
       {&stored_name, &ticket->command, &ticket->cwd, &ticket->place,
        &ticket->policy_revision, &ticket->plan, &ticket->decision_id,
        &ticket->agent, &ticket->session, &ticket->bound, &ticket->client,
        &asked, &trial, &expires}) {
    if (!Take(&in, field)) return false;
  }
  if (!in.empty() || stored_name != name || expires.empty() ||
      expires.size() > 19 || (asked != "0" && asked != "1") ||
      (trial != "0" && trial != "1")) {
    return false;
  }
  ticket->asked = asked == "1";
  ticket->trial = trial == "1";
  ticket->expires_ms = 0;
  for (const char c : expires) {
    if (c < '0' || c > '9') return false;
    ticket->expires_ms =
        ticket->expires_ms * 10 + static_cast<uint64_t>(c - '0');
  }
  return true;
}

bool IsTicketName(std::string_view name) {
  if (name.size() != kNameDigits) return false;
  for (const char c : name) {
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

// The name of the ticket for `call`, and that of the file which says that there
// are two for it.
std::string NameOf(const Hash& key, std::string_view what,
                   const std::string& call) {
  return Hex(Mac(key, std::string(what) + "\n" + call)).substr(0, kNameDigits);
}
constexpr std::string_view kOfCall = "gate.ticket/call";
// Hooks of one call are asked at the same time.
constexpr uint64_t kSameCallMs = 60 * 1000;
constexpr std::string_view kTwice = "gate.ticket/twice";

// Whether both let run the same.
bool SaysTheSame(const Ticket& one, const Ticket& other) {
  return one.command == other.command && one.cwd == other.cwd &&
         one.place == other.place && one.plan == other.plan &&
         one.policy_revision == other.policy_revision &&
         one.agent == other.agent && one.session == other.session &&
         one.asked == other.asked && one.bound == other.bound &&
         one.client == other.client;
}

// Reads a ticket's file, open as `file`.
Result<Ticket> ReadTicket(const std::string& state_dir, const std::string& name,
                          const Fd& file) {
  const std::string path = Directory(state_dir) + "/" + name;
  struct stat info{};
  if (fstat(file.get(), &info) != 0) return FailErrno("ticket " + path);
  if (!S_ISREG(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & 077) != 0) {
    return Fail(ErrorCode::kPermission, "the ticket's file is not gate's");
  }
  GATE_TRY(const std::string bytes, ReadAll(file.get(), kMaxTicketBytes));
  GATE_TRY(const Hash key, Key(state_dir));
  if (bytes.size() < kHashBytes) {
    return Fail(ErrorCode::kPermission, "the ticket was tampered with");
  }
  Hash mac{};
  std::copy_n(reinterpret_cast<const unsigned char*>(bytes.data()), mac.size(),
              mac.begin());
  const std::string_view body = std::string_view(bytes).substr(mac.size());
  Ticket ticket;
  if (!Equal(mac, Mac(key, body)) || !Decode(body, name, &ticket)) {
    return Fail(ErrorCode::kPermission, "the ticket was tampered with");
  }
  return ticket;
}

std::unexpected<Error> Unknown() {
  return Fail(ErrorCode::kNotFound, "no such ticket, or it has been used");
}

// Makes the file `name`, with `bytes`. kInvalid when it is there.
Status WriteNew(const std::string& state_dir, const std::string& name,
                const std::string& bytes) {
  const std::string path = Directory(state_dir) + "/" + name;
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  Fd file(open(path.c_str(), kFlags, 0600));
  if (!file && errno == ENOENT) {
    GATE_CHECK(MakeDirectories(Directory(state_dir), 0700));
    file = Fd(open(path.c_str(), kFlags, 0600));
  }
  if (!file && errno == EEXIST) return Fail(ErrorCode::kInvalid, "it is there");
  if (!file) return FailErrno("ticket " + path);
  if (auto written = WriteAll(file.get(), bytes); !written) {
    unlink(path.c_str());
    return std::unexpected(written.error());
  }
  return {};
}

Status Store(const std::string& state_dir, const Hash& key,
             const std::string& name, const Ticket& ticket) {
  if (!IsTicketName(name)) {
    return Fail(ErrorCode::kInternal, "no random bytes for a ticket");
  }
  const std::string body = Encode(name, ticket);
  const Hash mac = Mac(key, body);
  std::string bytes(reinterpret_cast<const char*>(mac.data()), mac.size());
  bytes += body;
  if (bytes.size() > kMaxTicketBytes) {
    return Fail(ErrorCode::kTooLarge, "the command is too long for a ticket");
  }
  return WriteNew(state_dir, name, bytes);
}

}  // namespace

Result<std::string> IssueTicket(const std::string& state_dir,
                                const Ticket& ticket, const std::string& call) {
  auto key = Key(state_dir);
  if (!key) {
    // Says what is wrong with the directory, where that is it.
    GATE_CHECK(MakeDirectories(state_dir, 0700));
    key = Key(state_dir);
  }
  if (!key) return std::unexpected(key.error());
  if (!call.empty()) {
    std::string name = NameOf(*key, kOfCall, call);
    const Status stored = Store(state_dir, *key, name, ticket);
    if (stored) return name;
    if (stored.error().code != ErrorCode::kInvalid)
      return std::unexpected(stored.error());
    const auto there = PeekTicket(state_dir, name);
    if (there && there->expires_ms + kSameCallMs < ticket.expires_ms) {
      // Of a call that came to nothing.
      unlink((Directory(state_dir) + "/" + name).c_str());
      GATE_CHECK(Store(state_dir, *key, name, ticket));
      return name;
    }
    if (there && SaysTheSame(*there, ticket)) return name;
    const Status twice = WriteNew(state_dir, NameOf(*key, kTwice, call), "");
    if (!twice && twice.error().code != ErrorCode::kInvalid)
      return std::unexpected(twice.error());
  }
  std::string name = Hex(RandomBytes(kNameDigits / 2));
  GATE_CHECK(Store(state_dir, *key, name, ticket));
  return name;
}

Result<Ticket> PeekTicket(const std::string& state_dir,
                          const std::string& name) {
  if (!IsTicketName(name)) return Unknown();
  const std::string path = Directory(state_dir) + "/" + name;
  const Fd file(
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return errno == ENOENT ? Unknown() : FailErrno("ticket " + path);
  return ReadTicket(state_dir, name, file);
}

Result<Ticket> TakeUnredeemed(const std::string& state_dir,
                              const std::string& call) {
  GATE_TRY(const Hash key, Key(state_dir));
  const std::string name = NameOf(key, kOfCall, call);
  GATE_TRY(Ticket ticket, PeekTicket(state_dir, name));
  const std::string directory = Directory(state_dir) + "/";
  // Whoever unlinks it has it: this, or the run that uses it.
  if (unlink((directory + name).c_str()) != 0) return Unknown();
  if (unlink((directory + NameOf(key, kTwice, call)).c_str()) == 0)
    return Unknown();
  return ticket;
}

Result<Ticket> RedeemTicket(const std::string& state_dir,
                            const std::string& name, uint64_t now_ms) {
  if (!IsTicketName(name)) return Unknown();
  const std::string path = Directory(state_dir) + "/" + name;
  const Fd file(
      open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const bool opened = static_cast<bool>(file);
  const int open_error = errno;
  // Used from here on, whatever it turns out to be.
  if (unlink(path.c_str()) != 0) {
    if (errno != EROFS && errno != EACCES && errno != EPERM) return Unknown();
    return Fail(ErrorCode::kIo, Directory(state_dir) + ": " + strerror(errno));
  }
  if (!opened) {
    errno = open_error;
    return FailErrno("ticket " + path);
  }
  GATE_TRY(Ticket ticket, ReadTicket(state_dir, name, file));
  if (now_ms >= ticket.expires_ms) {
    return Fail(ErrorCode::kTimeout,
                ticket.asked ? "the question was open for more than an hour"
                             : "it is more than ten minutes old");
  }
  return ticket;
}

void SweepTickets(const std::string& state_dir, uint64_t now_ms, int budget) {
  DIR* directory = opendir(Directory(state_dir).c_str());
  if (directory == nullptr) return;
  const int at = dirfd(directory);
  while (budget > 0) {
    const dirent* entry = readdir(directory);
    if (entry == nullptr) break;
    if (!IsTicketName(entry->d_name)) continue;
    --budget;
    struct stat info{};
    if (fstatat(at, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    const uint64_t made_ms =
        static_cast<uint64_t>(info.st_mtim.tv_sec) * 1000 +
        static_cast<uint64_t>(info.st_mtim.tv_nsec) / 1000000;
    if (made_ms + kAskedTicketLifetimeMs + kSweepSlackMs < now_ms) {
      unlinkat(at, entry->d_name, 0);
    }
  }
  closedir(directory);
}

}  // namespace gate::hooks
