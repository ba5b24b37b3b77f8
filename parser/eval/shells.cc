// Code for other shell processes: bash -c, sh -s, `… | sh`, and variables that
// make programs run code.
#include <algorithm>

#include "base/ascii.h"
#include "base/paths.h"
#include "known/known.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

// True when `text` means the same in every shell: plain words and operators.
bool ReadsAlike(std::string_view text) {
  static constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
      " \t\n_./:,@%+-;&|'\"=";
  if (text.find_first_not_of(kPlain) != std::string_view::npos) return false;
  static constexpr std::string_view kSpecial[] = {
      "repeat", "foreach", "noglob", "nocorrect", "end",     "always",
      "alias",  "switch",  "while",  "if",        "command", "begin",
      "and",    "or",      "not",    "eval",      "source",  "exec"};
  size_t at = 0;
  while (at < text.size()) {
    size_t begin = text.find_first_not_of(" \t\n;&|'\"", at);
    if (begin == std::string_view::npos) break;
    size_t end = text.find_first_of(" \t\n;&|'\"", begin);
    if (end == std::string_view::npos) end = text.size();
    std::string_view word = text.substr(begin, end - begin);
    if (word[0] == '=' || word == "-") return false;
    if (std::find(std::begin(kSpecial), std::end(kSpecial), word) !=
        std::end(kSpecial)) {
      return false;
    }
    at = end;
  }
  return true;
}

}  // namespace

bool MakesProgramsRunCode(std::string_view name) {
  if (name.starts_with("GIT_") || name.starts_with("LD_") ||
      name.starts_with("DYLD_") ||
      known::Contains(known::List::kLoadVariables, name))
    return true;
  const std::optional<EnvironmentMeaning> meaning = EnvironmentRole(name);
  if (!meaning || name == "PATH") return false;
  switch (meaning->role) {
    case Role::kCommand:
    case Role::kShellCode:
    case Role::kForeignCode:
    case Role::kScriptFile:
    case Role::kLoadCode:
      return true;
    default:
      return false;
  }
}

Shell Evaluator::ChildShell(const Shell& shell) {
  Shell child = Fork(shell);
  State fresh = InitialState(context_);
  // What is exported goes along; the rest starts as in a new shell.
  SharedMap<Variable> variables;
  for (const auto& [name, variable] : child.variables) {
    if (variable.exported && variable.shape == Variable::Shape::kScalar) {
      Variable copy = variable;
      copy.integer = copy.lower = copy.upper = copy.readonly = false;
      copy.reference = false;
      variables.emplace(name, std::move(copy));
    }
  }
  for (const auto& [name, variable] : fresh.variables) {
    if (variables.contains(name)) continue;
    if (!variable.exported || shell.variables.contains(name)) {
      variables.emplace(name, variable);
    }
  }
  auto functions = std::move(child.functions);
  auto exported = child.exported_functions;
  Values cwd = child.cwd;
  auto files = std::move(child.files);
  static_cast<State&>(child) = std::move(fresh);
  child.variables = std::move(variables);
  for (const std::string& name : exported) {
    auto it = functions.find(name);
    if (it != functions.end()) child.functions.insert(*it);
  }
  child.cwd = std::move(cwd);
  child.files = std::move(files);
  child.hashed.clear();
  child.exited = shell.exited;
  return child;
}

void Evaluator::StartShell(Shell& child, const ShellCode& how, Span span) {
  for (std::string_view name : {".bashrc", ".bash_profile", ".bash_login",
                                ".profile", ".bash_aliases"}) {
    const bool reads = name == ".bashrc" || name == ".bash_aliases"
                           ? how.interactive || how.login
                           : how.login;
    if (!reads || context_.home.empty()) continue;
    const std::string path = context_.home + "/" + std::string(name);
    Argument word;
    word.text = path;
    AddFileFlows(child, word, {}, true, how.invocation, span);
    auto it = child.files.find(path);
    if (it == child.files.end()) continue;
    TextOptions options;
    options.via = Via{ViaKind::kStartupFile};
    RunText(child, Values(it->second), span, options);
  }
  for (const char* name : {"BASH_ENV", "ENV"}) {
    auto it = child.variables.find(name);
    if (it == child.variables.end()) continue;
    for (const Value& value : Values(it->second.scalar)) {
      if (!value.known() || value.text().empty()) continue;
      Argument path;
      path.text = value.text();
      std::vector<std::string> paths = KnownPaths(child, path);
      if (IsProcessPath(path.text)) paths = {path.text};
      for (const std::string& known : paths) {
        bool known_file = false;
        Values content = ContentOf(child, known, span, &known_file);
        if (!known_file) {
          NoteAt(UnknownCode::kScriptFile, span, known);
          scripts_run_.insert(known);
          continue;
        }
        TextOptions options;
        options.via = Via{ViaKind::kVariable, name};
        RunText(child, content, span, options);
      }
    }
  }
  // Functions that come through the environment.
  std::vector<std::pair<std::string, Values>> imported;
  for (const auto& [name, variable] : child.variables) {
    if (name.starts_with("BASH_FUNC_") && name.ends_with("%%")) {
      imported.emplace_back(name.substr(10, name.size() - 12), variable.scalar);
    }
  }
  for (const auto& [name, text] : imported) {
    Values definition = Concatenate({Value::Of(name + " ")}, text);
    TextOptions options;
    options.via = Via{ViaKind::kExportedFunction};
    RunText(child, definition, span, options);
  }
  // Options that come through the environment.
  if (child.variables.contains("POSIXLY_CORRECT")) child.expand_aliases = true;
  for (const char* name : {"SHELLOPTS", "BASHOPTS"}) {
    const auto it = child.variables.find(name);
    const bool traces =
        it != child.variables.end() && it->second.scalar.size() == 1 &&
        it->second.scalar[0].known() && it->second.scalar[0].text() == "xtrace";
    if (!traces && (it != child.variables.end() || exports_.contains(name))) {
      NoteAt(UnknownCode::kUnmodelled, span, name);
    }
  }
  auto options = child.variables.find("SHELLOPTS");
  if (options != child.variables.end()) {
    for (const Value& value : options->second.scalar) {
      if (!value.known() ||
          value.text().find("xtrace") != std::string_view::npos) {
        child.xtrace = true;
      }
    }
  }
}

Evaluator::ShellCode Evaluator::ShellOptions(
    const ProgramCall& call, const ArgumentAnalysis& arguments) const {
  ShellCode how;
  for (const std::string_view spellings : arguments.options) {
    const std::string_view option = CanonicalName(spellings);
    how.xtrace = how.xtrace || option == "-x";
  }
  // Values of options are not in the reading.
  for (size_t i = 1; i < call.argv.size(); ++i) {
    std::optional<std::string> word = Known(call.argv[i]);
    if (!word || word->empty() || ((*word)[0] != '-' && (*word)[0] != '+')) {
      continue;
    }
    std::string value;
    bool unknown = false;
    if (i + 1 < call.argv.size()) {
      unknown = !Known(call.argv[i + 1]);
      value = Known(call.argv[i + 1]).value_or("expand_aliases");
    }
    bool on = (*word)[0] == '-';
    if (!word->starts_with("--")) {
      how.no_braces = how.no_braces ||
                      (!on && word->find('B') != std::string::npos) ||
                      (!on && word->ends_with("o") && value == "braceexpand");
      how.no_glob = how.no_glob ||
                    (on && word->find('f') != std::string::npos) ||
                    (on && word->ends_with("o") && value == "noglob");
    }
    if (!word->starts_with("--") && word->ends_with("O") && on) {
      how.extglob = how.extglob || value == "extglob";
      how.expand_aliases = how.expand_aliases || value == "expand_aliases";
    }
    if (!word->starts_with("--") && word->ends_with("o") && on) {
      how.xtrace = how.xtrace || value == "xtrace";
      how.allexport = how.allexport || value == "allexport" || unknown;
      how.expand_aliases = how.expand_aliases || value == "posix";
    }
    how.expand_aliases = how.expand_aliases || *word == "--posix";
    if (!word->starts_with("--") && on &&
        word->find('x') != std::string::npos) {
      how.xtrace = true;
    }
    how.allexport = how.allexport || (!word->starts_with("--") && on &&
                                      word->find('a') != std::string::npos);
    if (i == 1 && !word->starts_with("--") && on &&
        (word->find('P') != std::string::npos || value == "physical")) {
      how.physical = true;
    }
    how.login = how.login || *word == "--login" ||
                (!word->starts_with("--") && on &&
                 word->find('l') != std::string::npos);
    if (!word->starts_with("--") && on &&
        word->find('i') != std::string::npos) {
      how.expand_aliases = true;
      how.interactive = true;
    }
  }
  return how;
}

Evaluator::ShellCode Evaluator::HowShellRuns(const ProgramCall& call,
                                             const ShellCode& options,
                                             const ArgumentEffect& effect,
                                             uint32_t invocation) const {
  ShellCode how = options;
  std::string base(BaseName(call.argv[0].value.text()));
  how.language = effect.detail.empty() ? "sh" : effect.detail;
  how.via = {ViaKind::kProgram, base};
  if (effect.role == Role::kShellCode &&
      (how.language == base || IsShell(LanguageNamed(how.language)))) {
    how.via.kind = ViaKind::kCode;
  }
  how.invocation = invocation;
  how.given = effect.role == Role::kShellCode;
  if (how.given) {
    for (size_t i = 1; i < effect.words.size(); ++i) {
      how.words.push_back(ValuesOf(effect.words[i], call.argv));
      how.words_unknown =
          how.words_unknown || effect.words[i].splits || effect.words[i].glob;
    }
    if (how.words.empty()) how.words.push_back({call.argv[0].value});
  }
  return how;
}

void Evaluator::RecordForeign(Shell& shell, std::string_view name, Span span) {
  Fields words = {KnownField(std::string(name), span)};
  words.emplace_back();
  words.back().value = Value::Unknown(UnknownCode::kDynamicArgument, span);
  words.back().splits = true;
  words.back().span = span;
  Record(shell, words, span, true);
}

void Evaluator::RunShellCode(Shell& shell, const Values& code,
                             const ShellCode& how, Span span) {
  if (exhausted_) return;
  AddCodeFlows(code, how.invocation, span);
  const Language language = LanguageNamed(how.language);
  const bool posix = language != Language::kBash;
  const bool reads_as_bash = language != Language::kOtherShell;
  bool braces = false, ansi = false;
  for (const Value& value : code) {
    for (const Chunk& chunk : value.chunks) {
      size_t open = chunk.text.find('{');
      braces = braces || (open != std::string::npos &&
                          (chunk.text.find(',', open) != std::string::npos ||
                           chunk.text.find("..", open) != std::string::npos));
      ansi = ansi || chunk.text.find("$'") != std::string::npos ||
             chunk.text.find("$\"") != std::string::npos;
    }
    if (!reads_as_bash && value.known() && !ReadsAlike(value.text())) {
      NoteAt(UnknownCode::kDynamicCode, span, how.language);
    }
  }
  if (posix && ansi && reads_as_bash) {
    // dash takes $'…' for a dollar and a string.
    NoteAt(UnknownCode::kUnmodelled, span, "$'…' in sh");
  }
  int variants = posix && braces ? 2 : 1;
  std::optional<Shell> out;
  for (int variant = 0; variant < variants; ++variant) {
    Shell copy = shell;
    Shell child = ChildShell(copy);
    child.zero =
        how.words.empty() ? Values{Value::Of(how.language)} : how.words[0];
    child.positional.clear();
    if (how.words.size() > 1) {
      child.positional.assign(how.words.begin() + 1, how.words.end());
    }
    child.positional_unknown = how.words_unknown;
    if (how.words_unknown) child.positional.clear();
    child.xtrace = how.xtrace;
    child.allexport = how.allexport;
    child.extglob = how.extglob;
    child.expand_aliases = how.expand_aliases || posix;
    child.posix = posix;
    child.brace_expansion = variant == 0 && !how.no_braces;
    child.noglob = how.no_glob;
    if (how.physical) NoteAt(UnknownCode::kUnmodelled, span, "set -P");
    std::vector<Active> active;
    active.swap(active_);
    bool kept = !how.given || AnyHole(code);
    {
      ScopedVia via(*this, how.via, span);
      StartShell(child, how, span);
      TextOptions options;
      Scoped<bool> history(uses_history_, false);
      RunText(child, code, span, options);
      kept = kept || uses_history_;
    }
    active.swap(active_);
    if (how.interactive && kept) {
      // It keeps its history when it ends.
      Argument file;
      file.text = context_.home + "/.bash_history";
      file.known =
          !context_.home.empty() && !child.variables.contains("HISTFILE");
      if (!file.known) file.text.clear();
      file.span = span;
      analysis_.shell_writes.push_back(file);
      AddPathEffect(child, EffectKind::kWrite, file, span, how.invocation,
                    false);
    }
    Join(copy, std::move(child));
    if (variants == 1) {
      shell = std::move(copy);
      return;
    }
    MergeInto(out, copy);
  }
  if (out) shell = std::move(*out);
}

void Evaluator::CheckEnvironment(Shell& shell, const std::string& name,
                                 const Values& value, Span span) {
  if (name.empty() || name[0] < 'A' || name[0] > 'Z') return;
  if (name == "PS4" || name == "BASH_ENV" || name == "ENV" || name == "PS1" ||
      name == "PS0" || name == "PS2") {
    state_only_ = false;
    Scoped<bool> uncertain(certain_, false);
    ScopedVia via(*this, {ViaKind::kVariable, name}, span);
    for (const Value& text : value) {
      if (!text.known()) {
        if (name == "PS4") continue;
        NoteAt(UnknownCode::kDynamicCode, span, name);
        continue;
      }
      if (text.text().find_first_of("$`") == std::string_view::npos) continue;
      auto script = std::make_shared<Script>();
      scripts_.push_back(script);
      mappings_[script.get()] = Mapping{false, span};
      Shell copy = shell;
      Expander x{copy, *script, *this};
      ExpandPrompt(x, text, span);
    }
  }
  if (known::Contains(known::List::kLoadVariables, name)) {
    state_only_ = false;
    for (const Value& text : value) {
      Effect effect;
      effect.kind = EffectKind::kExecuteFile;
      effect.certain = false;
      Field field;
      field.value = text;
      field.span = span;
      effect.path = Resolve(shell, ToArgument(field, shell));
      effect.span = span;
      AddFileFlows(shell, ToArgument(field, shell), {field}, false, UINT32_MAX,
                   span);
      if (name != "LD_LIBRARY_PATH" && name != "PYTHONPATH" &&
          name != "PERL5LIB" && name != "RUBYLIB") {
        AddEffect(std::move(effect));
      }
    }
    return;
  }
  if (name == "PATH" || name == "IFS" || name.starts_with("GIT_") ||
      name.starts_with("LD_")) {
    state_only_ = false;
  }
  // Variables whose value some program runs: the descriptions list them.
  const std::optional<EnvironmentMeaning> meaning = EnvironmentRole(name);
  if (!meaning || text_depth_ >= kMaxTextNesting) return;
  if (meaning->role == Role::kForeignCode) {
    state_only_ = false;
    Shell copy = shell;
    RunEmbedded(copy, std::string(meaning->detail), value, span, UINT32_MAX);
    return;
  }
  if (meaning->role != Role::kShellCode && meaning->role != Role::kCommand) {
    return;
  }
  state_only_ = false;
  Scoped<bool> uncertain(certain_, false);
  for (const Value& text : value) {
    if (text.known() && text.text().empty()) continue;
    // Programs run it later, in a shell of their own.
    Values code = {text};
    if (!text.known()) {
      NoteAt(UnknownCode::kDynamicCode, span, name);
      continue;
    }
    if (name == "LESSOPEN") {
      // `|`, `||` and `-` say what less does with what it prints.
      const size_t begin = text.text().find_first_not_of("|-");
      if (begin == std::string_view::npos) continue;
      code = {Value::Of(std::string(text.text().substr(begin)))};
    }
    ShellCode how;
    how.language = name == "PROMPT_COMMAND" ? "bash" : "sh";
    how.via = {ViaKind::kVariable, name};
    Scoped<std::vector<EnvironmentSetting>> settings(settings_, {});
    Shell copy = shell;
    copy.fds.clear();
    RunShellCode(copy, code, how, span);
  }
}

}  // namespace gate::parser
