#include "gateway/grants/lending.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"
#include "gateway/programs/compose_doubt.h"
#include "gateway/programs/program_verification.h"
#include "git/doubts.h"
#include "git/person.h"
#include "rules/lending.h"

namespace gate::app {
namespace {

using backends::Lent;

// A configuration in which programs are named is searched up to here.
constexpr size_t kMaxConfigurationBytes = size_t{1} << 20;
// From the working directory up.
constexpr int kMaxDirectoriesAbove = 64;

std::optional<std::string> ValueOf(const ProcessFacts& facts,
                                   std::string_view name) {
  for (const std::string& entry : facts.environment)
    if (entry.starts_with(name) && entry.size() > name.size() &&
        entry[name.size()] == '=')
      return entry.substr(name.size() + 1);
  return std::nullopt;
}

class Lender {
 public:
  Lender(const ProcessFacts& facts, const std::vector<std::string>& writable)
      : facts_(facts), writable_(writable) {}

  Status Add(const rules::Lending& entry) {
    GATE_CHECK(CheckEnvironment(entry));
    for (const std::string_view name : entry.files)
      GATE_CHECK(AddBelowHomes(name, false));
    for (const std::string_view name : entry.copies)
      GATE_CHECK(AddBelowHomes(name, true));
    GATE_CHECK(AddSockets(entry));
    return {};
  }

  // What the configurations that are lent name, as far as `plugins` know it.
  Status AddPlugins(const std::vector<std::string_view>& plugins) {
    if (plugins.empty()) return {};
    std::string text;
    for (const Lent& lent : lending_.files)
      if (!lent.copy)
        if (auto content = ReadFile(lent.source, kMaxConfigurationBytes))
          text += *content + "\n";
    std::vector<std::string_view> added;
    for (const std::string_view plugin : plugins) {
      const size_t equals = plugin.find('=');
      const std::string_view entry = plugin.substr(equals + 1);
      if (!RunsCommand(text, plugin.substr(0, equals)) ||
          std::ranges::find(added, entry) != added.end())
        continue;
      added.push_back(entry);
      if (const auto found = rules::FindLending(entry)) GATE_CHECK(Add(*found));
    }
    return {};
  }

  router::Lending Take() { return std::move(lending_); }

 private:
  static std::unexpected<Error> Refused(std::string why) {
    return Fail(ErrorCode::kPermission, std::move(why));
  }

  // `command: NAME` of a kubeconfig's exec section, in YAML or JSON.
  static bool RunsCommand(std::string_view text, std::string_view name) {
    constexpr std::string_view kKey = "command";
    for (size_t at = text.find(kKey); at != std::string_view::npos;
         at = text.find(kKey, at + 1)) {
      const size_t begin = text.find_first_not_of("\"' \t:", at + kKey.size());
      const size_t end =
          std::min(text.find_first_of("\"'\r\n,}", begin), text.size());
      if (begin < end && BaseName(text.substr(begin, end - begin)) == name)
        return true;
    }
    return false;
  }

  Status CheckPlace(const std::string& path, std::string_view what) {
    const std::string real = RealPath(path);
    if (path.starts_with('/') &&
        !IsWritablePlace(Normalise(path, "/"), writable_) &&
        (real.empty() || !IsWritablePlace(real, writable_)))
      return {};
    return Refused(std::string(what) + " is " + path +
                   ", which sandboxed commands may write");
  }

  Status CheckEnvironment(const rules::Lending& entry) {
    for (const std::string& setting : facts_.environment) {
      const size_t equals = std::min(setting.find('='), setting.size());
      const std::string_view name = std::string_view(setting).substr(0, equals);
      const auto among = [&](const std::vector<std::string_view>& list) {
        return std::ranges::any_of(list, [&](std::string_view pattern) {
          return rules::NamesVariable(pattern, name);
        });
      };
      if (among(entry.refuses))
        return Refused(std::string(name) +
                       " of this environment decides where it connects or what "
                       "it runs");
      const bool place = among(entry.places), engine = among(entry.engines);
      if (!place && !engine && !among(entry.variables)) continue;
      std::string_view value = std::string_view(setting).substr(
          std::min(equals + 1, setting.size()));
      if (value.empty()) continue;
      if (engine) GATE_CHECK(AddEngine(std::string(name), value));
      while (place) {
        const size_t end = std::min(value.find(':'), value.size());
        const std::string one(value.substr(0, end));
        if (!one.empty()) GATE_CHECK(AddPlace(std::string(name), one));
        if (end == value.size()) break;
        value.remove_prefix(end + 1);
      }
      if (std::ranges::find(lending_.variables, name) ==
          lending_.variables.end())
        lending_.variables.emplace_back(name);
    }
    return {};
  }

  // Of an engine elsewhere nothing is known; its client finds its own way there
  // with a person's yes.
  Status AddEngine(const std::string& name, std::string_view value) {
    constexpr std::string_view kUnix = "unix://";
    if (!value.starts_with(kUnix) || value.size() == kUnix.size())
      return Refused(name + " of this environment is an engine elsewhere");
    const std::string path = Normalise(value.substr(kUnix.size()), "/");
    GATE_CHECK(CheckPlace(path, "the engine's socket"));
    return AddSocket(path);
  }

  Status AddSockets(const rules::Lending& entry) {
    const bool named =
        std::ranges::any_of(entry.engines, [&](std::string_view name) {
          return !ValueOf(facts_, name).value_or("").empty();
        });
    for (const std::string_view path : entry.sockets)
      if (!named) GATE_CHECK(AddSocket(std::string(path)));
    return {};
  }

  Status AddSocket(const std::string& path) {
    const std::string real = RealPath(path);
    struct stat info{};
    if (real.empty() || ::stat(real.c_str(), &info) != 0 ||
        !S_ISSOCK(info.st_mode))
      return {};  // its client says that there is none
    Lend({path, real, false, {}});
    return {};
  }

  // A file that a variable names is lent where it is.
  Status AddPlace(const std::string& name, const std::string& path) {
    GATE_CHECK(CheckPlace(path, name + " of this environment"));
    const std::string real = RealPath(path);
    struct stat info{};
    if (!real.empty() && ::stat(real.c_str(), &info) == 0 &&
        S_ISREG(info.st_mode))
      Lend({Normalise(path, "/"), real, false, {}});
    return {};
  }

  Status AddBelowHomes(std::string_view name, bool copy) {
    if (!facts_.home.empty())
      GATE_CHECK(AddPath(facts_.home + "/" + std::string(name), copy));
    for (const router::RelocatedDir& place : facts_.relocated_dirs)
      if (const std::string path = router::At(place, name); !path.empty())
        GATE_CHECK(AddPath(path, copy));
    return {};
  }

  Status AddPath(const std::string& path, bool copy) {
    const std::string real = RealPath(path);
    struct stat info{};
    if (!real.empty() && ::stat(real.c_str(), &info) != 0) return {};
    if (real.empty() && !copy) return {};  // it has none
    if (!real.empty()) GATE_CHECK(CheckPlace(path, "its configuration"));
    const bool directory = real.empty() || S_ISDIR(info.st_mode);
    if (!directory && !S_ISREG(info.st_mode)) return {};
    Lend({path, real, copy && directory, {}});
    return {};
  }

  void Lend(Lent lent) {
    if (std::ranges::none_of(lending_.files, [&](const Lent& other) {
          return other.path == lent.path;
        }))
      lending_.files.push_back(std::move(lent));
  }

  const ProcessFacts& facts_;
  const std::vector<std::string>& writable_;
  router::Lending lending_;
};

// The first file of the workspace that the program reads by itself, from its
// directory or one above.
std::string FileInTheWay(const parser::Analysis& analysis,
                         const engine::ToolAccess& access,
                         const rules::Lending& entry,
                         const std::string& workspace,
                         const std::vector<std::string>& writable) {
  for (const uint32_t number : access.invocations) {
    for (const std::string& cwd :
         parser::DirectoriesOf(analysis.invocations[number])) {
      std::string at = cwd;
      for (int above = 0; above < kMaxDirectoriesAbove; ++above) {
        const bool inside = (!workspace.empty() && IsWithin(at, workspace)) ||
                            IsWritablePlace(at, writable);
        for (const std::string_view name : entry.workspace) {
          struct stat info{};
          const std::string path = at + "/" + std::string(name);
          if (inside && ::lstat(path.c_str(), &info) == 0) return path;
        }
        if (at.size() <= 1) break;
        at = DirName(at);
      }
    }
  }
  return "";
}

// Why a git that the program starts might run what the repository names.
std::string GitInTheWay(const ProcessFacts& facts,
                        const parser::Analysis& analysis,
                        const engine::ToolAccess& access,
                        const rules::Lending& entry,
                        const std::vector<std::string>& writable) {
  if (std::ranges::find(entry.runs, "git") == entry.runs.end()) return "";
  for (const uint32_t number : access.invocations)
    for (const std::string& cwd :
         parser::DirectoriesOf(analysis.invocations[number])) {
      const GitDirectories git = FindGitDirectories(cwd);
      std::string why = UnsafeRepositoryReason(git, facts.places.state);
      if (why.empty()) why = UnsafeUserConfigReason(facts, cwd, git, writable);
      if (!why.empty()) return why;
    }
  return "";
}

}  // namespace

Result<router::Lending> FindLending(const ProcessFacts& facts,
                                    const parser::Analysis& analysis,
                                    const engine::ToolAccess& access,
                                    const std::string& workspace,
                                    const std::vector<std::string>& writable) {
  const auto entry = rules::FindLending(access.program);
  if (!access.given || !entry)
    return Fail(ErrorCode::kPermission, "nothing is lent to it");
  if (const std::string file =
          FileInTheWay(analysis, access, *entry, workspace, writable);
      !file.empty())
    return Fail(ErrorCode::kPermission,
                "it reads " + file +
                    " by itself, which decides where it connects or what it "
                    "runs");
  if (std::string why = GitInTheWay(facts, analysis, access, *entry, writable);
      !why.empty())
    return Fail(ErrorCode::kPermission, "it runs git, and " + why);
  if (std::ranges::find(entry->runs, "containers") != entry->runs.end())
    for (const uint32_t number : access.invocations)
      if (std::string why = ComposeDoubt(analysis.invocations[number]);
          !why.empty())
        return Fail(ErrorCode::kPermission, std::move(why));
  Lender lender(facts, writable);
  GATE_CHECK(lender.Add(*entry));
  GATE_CHECK(lender.AddPlugins(entry->plugins));
  router::Lending lending = lender.Take();
  lending.program = access.program;
  lending.path = SafePath(facts.path, writable);
  return lending;
}

std::string SafePath(const std::string& path,
                     const std::vector<std::string>& writable) {
  std::string safe;
  std::string_view rest = path;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(':'), rest.size());
    const std::string entry(rest.substr(0, end));
    const std::string real = entry.empty() ? "" : RealPath(entry);
    if (entry.starts_with('/') && !IsWritablePlace(entry, writable) &&
        !real.empty() && !IsWritablePlace(real, writable))
      safe += (safe.empty() ? "" : ":") + entry;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return safe.empty() ? "/usr/local/bin:/usr/bin:/bin" : safe;
}

}  // namespace gate::app
