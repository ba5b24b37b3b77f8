#include "hooks/install.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <optional>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "hooks/capabilities.h"
#include "hooks/settings.h"

namespace gate::hooks {
namespace {

// gate answers within 2 s; the guard ends it after 10 s; the client waits 15 s,
// so that the guard's refusal always comes before the client gives up and runs
// the command.
constexpr const char kGuardSeconds[] = "10";
constexpr int kClientSeconds = 15;
// Every tool: one that reads or runs something under a name that is not known
// yet is judged by what its input says. A silent answer costs 3 ms.
constexpr const char kEveryTool[] = "*";
// After a rewritten command gate looks whether the client has run it.
constexpr const char kShellTool[] = "Bash";

bool IsAbsolute(const std::string& path) { return path.starts_with('/'); }

std::unexpected<Error> UnknownClient(const std::string& client) {
  return Fail(ErrorCode::kInvalid,
              "`" + Visible(client) +
                  "` is not a client whose settings gate knows: " +
                  InstallableClients());
}

// Where the client's own variable puts the user's settings; empty without one.
std::string MovedTo(const InstallOptions& options) {
  return options.project || !IsAbsolute(options.moved_dir)
             ? ""
             : Normalise(options.moved_dir, "/");
}

// Where a write to `path` ends up. A link is followed, so that settings kept
// elsewhere stay there, but not out of what the person chose.
Result<std::string> Resolve(const std::string& path,
                            const InstallOptions& options) {
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return FailErrno(path);
    // The directory may be a link too.
    char parent[PATH_MAX];
    const std::string directory(DirName(path));
    if (realpath(directory.c_str(), parent) == nullptr) return path;
    GATE_TRY(const std::string at, Resolve(std::string(parent), options));
    return at + "/" + std::string(BaseName(path));
  }
  char real[PATH_MAX];
  if (realpath(path.c_str(), real) == nullptr) return FailErrno(path);
  char home[PATH_MAX];
  bool inside = false;
  const std::string moved = MovedTo(options);
  for (const std::string& root :
       {options.project ? options.project_dir : options.home,
        moved.empty() ? options.home : moved}) {
    inside = inside ||
             (realpath(root.c_str(), home) != nullptr && IsWithin(real, home));
  }
  if (!inside) {
    return Fail(ErrorCode::kPermission,
                path + ": a link to " + real + ", which is outside " +
                    (options.project ? options.project_dir : options.home));
  }
  return std::string(real);
}

Result<FileChange> ReadSettings(const InstallOptions& options) {
  GATE_TRY(const std::string path, SettingsPath(options));
  FileChange change;
  GATE_TRY(change.path, Resolve(path, options));
  auto text = ReadFile(change.path, kMaxSettingsBytes, /*follow=*/false);
  if (text) {
    change.existed = true;
    change.before = std::move(*text);
  } else if (text.error().code != ErrorCode::kNotFound) {
    return std::unexpected(text.error());
  }
  change.after = change.before;
  return change;
}

Result<std::vector<FileChange>> Changes(
    FileChange change, Result<std::optional<std::string>> after) {
  if (!after) {
    return Fail(after.error().code, change.path + ": " + after.error().message);
  }
  change.removed = !*after;
  change.after = after->value_or("");
  if (!change.removed && change.after == change.before)
    return std::vector<FileChange>{};
  return std::vector<FileChange>{std::move(change)};
}

std::string Timestamp(uint64_t now_ms) {
  const auto seconds = static_cast<time_t>(now_ms / 1000);
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return text;
}

// A new file beside `path`; never over an older backup.
Result<std::string> WriteBackup(const FileChange& change, mode_t mode,
                                uint64_t now_ms) {
  const std::string base = change.path + ".gate-backup-" + Timestamp(now_ms);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::string path =
        attempt == 0 ? base : base + "-" + std::to_string(attempt);
    const Fd file(open(path.c_str(),
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       mode));
    if (!file) {
      if (errno == EEXIST) continue;
      return FailErrno("backup " + path);
    }
    GATE_CHECK(WriteAll(file.get(), change.before));
    if (fsync(file.get()) != 0) return FailErrno("backup " + path);
    return path;
  }
  return Fail(ErrorCode::kIo, "too many backups named " + base);
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

}  // namespace

Result<std::string> SettingsPath(const InstallOptions& options) {
  GATE_CHECK(CheckClient(options.client));
  const Capabilities& can = *CapabilitiesOf(options.client);
  const std::string file = "/" + std::string(can.settings);
  if (const std::string moved = MovedTo(options); !moved.empty())
    return moved + file;
  const std::string& root =
      options.project ? options.project_dir : options.home;
  if (!IsAbsolute(root)) {
    return Fail(ErrorCode::kInvalid, "no directory to install into");
  }
  return root + "/" + std::string(can.directory) + file;
}

Status CheckClient(const std::string& client) {
  if (CapabilitiesOf(client) != nullptr) return {};
  return UnknownClient(client);
}

std::string GuardLine(const InstallOptions& options) {
  std::string timeout = options.timeout_path;
  if (timeout.empty()) {
    // By its path where it is usually: a program of that name in front of it
    // in PATH would answer for gate.
    timeout =
        access("/usr/bin/timeout", X_OK) == 0 ? "/usr/bin/timeout" : "timeout";
  }
  std::string line = "a=$(" + ShellQuote(timeout) + " " + kGuardSeconds + " " +
                     ShellQuote(options.gate_path);
  if (!options.config_dir.empty()) {
    line += " --config-dir " + ShellQuote(options.config_dir);
  }
  if (!options.state_dir.empty()) {
    line += " --state-dir " + ShellQuote(options.state_dir);
  }
  // Three answers are gate's: silence, one object, a refusal (whose reason is
  // on stderr by now), each between the marks of FrameAnswer. All else refuses:
  // another program at that path, an answer cut short, a signal, any other exit
  // code; and so does an answer that the client does not take.
  line +=
      " hook " + ShellQuote(options.client) + " --framed" +
      (options.intent ? kIntentOption : "") +
      "); s=$?; trap \"\" PIPE; case $s$a in "
      "0gate::gate) ;; "
      "0gate:{*}:gate) a=${a#gate:}; printf %s\\\\n \"${a%:gate}\" || exit 2;; "
      "2gate::gate) exit 2;; "
      "*) echo \"gate: hook failed (status $s)\" >&2; exit 2;; esac";
  // A $SHELL that is not POSIX would fail to read the guard, and a hook that
  // fails lets the command run.
  const Capabilities* can = CapabilitiesOf(options.client);
  if (can != nullptr && can->runs_hooks_by_user_shell)
    line = "/bin/sh -c " + ShellQuote(line);
  return line;
}

std::vector<HookEntry> EntriesFor(const InstallOptions& options) {
  HookEntry entry;
  entry.client = options.client;
  entry.matcher = kEveryTool;
  entry.command = GuardLine(options);
  entry.timeout_s = kClientSeconds;
  std::vector<HookEntry> entries = {entry};
  const Capabilities* can = CapabilitiesOf(options.client);
  if (can == nullptr) return entries;
  entries[0].block_on_failure =
      can->first_that_blocks.has_value() && options.block_on_failure;
  // The command has run by then: nothing is blocked.
  for (const std::string_view event : can->done_events) {
    entry.event = event;
    entry.matcher = kShellTool;
    entries.push_back(entry);
  }
  return entries;
}

Result<std::vector<FileChange>> PlanInstall(const InstallOptions& options) {
  if (!IsAbsolute(options.gate_path)) {
    return Fail(ErrorCode::kInvalid, "gate's own path is not absolute");
  }
  for (const std::string* directory :
       {&options.config_dir, &options.state_dir}) {
    if (!directory->empty() && !IsAbsolute(*directory)) {
      return Fail(ErrorCode::kInvalid,
                  "`" + *directory + "` is not an absolute path");
    }
  }
  // In a hook line a newline would end the command.
  for (const std::string* text : {&options.gate_path, &options.config_dir,
                                  &options.state_dir, &options.timeout_path}) {
    if (!IsUtf8(*text) || !FindHidden(*text).empty() ||
        text->find_first_of("\n\t") != std::string::npos) {
      return Fail(ErrorCode::kInvalid,
                  "`" + Visible(*text) + "` cannot stand in a hook line");
    }
  }
  GATE_TRY(FileChange change, ReadSettings(options));
  auto after =
      WithHooks(change.existed ? std::optional<std::string_view>(change.before)
                               : std::nullopt,
                EntriesFor(options));
  return Changes(std::move(change), std::move(after));
}

Result<std::vector<FileChange>> PlanUninstall(const InstallOptions& options) {
  GATE_TRY(FileChange change, ReadSettings(options));
  if (!change.existed) return std::vector<FileChange>{};
  auto after = WithoutHook(change.before, options.client);
  return Changes(std::move(change), std::move(after));
}

std::string RenderDiff(const FileChange& change) {
  constexpr size_t kContext = 2;
  const auto before = Lines(change.before);
  const auto after = Lines(change.after);
  size_t head = 0;
  while (head < before.size() && head < after.size() &&
         before[head] == after[head]) {
    ++head;
  }
  size_t tail = 0;
  while (tail < before.size() - head && tail < after.size() - head &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
  }
  std::string out =
      std::string("--- ") +
      (change.existed ? Visible(change.path) : "/dev/null") + "\n+++ " +
      (change.removed ? "/dev/null" : Visible(change.path)) + "\n";
  const size_t from = head > kContext ? head - kContext : 0;
  const size_t context_end = std::min(tail, kContext);
  out += "@@ -" + std::to_string(from + 1) + "," +
         std::to_string(before.size() - tail + context_end - from) + " +" +
         std::to_string(from + 1) + "," +
         std::to_string(after.size() - tail + context_end - from) + " @@\n";
  const auto add = [&](char mark, std::string_view line) {
    out += mark + Visible(ToUtf8(line), /*keep_layout=*/true) + "\n";
  };
  for (size_t i = from; i < head; ++i) add(' ', before[i]);
  for (size_t i = head; i < before.size() - tail; ++i) add('-', before[i]);
  for (size_t i = head; i < after.size() - tail; ++i) add('+', after[i]);
  for (size_t i = 0; i < context_end; ++i) {
    add(' ', before[before.size() - tail + i]);
  }
  return out;
}

Result<std::vector<std::string>> Apply(const std::vector<FileChange>& changes,
                                       uint64_t now_ms) {
  std::vector<std::string> backups;
  for (const FileChange& change : changes) {
    mode_t mode = 0600;
    if (change.existed) {
      GATE_TRY(const std::string now,
               ReadFile(change.path, kMaxSettingsBytes, /*follow=*/false));
      if (now != change.before) {
        return Fail(ErrorCode::kInvalid,
                    change.path + ": changed meanwhile; nothing was written");
      }
      struct stat info{};
      if (stat(change.path.c_str(), &info) != 0) return FailErrno(change.path);
      mode = info.st_mode & 0777;
      GATE_TRY(std::string backup, WriteBackup(change, mode, now_ms));
      backups.push_back(std::move(backup));
    } else {
      struct stat info{};
      if (lstat(change.path.c_str(), &info) == 0) {
        return Fail(ErrorCode::kInvalid,
                    change.path + ": appeared meanwhile; nothing was written");
      }
      GATE_CHECK(MakeDirectories(std::string(DirName(change.path)), 0700));
    }
    if (!change.removed)
      GATE_CHECK(WriteFileAtomically(change.path, change.after, mode));
    else if (unlink(change.path.c_str()) != 0)
      return FailErrno(change.path);
  }
  return backups;
}

}  // namespace gate::hooks
