#include "gateway/runs/withheld_programs.h"

#include <algorithm>
#include <array>

#include "base/file.h"
#include "base/paths.h"
#include "git/config.h"
#include "git/doubts.h"

namespace gate::app {
namespace {

using parser::Argument;
using parser::Invocation;

constexpr size_t kMaxConfigurationBytes = size_t{1} << 20;

// Names between blanks. Programs that only may need it (a debugger that reads a
// core) stand here too: what is said of them begins with "probably", and only
// where the line has failed.
struct Need {
  std::string_view programs;
  std::string_view what;
};
constexpr auto kNeeds = std::to_array<Need>({
    {" rr perf ", "counting what the processor does (perf_event_open)"},
    {" podman podman-compose buildah bwrap unshare firejail flatpak apptainer "
     "singularity runc crun rootlesskit ",
     "making a sandbox of its own (user namespaces)"},
    {" systemctl systemd-run busctl loginctl machinectl hostnamectl "
     "timedatectl localectl resolvectl dbus-send gdbus notify-send ",
     "the services of this machine (their sockets in /run)"},
    {" xclip xsel wl-copy wl-paste xdg-open xdotool wmctrl ",
     "the desktop (its sockets)"},
    {" crontab at atq atrm batch ",
     "what is planned to run later (it is kept with other rights)"},
    {" ssh-add ", "the ssh agent"},
    {" gpg gpg2 gpgsm gpg-connect-agent pass gopass ",
     "the keyring of gpg and its agent"},
    {" ping ping6 traceroute mtr tcpdump arping ",
     "sending and reading packets of its own (raw sockets)"},
});

constexpr Need kTracers = {
    " strace ltrace gdb cgdb gdbserver lldb dlv gcore pstack py-spy reptyr ",
    "tracing other processes (ptrace)"};

// By PostgreSQL's documentation, "The Password File", and MySQL's, "Using
// Option Files".
constexpr auto kPasswordFiles = std::to_array<Need>({
    {" psql pg_dump pg_dumpall pg_restore pg_isready pg_basebackup pgbench "
     "createdb dropdb createuser dropuser reindexdb vacuumdb pgcli ",
     ".pgpass"},
    {" mysql mariadb mysqladmin mysqldump mariadb-dump mysqlimport mysqlshow "
     "mysqlcheck mycli ",
     ".my.cnf"},
});

// What `table` has for `program`.
template <class Table>
std::string_view Find(const Table& table, std::string_view program) {
  const std::string name = " " + std::string(program) + " ";
  const auto* need = std::ranges::find_if(
      table, [&](const Need& one) { return one.programs.contains(name); });
  return need == table.end() ? std::string_view() : need->what;
}

// A path of this machine, absolute; empty for a name and for another machine.
std::string PlaceIn(std::string_view url, const std::string& directory) {
  constexpr std::string_view kFile = "file://";
  if (url.starts_with(kFile)) url.remove_prefix(kFile.size());
  if (url.starts_with('/')) return Normalise(url, "/");
  const size_t colon = url.find(':');
  const bool is_path =
      url.starts_with('.') ||
      (url.find('/') != std::string_view::npos && url.find('/') < colon);
  return is_path ? Normalise(url, directory) : "";
}

// The values of remote.NAME.pushurl, or else of url.
std::vector<std::string> UrlsOf(const std::vector<GitEntry>& entries,
                                const std::string& remote) {
  std::vector<std::string> urls, push;
  for (const GitEntry& entry : entries) {
    if (entry.key == "remote." + remote + ".url") urls.push_back(entry.value);
    if (entry.key == "remote." + remote + ".pushurl")
      push.push_back(entry.value);
  }
  return push.empty() ? urls : push;
}

// The remotes that a push may mean: `named`, or without one all of them.
std::vector<std::string> MeantRemotes(const std::vector<GitEntry>& entries,
                                      const std::string& named) {
  if (!named.empty()) return {named};
  constexpr std::string_view kBegin = "remote.", kEnd = ".url";
  std::vector<std::string> found;
  for (const GitEntry& entry : entries)
    if (entry.key.starts_with(kBegin) && entry.key.ends_with(kEnd) &&
        entry.key.size() > kBegin.size() + kEnd.size())
      found.push_back(entry.key.substr(
          kBegin.size(), entry.key.size() - kBegin.size() - kEnd.size()));
  return found;
}

// What stands behind `push` first and is no option; empty without one.
std::string PushOperand(const Invocation& invocation) {
  bool push = false;
  for (const Argument& word : invocation.argv) {
    if (push && word.known && !word.text.starts_with('-')) return word.text;
    push |= word.text == "push";
  }
  return "";
}

bool GivesTracing(const router::Plan& plan) {
  return plan.backend == "native" &&
         backends::TracingOf(plan.profile) == backends::Tracing::kEachOther;
}

}  // namespace

std::string_view MissedByProgram(std::string_view program,
                                 const router::Plan& plan) {
  if (!GivesTracing(plan))
    if (const auto missed = Find(std::array{kTracers}, program);
        !missed.empty())
      return missed;
  return Find(kNeeds, program);
}

std::string_view PasswordFileOf(std::string_view program) {
  return Find(kPasswordFiles, program);
}

bool NamesVariable(std::string_view line, std::string_view variable) {
  for (const char* begin : {"$", "${"}) {
    const std::string spelt = begin + std::string(variable);
    for (size_t at = line.find(spelt); at != std::string_view::npos;
         at = line.find(spelt, at + 1)) {
      const size_t end = at + spelt.size();
      const char next = end < line.size() ? line[end] : ' ';
      const bool goes_on = next == '_' || (next >= '0' && next <= '9') ||
                           (next >= 'A' && next <= 'Z') ||
                           (next >= 'a' && next <= 'z');
      if (!goes_on) return true;
    }
  }
  return false;
}

bool GoesBySsh(const Invocation& invocation) {
  if (invocation.program == "ssh" || invocation.program == "scp" ||
      invocation.program == "sftp" || invocation.program == "ssh-copy-id")
    return true;
  // HOST:PATH, but not a module of a daemon (HOST::MODULE) nor an option.
  return invocation.program == "rsync" &&
         std::ranges::any_of(invocation.argv, [](const Argument& word) {
           const size_t colon = word.text.find(':');
           return colon != std::string::npos && colon > 0 &&
                  !word.text.starts_with('-') && word.text.find('/') > colon &&
                  !word.text.substr(colon).starts_with("::") &&
                  !word.text.substr(colon).starts_with("://");
         });
}

std::vector<std::string> PushedPlaces(const Invocation& invocation) {
  std::vector<std::string> places;
  if (invocation.subcommand.empty() || invocation.subcommand.front() != "push")
    return places;
  const std::string operand = PushOperand(invocation);
  for (const std::string& cwd : parser::DirectoriesOf(invocation)) {
    std::string doubt;
    const std::string directory = GitDirectoryOf(invocation, cwd, &doubt);
    if (std::string place = PlaceIn(operand, directory); !place.empty()) {
      places.push_back(std::move(place));
      continue;
    }
    const GitDirectories git = FindGitDirectories(directory);
    std::vector<GitEntry> entries;
    const auto text = ReadFile(git.common + "/config", kMaxConfigurationBytes);
    if (!text || !ParseGitConfig(*text, &entries)) continue;
    for (const std::string& remote : MeantRemotes(entries, operand))
      for (const std::string& url : UrlsOf(entries, remote))
        if (std::string place = PlaceIn(url, directory); !place.empty())
          places.push_back(std::move(place));
  }
  return places;
}

}  // namespace gate::app
