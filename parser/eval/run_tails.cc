// Words of a program that is not described, which may be another command: a
// wrapper that nobody has told gate of runs what its operands say.
#include <algorithm>
#include <array>

#include "base/paths.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

// Tails of one call that are read as commands; each costs its words. A call
// with more is noted as one that is not read whole.
constexpr size_t kMaxTails = 16;
// Calls of that kind inside each other's tails (`foo sh -c 'bar git push'`).
constexpr int kMaxTailNesting = 2;

// Options whose value is a line, wherever it stands.
constexpr std::array<std::string_view, 8> kLineOptions = {
    "-c",    "-x",        "--command", "--exec",
    "--run", "--execute", "--shell",   "--eval"};
// Words before the only operand that do not make it less a line.
constexpr std::array<std::string_view, 5> kRunners = {"run", "exec", "sh",
                                                      "shell", "x"};

// Programs whose names are first of all words for what other programs look
// after: `fastly service list`, `tool port 80`.
constexpr std::array<std::string_view, 2> kThings = {"service", "port"};

template <size_t N>
bool IsOneOf(const std::array<std::string_view, N>& names,
             std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// A name as it would be found by PATH, or a whole path.
bool NamesProgram(std::string_view word) {
  if (word.empty()) return false;
  if (word.find('/') != std::string_view::npos && word[0] != '/') return false;
  if (IsOneOf(kThings, word)) return false;
  return word == "eval" || IsDescribed(BaseName(word));
}

bool IsPlain(const Field& field) {
  return field.value.known() && !field.glob && !field.splits;
}

// The first word of a text that is a line of several, if it names a program.
bool StartsLikeLine(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return false;
  const size_t end = text.find_first_of(" \t\n;|&", begin);
  return end != std::string_view::npos &&
         NamesProgram(text.substr(begin, end - begin));
}

}  // namespace

std::vector<Evaluator::Tail> Evaluator::TailsOf(const ProgramCall& call,
                                                bool has_input) {
  std::vector<Tail> tails;
  const Fields& argv = call.argv;
  // The directory of the program is not known, its name is.
  if (!argv[0].value.known() && !argv[0].glob) {
    const std::string suffix = argv[0].value.Suffix();
    if (suffix.find('/') != std::string::npos &&
        IsDescribed(BaseName(suffix))) {
      tails.push_back({0, 0, false});
      return tails;
    }
  }
  if (argv.size() < 2 || tail_depth_ >= kMaxTailNesting) return tails;
  // The tails of a tail are those of the call that it is one of.
  const Span last = argv.back().span;
  if (tail_depth_ > 0 && script_ == tail_script_ && last == tail_end_) {
    return tails;
  }
  size_t operands = 0;
  bool after_option = false;
  for (size_t i = 1; i < argv.size(); ++i) {
    if (!IsPlain(argv[i])) {
      ++operands;
      after_option = false;
      continue;
    }
    const std::string_view word = argv[i].value.text();
    const bool option = word.starts_with('-');
    if (!option && !IsOneOf(kRunners, word)) ++operands;
    const size_t equals = option ? word.find('=') : std::string_view::npos;
    if (equals != std::string_view::npos &&
        IsOneOf(kLineOptions, word.substr(0, equals)) &&
        StartsLikeLine(word.substr(equals + 1))) {
      tails.push_back({i, equals + 1, true});
    } else if (!option && NamesProgram(word)) {
      // `tool init`, `tool build docker`, `tool --port port`: a name alone is
      // a word of the tool's own, unless there is something for it to read.
      const bool alone = i + 1 == argv.size() && word[0] != '/';
      if (alone && !has_input) continue;
      tails.push_back({i, 0, false});
    } else if (!option && StartsLikeLine(word) &&
               (after_option || (operands == 1 && i + 1 == argv.size() &&
                                 Read(word).status == ReadStatus::kOk))) {
      tails.push_back({i, 0, true});
    }
    after_option = IsOneOf(kLineOptions, word);
  }
  if (tails.size() > kMaxTails) {
    NoteAt(UnknownCode::kTooLarge, call.span, "too many possible commands");
    tails.resize(kMaxTails);
  }
  return tails;
}

void Evaluator::RunTails(Shell& shell, const Shell& before,
                         const ProgramCall& call,
                         const std::vector<Tail>& tails, uint32_t invocation) {
  if (exhausted_) return;
  Via via{ViaKind::kPossible};
  if (IsPlain(call.argv[0]))
    via = {ViaKind::kProgram, std::string(BaseName(call.argv[0].value.text()))};
  ScopedVia chain(*this, via, call.span);
  const bool sure = tails[0].word == 0;
  Scoped<bool> uncertain(certain_, certain_ && sure);
  Scoped<bool> guessed(guessed_, guessed_ || !sure);
  Scoped<int> depth(tail_depth_, tail_depth_ + 1);
  Scoped<Span> end(tail_end_, call.argv.back().span);
  Scoped<const Script*> script(tail_script_, script_);
  for (const Tail& tail : tails) {
    if (!Spend(CopyCost(before) + call.argv.size())) return;
    Shell copy = before;
    const Field& head = call.argv[tail.word];
    std::string text(sure ? BaseName(head.value.Suffix())
                          : head.value.text().substr(tail.skip));
    if (tail.line || (!sure && text == "eval")) {
      for (size_t i = tail.word + 1; !tail.line && i < call.argv.size(); ++i) {
        if (!IsPlain(call.argv[i])) break;
        text = (text == "eval" ? "" : text + " ") +
               std::string(call.argv[i].value.text());
      }
      ShellCode how;
      how.via = via;
      how.given = true;
      how.invocation = invocation;
      how.words = {{call.argv[0].value}};
      RunShellCode(copy, {Value::Of(text)}, how, call.span);
    } else {
      ProgramCall inner;
      inner.span = call.span;
      inner.from_wrapper = true;
      inner.argv.assign(
          call.argv.begin() + static_cast<std::ptrdiff_t>(tail.word),
          call.argv.end());
      if (sure) inner.argv[0] = KnownField(text, head.span);
      RunProgram(copy, inner);
    }
    if (exhausted_) return;
    JoinInto(shell, copy);
  }
}

void Evaluator::RunUnnamed(Shell& shell, const ProgramCall& call,
                           uint32_t invocation) {
  const std::vector<Tail> tails = TailsOf(call, HasInput(shell, 0));
  std::optional<Shell> before;
  if (!tails.empty() && Spend(CopyCost(shell))) before = shell;
  if (Captured(shell, 1)) Write(shell, 1, UnknownValue(call.span));
  if (before) RunTails(shell, *before, call, tails, invocation);
  shell.status.reset();
}

}  // namespace gate::parser
