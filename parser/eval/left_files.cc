// What programs leave in the files that they write.
#include <algorithm>

#include "base/paths.h"
#include "base/text.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

// Findings of a call of which each source is looked up in each target.
constexpr size_t kMaxNamesKept = 8;
// The most that a copy or a move of one file says of itself: what is read, what
// is written, and for `install -o` and `mv -b` the owner and the backup. One
// that says more has several sources, and which of them it is is not known.
constexpr size_t kEffectsOfOneCopy = 4;

// What a copy of a program of the system, or a link to it, does when it runs:
// as a script that runs the program. Empty for other files.
std::string ScriptFor(const Argument& source) {
  constexpr std::string_view kDirectories[] = {
      "/bin",      "/sbin",          "/usr/bin",
      "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"};
  if (source.glob) return "";
  const std::string& path = source.known ? source.text : source.suffix;
  const std::string_view name = BaseName(path);
  if (path.find('/') == std::string::npos || !IsDescribed(name)) return "";
  const std::string directory = source.known ? Normalise(DirName(path), "/")
                                             : std::string(kDirectories[0]);
  if (std::find(std::begin(kDirectories), std::end(kDirectories), directory) ==
      std::end(kDirectories)) {
    return "";
  }
  return "#!/bin/sh\nexec " + ShellQuote(name) + " \"$@\"\n";
}

bool IsStandardInput(std::string_view path) {
  return path == "/dev/stdin" || path == "/dev/fd/0" ||
         path == "/proc/self/fd/0";
}

}  // namespace

void Evaluator::LeaveFiles(Shell& shell, const ProgramCall& call,
                           const ArgumentAnalysis& arguments,
                           const Values& input,
                           const std::map<std::string, Values>& in_place) {
  const bool has_input = HasInput(shell, 0);
  const bool copies_input = arguments.leaves == LeftFiles::kInput;
  const auto built = static_cast<size_t>(
      std::count_if(arguments.effects.begin(), arguments.effects.end(),
                    [](const ArgumentEffect& effect) {
                      return effect.modifier == Modifier::kBuilt;
                    }));
  const bool takes_input =
      arguments.leaves == LeftFiles::kInputOrOperand && has_input &&
      std::none_of(arguments.effects.begin(), arguments.effects.end(),
                   [](const ArgumentEffect& effect) {
                     return effect.role == Role::kRead;
                   });
  const bool appends =
      copies_input &&
      std::any_of(
          arguments.options.begin(), arguments.options.end(),
          [](std::string_view option) { return IsSpelling(option, "-a"); });
  const bool words_known = built != 0 && KnownWords(call.argv);
  for (const ArgumentEffect& effect : arguments.effects) {
    if (effect.words.empty()) continue;
    const Argument& word = effect.words[0];
    if (effect.role == Role::kDelete) {
      for (const std::string& path : KnownPaths(shell, word)) {
        shell.files.erase(path);
      }
      continue;
    }
    if (effect.role != Role::kWrite && effect.role != Role::kMoveTo) {
      continue;
    }
    Values content = UnknownValue(call.span);
    if (copies_input && !input.empty()) {
      content = input;
    } else if (copies_input || takes_input) {
      content = input.empty() ? UnknownValue(call.span)
                              : Union(input, UnknownValue(call.span));
    } else if (effect.modifier == Modifier::kBuilt) {
      // No copy of what it read. An unknown word may say otherwise.
      if (!words_known) continue;
    } else if (arguments.effects.size() <= kEffectsOfOneCopy + built) {
      // cp, mv, ln, install: the text of the one file that is known.
      for (const ArgumentEffect& other : arguments.effects) {
        if ((other.role != Role::kRead && other.role != Role::kMoveFrom) ||
            other.words.empty()) {
          continue;
        }
        if (const std::string script = ScriptFor(other.words[0]);
            !script.empty()) {
          content = {Value::Of(script)};
        }
        for (const std::string& path : KnownPaths(shell, other.words[0])) {
          auto it = shell.files.find(path);
          if (it != shell.files.end()) {
            content = Union(it->second, UnknownValue(call.span));
          } else if (has_input && IsStandardInput(path)) {
            content =
                Union(ReadRest(shell, 0, call.span), UnknownValue(call.span));
          }
        }
      }
    }
    std::vector<std::string> paths;
    Field field = ToField(word, call.argv);
    std::optional<std::string> known = Known(field);
    if (known && IsProcessPath(*known)) {
      paths.push_back(*known);
    } else {
      paths = KnownPaths(shell, word);
    }
    if (arguments.leaves == LeftFiles::kPieces && word.known) {
      maybe_written_paths_.emplace_back(BaseName(word.text));
    }
    for (const std::string& path : paths) {
      if (arguments.leaves == LeftFiles::kPipes) pipes_.insert(path);
      if (arguments.leaves == LeftFiles::kLinks)
        maybe_written_paths_.push_back(path + "/");
      const auto left = in_place.find(path);
      StoreFile(shell, path,
                left == in_place.end()
                    ? content
                    : Union(left->second, UnknownValue(call.span)),
                appends);
      // Into a directory it keeps its name.
      if (arguments.effects.size() > kMaxNamesKept) continue;
      for (const ArgumentEffect& other : arguments.effects) {
        if ((other.role == Role::kRead || other.role == Role::kMoveFrom) &&
            !other.words.empty() && other.words[0].known) {
          std::string below =
              path + "/" + std::string(BaseName(other.words[0].text));
          for (const std::string& from : KnownPaths(shell, other.words[0])) {
            auto it = shell.files.find(from);
            if (it != shell.files.end()) {
              Values copy = Union(it->second, UnknownValue(call.span));
              StoreFile(shell, below, copy, false);
            }
          }
        }
      }
    }
  }
}

}  // namespace gate::parser
