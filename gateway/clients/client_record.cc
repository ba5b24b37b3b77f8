#include "gateway/client_record.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "approvals/signed_store.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"

namespace gate::app {
namespace {

constexpr std::string_view kDomain = "client";
constexpr size_t kNameDigits = 32;

std::string Directory(const std::string& state_dir) {
  return state_dir + "/clients";
}

std::string FileOf(const std::string& state_dir, const std::string& client) {
  return Directory(state_dir) + "/" +
         Hex(Sha256(client)).substr(0, kNameDigits);
}

// Held by whoever changes records; the hook's deadline bounds the wait.
Result<Fd> Lock(const std::string& state_dir) {
  GATE_CHECK(MakeDirectories(Directory(state_dir), 0700));
  const std::string path = Directory(state_dir) + "/lock";
  Fd lock(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!lock) return FailErrno(path);
  while (::flock(lock.get(), LOCK_EX) != 0)
    if (errno != EINTR) return FailErrno(path);
  return lock;
}

Result<ClientRecord> Read(const std::string& state_dir,
                          const std::string& path) {
  GATE_TRY(const std::string body, ReadSigned(state_dir, kDomain, path));
  const auto json = ParseJson(body);
  if (!json || !json->is_object())
    return Fail(ErrorCode::kCorrupt, "a client's record does not verify");
  ClientRecord record;
  record.client = json->value("client", "");
  record.drops = json->value("drops", uint64_t{0});
  record.changed_ms = json->value("changed_ms", uint64_t{0});
  const std::string standing = json->value("standing", "");
  record.standing = standing == "good"    ? Standing::kGood
                    : standing == "trial" ? Standing::kTrial
                                          : Standing::kMarked;
  return record;
}

Status Write(const std::string& state_dir, const ClientRecord& record) {
  const char* standing = record.standing == Standing::kGood    ? "good"
                         : record.standing == Standing::kTrial ? "trial"
                                                               : "marked";
  return WriteSigned(state_dir, kDomain, FileOf(state_dir, record.client),
                     Dump({{"client", record.client},
                           {"drops", record.drops},
                           {"standing", standing},
                           {"changed_ms", record.changed_ms}}));
}

std::vector<std::string> Files(const std::string& state_dir) {
  std::vector<std::string> files;
  DIR* directory = ::opendir(Directory(state_dir).c_str());
  if (directory == nullptr) return files;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name.size() == kNameDigits &&
        name.find_first_not_of("0123456789abcdef") == std::string_view::npos)
      files.push_back(Directory(state_dir) + "/" + std::string(name));
  }
  ::closedir(directory);
  return files;
}

// Whether one more record fits.
bool MakeRoom(const std::string& state_dir) {
  const std::vector<std::string> files = Files(state_dir);
  if (files.size() < kMaxClientRecords) return true;
  std::string oldest;
  uint64_t changed_ms = UINT64_MAX;
  for (const std::string& file : files) {
    const auto record = Read(state_dir, file);
    if (!record || record->standing != Standing::kGood ||
        record->changed_ms >= changed_ms)
      continue;
    oldest = file;
    changed_ms = record->changed_ms;
  }
  return !oldest.empty() && ::unlink(oldest.c_str()) == 0;
}

}  // namespace

Standing StandingOf(const std::string& state_dir, const std::string& client) {
  const std::string path = FileOf(state_dir, client);
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return Standing::kMarked;
    // Only a full directory says anything about one that is not in it.
    if (::lstat(Directory(state_dir).c_str(), &info) != 0 ||
        Files(state_dir).size() < kMaxClientRecords)
      return Standing::kGood;
    return std::ranges::any_of(ListClients(state_dir),
                               [](const ClientRecord& record) {
                                 return record.standing == Standing::kGood;
                               })
               ? Standing::kGood
               : Standing::kMarked;
  }
  const auto record = Read(state_dir, path);
  // Cleared by another process meanwhile.
  if (!record && record.error().code == ErrorCode::kNotFound)
    return Standing::kGood;
  return record && record->client == client ? record->standing
                                            : Standing::kMarked;
}

Result<ClientRecord> NoteDrop(const std::string& state_dir,
                              const std::string& client, uint64_t now_ms) {
  GATE_TRY(const Fd lock, Lock(state_dir));
  ClientRecord record;
  auto there = Read(state_dir, FileOf(state_dir, client));
  if (there && there->client == client) {
    record = std::move(*there);
    if (record.standing == Standing::kTrial)
      record.drops = std::max(record.drops, kDropsToMark - 1);
  } else if (!there && there.error().code == ErrorCode::kNotFound) {
    record.standing = Standing::kGood;
    if (!MakeRoom(state_dir))
      return ClientRecord{client, 1, Standing::kMarked, now_ms};
  }
  record.client = client;
  ++record.drops;
  if (record.drops >= kDropsToMark) record.standing = Standing::kMarked;
  record.changed_ms = now_ms;
  GATE_CHECK(Write(state_dir, record));
  return record;
}

Status NoteApplied(const std::string& state_dir, const std::string& client) {
  GATE_TRY(const Fd lock, Lock(state_dir));
  const std::string path = FileOf(state_dir, client);
  const auto record = Read(state_dir, path);
  if (!record || record->standing != Standing::kTrial) return {};
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return FailErrno(path);
  return {};
}

Result<std::vector<std::string>> TryAgain(const std::string& state_dir,
                                          uint64_t now_ms) {
  std::vector<std::string> names;
  if (Files(state_dir).empty()) return names;
  GATE_TRY(const Fd lock, Lock(state_dir));
  for (const std::string& file : Files(state_dir)) {
    auto record = Read(state_dir, file);
    if (!record) {
      if (::unlink(file.c_str()) != 0) return FailErrno(file);
      continue;
    }
    if (record->standing != Standing::kMarked) continue;
    record->standing = Standing::kTrial;
    record->changed_ms = now_ms;
    GATE_CHECK(Write(state_dir, *record));
    names.push_back(record->client);
  }
  return names;
}

std::vector<ClientRecord> ListClients(const std::string& state_dir) {
  std::vector<ClientRecord> records;
  for (const std::string& file : Files(state_dir))
    records.push_back(Read(state_dir, file).value_or(ClientRecord{}));
  return records;
}

}  // namespace gate::app
