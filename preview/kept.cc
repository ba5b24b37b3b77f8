#include "preview/kept.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"

namespace gate::app {
namespace {

constexpr size_t kMinPrefix = 8;
constexpr size_t kSweptEntries = 20000;  // a call
constexpr size_t kAllEntries = SIZE_MAX;

std::string PreviewsDirectory(const std::string& state_dir) {
  return state_dir + "/previews";
}

bool IsId(std::string_view id) {
  return !id.empty() &&
         id.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
}

Fd OpenRoot(const std::string& state_dir) {
  return Fd(::open(PreviewsDirectory(state_dir).c_str(),
                   O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

std::vector<std::string> ListIds(const std::string& state_dir) {
  std::vector<std::string> ids;
  DIR* directory = ::opendir(PreviewsDirectory(state_dir).c_str());
  if (directory == nullptr) return ids;
  while (const dirent* entry = ::readdir(directory))
    if (IsId(entry->d_name)) ids.emplace_back(entry->d_name);
  ::closedir(directory);
  std::sort(ids.begin(), ids.end());  // UUIDv7: by time
  return ids;
}

Result<Fd> Lock(int root, const std::string& id) {
  Fd fd(::openat(root, id.c_str(),
                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return FailErrno("the preview is gone");
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    return Fail(ErrorCode::kTimeout, "the preview is in use");
  return fd;
}

std::set<size_t> ReadCommitted(const std::string& directory,
                               const KeptPreview& preview) {
  const auto text =
      ReadFile(directory + "/committed", backends::kMaxManifestBytes,
               /*follow=*/false);
  const auto json = text ? ParseJson(*text) : ParseJson("{}");
  if (!json || !json->is_object() ||
      json->value("manifest", "") != preview.hash ||
      !json->contains("entries") || !(*json)["entries"].is_array())
    return {};
  std::set<size_t> committed;
  for (const Json& entry : (*json)["entries"])
    if (entry.is_number_unsigned() &&
        entry.get<size_t>() < preview.manifest.entries.size())
      committed.insert(entry.get<size_t>());
  return committed;
}

Result<KeptPreview> VerifySigned(const std::string& state_dir,
                                 const std::string& id) {
  const std::string directory = PreviewDirectory(state_dir, id);
  GATE_TRY(const std::string text,
           ReadFile(directory + "/manifest", backends::kMaxManifestBytes,
                    /*follow=*/false));
  GATE_TRY(const Hash key, LoadOrCreateKey(state_dir + "/key"));
  const auto damaged = [] {
    return Fail(ErrorCode::kCorrupt, "a kept preview does not verify");
  };
  const size_t newline = text.find('\n');
  Hash mac;
  if (newline == std::string::npos ||
      !ParseHex(std::string_view(text).substr(0, newline), &mac))
    return damaged();
  const std::string body = text.substr(newline + 1);
  if (!Equal(mac, Mac(key, "preview\n" + body))) return damaged();
  auto json = ParseJson(body);
  if (!json || !json->is_object()) return damaged();
  KeptPreview preview;
  preview.id = json->value("id", "");
  preview.agent = json->value("agent", "");
  preview.policy_revision = json->value("policy", "");
  preview.action = json->value("action", "");
  preview.made_ms = json->value("made_ms", uint64_t{0});
  if (preview.id != id ||
      !DecodeBase64(json->value("command", ""), &preview.command) ||
      !DecodeBase64(json->value("workspace", ""), &preview.workspace) ||
      !DecodeBase64(json->value("cwd", ""), &preview.cwd))
    return damaged();
  GATE_TRY(preview.manifest,
           backends::ManifestFromText(json->value("manifest", "")));
  // The content stands where this directory says, not where a text does.
  for (const backends::PreviewRoot& root : preview.manifest.roots)
    if (!root.place.starts_with(directory + "/")) return damaged();
  preview.hash = Hex(Sha256(body));
  preview.committed = ReadCommitted(directory, preview);
  preview.interrupted = ::access((directory + "/commit").c_str(), F_OK) == 0;
  return preview;
}

// What has no manifest after a minute and is not in use was left by a gate that
// was killed: nobody can commit it. (A new one is locked within that minute.)
bool Abandoned(int root, const std::string& id, uint64_t changed_ms,
               uint64_t now_ms) {
  return now_ms > changed_ms + 60'000 &&
         ::faccessat(root, (id + "/manifest").c_str(), F_OK,
                     AT_SYMLINK_NOFOLLOW) != 0 &&
         errno == ENOENT;
}

bool Expired(uint64_t made_ms, uint64_t now_ms) {
  return now_ms > made_ms + kPreviewLifetimeMs || now_ms < made_ms;
}

// Removes one, unless it is in use.
void Sweep(const std::string& state_dir, int root, const std::string& id,
           size_t* budget, const backends::Kept& told) {
  const auto lock = Lock(root, id);
  if (!lock) return;
  if (auto kept = VerifySigned(state_dir, id))
    backends::RemoveStages(kept->manifest, id, told);
  backends::RemoveTree(root, id, budget);
}

}  // namespace

std::string PreviewDirectory(const std::string& state_dir,
                             const std::string& id) {
  return PreviewsDirectory(state_dir) + "/" + id;
}

Result<Fd> MakePreview(const std::string& state_dir, const std::string& id,
                       uint64_t now_ms, const backends::Kept& told) {
  if (!IsId(id)) return Fail(ErrorCode::kInvalid, "not an id");
  GATE_CHECK(MakeDirectories(PreviewsDirectory(state_dir), 0700));
  const Fd root = OpenRoot(state_dir);
  if (!root) return FailErrno("the previews cannot be opened");
  const std::vector<std::string> ids = ListIds(state_dir);
  size_t budget = kSweptEntries;
  for (size_t i = 0; i < ids.size() && budget > 0; ++i) {
    struct stat info = {};
    if (::fstatat(root.get(), ids[i].c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    const uint64_t changed =
        static_cast<uint64_t>(info.st_mtim.tv_sec) * 1000 +
        static_cast<uint64_t>(info.st_mtim.tv_nsec) / 1000000;
    if (i + kMaxPreviews <= ids.size() || Expired(changed, now_ms + 1) ||
        Abandoned(root.get(), ids[i], changed, now_ms))
      Sweep(state_dir, root.get(), ids[i], &budget, told);
  }
  if (::mkdirat(root.get(), id.c_str(), 0700) != 0)
    return FailErrno("the preview's directory cannot be made");
  return Lock(root.get(), id);
}

Status KeepPreview(const std::string& state_dir, KeptPreview* preview) {
  GATE_TRY(const Hash key, LoadOrCreateKey(state_dir + "/key"));
  const std::string body =
      Dump({{"id", preview->id},
            {"command", Base64(preview->command)},
            {"cwd", Base64(preview->cwd)},
            {"workspace", Base64(preview->workspace)},
            {"agent", preview->agent},
            {"policy", preview->policy_revision},
            {"action", preview->action},
            {"made_ms", preview->made_ms},
            {"manifest", backends::ManifestToText(preview->manifest)}});
  const std::string signed_text =
      Hex(Mac(key, "preview\n" + body)) + "\n" + body;
  if (signed_text.size() > backends::kMaxManifestBytes)
    return Fail(ErrorCode::kTooLarge, "the manifest is too large");
  GATE_CHECK(WriteFileAtomically(
      PreviewDirectory(state_dir, preview->id) + "/manifest", signed_text,
      0600));
  preview->hash = Hex(Sha256(body));
  return {};
}

Result<std::vector<KeptPreview>> ListPreviews(const std::string& state_dir,
                                              uint64_t now_ms) {
  std::vector<KeptPreview> previews;
  for (const std::string& id : ListIds(state_dir)) {
    auto preview = VerifySigned(state_dir, id);
    if (preview && !Expired(preview->made_ms, now_ms))
      previews.push_back(std::move(*preview));
  }
  return previews;
}

Result<KeptPreview> FindPreview(const std::string& state_dir,
                                const std::string& id, uint64_t now_ms) {
  std::vector<std::string> fitting;
  for (const std::string& known : ListIds(state_dir))
    if (known == id || (id.size() >= kMinPrefix && known.starts_with(id)))
      fitting.push_back(known);
  if (fitting.empty())
    return Fail(ErrorCode::kNotFound, "no preview `" + Visible(id) + "`");
  if (fitting.size() > 1)
    return Fail(ErrorCode::kInvalid,
                "`" + Visible(id) + "` fits several previews");
  GATE_TRY(KeptPreview preview, VerifySigned(state_dir, fitting[0]));
  if (Expired(preview.made_ms, now_ms))
    return Fail(ErrorCode::kNotFound, "the preview has expired");
  return preview;
}

Result<Fd> LockPreview(const std::string& state_dir, const std::string& id) {
  const Fd root = OpenRoot(state_dir);
  if (!root || !IsId(id)) return Fail(ErrorCode::kNotFound, "no such preview");
  return Lock(root.get(), id);
}

Status NoteCommit(const std::string& state_dir, const KeptPreview& preview) {
  return WriteFileAtomically(
      PreviewDirectory(state_dir, preview.id) + "/commit", preview.hash + "\n",
      0600);
}

Status NoteCommitted(const std::string& state_dir, const KeptPreview& preview) {
  return WriteFileAtomically(
      PreviewDirectory(state_dir, preview.id) + "/committed",
      Dump({{"manifest", preview.hash}, {"entries", preview.committed}}), 0600);
}

void CommitEnded(const std::string& state_dir, const KeptPreview& preview) {
  if (IsId(preview.id))
    ::unlink((PreviewDirectory(state_dir, preview.id) + "/commit").c_str());
}

void DropPreview(const std::string& state_dir, const KeptPreview& preview,
                 const backends::Kept& told) {
  backends::RemoveStages(preview.manifest, preview.id, told);
  const Fd root = OpenRoot(state_dir);
  size_t budget = kAllEntries;
  if (root && IsId(preview.id))
    backends::RemoveTree(root.get(), preview.id, &budget);
}

}  // namespace gate::app
