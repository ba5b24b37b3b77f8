// The evaluator: what it records; where an evaluation begins and ends.
#include "parser/eval/evaluate.h"

#include <algorithm>

#include "base/paths.h"
#include "base/text.h"

namespace gate::parser {
namespace {

uint64_t Mix(uint64_t hash, std::string_view text) {
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return (hash ^ 0xFF) * 1099511628211ULL;
}

uint64_t Mix(uint64_t hash, uint64_t number) {
  for (int i = 0; i < 8; ++i) {
    hash ^= (number >> (8 * i)) & 0xFF;
    hash *= 1099511628211ULL;
  }
  return hash;
}

constexpr uint64_t kSeed = 14695981039346656037ULL;

bool SameVia(const std::vector<Via>& a, const std::vector<Via>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].kind != b[i].kind || a[i].name != b[i].name) return false;
  }
  return true;
}

bool SameSettings(const std::vector<EnvironmentSetting>& a,
                  const std::vector<EnvironmentSetting>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || !(a[i].value == b[i].value)) return false;
  }
  return true;
}

// Whether `name` stands in `text` as a word of its own.
bool Names(std::string_view text, std::string_view name) {
  const auto part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  };
  for (size_t at = text.find(name); at != std::string_view::npos;
       at = text.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !part(text[at - 1])) &&
        (end == text.size() || !part(text[end]))) {
      return true;
    }
  }
  return false;
}

std::string ProgramName(const Argument& name) {
  if (!name.known || name.glob) return "";
  std::string base(BaseName(name.text));
  if (base.size() > 4 && base.ends_with(".exe")) base.resize(base.size() - 4);
  return base;
}

}  // namespace

Evaluator::Evaluator(std::string_view source, const Context& context)
    : source_(source), context_(context) {}

std::string Evaluator::HomeOf(const std::string& user) {
  if (user.empty() || user == context_.user) return context_.home;
  return gate::HomeOf(user).value_or("");
}

bool Evaluator::Spend(size_t steps) {
  if (exhausted_) return false;
  steps_ += steps;
  if (steps_ > kMaxSteps) {
    NoteLimit("too much to evaluate");
    exhausted_ = true;
    return false;
  }
  return true;
}

void Evaluator::NoteLimit(std::string text) {
  NoteAt(UnknownCode::kLimit, Span{0, static_cast<uint32_t>(source_.size())},
         std::move(text));
}

void Evaluator::Note(UnknownCode code, Span span, std::string text) {
  NoteAt(code, script_ != nullptr ? Map(*script_, span) : span,
         std::move(text));
}

void Evaluator::NoteAt(UnknownCode code, Span mapped, std::string text) {
  // What cannot run hides nothing.
  if (dead_ && code != UnknownCode::kLimit) return;
  if (HidesCommands(code)) {
    analysis_.hides_commands = true;
    state_only_ = false;
  }
  if (text.size() > 200) text.resize(200);
  text = ToUtf8(text);
  uint64_t hash = Mix(kSeed, static_cast<uint64_t>(code));
  hash = Mix(Mix(Mix(hash, mapped.begin), mapped.end), text);
  if (!unknown_index_.insert(hash).second) return;
  if (analysis_.unknowns.size() >= kMaxUnknowns) return;
  analysis_.unknowns.push_back({code, mapped, std::move(text)});
}

Span Evaluator::Map(const Script& script, Span span) const {
  auto it = mappings_.find(&script);
  if (it == mappings_.end()) {
    return Span{0, static_cast<uint32_t>(source_.size())};
  }
  if (!it->second.identity) return it->second.span;
  uint32_t size = static_cast<uint32_t>(source_.size());
  span.end = std::min(span.end, size);
  span.begin = std::min(span.begin, span.end);
  return span;
}

std::string Evaluator::TextAt(Span mapped) const {
  if (mapped.end > source_.size() || mapped.begin > mapped.end) return "";
  std::string text(Slice(source_, mapped));
  if (text.size() > 120) text = text.substr(0, 117) + "...";
  return text;
}

Values Evaluator::UnknownValue(Span span, UnknownCode code) {
  return {Value::Unknown(code, span)};
}

Argument Evaluator::ToArgument(const Field& field, const Shell& shell) const {
  Argument argument;
  argument.span = script_ != nullptr ? Map(*script_, field.span) : field.span;
  if (!field.value.known()) {
    argument.known = false;
    argument.text = field.value.Prefix();
    argument.suffix = field.value.Suffix();
    argument.splits = field.splits;
    return argument;
  }
  argument.text = field.value.text();
  if (size_t at = argument.text.find(kProcessPath); at != std::string::npos) {
    argument.known = false;
    argument.text = argument.text.substr(0, at) + "/dev/fd/";
    return argument;
  }
  if (size_t at = argument.text.find(kNumber); at != std::string::npos) {
    argument.known = false;
    size_t last = argument.text.rfind(kNumber);
    argument.suffix = argument.text.substr(last + kNumber.size());
    argument.text.resize(at);
    return argument;
  }
  if (field.splits) {
    argument.known = false;
    argument.splits = true;
  }
  if (field.glob && !shell.noglob) {
    argument.glob = true;
    if (!field.pattern.empty()) argument.text = field.pattern;
    if (shell.nullglob) {
      // It may also be no word at all.
      argument.glob = false;
      argument.known = false;
      argument.splits = true;
      argument.text = PatternValue(argument.text, field.span).Prefix();
    }
  }
  return argument;
}

void Evaluator::AddSetting(const Shell& shell, const std::string& name,
                           const Variable* variable,
                           Invocation* invocation) const {
  for (const EnvironmentSetting& setting : invocation->environment)
    if (setting.name == name) return;
  EnvironmentSetting setting;
  setting.name = name;
  if (variable != nullptr && variable->shape == Variable::Shape::kScalar &&
      !variable->scalar.empty()) {
    Field field;
    field.value = OneOf(variable->scalar);
    setting.value = ToArgument(field, shell);
    setting.value.span = Span{};
  } else {
    setting.value.known = false;
  }
  if (variable != nullptr && variable->maybe_unset) setting.value.known = false;
  invocation->environment.push_back(std::move(setting));
}

void Evaluator::AddPath(const Shell& shell, Invocation* invocation) const {
  const auto path = shell.variables.find("PATH");
  if (path == shell.variables.end()) {
    if (!context_.path.empty()) AddSetting(shell, "PATH", nullptr, invocation);
  } else if (!IsAsFound("PATH", path->second)) {
    AddSetting(shell, "PATH", &path->second, invocation);
  }
}

bool Evaluator::IsAsFound(const std::string& name,
                          const Variable& variable) const {
  std::string_view found;
  if (name == "HOME")
    found = context_.home;
  else if (name == "PWD")
    found = context_.cwd;
  else if (name == "USER" || name == "LOGNAME")
    found = context_.user;
  else if (name == "SHELL")
    found = context_.shell;
  else if (name == "PATH")
    found = context_.path;
  else if (name == "IFS")
    found = " \t\n";
  else if (name == "PS4")
    found = "+ ";
  else
    return name == "BASH" || name == "OPTIND";  // nothing looks these up
  return variable.shape == Variable::Shape::kScalar && !variable.maybe_unset &&
         variable.scalar.size() == 1 && variable.scalar[0].known() &&
         variable.scalar[0].text() == found;
}

// Whether programs get the line's value of it, by `export`, `set -a` or an
// assignment before a function.
bool Evaluator::HandsOn(const std::string& name,
                        const Variable& variable) const {
  const bool set = variable.shape != Variable::Shape::kScalar ||
                   (!variable.scalar.empty() && !variable.inherited);
  // `cd` sets these two.
  const bool by_cd = name == "PWD" || name == "OLDPWD";
  return set && variable.exported && (!by_cd || exports_.contains(name));
}

void Evaluator::AddEnvironment(const Shell& shell,
                               Invocation* invocation) const {
  if (shell.variables.Shares(initial_variables_)) return;
  // The shell finds programs by PATH whether it is exported or not.
  AddPath(shell, invocation);
  // A plain assignment to a name that the shell inherited changes what its
  // programs get, and which names it inherited is not known.
  for (const auto& [name, variable] : shell.variables) {
    if (IsAsFound(name, variable) ||
        (!HandsOn(name, variable) && !ChangesPrograms(name, variable)))
      continue;
    AddSetting(shell, name, &variable, invocation);
  }
}

uint32_t Evaluator::Record(Shell& shell, const Fields& argv, Span span,
                           bool builtin) {
  Invocation invocation;
  invocation.argv.reserve(argv.size());
  uint64_t hash = Mix(Mix(kSeed, span.begin), span.end);
  for (const Field& field : argv) {
    Argument argument = ToArgument(field, shell);
    hash = Mix(Mix(hash, argument.text), argument.suffix);
    hash = Mix(hash, (argument.known ? 1U : 0U) | (argument.glob ? 2U : 0U));
    if (!argument.known) {
      NoteAt(UnknownCode::kDynamicArgument, argument.span,
             TextAt(argument.span));
    }
    invocation.argv.push_back(std::move(argument));
  }
  for (const Via& via : via_)
    hash = Mix(Mix(hash, static_cast<uint64_t>(via.kind)), via.name);
  invocation.environment = std::move(settings_);
  settings_.clear();
  if (!builtin) AddEnvironment(shell, &invocation);
  for (const EnvironmentSetting& setting : invocation.environment) {
    hash = Mix(Mix(hash, setting.name), setting.value.text);
  }
  invocation.builtin = builtin;
  invocation.span = span;
  invocation.certain = certain_ && !shell.exited;
  invocation.guessed = guessed_;
  if (!invocation.argv.empty()) {
    invocation.program = ProgramName(invocation.argv[0]);
  }
  if (async_depth_ > 0) {
    ++background_runs_;
  } else if (!builtin || invocation.program == "wait" ||
             invocation.program == "read") {
    ++waited_runs_;
  }
  // Where one of the places is not known, no other says where it starts.
  Values places = shell.cwd;
  if (places.empty()) places = {Value::Of("")};
  if (AnyHole(places)) places = {OneOf(places)};
  for (const Value& place : places) {
    Field here;
    here.value = place;
    Argument cwd = ToArgument(here, shell);
    cwd.span = Span{};
    hash = Mix(hash, cwd.text);
    if (&place == &places.front())
      invocation.cwd = std::move(cwd);
    else
      invocation.other_cwds.push_back(std::move(cwd));
  }
  invocation.pipeline = pipeline_;
  auto input = shell.fds.find(0);
  invocation.reads_stdin_data = input != shell.fds.end() &&
                                input->second.kind == Descriptor::Kind::kStream;
  std::vector<uint32_t>& same = invocation_index_[hash];
  for (uint32_t index : same) {
    Invocation& old = analysis_.invocations[index];
    if (old.argv == invocation.argv && old.cwd == invocation.cwd &&
        old.other_cwds == invocation.other_cwds && old.builtin == builtin &&
        SameVia(old.via, via_) &&
        SameSettings(old.environment, invocation.environment)) {
      old.certain = old.certain || invocation.certain;
      old.guessed = old.guessed && invocation.guessed;
      last_invocation_ = index;
      return index;
    }
  }
  if (analysis_.invocations.size() >= kMaxInvocations) {
    NoteLimit("too many commands");
    exhausted_ = true;
    return UINT32_MAX;
  }
  invocation.via = via_;
  uint32_t index = static_cast<uint32_t>(analysis_.invocations.size());
  analysis_.invocations.push_back(std::move(invocation));
  same.push_back(index);
  last_invocation_ = index;
  return index;
}

void Evaluator::NoteWrittenScripts() {
  const Span whole{0, static_cast<uint32_t>(source_.size())};
  for (const std::string& path : scripts_run_) {
    bool written = paths_written_.contains(path);
    const std::string base(BaseName(path));
    for (const std::string& text : maybe_written_paths_) {
      // A path: what is below it. Else code that names it, or its beginning.
      written = written || (text.starts_with("/")
                                ? path.starts_with(text)
                                : base.starts_with(text) || Names(text, base));
    }
    if (written) NoteAt(UnknownCode::kDynamicCode, whole, path);
  }
}

Analysis Evaluator::RunLine() {
  if (source_.size() <= kMaxSourceBytes) {
    for (Span span : FindHidden(source_)) {
      NoteAt(UnknownCode::kHiddenText, span, Visible(Slice(source_, span)));
    }
  }
  auto script = std::make_shared<Script>(Read(source_));
  if (source_.size() > kMaxSourceBytes) source_.resize(kMaxSourceBytes);
  scripts_.push_back(script);
  mappings_[script.get()] = Mapping{true, {}};
  analysis_.read_whole = script->status == ReadStatus::kOk;
  analysis_.parse_error = script->status != ReadStatus::kOk;
  script_ = script.get();
  switch (script->status) {
    case ReadStatus::kOk:
      break;
    case ReadStatus::kSyntaxError:
      Note(UnknownCode::kSyntaxError, script->where, script->message);
      break;
    case ReadStatus::kDisagreement:
      Note(UnknownCode::kParseDisagreement, script->where, script->message);
      break;
    case ReadStatus::kTooLarge:
      Note(UnknownCode::kTooLarge, script->where, script->message);
      break;
  }
  Shell shell;
  static_cast<State&>(shell) = InitialState(context_);
  initial_variables_ = shell.variables;
  frames_.push_back({});
  if (script->status != ReadStatus::kTooLarge) RunRoot(shell, script);
  if (frames_.back().left) shell = JoinShells(shell, *frames_.back().left);
  frames_.pop_back();
  shell.exited = false;
  RunLateReaders(shell);
  NoteWhatStays(shell);
  RunExitTrap(shell);
  NoteWrittenScripts();
  analysis_.state_only = state_only_ && analysis_.read_whole &&
                         !analysis_.invocations.empty() &&
                         !analysis_.hides_commands;
  return std::move(analysis_);
}

Analysis Evaluator::RunVector(const std::vector<std::string>& argv) {
  analysis_.read_whole = true;
  if (source_.size() > kMaxSourceBytes) {
    analysis_.parse_error = true;
    NoteLimit("too many arguments");
    return std::move(analysis_);
  }
  Shell shell;
  static_cast<State&>(shell) = InitialState(context_);
  initial_variables_ = shell.variables;
  frames_.push_back({});
  ProgramCall call;
  uint32_t at = 0;
  for (const std::string& word : argv) {
    uint32_t size = static_cast<uint32_t>(ShellQuote(word).size());
    call.argv.push_back(KnownField(word, Span{at, at + size}));
    at += size + 1;
  }
  call.span = Span{0, static_cast<uint32_t>(source_.size())};
  if (argv.empty()) {
    NoteAt(UnknownCode::kDynamicCommand, call.span, "no command");
  } else {
    RunProgram(shell, call);
  }
  frames_.pop_back();
  return std::move(analysis_);
}

}  // namespace gate::parser
