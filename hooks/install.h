// Writing gate into a client's settings, and out again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace gate::hooks {

struct InstallOptions {
  std::string client;      // one of AllCapabilities()
  std::string home;        // whose settings
  std::string gate_path;   // absolute path of the gate binary
  std::string config_dir;  // written as absolute paths into the hook line
  std::string state_dir;
  bool project = false;  // the project's settings instead of the user's
  std::string project_dir;
  // Where the client's own variable puts its directory; used when absolute, for
  // the user's settings.
  std::string moved_dir;
  // The client itself blocks when the hook fails
  // (Capabilities::first_that_blocks). False also where the version is not
  // known: what an entry has, it keeps.
  bool block_on_failure = false;
  // gate denies and asks, and the client's own sandbox contains.
  bool intent = false;
  // The `timeout` program; found in /usr/bin when empty.
  std::string timeout_path;
};

// One file that is to change.
struct FileChange {
  std::string path;
  std::string before;  // empty when it did not exist
  std::string after;
  bool existed = false;
  bool removed = false;  // gate had made it, and nothing else is in it
};

// kInvalid when gate cannot be installed for a client of this name.
Status CheckClient(const std::string& client);

// The file that holds the client's hooks; no link in it is followed.
Result<std::string> SettingsPath(const InstallOptions& options);

// What installing (or uninstalling) would change; nothing is written. Running
// it on its own result changes nothing. kInvalid when a settings file is not
// valid JSON: it is never overwritten.
Result<std::vector<FileChange>> PlanInstall(const InstallOptions& options);
Result<std::vector<FileChange>> PlanUninstall(const InstallOptions& options);

// A unified-diff-like rendering of `change`.
std::string RenderDiff(const FileChange& change);

// Writes the changes atomically, each after a backup beside the file
// (NAME.gate-backup-TIMESTAMP). Returns the backups' paths.
Result<std::vector<std::string>> Apply(const std::vector<FileChange>& changes,
                                       uint64_t now_ms);

// The shell line that the settings run: fails closed by itself.
std::string GuardLine(const InstallOptions& options);

}  // namespace gate::hooks
