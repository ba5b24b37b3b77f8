#include "git/person.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "base/ascii.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/real_paths.h"
#include "facts/program_files.h"
#include "git/config.h"
#include "git/doubts.h"
#include "known/known.h"
#include "parser/analysis.h"

namespace gate::app {
namespace {

using known::List;

// Programs that run what lies in the directory they are started in: by modules
// that they search there, or by what the project there names.
constexpr auto kRunWhatIsHere = std::to_array<std::string_view>(
    {"R",        "Rscript", "bun",    "bundle", "bunx",   "cargo", "composer",
     "corepack", "deno",    "direnv", "dotnet", "gradle", "go",    "hatch",
     "julia",    "just",    "make",   "mise",   "mvn",    "npm",   "npx",
     "pdm",      "pipenv",  "pnpm",   "pnpx",   "poetry", "rake",  "rye",
     "task",     "uv",      "uvx",    "yarn"});

// These do so too, unless they are given a script, beside which they search
// (python: sys.path[0]; node: modules of the file).
constexpr auto kRunScripts = std::to_array<std::string_view>(
    {"python", "pypy", "node", "php", "ipython"});

class Person {
 public:
  Person(const ProcessFacts& facts, const std::string& directory,
         const GitDirectories& git, const std::vector<std::string>& writable)
      : facts_(facts), writable_(writable) {
    const std::string& real = paths_.Of(directory);
    directory_ = real.empty() ? directory : real;
    // git goes to the top of the work tree before it does anything else.
    repository_ = !git.worktree.empty();
    top_ = repository_ ? git.worktree : directory_;
  }

  std::string Doubt() {
    std::string config = facts_.home + "/.config";
    std::vector<std::string> files = {"/etc/gitconfig"};
    for (const std::string& entry : facts_.environment) {
      const size_t equals = entry.find('=');
      if (equals == std::string::npos) continue;
      const std::string_view name = std::string_view(entry).substr(0, equals);
      const std::string value = entry.substr(equals + 1);
      if (value.empty()) continue;
      if (name == "XDG_CONFIG_HOME") config = value;
      std::string doubt = VariableDoubt(name, value);
      if (!doubt.empty()) return doubt;
      // Either these count or the usual ones: `gate run` takes them away.
      if (name == "GIT_CONFIG_GLOBAL" || name == "GIT_CONFIG_SYSTEM")
        files.push_back(value);
    }
    files.push_back(config + "/git/config");
    files.push_back(facts_.home + "/.gitconfig");
    for (const std::string& file : files) {
      std::string doubt = FileDoubt(file, 0);
      if (!doubt.empty()) return doubt;
    }
    return "";
  }

 private:
  bool Writable(const std::string& path) {
    const std::string& real = paths_.Of(path);
    return IsWritablePlace(Normalise(path, top_), writable_) ||
           (!real.empty() && IsWritablePlace(real, writable_));
  }

  // The path that a value of git's type "pathname" means; relative as it is.
  std::string Expanded(std::string_view value) const {
    constexpr std::string_view kOptional = ":(optional)";
    if (value.starts_with(kOptional)) value.remove_prefix(kOptional.size());
    if (!value.starts_with('~')) return std::string(value);
    const size_t slash = std::min(value.find('/'), value.size());
    const std::string_view user = value.substr(1, slash - 1);
    return (user.empty() ? facts_.home : HomeOf(user).value_or("/")) +
           std::string(value.substr(slash));
  }

  std::string FileDoubt(const std::string& file, int depth) {
    if (file == "/dev/null") return "";
    const Result<std::string> text = ReadFile(file, kMaxGitConfigBytes);
    if (!text && text.error().code == ErrorCode::kNotFound) return "";
    std::vector<GitEntry> entries;
    if (!file.starts_with('/') || !text || depth > kMaxGitIncludes ||
        !ParseGitConfig(*text, &entries))
      return "git's configuration " + file + " cannot be read";
    if (Writable(file))
      return "git's configuration " + file +
             " lies in a place that sandboxed commands may write";
    for (const GitEntry& entry : entries) {
      std::string doubt = EntryDoubt(entry);
      const bool includes =
          entry.key == "include.path" ||
          (entry.key.starts_with("includeif.") && entry.key.ends_with(".path"));
      // Where that is, git was told when it was built.
      if (doubt.empty() && includes && entry.value.starts_with("%(prefix)/"))
        return "git's configuration " + file + " includes " + entry.value;
      if (doubt.empty() && includes) {
        std::string other = Expanded(entry.value);
        if (!other.starts_with('/'))
          other = std::string(DirName(file)) + "/" + other;
        doubt = FileDoubt(other, depth + 1);
      }
      if (!doubt.empty()) return doubt;
    }
    return "";
  }

  // Of one in the environment that git is started in.
  std::string VariableDoubt(std::string_view name, const std::string& value) {
    constexpr std::string_view kKey = "GIT_CONFIG_KEY_";
    if (known::Contains(List::kGitElsewhere, name))
      return std::string(name) + " leads git elsewhere";
    if (name == "GIT_EXEC_PATH" && (value[0] != '/' || Writable(value)))
      return "GIT_EXEC_PATH is `" + value +
             "`, which sandboxed commands may write";
    if (name == "GIT_EXTERNAL_DIFF")
      return EntryDoubt({.key = "diff.external", .value = value});
    if (!name.starts_with(kKey)) return "";
    // The key as a configuration has it: all but the middle in lower case.
    GitEntry entry = {.key = value};
    const size_t first = std::min(value.find('.'), value.size());
    const size_t last = value.rfind('.');
    for (size_t i = 0; i < value.size(); ++i)
      if ((i < first || i > last) && value[i] >= 'A' && value[i] <= 'Z')
        entry.key[i] = static_cast<char>(value[i] - 'A' + 'a');
    const std::string other =
        "GIT_CONFIG_VALUE_" + std::string(name.substr(kKey.size())) + "=";
    for (const std::string& each : facts_.environment)
      if (each.starts_with(other)) entry.value = each.substr(other.size());
    if (entry.key.starts_with("include"))
      return "git includes " + entry.value + " by " + std::string(name);
    return EntryDoubt(entry);
  }

  std::string EntryDoubt(const GitEntry& entry) {
    const std::string_view key = entry.key;
    const std::string_view name = key.substr(key.rfind('.') + 1);
    const bool truth = entry.boolean || entry.value.empty() ||
                       entry.value == "true" || entry.value == "false";
    bool doubt = false;
    if (key == "grep.fallbacktonoindex") {
      // git grep searches whatever lies there.
      doubt = !repository_ && entry.value != "false";
    } else if (truth) {
      return "";
    } else if (key == "core.hookspath") {
      doubt = HooksDoubt(entry.value);
    } else if (name.ends_with("file")) {
      doubt = LeadsOut(Expanded(entry.value));
    } else if (RunsProgram(entry) &&
               !known::Contains(List::kGitElsewhereSections,
                                key.substr(0, key.find('.')))) {
      doubt = RunsWhatIsHere(entry.value);
    }
    return doubt
               ? "git may follow files of the workspace, because the person's "
                 "configuration says so (" +
                     entry.key + ")"
               : "";
  }

  bool HooksDoubt(const std::string& value) {
    const std::string path = Expanded(value);
    if (path.starts_with('/')) return Writable(path) && HasReadHook(path);
    return HasReadHook(top_ + "/" + path) ||
           HasReadHook(directory_ + "/" + path);
  }

  // Whether the file is one of the workspace, or of no place at all, and a link
  // or behind one. git quotes the lines that it does not understand.
  bool LeadsOut(const std::string& path) {
    if (path.starts_with('/') && !Writable(path)) return false;
    for (const std::string& base : {top_, directory_}) {
      const std::string lexical = Normalise(path, base);
      const std::string& real =
          paths_.Of(path.starts_with('/') ? path : base + "/" + path);
      if (!path.starts_with('/') && !IsWithin(lexical, base)) return true;
      if (!real.empty() && real != lexical) return true;
    }
    return false;
  }

  // Whether `text`, run by the shell at the top of the work tree, may run what
  // lies there.
  bool RunsWhatIsHere(const std::string& text) {
    parser::Context context = MakeContext(facts_, top_);
    context.look_at_files = true;
    const parser::Analysis analysis = parser::Analyze(text, context);
    if (analysis.hides_commands || analysis.parse_error) return true;
    for (const parser::Invocation& invocation : analysis.invocations)
      if (!invocation.builtin && StartsWhatIsHere(invocation)) return true;
    for (const parser::Effect& effect : analysis.effects) {
      if (effect.kind != parser::EffectKind::kExecuteFile) continue;
      if (!effect.path.known ||
          (repository_ && IsWithin(effect.path.text, top_)) ||
          Writable(effect.path.text))
        return true;
    }
    return false;
  }

  bool StartsWhatIsHere(const parser::Invocation& invocation) {
    const parser::Argument& word = invocation.argv[0];
    if (!word.known ||
        (word.text.find('/') != std::string::npos && word.text[0] != '/'))
      return true;
    const auto [place, added] = programs_.try_emplace(word.text);
    if (added) place->second = ResolveProgram(word.text, facts_.path, top_);
    const ProgramFile& file = place->second;
    for (const std::string* path : {&file.found, &file.real})
      if (!path->empty() && IsWritablePlace(*path, writable_)) return true;
    if (IsVersionManagerShim(file)) return true;
    const std::string_view program = invocation.program;
    if (Contains(kRunWhatIsHere, program) || program.starts_with("lua"))
      return true;
    const bool script = invocation.argv.size() > 1 &&
                        invocation.argv[1].known &&
                        invocation.argv[1].text.starts_with('/');
    return !script && std::any_of(kRunScripts.begin(), kRunScripts.end(),
                                  [&](std::string_view each) {
                                    return program.starts_with(each);
                                  });
  }

  const ProcessFacts& facts_;
  const std::vector<std::string>& writable_;
  // Several entries name one program: git-lfs is three.
  std::map<std::string, ProgramFile> programs_;
  RealPaths paths_;
  std::string directory_, top_;
  bool repository_ = false;
};

}  // namespace

std::string UnsafeUserConfigReason(const ProcessFacts& facts,
                                   const std::string& directory,
                                   const GitDirectories& git,
                                   const std::vector<std::string>& writable) {
  return Person(facts, directory, git, writable).Doubt();
}

}  // namespace gate::app
