#include "cli/branch.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/file.h"
#include "base/git_config.h"

namespace gate::cli {
namespace {

constexpr size_t kMaxHeadBytes = 4096;
constexpr std::string_view kReference = "ref: ";
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

}  // namespace

Branch FindBranch(const std::string& cwd, const parser::Analysis& analysis) {
  if (analysis.hides_commands) return {"", false};
  for (const parser::Invocation& invocation : analysis.invocations)
    if (ActsElsewhere(invocation, cwd)) return {"", false};
  const GitDirectories git = FindGitDirectories(cwd);
  if (git.own.empty()) return {};
  const auto head =
      ReadFile(git.own + "/HEAD", kMaxHeadBytes, /*follow=*/false);
  if (!head) return {"", false};
  std::string_view text = *head;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  if (!text.starts_with(kReference)) return {};  // detached
  text.remove_prefix(kReference.size());
  while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
  if (!text.starts_with(kBranches) ||
      text.find_first_of("\n\r") != std::string_view::npos)
    return {"", false};
  return {std::string(text.substr(kBranches.size())), true};
}

}  // namespace gate::cli
