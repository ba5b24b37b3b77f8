#include "git/branch.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "git/config.h"
#include "git/format.h"

namespace gate::app {
namespace {

constexpr size_t kMaxHeadBytes = 4096;
// git follows no more symbolic refs than these (refs.c, SYMREF_MAXDEPTH).
constexpr int kMaxSymbolic = 5;
constexpr std::string_view kBranches = "refs/heads/";

// Git commands after which another branch may be checked out.
constexpr std::array<std::string_view, 9> kMoves = {
    "checkout", "switch", "symbolic-ref", "worktree", "update-ref",
    "rebase",   "clone",  "init",         "bisect"};

bool ActsElsewhere(const parser::Invocation& invocation,
                   const std::string& cwd) {
  for (const parser::EnvironmentSetting& setting : invocation.environment)
    if (setting.name.starts_with("GIT_")) return true;
  if (invocation.program != "git") return false;
  if (!invocation.cwd.known || invocation.cwd.text != cwd ||
      !invocation.other_cwds.empty())
    return true;
  if (invocation.argv.size() < 2) return false;
  const parser::Argument& first = invocation.argv[1];
  if (!first.known) return true;
  // Options before the sub-command may name another repository.
  if (first.text.starts_with('-'))
    return first.text != "--no-pager" && first.text != "-P" &&
           first.text != "--version" && first.text != "--help";
  if (first.text == "branch")  // renames; listing does not
    return std::any_of(invocation.argv.begin() + 2, invocation.argv.end(),
                       [](const parser::Argument& word) {
                         return !word.known || word.text.starts_with("-m") ||
                                word.text.starts_with("-M") ||
                                word.text.starts_with("--m");
                       });
  return std::find(kMoves.begin(), kMoves.end(), first.text) != kMoves.end();
}

// Whether git may take `name` for a branch, and its file is the one below the
// common directory (refs.c, check_refname_format).
bool IsBranch(std::string_view name) {
  return name.starts_with(kBranches) && name.size() > kBranches.size() &&
         name.find("..") == std::string_view::npos &&
         name.find("//") == std::string_view::npos &&
         name.find("/.") == std::string_view::npos &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return static_cast<unsigned char>(c) > ' ' && c != '\x7f' &&
                  std::string_view("~^:?*[\\").find(c) ==
                      std::string_view::npos;
         });
}

}  // namespace

Branch FindBranch(const std::string& cwd, const parser::Analysis& analysis) {
  if (analysis.hides_commands) return {"", false};
  for (const parser::Invocation& invocation : analysis.invocations)
    if (ActsElsewhere(invocation, cwd)) return {"", false};
  const GitDirectories git = FindGitDirectories(cwd);
  if (git.own.empty()) return {};
  const auto config = ReadFile(git.common + "/config", kMaxGitConfigBytes);
  std::vector<GitEntry> entries;
  if (config ? !ParseGitConfig(*config, &entries) || !KeepsRefsInFiles(entries)
             : config.error().code != ErrorCode::kNotFound)
    return {"", false};
  std::string file = git.own + "/HEAD", target;
  // A branch may itself be a symbolic ref. One that is only in packed-refs is
  // not.
  for (int depth = 0; depth <= kMaxSymbolic; ++depth) {
    const auto text = ReadFile(file, kMaxHeadBytes, /*follow=*/false);
    if (!text && text.error().code == ErrorCode::kNotFound && depth > 0)
      return {target.substr(kBranches.size()), true};
    if (!text) return {"", false};
    const GitRef ref = ParseGitRef(*text);
    if (ref.kind == GitRef::Kind::kObject)
      return {depth == 0 ? "" : target.substr(kBranches.size()), true};
    if (ref.kind == GitRef::Kind::kUnknown || !IsBranch(ref.target))
      return {"", false};
    target = ref.target;
    file = git.common + "/" + target;
  }
  return {"", false};
}

}  // namespace gate::app
