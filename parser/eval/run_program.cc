// External programs: what the descriptions say of their arguments is done.
#include <glob.h>

#include <algorithm>

#include "base/paths.h"
#include "base/text.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxGlobMatches = 64;
// How many words of a call are as dear to look through as one step: a program
// of which a hundred options run code is ordinary, one of which ten thousand do
// is not, and would cost their square.
constexpr size_t kWordsPerStep = 64;
// Directories that one call goes to, one from the other (tar -C a -C b …):
// every file of the call is looked for in where that ends.
constexpr size_t kMaxDirectories = 64;

bool IsShellLanguage(std::string_view detail) {
  return IsShell(LanguageNamed(detail));
}

bool PathChanged(const Shell& shell, const Context& context) {
  const auto path = shell.variables.find("PATH");
  return path == shell.variables.end()
             ? !context.path.empty()
             : Known(path->second.scalar) != context.path;
}

// A shell takes its script from the standard input line by line, so that what
// the script starts may read the lines that follow.
void LeaveScript(Shell& shell, const Values& code, Span span) {
  const auto in = shell.fds.find(0);
  if (in == shell.fds.end() || in->second.kind != Descriptor::Kind::kStream) {
    return;
  }
  const bool one_line =
      std::all_of(code.begin(), code.end(), [](const Value& value) {
        const std::string_view text = value.text();
        return value.known() && text.find('\n') >= text.size() - 1;
      });
  const auto stream = shell.streams.find(in->second.stream);
  if (one_line || stream == shell.streams.end()) return;
  stream->second = {Value::Unknown(UnknownCode::kDynamicArgument, span)};
}

// Whether standard output is a file that the line names, and no terminal.
bool OutputIsFile(const Shell& shell) {
  const auto out = shell.fds.find(1);
  if (out == shell.fds.end()) return false;
  const Descriptor& descriptor = out->second;
  if (descriptor.kind == Descriptor::Kind::kNull) return !descriptor.closed;
  return descriptor.kind == Descriptor::Kind::kFile &&
         !descriptor.path.starts_with("/dev/") &&
         !descriptor.path.starts_with("/proc/");
}

std::optional<Values> FileText(const Shell& shell, const std::string& path) {
  const auto file = shell.files.find(path);
  if (file == shell.files.end()) return std::nullopt;
  return file->second;
}

// Roles that run something or change what is run; the others are effects.
bool Acts(Role role) {
  switch (role) {
    case Role::kCommand:
    case Role::kShellCode:
    case Role::kForeignCode:
    case Role::kSplitCommand:
    case Role::kScriptFile:
    case Role::kStdinCode:
    case Role::kSetVariable:
    case Role::kDirectory:
      return true;
    default:
      return false;
  }
}

}  // namespace

void Evaluator::RunProgram(Shell& shell, const ProgramCall& call) {
  state_only_ = false;
  if (exhausted_ || call.argv.empty() || !Spend(1 + call.argv.size())) return;
  if (depth_ >= kMaxExecuteDepth) {
    NoteLimit("commands too deep in each other");
    return;
  }
  Scoped<int> depth(depth_, depth_ + 1);
  const Field& name = call.argv[0];
  if (name.glob && !shell.noglob && name.value.known()) {
    Call plain;
    plain.fields = call.argv;
    plain.span = call.span;
    ResolveCommandGlob(shell, plain);
    return;
  }
  uint32_t index = Record(shell, call.argv, call.span, false);
  if (index == UINT32_MAX) return;
  if (!name.value.known() || name.splits || IsPlaceholder(name.value.text())) {
    NoteAt(UnknownCode::kDynamicCommand, call.span, TextAt(call.span));
    AddCodeFlows({name.value}, index, call.span);
    AddFileFlows(shell, ToArgument(name, shell), call.argv, false, index,
                 call.span);
    RunUnnamed(shell, call, index);
    return;
  }
  std::string program(name.value.text());
  if (auto it = shell.hashed.find(program); it != shell.hashed.end()) {
    ProgramCall other = call;
    other.argv[0] = KnownField(it->second, name.span);
    shell.hashed.erase(it);
    RunProgram(shell, other);
    shell.hashed[program] = std::string(other.argv[0].value.text());
  }
  // A file that the line wrote, by its path or found through PATH.
  if (program.find('/') != std::string::npos) {
    Argument path = ToArgument(name, shell);
    AddPathEffect(shell, EffectKind::kExecuteFile, path, call.span, index,
                  false);
    AddFileFlows(shell, path, call.argv, false, index, call.span);
    for (const std::string& known : KnownPaths(shell, path)) {
      if (!RunWrittenFile(shell, known, call, index)) {
        scripts_run_.insert(known);
      }
    }
  } else if (!shell.files.empty() || shell.made.size() != 0) {
    std::vector<std::string> candidates;
    for (const auto& [path, made] : shell.made) {
      // Through PATH: as far as it is one of its directories.
      const std::string_view directory = DirName(path);
      if (BaseName(path) == program && !made.below &&
          (directory.ends_with("/bin") || directory.ends_with("/sbin") ||
           PathChanged(shell, context_))) {
        AddOriginFlows(made.origin, {}, index, call.span);
      }
    }
    for (const auto& [path, text] : shell.files) {
      if (BaseName(path) == program) candidates.push_back(path);
    }
    Scoped<bool> uncertain(certain_, false);
    for (const std::string& path : candidates) {
      RunWrittenFile(shell, path, call, index);
    }
  }
  Invocation& recorded = analysis_.invocations[index];
  ArgumentAnalysis arguments = ReadArguments(recorded.argv);
  if (OutputIsFile(shell)) {
    std::erase_if(arguments.effects, [](const ArgumentEffect& effect) {
      return effect.role == Role::kWrite &&
             effect.modifier == Modifier::kOnTerminal;
    });
  }
  recorded.subcommand = arguments.subcommand;
  // The same command may run again with another output.
  const std::optional<OptionsRead> before = std::move(recorded.read);
  recorded.read = OptionsOf(arguments);
  if (before) {
    recorded.read->roles |= before->roles;
    MayBe(before->acts, &recorded.read->acts);
  }
  std::vector<Tail> tails;
  if (!arguments.known) tails = TailsOf(call, HasInput(shell, 0));
  std::optional<Shell> before_it;
  if (!tails.empty() && Spend(CopyCost(shell))) before_it = shell;
  RunArgumentEffects(shell, call, arguments, index);
  if (before_it) RunTails(shell, *before_it, call, tails, index);
  shell.status.reset();
}

void Evaluator::ResolveCommandGlob(Shell& shell, const Call& call) {
  const Field& name = call.fields[0];
  std::string pattern =
      name.pattern.empty() ? std::string(name.value.text()) : name.pattern;
  std::vector<std::string> matches;
  if (context_.look_at_files && pattern.starts_with("/") && looked_ < 256) {
    ++looked_;
    bool trusted = false;
    std::string directory = Normalise(DirName(pattern), "/");
    for (std::string_view known : {"/bin", "/usr/bin", "/sbin", "/usr/sbin",
                                   "/usr/local/bin", "/usr/local/sbin"}) {
      trusted = trusted || MatchPattern(directory, known, false);
    }
    glob_t found = {};
    if (trusted && ::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc && i < kMaxGlobMatches; ++i) {
        matches.emplace_back(found.gl_pathv[i]);
      }
    }
    ::globfree(&found);
  }
  Span span = script_ != nullptr ? Map(*script_, name.span) : name.span;
  // What a pattern finds may change before the line runs.
  NoteAt(UnknownCode::kDynamicCommand, span, TextAt(span));
  if (matches.empty()) {
    Record(shell, call.fields, call.span, false);
    Write(shell, 1, UnknownValue(call.span));
    shell.status.reset();
    return;
  }
  // The first match is the command and the others are its first arguments.
  ProgramCall program;
  program.span = call.span;
  for (const std::string& match : matches) {
    program.argv.push_back(KnownField(match, name.span));
  }
  program.argv.insert(program.argv.end(), call.fields.begin() + 1,
                      call.fields.end());
  RunProgram(shell, program);
}

bool Evaluator::RunWrittenFile(Shell& shell, const std::string& path,
                               const ProgramCall& call, uint32_t invocation) {
  auto it = shell.files.find(path);
  if (it == shell.files.end()) return false;
  Values content = it->second;
  AddWrittenFlows(path, content, invocation, call.span);
  Scoped<std::string> running(running_, path);
  AddCodeFlows(content, invocation, call.span);
  for (const Value& value : content) {
    if (!value.known()) {
      NoteAt(UnknownCode::kScriptFile, call.span, path);
      // A program made it (a compiler), unless the shell opened it, or
      // something of it is known: then the line composed it.
      const bool nothing = value.chunks.size() == 1;
      if (nothing && content.size() == 1 && !redirected_.contains(path)) {
        continue;
      }
      NoteAt(UnknownCode::kDynamicCode, call.span, path);
      // The other texts say what is likely to run.
      if (nothing && content.size() > 1) continue;
    }
    std::string text;
    for (const Chunk& chunk : value.chunks) {
      text += chunk.unknown ? "${_gate_unknown}" : chunk.text;
    }
    std::string interpreter = "/bin/sh";
    std::string option;
    if (text.starts_with("#!")) {
      std::string line = text.substr(2, text.find('\n') - 2);
      size_t begin = line.find_first_not_of(" \t");
      size_t end = line.find_first_of(" \t", begin);
      // Where it names none the kernel refuses, and the shell reads it.
      interpreter = begin == std::string::npos
                        ? "/bin/bash"
                        : line.substr(begin, end - begin);
      if (end != std::string::npos) {
        size_t more = line.find_first_not_of(" \t", end);
        if (more != std::string::npos) option = line.substr(more);
        while (!option.empty() &&
               (option.back() == ' ' || option.back() == '\t' ||
                option.back() == '\r')) {
          option.pop_back();
        }
      }
    } else {
      interpreter = context_.shell.empty() ? "/bin/bash" : "/bin/bash";
    }
    if (BaseName(interpreter) == BaseName(path)) continue;
    ProgramCall inner;
    inner.span = call.span;
    inner.argv.push_back(KnownField(interpreter, call.span));
    if (!option.empty()) inner.argv.push_back(KnownField(option, call.span));
    inner.argv.push_back(KnownField(path, call.span));
    inner.argv.insert(inner.argv.end(), call.argv.begin() + 1, call.argv.end());
    ScopedVia via(*this, {ViaKind::kProgram, path}, call.span);
    if (text_depth_ >= kMaxTextNesting) {
      NoteAt(UnknownCode::kLimit, call.span, "scripts too deep");
      return true;
    }
    Scoped<int> nested(text_depth_, text_depth_ + 1);
    Shell child = Fork(shell);
    // The text that names this interpreter is the one it reads, not what else
    // the file may hold.
    const Values only = {value};
    const std::optional<Values> all = FileText(shell, path);
    child.files[path] = only;
    RunProgram(child, inner);
    Join(shell, std::move(child));
    const auto left = shell.files.find(path);
    if (left == shell.files.end()) continue;
    if (left->second != only) {
      left->second = Union(all.value_or(Values{}), left->second);
    } else if (all) {
      left->second = *all;
    } else {
      shell.files.erase(left);
    }
  }
  return true;
}

void Evaluator::RunScriptFile(Shell& shell, const ProgramCall& call,
                              const ArgumentEffect& effect,
                              uint32_t invocation) {
  if (effect.words.empty()) return;
  Field field = ToField(effect.words[0], call.argv);
  std::optional<std::string> text = Known(field);
  AddFileFlows(shell, effect.words[0], call.argv, effect.fixed, invocation,
               effect.span, effect.modifier == Modifier::kDirectory);
  if (!text || field.glob) {
    if (effect.certain || !effect.words[0].text.empty()) {
      NoteAt(UnknownCode::kScriptFile, effect.span, TextAt(effect.span));
    }
    if (IsShellLanguage(effect.detail) && !shell.files.empty()) {
      // It may be a file that the line wrote.
      NoteAt(UnknownCode::kDynamicCode, effect.span, TextAt(effect.span));
    }
    return;
  }
  if (*text == "-" && !IsShellLanguage(effect.detail)) {
    // Interpreters read their standard input by that name.
    if (HasInput(shell, 0)) {
      RunEmbedded(shell, effect.detail, ReadRest(shell, 0, call.span),
                  effect.span, invocation);
    } else {
      NoteAt(UnknownCode::kScriptFile, effect.span, "standard input");
    }
    return;
  }
  std::vector<std::string> paths;
  if (IsProcessPath(*text)) {
    paths.push_back(*text);
  } else {
    paths = KnownPaths(shell, effect.words[0]);
    AddPathEffect(shell, EffectKind::kRead, effect.words[0], effect.span,
                  invocation, false);
  }
  for (const std::string& path : paths) {
    bool known_file = false;
    Values content = ContentOf(shell, path, effect.span, &known_file);
    if (!known_file) {
      NoteAt(UnknownCode::kScriptFile, effect.span, path);
      scripts_run_.insert(path);
      continue;
    }
    if (!IsProcessPath(path) && path.compare(0, 5, "/dev/") != 0) {
      AddWrittenFlows(path, content, invocation, effect.span);
    }
    Scoped<std::string> running(running_, path);
    if (IsShellLanguage(effect.detail)) {
      if (path.starts_with("/dev/")) LeaveScript(shell, content, call.span);
      ArgumentAnalysis none;
      const ShellCode options = ShellOptions(call, none);
      ShellCode how = HowShellRuns(call, options, effect, invocation);
      how.words.clear();
      for (const Argument& word : effect.words) {
        how.words.push_back(ValuesOf(word, call.argv));
        how.words_unknown = how.words_unknown || word.splits || word.glob;
      }
      RunShellCode(shell, content, how, effect.span);
    } else {
      RunEmbedded(shell, effect.detail, content, effect.span, invocation);
    }
  }
}

void Evaluator::RunArgumentEffects(Shell& shell, const ProgramCall& call,
                                   const ArgumentAnalysis& arguments,
                                   uint32_t invocation) {
  bool wrapper = false;
  bool runs = false, runs_shell = false;
  size_t directories = 0;
  for (const ArgumentEffect& effect : arguments.effects) {
    directories += effect.role == Role::kDirectory ? 1 : 0;
    runs_shell = runs_shell || effect.role == Role::kShellCode ||
                 effect.role == Role::kStdinCode;
    if (effect.role == Role::kCommand || effect.role == Role::kShellCode ||
        effect.role == Role::kSplitCommand) {
      wrapper = wrapper || arguments.runs != RunModel::kFoundFiles;
      runs = true;
    }
  }
  if (directories > kMaxDirectories) {
    NoteLimit("too many directories");
    exhausted_ = true;
    return;
  }
  AddArgumentEffects(shell, call, arguments, invocation);
  RunLists(shell, call, arguments, invocation);
  bool acts = std::any_of(
      arguments.effects.begin(), arguments.effects.end(),
      [](const ArgumentEffect& effect) { return Acts(effect.role); });
  if (!acts) {
    RunOutput(shell, call, arguments, invocation, false);
    return;
  }
  bool connects = false;
  for (const ArgumentEffect& effect : arguments.effects) {
    connects = connects || (effect.role == Role::kUrl && effect.certain);
  }
  if (connects) {
    // What it is given is sent, whoever reads it there.
    auto in = shell.fds.find(0);
    if (in != shell.fds.end() && in->second.kind == Descriptor::Kind::kStream) {
      auto stream = shell.streams.find(in->second.stream);
      if (stream != shell.streams.end()) {
        AddUploadFlows(stream->second, invocation, call.span);
      }
    }
  }
  Shell child = Fork(shell);
  bool clears = false;
  for (const std::string_view spellings : arguments.options) {
    const std::string_view option = CanonicalName(spellings);
    clears = clears || (arguments.runs == RunModel::kEnvironment &&
                        (option == "-i" || option == "--ignore-environment"));
  }
  if (clears) {
    std::erase_if(child.variables.Edit(),
                  [](const auto& item) { return item.second.exported; });
    child.exported_functions.clear();
  }
  for (const ArgumentEffect& effect : arguments.effects) {
    if (effect.role == Role::kSetVariable && !effect.words.empty()) {
      const Argument& word = effect.words[0];
      const size_t equals = std::min(word.text.find('='), word.text.size());
      // A name alone: the program says what it is set to.
      const bool alone = equals == word.text.size();
      if (alone && !word.known) continue;
      std::string name = word.text.substr(0, equals);
      Variable variable;
      Argument value = word;
      value.known = word.known && !alone;
      value.text = alone ? "" : word.text.substr(equals + 1);
      Field whole = ToField(word, call.argv);
      if (alone) {
        variable.scalar = UnknownValue(word.span);
      } else if (word.known) {
        variable.scalar = {Value::Of(value.text)};
      } else {
        Value text = whole.value;
        if (!text.chunks.empty() && !text.chunks[0].unknown &&
            text.chunks[0].text.size() > equals) {
          text.chunks[0].text.erase(0, equals + 1);
          if (text.chunks[0].text.empty()) {
            text.chunks.erase(text.chunks.begin());
          }
          variable.scalar = {text};
        } else {
          variable.scalar = UnknownValue(word.span);
        }
      }
      variable.exported = true;
      CheckEnvironment(child, name, variable.scalar, effect.span);
      child.variables[name] = std::move(variable);
      EnvironmentSetting setting;
      setting.name = name;
      setting.value = value;
      if (runs && settings_.size() < 256) settings_.push_back(setting);
    } else if (effect.role == Role::kDirectory && !effect.words.empty()) {
      child.cwd = DirectoriesFrom(child, effect.words[0], effect.span);
    }
  }
  if (arguments.runs == RunModel::kInputLines &&
      RunParallel(child, call, arguments, invocation)) {
    settings_.clear();
    Join(shell, std::move(child));
    RunOutput(shell, call, arguments, invocation, true);
    return;
  }
  const ShellCode options =
      runs_shell ? ShellOptions(call, arguments) : ShellCode();
  for (const ArgumentEffect& effect : arguments.effects) {
    // What runs is copied and read again with the words of the call.
    if (Acts(effect.role) &&
        !Spend(1 + call.argv.size() / kWordsPerStep + effect.words.size())) {
      break;
    }
    if (exhausted_) break;
    Scoped<bool> certain(certain_, certain_ && effect.certain);
    switch (effect.role) {
      case Role::kCommand:
        RunWords(child, call, arguments, effect);
        break;
      case Role::kSplitCommand:
        RunSplit(child, call, effect);
        break;
      case Role::kShellCode: {
        if (effect.words.empty()) break;
        ShellCode how = HowShellRuns(call, options, effect, invocation);
        Values code = ValuesOf(effect.words[0], call.argv);
        if (!effect.placeholder.empty()) {
          for (Value& value : code) {
            if (value.known() && value.text().find(effect.placeholder) !=
                                     std::string_view::npos) {
              value = Filled(std::string(value.text()), effect.placeholder,
                             UnknownCode::kDynamicCode, effect.span);
            }
          }
        }
        if (effect.appends_unknown) {
          for (Value& value : code) {
            value.Append(" ");
            value.Append(
                Value::Unknown(UnknownCode::kDynamicCode, effect.span));
          }
        }
        RunShellCode(child, code, how, effect.span);
        break;
      }
      case Role::kForeignCode:
        if (!effect.words.empty()) {
          RunEmbedded(child, effect.detail,
                      ValuesOf(effect.words[0], call.argv), effect.span,
                      invocation);
        }
        break;
      case Role::kScriptFile:
        RunScriptFile(child, call, effect, invocation);
        break;
      case Role::kStdinCode: {
        if (!HasInput(child, 0)) {
          NoteAt(UnknownCode::kScriptFile, call.span, "standard input");
          break;
        }
        Values code = ReadRest(child, 0, call.span);
        if (IsShellLanguage(effect.detail)) {
          LeaveScript(child, code, call.span);
          ShellCode how = HowShellRuns(call, options, effect, invocation);
          how.words.insert(how.words.begin(), Values{call.argv[0].value});
          for (const Argument& word : effect.words) {
            how.words.push_back(ValuesOf(word, call.argv));
            how.words_unknown = how.words_unknown || word.splits || word.glob;
          }
          RunShellCode(child, code, how, call.span);
        } else {
          RunEmbedded(child, effect.detail, code, call.span, invocation);
        }
        break;
      }
      default:
        break;
    }
  }
  settings_.clear();
  Join(shell, std::move(child));
  RunOutput(shell, call, arguments, invocation, wrapper);
  if (connects && wrapper && arguments.prints_network && Captured(shell, 1)) {
    // Another machine prints what it likes.
    Write(shell, 1, UnknownValue(call.span));
  }
}

}  // namespace gate::parser
