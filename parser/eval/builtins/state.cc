// Builtins that change the directory, options, parameters and aliases.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "parser/eval/builtins/builtins.h"
#include "parser/proc_paths.h"

namespace gate::parser::builtins {
namespace {

void SetPwd(Shell& shell, const Values& cwd) {
  if (Variable* known = shell.variables.Find("PWD")) {
    known->scalar = cwd;
  } else {
    Variable pwd;
    pwd.scalar = cwd;
    pwd.exported = true;
    shell.variables["PWD"] = std::move(pwd);
  }
  Variable oldpwd;
  oldpwd.scalar = shell.cwd;
  oldpwd.exported = true;
  shell.variables["OLDPWD"] = std::move(oldpwd);
  shell.cwd = cwd;
}

// Whether a shell can go there.
bool IsDirectory(const Evaluator& e, const Values& values) {
  if (!e.context_.look_at_files || values.size() != 1 || !values[0].known()) {
    return false;
  }
  const std::string path(values[0].text());
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

// The directories that `field` may mean, seen from where the shell may be.
Values Directories(const Evaluator& e, const Shell& shell, const Field& field,
                   Span span) {
  Values unknown = {Value::Unknown(UnknownCode::kDynamicArgument, span)};
  bool glob = field.glob && !shell.noglob;
  if (!field.value.known() || field.splits || glob) {
    std::string prefix = field.value.Prefix();
    return unknown;
  }
  std::string text(field.value.text());
  auto cdpath = shell.variables.find("CDPATH");
  if (cdpath != shell.variables.end() && !text.starts_with("/") &&
      !text.starts_with("./") && !text.starts_with("../")) {
    return unknown;
  }
  const bool absolute = text.starts_with('/');
  Values out;
  for (const Value& cwd : shell.cwd) {
    Values one = unknown;
    if (absolute || cwd.known()) {
      std::string place = Normalise(text, absolute ? "/" : cwd.text());
      // A directory that /proc names, and what the shell has opened, lead
      // elsewhere; the root is the same for all.
      const Argument seen = PathFrom(place, "");
      if (seen.known && place.size() <= kMaxDirectoryBytes &&
          !IsDescriptor(seen.text) &&
          !(e.context_.look_at_files && LeadsThroughProc(place)))
        one = {Value::Of(std::move(place))};
    }
    out = out.empty() ? one : Union(out, one);
  }
  return out.empty() ? unknown : out;
}

struct How {
  bool physical = false;  // cd -P
  Span span;
};

// The directories that `field` may mean; of a physical one the name without
// links, as the kernel walks to it from where the shell is.
Values Target(const Evaluator& e, const Shell& shell, const Field& field,
              const How& how) {
  const Values named = Directories(e, shell, field, how.span);
  if (!how.physical) return named;
  const Values unknown = {
      Value::Unknown(UnknownCode::kDynamicArgument, how.span)};
  if (!e.context_.look_at_files || named.size() != 1 || !named[0].known() ||
      shell.cwd.size() != 1)
    return unknown;
  const std::string text(field.value.text());
  if (!text.starts_with('/') && !shell.cwd[0].known()) return unknown;
  if (text.find("..") != std::string::npos) return unknown;
  const std::string real = RealPath(
      text.starts_with('/') ? text
                            : std::string(shell.cwd[0].text()) + "/" + text);
  return real.empty() ? unknown : Values{Value::Of(real)};
}

// `may_be_sure`: it succeeds where the directory is there.
void Go(Evaluator& e, Shell& shell, const Values& target,
        bool may_be_sure = true) {
  Values old = shell.cwd;
  if (target == old || (may_be_sure && IsDirectory(e, target))) {
    SetPwd(shell, target);
    shell.status =
        IsDirectory(e, target) ? std::optional<int>(0) : std::nullopt;
    return;
  }
  // Where it fails, the directory before this one stays as it was.
  const auto before = shell.variables.find("OLDPWD");
  Values left = {Value::Unknown(UnknownCode::kDynamicArgument, Span{})};
  if (before != shell.variables.end() && !before->second.scalar.empty())
    left = before->second.scalar;
  SetPwd(shell, Union(target, old));
  shell.variables["OLDPWD"].scalar = Union(old, left);
  shell.cwd_on_success = target;
  shell.cwd_on_failure = old;
  shell.status.reset();
}

// To the directory that a variable names.
void GoNamed(Evaluator& e, Shell& shell, const char* name, const How& how) {
  Field field;
  field.value = Value::Unknown(UnknownCode::kDynamicArgument, how.span);
  const auto it = shell.variables.find(name);
  if (it != shell.variables.end() && !it->second.maybe_unset &&
      !it->second.scalar.empty())
    field.value = OneOf(it->second.scalar);
  Go(e, shell, Target(e, shell, field, how));
}

}  // namespace

void Cd(Evaluator& e, Shell& shell, Call& call) {
  size_t i = 1;
  bool bad = false;
  How how{false, call.span};
  while (const std::optional<std::string> word = OptionWord(call.fields, &i)) {
    bad = bad || word->find_first_not_of("LPe@", 1) != std::string::npos;
    const size_t last = word->find_last_of("LP");
    if (last != std::string::npos) how.physical = (*word)[last] == 'P';
    ++i;
  }
  // No directory is called like an option, and bash goes to no two.
  if (i + 1 < call.fields.size() || bad)
    return Go(e, shell, e.UnknownValue(call.span));
  if (i >= call.fields.size()) return GoNamed(e, shell, "HOME", how);
  if (Known(call.fields[i]) == "-") {
    if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
    return GoNamed(e, shell, "OLDPWD", how);
  }
  Go(e, shell, Target(e, shell, call.fields[i], how));
}

void Pushd(Evaluator& e, Shell& shell, Call& call) {
  if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  std::optional<std::string> word;
  if (call.fields.size() == 2) word = Known(call.fields[1]);
  if (word && !word->empty() && (*word)[0] != '-' && (*word)[0] != '+') {
    Values old = shell.cwd;
    shell.directory_stack.push_back(old);
    Go(e, shell, Directories(e, shell, call.fields[1], call.span));
    // Nothing was put there when it failed, and popd takes another one.
    if (shell.cwd_on_failure && shell.directory_stack.size() > 1)
      shell.directory_stack = {e.UnknownValue(call.span)};
    return;
  }
  shell.directory_stack = {e.UnknownValue(call.span)};
  Go(e, shell, e.UnknownValue(call.span));
}

void Popd(Evaluator& e, Shell& shell, Call& call) {
  if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  if (call.fields.size() == 1 && !shell.directory_stack.empty() &&
      !shell.variables.contains("DIRSTACK")) {
    Values target = shell.directory_stack.back();
    shell.directory_stack.pop_back();
    // The `pushd` of the last one may have failed, and then this one does.
    Go(e, shell, target, !shell.directory_stack.empty());
    return;
  }
  shell.directory_stack.clear();
  Go(e, shell, e.UnknownValue(call.span));
}

void Dirs(Evaluator& e, Shell& shell, Call& call) {
  Prints(e, shell, call);
  // `-c` forgets the others.
  if (call.fields.size() > 1)
    shell.directory_stack = {e.UnknownValue(call.span)};
}

void Pwd(Evaluator& e, Shell& shell, Call& call) {
  Values text = shell.cwd;
  for (const Field& field : call.fields) {
    if (Known(field) == "-P") text = Union(text, e.UnknownValue(call.span));
  }
  for (Value& value : text) value.Append("\n");
  if (e.Captured(shell, 1)) e.Write(shell, 1, text);
  shell.status = 0;
}

void Set(Evaluator& e, Shell& shell, Call& call) {
  shell.status = 0;
  if (call.fields.size() == 1) {
    if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
    return;
  }
  size_t i = 1;
  bool positional = false;
  for (; i < call.fields.size(); ++i) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (!word || (call.fields[i].glob && !shell.noglob)) {
      // Options or parameters: nothing is known of either.
      e.NoteUsesHistory();
      shell.xtrace = shell.allexport = true;
      shell.positional.clear();
      shell.positional_unknown = true;
      shell.positional_set = true;
      shell.noglob = false;
      return;
    }
    if (*word == "--") {
      positional = true;
      ++i;
      break;
    }
    if (*word == "-") {
      shell.xtrace = false;
      ++i;
      positional = i < call.fields.size();
      break;
    }
    if (word->empty() || ((*word)[0] != '-' && (*word)[0] != '+')) {
      positional = true;
      break;
    }
    bool on = (*word)[0] == '-';
    for (char c : word->substr(1)) {
      std::string name;
      switch (c) {
        case 'x':
          shell.xtrace = on;
          break;
        case 'a':
          shell.allexport = on;
          break;
        case 'e':
          shell.errexit = on;
          break;
        case 'f':
          shell.noglob = on;
          break;
        case 'B':
          shell.brace_expansion = on;
          break;
        case 'u':
          shell.nounset = on;
          break;
        case 'n':
          shell.noexec = on;
          break;
        case 'H':
          e.NoteHistory(on);
          break;
        case 'k':
          if (on) e.NoteAt(UnknownCode::kUnmodelled, call.span, "set -k");
          break;
        case 'P':
          if (on) e.NoteAt(UnknownCode::kUnmodelled, call.span, "set -P");
          break;
        case 'o': {
          if (i + 1 >= call.fields.size()) {
            if (e.Captured(shell, 1))
              e.Write(shell, 1, e.UnknownValue(call.span));
            break;
          }
          if (!Known(call.fields[++i])) {
            e.NoteUsesHistory();
            shell.allexport = true;
          }
          name = Known(call.fields[i]).value_or("xtrace");
          if (name == "xtrace") shell.xtrace = on;
          if (name == "allexport") shell.allexport = on;
          if (name == "errexit") shell.errexit = on;
          if (name == "noglob") shell.noglob = on;
          if (name == "physical" && on)
            e.NoteAt(UnknownCode::kUnmodelled, call.span, "set -P");
          if (name == "braceexpand") shell.brace_expansion = on;
          if (name == "nounset") shell.nounset = on;
          if (name == "noexec") shell.noexec = on;
          if (name == "keyword" && on)
            e.NoteAt(UnknownCode::kUnmodelled, call.span, "set -k");
          // Leaving it restores what was before.
          if (name == "posix" && !on && shell.expand_aliases)
            e.NoteAt(UnknownCode::kUnmodelled, call.span, "set +o posix");
          if (name == "posix" && on) {
            shell.expand_aliases = true;
            // As bash does. Whether programs see it depends on `set -a`.
            shell.variables["POSIXLY_CORRECT"].scalar = {Value::Of("y")};
          }
          if (name == "histexpand" || name == "history") e.NoteHistory(on);
          break;
        }
        default:
          break;
      }
    }
  }
  if (!positional) return;
  shell.positional_set = true;
  shell.positional.clear();
  shell.positional_unknown = false;
  for (; i < call.fields.size(); ++i) {
    const Field& field = call.fields[i];
    if (field.splits || (field.glob && !shell.noglob)) {
      for (size_t k = i; k < call.fields.size(); ++k) {
        e.Holds("@", {call.fields[k].value});
      }
      shell.positional.clear();
      shell.positional_unknown = true;
      return;
    }
    shell.positional.push_back({field.value});
  }
}

void Shift(Evaluator&, Shell& shell, Call& call) {
  size_t count = 1;
  if (call.fields.size() > 1) {
    std::optional<std::string> word = Known(call.fields[1]);
    if (!word || word->empty() || word->size() > 6 ||
        word->find_first_not_of("0123456789") != std::string::npos) {
      shell.positional.clear();
      shell.positional_unknown = true;
      shell.status.reset();
      return;
    }
    count = std::stoul(*word);
  }
  if (shell.positional_unknown) {
    shell.status.reset();
    return;
  }
  if (count > shell.positional.size()) {
    shell.status = 1;
    return;
  }
  shell.positional.erase(
      shell.positional.begin(),
      shell.positional.begin() + static_cast<std::ptrdiff_t>(count));
  shell.status = 0;
}

void Shopt(Evaluator& e, Shell& shell, Call& call) {
  bool on = false, off = false, set_options = false;
  e.NoteUsesHistory();  // `shopt -so history`
  if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  for (size_t i = 1; i < call.fields.size(); ++i) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (!word) {
      // Any option: the readings that hide least.
      if (on) shell.expand_aliases = shell.lastpipe = true;
      if (on) shell.failglob = true;
      if (on && set_options) shell.allexport = true;
      shell.extglob_unknown = shell.nocasematch_unknown = true;
      continue;
    }
    if (word->starts_with("-")) {
      on = on || word->find('s') != std::string::npos;
      off = off || word->find('u') != std::string::npos;
      set_options = set_options || word->find('o') != std::string::npos;
      continue;
    }
    if (!on && !off) continue;
    if (*word == "expand_aliases") shell.expand_aliases = on;
    if (*word == "extglob") shell.extglob = on;
    if (*word == "extglob") shell.extglob_unknown = false;
    if (*word == "nocasematch") {
      shell.nocasematch = on;
      shell.nocasematch_unknown = false;
    }
    if (*word == "failglob") shell.failglob = on;
    if (*word == "nullglob") shell.nullglob = on;
    if (*word == "lastpipe") shell.lastpipe = on;
    if (*word == "globstar") shell.globstar = on;
    if (*word == "dotglob") shell.dotglob = on;
    if (*word == "nocaseglob") shell.nocaseglob = on;
    if (*word == "nocasematch") shell.nocasematch = on;
    if (*word == "failglob") shell.failglob = on;
    if (*word == "extglob") shell.extglob_unknown = false;
    if (*word == "nocasematch") shell.nocasematch_unknown = false;
    // Readings that are not followed.
    for (std::string_view other :
         {"patsub_replacement", "extquote", "globasciiranges"}) {
      if (*word == other && off)
        e.NoteAt(UnknownCode::kUnmodelled, call.span, "shopt");
    }
    for (std::string_view other :
         {"xpg_echo", "localvar_inherit", "localvar_unset", "cdable_vars",
          "extdebug"}) {
      if (*word == other && on)
        e.NoteAt(UnknownCode::kUnmodelled, call.span, "shopt");
    }
    if (on && word->starts_with("compat")) {
      e.NoteAt(UnknownCode::kUnmodelled, call.span, "shopt");
    }
    if (set_options && *word == "xtrace") shell.xtrace = on;
    if (set_options && *word == "allexport") shell.allexport = on;
    if (set_options && *word == "noglob") shell.noglob = on;
    for (std::string_view other : {"physical", "posix", "keyword", "histexpand",
                                   "history", "braceexpand"}) {
      if (set_options && *word == other && (on || other == "braceexpand"))
        e.NoteAt(UnknownCode::kUnmodelled, call.span, "shopt -o");
    }
  }
  shell.status.reset();
}

void Alias(Evaluator& e, Shell& shell, Call& call) {
  shell.status = 0;
  bool defined = false;
  for (size_t i = 1; i < call.fields.size(); ++i) {
    const Value& value = call.fields[i].value;
    std::string prefix = value.Prefix();
    size_t equals = prefix.find('=');
    if (equals == std::string::npos || equals == 0) {
      if (!value.known()) {
        e.NoteAt(UnknownCode::kDynamicCode, call.span, "alias");
      }
      continue;
    }
    defined = true;
    // Not the name of an alias.
    if (prefix.substr(0, equals).find_first_of("/$`\\'\"<>();&| \t\n") !=
        std::string::npos) {
      shell.status = 1;
      continue;
    }
    Value text = value;
    text.chunks[0].text.erase(0, equals + 1);
    if (text.chunks[0].text.empty()) text.chunks.erase(text.chunks.begin());
    shell.aliases[prefix.substr(0, equals)] = {text};
  }
  if (!defined && e.Captured(shell, 1))
    e.Write(shell, 1, e.UnknownValue(call.span));
}

void Unalias(Evaluator&, Shell& shell, Call& call) {
  for (size_t i = 1; i < call.fields.size(); ++i) {
    std::optional<std::string> name = Known(call.fields[i]);
    if (!name) continue;
    if (*name == "-a") shell.aliases.clear();
    shell.aliases.erase(*name);
  }
  shell.status.reset();
}

void Hash(Evaluator& e, Shell& shell, Call& call) {
  for (size_t i = 1; i + 2 < call.fields.size(); ++i) {
    if (Known(call.fields[i]) != "-p") continue;
    std::optional<std::string> path = Known(call.fields[i + 1]);
    for (size_t k = i + 2; k < call.fields.size(); ++k) {
      std::optional<std::string> name = Known(call.fields[k]);
      if (!path || !name) {
        e.NoteAt(UnknownCode::kDynamicCommand, call.span, "hash -p");
        continue;
      }
      shell.hashed[*name] = *path;
    }
    break;
  }
  if (e.Captured(shell, 1)) {
    const std::optional<std::string> name =
        call.fields.size() == 3 && Known(call.fields[1]) == "-t"
            ? Known(call.fields[2])
            : std::nullopt;
    e.Write(shell, 1,
            name ? FoundFile(*name, call.span) : e.UnknownValue(call.span));
  }
  shell.status.reset();
}

void Enable(Evaluator& e, Shell& shell, Call& call) {
  for (size_t i = 1; i < call.fields.size(); ++i) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (!word || (word->starts_with("-") &&
                  word->find_first_of("fnd") != std::string::npos)) {
      // Code of a library, or names that mean programs from here on.
      e.NoteAt(UnknownCode::kUnmodelled, call.span, "enable");
      break;
    }
  }
  if (e.Captured(shell, 1)) e.Write(shell, 1, e.UnknownValue(call.span));
  shell.status.reset();
}

}  // namespace gate::parser::builtins
