#include "lasting/lasting_runs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/hash.h"
#include "base/json.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::lasting {
namespace {

constexpr const char* kSchema = "gate.lasting/1";
constexpr size_t kMaxEntryBytes = size_t{4} << 20;
// Of an entry that is not published yet; nobody looks for it.
constexpr std::string_view kUnpublished = ".new-";

std::string DirectoryOf(const std::string& state) { return state + "/lasting"; }

uint64_t PidNamespace() {
  struct stat info = {};
  return stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

// Whether `id` is a name of ours, and no path.
bool IsId(std::string_view id) {
  return !id.empty() && id[0] != '.' && id.find('/') == std::string_view::npos;
}

std::string ToText(const Entry& entry) {
  Json violations = Json::array();
  for (const auto& [kind, detail] : entry.violations)
    violations.push_back(Json{{"kind", kind}, {"detail", detail}});
  return Dump(Json{{"schema", kSchema},
                   {"id", entry.id},
                   {"agent", entry.agent},
                   {"session", entry.session},
                   {"workspace", entry.workspace},
                   {"cwd", entry.cwd},
                   {"command", entry.command},
                   {"backend", entry.backend},
                   {"profile", entry.profile},
                   {"policy_revision", entry.policy_revision},
                   {"network", entry.network},
                   {"roots", entry.roots},
                   {"note", entry.note},
                   {"started_ms", entry.started_ms},
                   {"status", entry.status},
                   {"exit_code", entry.exit_code},
                   {"signal", entry.signal},
                   {"duration_ms", entry.duration_ms},
                   {"violations", violations},
                   {"keeper", entry.supervisor},
                   {"process_one", entry.process_one},
                   {"pid_namespace", entry.pid_namespace}});
}

// False: it is none of ours, or of another version.
bool FromText(std::string_view text, Entry* entry) {
  const auto json = ParseJson(text);
  if (!json || !json->is_object()) return false;
  bool good = true;
  const auto get = [&](const char* key) -> const Json* {
    const auto found = json->find(key);
    good = good && found != json->end();
    return found == json->end() ? nullptr : &*found;
  };
  const auto word = [&](const char* key, std::string* to) {
    const Json* value = get(key);
    good = good && value != nullptr && value->is_string();
    if (good) *to = value->get<std::string>();
  };
  const auto number = [&](const char* key, auto* to) {
    const Json* value = get(key);
    good = good && value != nullptr && value->is_number_integer();
    if (good) *to = value->get<std::remove_pointer_t<decltype(to)>>();
  };
  std::string schema;
  word("schema", &schema);
  word("id", &entry->id);
  word("agent", &entry->agent);
  word("session", &entry->session);
  word("workspace", &entry->workspace);
  word("cwd", &entry->cwd);
  word("command", &entry->command);
  word("backend", &entry->backend);
  word("profile", &entry->profile);
  word("policy_revision", &entry->policy_revision);
  word("network", &entry->network);
  word("note", &entry->note);
  word("status", &entry->status);
  number("started_ms", &entry->started_ms);
  number("exit_code", &entry->exit_code);
  number("signal", &entry->signal);
  number("duration_ms", &entry->duration_ms);
  number("keeper", &entry->supervisor);
  number("process_one", &entry->process_one);
  number("pid_namespace", &entry->pid_namespace);
  const Json* roots = get("roots");
  const Json* violations = get("violations");
  if (!good || schema != kSchema || !roots->is_array() ||
      !violations->is_array())
    return false;
  for (const Json& root : *roots) {
    if (!root.is_string()) return false;
    entry->roots.push_back(root.get<std::string>());
  }
  for (const Json& one : *violations) {
    const auto text_of = [&](const char* key) {
      const auto found = one.find(key);
      return found != one.end() && found->is_string()
                 ? found->get<std::string>()
                 : std::string();
    };
    if (!one.is_object()) return false;
    entry->violations.emplace_back(text_of("kind"), text_of("detail"));
  }
  return true;
}

// The names in the directory; of unpublished ones, too, when `all`.
Result<std::vector<std::string>> Names(const std::string& directory, bool all) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> list(opendir(directory.c_str()),
                                                 closedir);
  if (!list) {
    if (errno == ENOENT) return names;
    return FailErrno("cannot read which runs go on in " + directory);
  }
  errno = 0;
  while (const dirent* entry = readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (name[0] != '.' || (all && name.starts_with(kUnpublished)))
      names.emplace_back(name);
  }
  if (errno != 0)
    return FailErrno("cannot read which runs go on in " + directory);
  return names;
}

Fd Open(const std::string& path) {
  return Fd(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

// Whether its supervisor lives: nobody else holds the lock alone, but for a
// moment whoever finishes a dead one.
bool IsHeld(const Fd& file) {
  if (flock(file.get(), LOCK_SH | LOCK_NB) != 0) return true;
  flock(file.get(), LOCK_UN);
  return false;
}

bool IsThere(const Fd& file) {
  struct stat info = {};
  return fstat(file.get(), &info) == 0 && info.st_nlink != 0;
}

}  // namespace

Result<Holder> Holder::Begin(const std::string& state) {
  constexpr size_t kRandom = 8;
  Holder holder;
  holder.directory_ = DirectoryOf(state);
  GATE_CHECK(MakeDirectories(holder.directory_, 0700));
  holder.path_ = holder.directory_ + "/" + std::string(kUnpublished) +
                 Hex(RandomBytes(kRandom));
  holder.lock_ =
      Fd(open(holder.path_.c_str(),
              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!holder.lock_) return FailErrno("cannot make " + holder.path_);
  holder.mine_ = true;
  if (flock(holder.lock_.get(), LOCK_EX) != 0)
    return FailErrno("cannot lock " + holder.path_);
  return holder;
}

Holder::~Holder() {
  if (lock_ && mine_) unlink(path_.c_str());
}

Status Holder::Publish(Entry entry) {
  if (!IsId(entry.id)) return Fail(ErrorCode::kInvalid, "a run without an id");
  entry.pid_namespace = PidNamespace();
  GATE_CHECK(WriteAll(lock_.get(), ToText(entry)));
  const std::string path = directory_ + "/" + entry.id;
  if (rename(path_.c_str(), path.c_str()) != 0)
    return FailErrno("cannot make " + path);
  path_ = path;
  return {};
}

void Holder::Leave() {
  mine_ = false;
  lock_.reset();
}

void Holder::Remove(const std::string& id) {
  if (IsId(id)) unlink((directory_ + "/" + id).c_str());
  mine_ = false;
  lock_.reset();
}

Result<std::vector<Entry>> ListRunning(const std::string& state) {
  const std::string directory = DirectoryOf(state);
  GATE_TRY(const std::vector<std::string> names, Names(directory, false));
  std::vector<Entry> running;
  for (const std::string& name : names) {
    const std::string path = directory + "/" + name;
    const Fd file = Open(path);
    if (!file && errno == ENOENT) continue;
    if (!file) return FailErrno("cannot read " + path);
    if (!IsHeld(file) || !IsThere(file)) continue;
    GATE_TRY(const std::string text, ReadAll(file.get(), kMaxEntryBytes));
    Entry entry;
    if (!FromText(text, &entry) || entry.id != name)
      return Fail(ErrorCode::kInvalid, path + " is not understood");
    running.push_back(std::move(entry));
  }
  std::sort(running.begin(), running.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.started_ms, a.id) < std::pair(b.started_ms, b.id);
  });
  return running;
}

bool IsReached(const std::string& state, const std::string& path) {
  if (path.empty()) return false;
  const Result<std::vector<Entry>> running = ListRunning(state);
  if (!running) return true;
  const std::string real = running->empty() ? "" : RealPath(path);
  return std::any_of(running->begin(), running->end(), [&](const Entry& run) {
    return std::any_of(
        run.roots.begin(), run.roots.end(), [&](const std::string& root) {
          return IsWithin(path, root) || IsWithin(root, path) || real.empty() ||
                 IsWithin(real, root) || IsWithin(root, real);
        });
  });
}

std::vector<Dead> TakeDead(const std::string& state) {
  const std::string directory = DirectoryOf(state);
  std::vector<Dead> dead;
  for (const std::string& name :
       Names(directory, true).value_or(std::vector<std::string>())) {
    Dead one;
    one.path = directory + "/" + name;
    one.lock = Open(one.path);
    if (!one.lock || flock(one.lock.get(), LOCK_EX | LOCK_NB) != 0 ||
        !IsThere(one.lock))
      continue;
    const Result<std::string> text = ReadAll(one.lock.get(), kMaxEntryBytes);
    // What was not published has no run, and what is not ours says nothing.
    if (name.starts_with(kUnpublished) || !text ||
        !FromText(*text, &one.entry) || one.entry.id != name)
      unlink(one.path.c_str());
    else
      dead.push_back(std::move(one));
  }
  return dead;
}

void Remove(const Dead& dead) { unlink(dead.path.c_str()); }

Status End(const std::string& state, const std::string& id) {
  const auto none = [&] {
    return Fail(ErrorCode::kNotFound, "no run of that id goes on: " + id);
  };
  if (!IsId(id)) return none();
  const Fd file = Open(DirectoryOf(state) + "/" + id);
  if (!file || !IsHeld(file)) return none();
  GATE_TRY(const std::string text, ReadAll(file.get(), kMaxEntryBytes));
  Entry entry;
  if (!FromText(text, &entry)) return none();
  if (entry.pid_namespace == 0 || entry.pid_namespace != PidNamespace())
    return Fail(ErrorCode::kUnavailable,
                "the process that keeps the run is in another pid namespace");
  const Fd supervisor(
      static_cast<int>(syscall(SYS_pidfd_open, entry.supervisor, 0u)));
  // Still locked: the supervisor lives, and the number is its own.
  if (!supervisor || !IsHeld(file)) return none();
  if (syscall(SYS_pidfd_send_signal, supervisor.get(), SIGTERM, nullptr, 0u) !=
      0)
    return FailErrno("cannot tell the run's keeper to end it");
  return {};
}

}  // namespace gate::lasting
