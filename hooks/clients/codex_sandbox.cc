#include "hooks/clients/codex_sandbox.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"

namespace gate::hooks {
namespace {

using rules::DataValue;

constexpr size_t kMaxConfigBytes = 4 << 20;
constexpr size_t kMaxGitFileBytes = 4096;
// The depth of a session's directory; deeper ones are not known.
constexpr size_t kMaxLevels = 64;

const DataValue* FindKey(const DataValue* table, std::string_view key) {
  return table == nullptr ? nullptr : table->Find(key);
}

bool IsThere(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0;
}

std::string Real(const std::string& path) {
  std::string real = RealPath(path);
  return real.empty() ? path : real;
}

// The directory and what is above it, itself first.
std::vector<std::string> Ancestors(std::string directory) {
  std::vector<std::string> all;
  while (all.size() <= kMaxLevels) {
    all.push_back(directory);
    if (directory == "/") break;
    directory = std::string(DirName(directory));
  }
  return all;
}

std::optional<SandboxMode> ModeCalled(std::string_view name) {
  if (name == "read-only") return SandboxMode::kReadOnly;
  if (name == "workspace-write") return SandboxMode::kWorkspaceWrite;
  if (name == "danger-full-access") return SandboxMode::kFullAccess;
  return std::nullopt;
}

const char* NameOf(SandboxMode mode) {
  switch (mode) {
    case SandboxMode::kReadOnly:
      return "read-only";
    case SandboxMode::kWorkspaceWrite:
      return "workspace-write";
    case SandboxMode::kFullAccess:
      return "danger-full-access";
    case SandboxMode::kUnknown:
      break;
  }
  return "unknown";
}

// What is joined of the layers; a later layer wins for each of its keys.
struct Joined {
  std::optional<SandboxMode> mode;
  std::string mode_from;
  std::string permissions, permissions_from;  // `default_permissions`
  std::optional<SandboxMode> profile_mode;    // of the profile in use
  std::string profile_from;
  bool network = false, no_tmp = false, no_tmpdir = false;
  std::vector<std::string> roots;
  std::string trouble;
};

void Trouble(const std::string& why, Joined* joined) {
  if (joined->trouble.empty()) joined->trouble = why;
}

void TakeFlag(const DataValue* value, const std::string& what, bool* flag,
              Joined* joined) {
  if (value == nullptr) return;
  if (value->type != DataValue::Type::kBool)
    return Trouble(what + " is neither true nor false", joined);
  *flag = value->truth;
}

void TakeMode(const DataValue* value, const std::string& path,
              std::optional<SandboxMode>* mode, std::string* from,
              Joined* joined) {
  if (value == nullptr) return;
  const auto named = value->IsText() ? ModeCalled(value->text) : std::nullopt;
  if (!named)
    return Trouble(path + " has a `sandbox_mode` that gate does not know",
                   joined);
  *mode = named;
  *from = path;
}

void TakeLayer(const DataValue& layer, const std::string& path,
               Joined* joined) {
  TakeMode(layer.Find("sandbox_mode"), path, &joined->mode, &joined->mode_from,
           joined);
  if (const DataValue* named = layer.Find("default_permissions")) {
    joined->permissions = named->IsText() ? named->text : "?";
    joined->permissions_from = path;
  }
  const DataValue* write = layer.Find("sandbox_workspace_write");
  if (write == nullptr) return;
  if (!write->IsTable())
    return Trouble(path + ": `sandbox_workspace_write` is no table", joined);
  TakeFlag(write->Find("network_access"), path + ": `network_access`",
           &joined->network, joined);
  TakeFlag(write->Find("exclude_slash_tmp"), path + ": `exclude_slash_tmp`",
           &joined->no_tmp, joined);
  TakeFlag(write->Find("exclude_tmpdir_env_var"),
           path + ": `exclude_tmpdir_env_var`", &joined->no_tmpdir, joined);
  if (const DataValue* roots = write->Find("writable_roots")) {
    joined->roots.clear();
    if (!roots->IsList() || !roots->Texts(&joined->roots))
      return Trouble(path + ": `writable_roots` is no list of directories",
                     joined);
    for (std::string& root : joined->roots)
      root = Normalise(root, DirName(path));
  }
}

// `profile = "x"` and [profiles.x] of older versions: theirs wins over the
// rest; newer versions take no notice of it.
void TakeProfile(const DataValue& layer, const std::string& path,
                 Joined* joined) {
  const DataValue* name = layer.Find("profile");
  if (name == nullptr || !name->IsText()) return;
  const DataValue* profile = FindKey(layer.Find("profiles"), name->text);
  TakeMode(FindKey(profile, "sandbox_mode"),
           path + ", profile " + Visible(name->text), &joined->profile_mode,
           &joined->profile_from, joined);
}

enum class Trust : uint8_t { kNone, kTrusted, kUntrusted };

// The projects that the user's settings and the system's know.
class Projects {
 public:
  // Each is looked at first to last.
  explicit Projects(std::vector<const DataValue*> tables)
      : tables_(std::move(tables)) {}

  Trust Of(const std::string& directory) const {
    for (const std::string& key : {Real(directory), directory})
      for (const DataValue* table : tables_) {
        const DataValue* level = FindKey(FindKey(table, key), "trust_level");
        if (level == nullptr || !level->IsText()) continue;
        if (level->text == "trusted") return Trust::kTrusted;
        if (level->text == "untrusted") return Trust::kUntrusted;
      }
    return Trust::kNone;
  }
  bool HasTrusted() const {
    for (const DataValue* table : tables_) {
      if (table == nullptr) continue;
      for (const rules::DataMember& member : table->members) {
        const DataValue* level = member.value.Find("trust_level");
        if (level != nullptr && level->IsText() && level->text == "trusted")
          return true;
      }
    }
    return false;
  }

 private:
  std::vector<const DataValue*> tables_;
};

// The repository of `directory`, that of its main work tree in a linked one.
struct Repository {
  std::string root;
  bool sure = true;  // else its `.git` leads to a place that gate cannot name
};

Repository RepositoryOf(const std::vector<std::string>& ancestors) {
  for (const std::string& directory : ancestors) {
    const std::string git = directory + "/.git";
    if (!IsThere(git)) continue;
    if (IsDirectory(git)) return {directory, true};
    const auto text = ReadFile(git, kMaxGitFileBytes);
    if (!text || !text->starts_with("gitdir:")) return {directory, false};
    std::string place = text->substr(7);
    while (!place.empty() && place.front() == ' ') place.erase(0, 1);
    while (!place.empty() && (place.back() == '\n' || place.back() == '\r'))
      place.pop_back();
    place = Normalise(place, directory);
    const size_t end = place.rfind("/.git/worktrees/");
    if (end == std::string::npos) return {directory, false};
    return {place.substr(0, end), true};
  }
  return {};
}

// The directory that has one of `markers`; the first where none has.
std::string TopOf(const std::vector<std::string>& ancestors,
                  const std::vector<std::string>& markers) {
  for (const std::string& directory : ancestors)
    for (const std::string& marker : markers)
      if (IsThere(Normalise(marker, directory))) return directory;
  return ancestors.front();
}

// Whether a layer says anything of the sandbox.
bool SpeaksOfSandbox(const DataValue& layer) {
  return std::ranges::any_of(
      std::initializer_list<const char*>{"sandbox_mode", "default_permissions",
                                         "sandbox_workspace_write"},
      [&](const char* key) { return layer.Find(key) != nullptr; });
}

// The `.codex/config.toml` of the project, from its top down. One that Codex
// does not trust counts for nothing, whatever it holds.
void TakeProject(const std::vector<std::string>& ancestors,
                 const std::string& top, const Repository& repository,
                 const Projects& projects, const std::string& codex_home,
                 Joined* joined) {
  std::vector<std::string> levels;
  for (const std::string& directory : ancestors) {
    levels.push_back(directory);
    if (directory == top) break;
  }
  for (auto at = levels.rbegin(); at != levels.rend(); ++at) {
    const std::string folder = (*at == "/" ? "" : *at) + "/.codex";
    if (!IsDirectory(folder) || Real(folder) == Real(codex_home)) continue;
    Trust trust = Trust::kNone;
    for (const std::string& key : {*at, top, repository.root})
      if (trust == Trust::kNone && !key.empty()) trust = projects.Of(key);
    const bool doubtful =
        trust == Trust::kNone && !repository.sure && projects.HasTrusted();
    if (trust != Trust::kTrusted && !doubtful) continue;
    const std::string path = folder + "/config.toml";
    const auto layer = ReadCodexConfig(path);
    if (!layer) return Trouble(layer.error().message, joined);
    if (doubtful && SpeaksOfSandbox(*layer))
      return Trouble(path + " may count, or may not", joined);
    if (!doubtful) TakeLayer(*layer, path, joined);
  }
}

std::string_view WithoutQuotes(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  if (text.size() >= 2 && text.front() == text.back() &&
      (text.front() == '"' || text.front() == '\''))
    text = text.substr(1, text.size() - 2);
  return text;
}

// One `-c KEY=VALUE`.
void TakeOverride(std::string_view setting, Joined* joined) {
  const size_t equals = setting.find('=');
  const std::string_view key =
      WithoutQuotes(setting.substr(0, std::min(equals, setting.size())));
  if (key == "sandbox_mode" && equals != std::string_view::npos) {
    joined->mode = ModeCalled(WithoutQuotes(setting.substr(equals + 1)));
    joined->mode_from = "its command line";
    if (joined->mode) return;
  }
  for (const char* part : {"sandbox", "permission", "profile", "projects"})
    if (key.find(part) != std::string_view::npos)
      return Trouble(
          "its command line sets `" + Visible(std::string(key)) + "`", joined);
}

// What Codex was started with.
void TakeWords(const std::vector<std::string>& words, Joined* joined) {
  // The value of an option: its own word, or the rest of this one.
  const auto value = [&](size_t* at, std::string_view brief,
                         std::string_view whole) -> std::optional<std::string> {
    const std::string_view word = words[*at];
    if (word == brief || word == whole)
      return *at + 1 < words.size() ? words[++*at] : "";
    if (word.starts_with(whole) && word.substr(whole.size()).starts_with('='))
      return std::string(word.substr(whole.size() + 1));
    if (word.starts_with(brief) && !word.starts_with("--")) {
      std::string_view rest = word.substr(brief.size());
      if (rest.starts_with('=')) rest.remove_prefix(1);
      return std::string(rest);
    }
    return std::nullopt;
  };
  bool typed = false, overridden = false;
  for (size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    // There the client that is connected says what holds.
    if (words[i] == "app-server" || words[i] == "mcp-server" ||
        words[i] == "mcp" || words[i] == "proto")
      return Trouble("it was started as " + words[i], joined);
    if (words[i] == "--yolo" ||
        words[i] == "--dangerously-bypass-approvals-and-sandbox") {
      joined->mode = SandboxMode::kFullAccess;
      joined->mode_from = "its command line";
      joined->profile_mode.reset();
      return;
    }
    if (const auto mode = value(&i, "-s", "--sandbox")) {
      typed = true;
      joined->mode = ModeCalled(*mode);
      joined->mode_from = "its command line";
      joined->profile_mode.reset();
      if (!joined->mode)
        Trouble("its command line names a sandbox that gate does not know",
                joined);
    } else if (const auto profile = value(&i, "-p", "--profile")) {
      Trouble("its command line names the profile " + Visible(*profile),
              joined);
    } else if (const auto setting = value(&i, "-c", "--config")) {
      overridden |= setting->starts_with("sandbox_mode");
      TakeOverride(*setting, joined);
    } else if (words[i].starts_with("--add-dir") ||
               words[i].starts_with("-C") || words[i].starts_with("--cd")) {
      const auto directory = words[i].starts_with("--add-dir")
                                 ? value(&i, "--add-dir", "--add-dir")
                                 : value(&i, "-C", "--cd");
      if (directory && directory->starts_with('/'))
        joined->roots.push_back(*directory);
      else
        Trouble("its command line names a directory that gate cannot place",
                joined);
    }
  }
  if (typed && overridden)
    Trouble("its command line names two sandboxes", joined);
}

// What an administrator allows.
void TakeRequirements(const std::string& path, SandboxMode mode,
                      Joined* joined) {
  const auto required = ReadCodexConfig(path);
  if (!required) return Trouble(required.error().message, joined);
  if (required->Find("allowed_permission_profiles") != nullptr)
    return Trouble(path + " has profiles of permissions", joined);
  const DataValue* modes = required->Find("allowed_sandbox_modes");
  if (modes == nullptr) return;
  std::vector<std::string> allowed;
  if (!modes->Texts(&allowed) ||
      std::ranges::find(allowed, NameOf(mode)) == allowed.end())
    Trouble(path + " does not allow " + NameOf(mode), joined);
}

OwnSandbox Unknown(const std::string& why) {
  OwnSandbox sandbox;
  sandbox.why = why;
  return sandbox;
}

// What holds where no `sandbox_mode` does.
void Default(const Joined& joined, bool project_is_known, OwnSandbox* sandbox) {
  if (joined.permissions_from.empty()) {
    sandbox->mode = project_is_known ? SandboxMode::kWorkspaceWrite
                                     : SandboxMode::kReadOnly;
    sandbox->from = "its default";
    return;
  }
  sandbox->from = joined.permissions_from;
  if (joined.permissions == ":read-only")
    sandbox->mode = SandboxMode::kReadOnly;
  else if (joined.permissions == ":workspace")
    sandbox->mode = SandboxMode::kWorkspaceWrite;
  else if (joined.permissions == ":danger-full-access")
    sandbox->mode = SandboxMode::kFullAccess;
  else
    sandbox->why = joined.permissions_from + " names the permissions `" +
                   Visible(joined.permissions) + "`";
}

}  // namespace

Result<DataValue> ReadCodexConfig(const std::string& path) {
  auto text = ReadFile(path, kMaxConfigBytes);
  if (!text && text.error().code != ErrorCode::kNotFound)
    return Fail(ErrorCode::kInvalid, path + " cannot be read");
  auto config = rules::ReadToml(text ? *text : "");
  if (!config)
    return Fail(ErrorCode::kInvalid,
                path + " cannot be read: " + config.error().message);
  return std::move(*config);
}

OwnSandbox ReadCodexSandbox(const SandboxPlaces& places) {
  if (!places.directory.starts_with('/') || !places.home.starts_with('/'))
    return Unknown("its directories are not known");
  const std::vector<std::string> ancestors =
      Ancestors(Normalise(places.directory, "/"));
  if (ancestors.size() > kMaxLevels)
    return Unknown("its directory is too deep");
  const std::string system =
      places.system.empty() ? "/etc/codex" : places.system;
  const std::string system_path = system + "/config.toml";
  const std::string user_path = places.home + "/config.toml";
  const auto of_system = ReadCodexConfig(system_path);
  if (!of_system) return Unknown(of_system.error().message);
  const auto user = ReadCodexConfig(user_path);
  if (!user) return Unknown(user.error().message);

  Joined joined;
  TakeLayer(*of_system, system_path, &joined);
  TakeLayer(*user, user_path, &joined);
  TakeProfile(*of_system, system_path, &joined);
  TakeProfile(*user, user_path, &joined);
  const Projects projects(
      {user->Find("projects"), of_system->Find("projects")});
  std::vector<std::string> markers = {".git"};
  for (const DataValue* layer : {&*of_system, &*user})
    if (const DataValue* own = layer->Find("project_root_markers")) {
      markers.clear();
      if (!own->IsList() || !own->Texts(&markers))
        return Unknown("`project_root_markers` is no list of names");
    }
  const Repository repository = RepositoryOf(ancestors);
  TakeProject(ancestors, TopOf(ancestors, markers), repository, projects,
              places.home, &joined);
  TakeWords(places.words, &joined);
  const std::string managed_path = system + "/managed_config.toml";
  const auto managed = ReadCodexConfig(managed_path);
  if (!managed) return Unknown(managed.error().message);
  TakeLayer(*managed, managed_path, &joined);
  if (joined.profile_mode && joined.profile_mode != joined.mode)
    Trouble(joined.profile_from +
                " names a sandbox, which versions of Codex read differently",
            &joined);

  OwnSandbox sandbox;
  if (joined.mode) {
    sandbox.mode = *joined.mode;
    sandbox.from = joined.mode_from;
  } else {
    const bool known = projects.Of(ancestors.front()) != Trust::kNone ||
                       (!repository.root.empty() &&
                        projects.Of(repository.root) != Trust::kNone) ||
                       !repository.sure;
    Default(joined, known, &sandbox);
  }
  if (sandbox.mode != SandboxMode::kUnknown) {
    sandbox.name = NameOf(sandbox.mode);
    TakeRequirements(system + "/requirements.toml", sandbox.mode, &joined);
  }
  if (!joined.trouble.empty()) return Unknown(joined.trouble);
  if (sandbox.mode == SandboxMode::kFullAccess) sandbox.network = true;
  if (sandbox.mode != SandboxMode::kWorkspaceWrite) return sandbox;
  sandbox.network = joined.network;
  sandbox.writable = {Real(ancestors.front())};
  for (const std::string& root : joined.roots)
    sandbox.writable.push_back(Real(root));
  if (!joined.no_tmp) sandbox.writable.push_back(Real("/tmp"));
  if (!joined.no_tmpdir && places.tmpdir.starts_with('/'))
    sandbox.writable.push_back(Real(Normalise(places.tmpdir, "/")));
  return sandbox;
}

}  // namespace gate::hooks
