// gate rules fmt: the one layout of rule files.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/file.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "rules/format.h"
#include "rules/policy.h"
#include "rules/rule_paths.h"

namespace gate::app {
namespace {

constexpr int kChanged = 1;
constexpr size_t kMaxShown = 20;  // changed lines of a file

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// The changed lines. Layout moves line ends by a few lines at most, so the
// next pair of equal lines is looked for nearby.
void PrintChanges(const std::string& name, std::string_view before,
                  std::string_view after) {
  std::printf("--- %s\n+++ %s (formatted)\n", Visible(name).c_str(),
              Visible(name).c_str());
  const auto a = Lines(before), b = Lines(after);
  size_t i = 0, j = 0, shown = 0;
  while ((i < a.size() || j < b.size()) && shown < kMaxShown) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i, ++j;
      continue;
    }
    size_t skip_a = a.size() - i, skip_b = b.size() - j;
    for (size_t sum = 1; sum < 40; ++sum)
      for (size_t x = 0; x <= sum; ++x)
        if (i + x < a.size() && j + sum - x < b.size() &&
            a[i + x] == b[j + sum - x] && !a[i + x].empty()) {
          skip_a = x, skip_b = sum - x;
          sum = 40;
          break;
        }
    std::printf("@@ line %zu @@\n", i + 1);
    for (; skip_a > 0; --skip_a, ++i, ++shown)
      if (shown < kMaxShown) std::printf("-%s\n", Visible(a[i]).c_str());
    for (; skip_b > 0; --skip_b, ++j, ++shown)
      if (shown < kMaxShown) std::printf("+%s\n", Visible(b[j]).c_str());
    // A last line without its end is a change that no line shows.
  }
  if (shown >= kMaxShown) std::puts("...");
}

std::optional<std::string> Format(const std::string& name,
                                  std::string_view text) {
  auto formatted = rules::FormatRuleFile(text);
  if (formatted) return std::move(*formatted);
  const LineColumn at = Locate(text, formatted.error().offset);
  std::fputs(Render({Severity::kError, "rule-json", name, at.line, at.column,
                     formatted.error().message,
                     "mend it first: nothing was formatted"})
                 .c_str(),
             stderr);
  return std::nullopt;
}

// 0, kChanged (with `check`) or an exit code of failure.
int FormatFile(const std::string& path, bool check) {
  const auto text = ReadFile(path, rules::kMaxRuleFileBytes, /*follow=*/false);
  struct stat info{};
  if (!text || ::stat(path.c_str(), &info) != 0) {
    Complain(text ? "`" + Visible(path) + "` cannot be read"
                  : text.error().message);
    return kExitUsage;
  }
  const auto formatted = Format(path, *text);
  if (!formatted) return kExitPolicy;
  if (*formatted == *text) return 0;
  if (check) {
    PrintChanges(path, *text, *formatted);
    return kChanged;
  }
  const Status written =
      WriteFileAtomically(path, *formatted, info.st_mode & 07777);
  if (!written) {
    Complain(written.error().message);
    return kExitInternal;
  }
  std::printf("formatted %s\n", Visible(path).c_str());
  return 0;
}

}  // namespace

int RulesFmtCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app(
      "Brings rule files into the one layout; comments, order and what they\n"
      "mean stay. Without FILE: those of the user. `-` reads standard input\n"
      "and prints.",
      "gate rules fmt");
  bool check = false;
  std::vector<std::string> files;
  app.Flag("--check", check,
           "change nothing; show what would change and exit 1");
  app.Add("file", files, "files or directories of them, or -");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (files.empty()) {
    files.push_back(ReadProcessFacts(globals).places.config + "/rules.d");
    if (struct stat info{};
        ::lstat(files[0].c_str(), &info) != 0 && errno == ENOENT) {
      std::printf("no rules of yours yet: there is no %s\n",
                  Visible(files[0]).c_str());
      return 0;
    }
  }
  int worst = 0;
  for (const std::string& file : files) {
    if (file == "-") {
      const auto text = ReadAll(STDIN_FILENO, rules::kMaxRuleFileBytes);
      if (!text) {
        Complain(text.error().message);
        return kExitUsage;
      }
      const auto formatted = Format("-", *text);
      if (!formatted) return kExitPolicy;
      if (!check) {
        std::fputs(formatted->c_str(), stdout);
      } else if (*formatted != *text) {
        PrintChanges("-", *text, *formatted);
        worst = std::max(worst, kChanged);
      }
      continue;
    }
    const auto paths = rules::RulePaths(file);
    if (!paths) {
      Complain(paths.error().message);
      return kExitUsage;
    }
    for (const std::string& path : *paths)
      worst = std::max(worst, FormatFile(path, check));
  }
  return worst;
}

}  // namespace gate::app
