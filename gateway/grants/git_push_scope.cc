#include "gateway/grants/git_push_scope.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/file.h"
#include "credentials/ssh_broker.h"
#include "git/config.h"
#include "git/doubts.h"
#include "git/format.h"

namespace gate::app {
namespace {

using credentials::PushScope;
using parser::Argument;
using parser::Invocation;

constexpr size_t kMaxHeadBytes = 4096;
constexpr std::string_view kBranches = "refs/heads/", kTags = "refs/tags/";

bool IsCommand(const Invocation& invocation, std::string_view name) {
  return invocation.program == "git" && !invocation.guessed &&
         !invocation.subcommand.empty() &&
         invocation.subcommand.front() == name;
}

// The words behind the sub-command, which may be written as `alias`.
std::vector<const Argument*> WordsOf(const Invocation& invocation,
                                     std::string_view alias = "") {
  std::vector<const Argument*> words;
  bool behind = false;
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const Argument& word = invocation.argv[i];
    if (behind) words.push_back(&word);
    behind |= word.text == invocation.subcommand.front() || word.text == alias;
  }
  return words;
}

class Reader {
 public:
  explicit Reader(const parser::Analysis& analysis) : analysis_(analysis) {}

  PushScope Read() {
    for (const Invocation& invocation : analysis_.invocations)
      if (IsCommand(invocation, "push")) ReadPush(invocation);
    return std::move(scope_);
  }

 private:
  void AddPattern(std::string_view name) {
    const size_t star = name.find('*');
    if (star == name.npos)
      scope_.refs.insert(std::string(name));
    else
      scope_.prefixes.insert(std::string(name.substr(0, star)));
  }

  void AddName(std::string_view name) {
    if (name.starts_with("refs/")) return AddPattern(name);
    if (name.starts_with("heads/") || name.starts_with("tags/"))
      AddPattern("refs/" + std::string(name));
    AddPattern(std::string(kBranches) + std::string(name));
    AddPattern(std::string(kTags) + std::string(name));
  }

  void AddAllBranches() { scope_.prefixes.insert(std::string(kBranches)); }

  void AddRefspec(const Invocation& invocation, const Argument& word) {
    if (!word.known || word.glob) return AddAllBranches();
    std::string_view text = word.text;
    if (text.starts_with('+')) text.remove_prefix(1);
    if (text == ":") return AddAllBranches();  // all that both sides have
    const size_t colon = text.rfind(':');
    if (colon != text.npos) text.remove_prefix(colon + 1);
    if (colon == text.npos && (text == "HEAD" || text == "@"))
      return AddCurrent(invocation);
    if (!text.empty() && text[0] != '^') AddName(text);
  }

  // The branch of HEAD now, and those to which the line itself may change.
  void AddCurrent(const Invocation& push) {
    for (const std::string& cwd : parser::DirectoriesOf(push)) {
      std::string doubt;
      const GitDirectories git =
          FindGitDirectories(GitDirectoryOf(push, cwd, &doubt));
      if (git.own.empty()) continue;
      const auto text =
          ReadFile(git.own + "/HEAD", kMaxHeadBytes, /*follow=*/false);
      if (!text) continue;
      const GitRef head = ParseGitRef(*text);
      if (head.kind == GitRef::Kind::kSymbolic &&
          head.target.starts_with(kBranches))
        scope_.refs.insert(head.target);
    }
    constexpr auto kChanging =
        std::to_array<std::string_view>({"checkout", "switch", "branch"});
    for (const Invocation& invocation : analysis_.invocations)
      if (std::ranges::any_of(kChanging, [&](std::string_view name) {
            return IsCommand(invocation, name);
          }))
        for (const Argument* word : WordsOf(invocation, "switch"))
          AddBranch(*word);
  }

  void AddBranch(const Argument& word) {
    if (!word.known || word.text == "-") return AddAllBranches();
    if (!word.text.starts_with('-'))
      scope_.refs.insert(std::string(kBranches) + word.text);
  }

  // Whether the value of the option stands in the next word (git-push(1)).
  static bool TakesNext(std::string_view word) {
    if (word.starts_with("--")) {
      constexpr auto kValued = std::to_array<std::string_view>(
          {"--push-option", "--repo", "--receive-pack", "--exec"});
      return word.size() > 4 && word.find('=') == word.npos &&
             std::ranges::any_of(kValued, [&](std::string_view name) {
               return name.starts_with(word);
             });
    }
    return word.size() > 1 && word.ends_with('o');
  }

  void ReadOption(std::string_view word, const Argument* next) {
    const auto is = [&](std::string_view name) { return word == name; };
    if (is("--tags") || is("--follow-tags"))
      scope_.prefixes.insert(std::string(kTags));
    if (is("--all") || is("--branches")) AddAllBranches();
    if (is("--mirror")) scope_.prefixes.insert("refs/");
    // The submodules' branches have names of their own.
    if (word.starts_with("--recurse-submodules=")) AddAllBranches();
    constexpr std::string_view kOption = "--push-option=";
    if (word.starts_with(kOption))
      scope_.options.insert(std::string(word.substr(kOption.size())));
    if (word.starts_with("-o") && word.size() > 2)
      scope_.options.insert(std::string(word.substr(2)));
    if (next != nullptr && next->known &&
        (!word.starts_with("--") || word.starts_with("--pu")))
      scope_.options.insert(next->text);
  }

  void ReadPush(const Invocation& invocation) {
    ++scope_.sessions;
    const std::vector<const Argument*> words = WordsOf(invocation);
    size_t operands = 0;
    bool refspecs = false, options = true, wide = false;
    for (size_t i = 0; i < words.size(); ++i) {
      const Argument& word = *words[i];
      if (options && word.known && word.text == "--") {
        options = false;
        continue;
      }
      if (options && word.text.starts_with('-') && word.text.size() > 1) {
        const bool takes = TakesNext(word.text);
        const Argument* next =
            takes && i + 1 < words.size() ? words[i + 1] : nullptr;
        ReadOption(word.text, next);
        wide |= word.text == "--all" || word.text == "--branches" ||
                word.text == "--mirror" || word.text == "--tags";
        i += takes ? 1 : 0;
        continue;
      }
      // An unquoted word may be the remote and refs.
      if (operands++ == 0 && (word.known || !word.splits)) continue;
      refspecs = true;
      if (word.known && word.text == "tag" && i + 1 < words.size()) {
        const Argument& tag = *words[++i];
        if (tag.known)
          AddPattern(std::string(kTags) + tag.text);
        else
          scope_.prefixes.insert(std::string(kTags));
        continue;
      }
      AddRefspec(invocation, word);
    }
    if (!refspecs && !wide) AddCurrent(invocation);
  }

  const parser::Analysis& analysis_;
  PushScope scope_;
};

// A command in a loop, or of xargs, runs as often as it likes.
bool MayRepeat(const parser::Analysis& analysis, std::string_view line) {
  for (size_t at = line.find("do"); at != line.npos;
       at = line.find("do", at + 1)) {
    constexpr std::string_view kAround = " \t\n;&|({";
    const bool begins = at == 0 || kAround.find(line[at - 1]) != kAround.npos;
    const bool ends =
        at + 2 < line.size() && kAround.find(line[at + 2]) != kAround.npos;
    if (begins && ends) return true;
  }
  return std::ranges::any_of(
      analysis.invocations, [](const Invocation& invocation) {
        return IsCommand(invocation, "push") &&
               std::ranges::any_of(invocation.via, [](const auto& via) {
                 const std::string_view starter = parser::StarterOf(via);
                 return starter.starts_with("xargs") ||
                        starter.starts_with("find");
               });
      });
}

}  // namespace

PushScope PushScopeOf(const parser::Analysis& analysis, std::string_view line) {
  PushScope scope = Reader(analysis).Read();
  if (scope.sessions > 0 && MayRepeat(analysis, line))
    scope.sessions = credentials::kMaxTransports;
  return scope;
}

}  // namespace gate::app
