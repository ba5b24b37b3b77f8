// The names of models, in the order of their values.

#include "parser/models.h"

#include <iterator>

namespace gate::parser {
namespace {

constexpr std::string_view kOutputNames[] = {"",
                                             "awk-script",
                                             "base-32",
                                             "base-64",
                                             "cipher",
                                             "columns",
                                             "copy",
                                             "distinct-lines",
                                             "first-lines",
                                             "format",
                                             "hexadecimal",
                                             "input",
                                             "joined-lines",
                                             "last-lines",
                                             "lines-reversed",
                                             "matching-lines",
                                             "numbers",
                                             "packed",
                                             "replaced-characters",
                                             "reversed-lines",
                                             "sed-script",
                                             "sorted-lines",
                                             "unpacked",
                                             "words",
                                             "wrapped-lines",
                                             "endless-line",
                                             "last-part",
                                             "directory-part",
                                             "count",
                                             "counts",
                                             "identity",
                                             "time-of-day",
                                             "temporary-name",
                                             "program-path"};
static_assert(std::size(kOutputNames) == kOutputKinds);

constexpr std::string_view kLeftNames[] = {
    "", "input", "input-or-operand", "linked", "pieces", "pipes"};
static_assert(std::size(kLeftNames) == kLeftFileKinds);

constexpr std::string_view kRunNames[] = {"", "environment", "found-files",
                                          "input-lines", "input-words"};
static_assert(std::size(kRunNames) == kRunKinds);

constexpr std::string_view kLanguageNames[] = {
    "",           "bash-shell",       "posix-shell",  "other-shell",
    "awk-script", "sed-script",       "python-calls", "perl-calls",
    "ruby-calls", "javascript-calls", "php-calls",    "lua-calls",
    "m4-calls",   "any-calls"};
static_assert(std::size(kLanguageNames) == kLanguageKinds);

constexpr std::string_view kModifierNames[] = {
    "",       "in",    "into",           "urls",
    "curlrc", "paths", "glob",           "terminal",
    "tree",   "built", "here",           "dir",
    "line",   "later", "container-used", "container-network"};
static_assert(std::size(kModifierNames) == kModifiers);

template <typename Enum, size_t N>
std::optional<Enum> Find(const std::string_view (&names)[N],
                         std::string_view name) {
  for (size_t k = 1; k < N; ++k)
    if (names[k] == name) return static_cast<Enum>(k);
  return std::nullopt;
}

}  // namespace

std::optional<OutputModel> OutputModelOf(std::string_view name) {
  return Find<OutputModel>(kOutputNames, name);
}

std::optional<LeftFiles> LeftFilesOf(std::string_view name) {
  return Find<LeftFiles>(kLeftNames, name);
}

std::optional<RunModel> RunModelOf(std::string_view name) {
  return Find<RunModel>(kRunNames, name);
}

std::optional<Language> LanguageOf(std::string_view name) {
  return Find<Language>(kLanguageNames, name);
}

Modifier ModifierOf(std::string_view detail) {
  return Find<Modifier>(kModifierNames, detail).value_or(Modifier::kNone);
}

}  // namespace gate::parser
