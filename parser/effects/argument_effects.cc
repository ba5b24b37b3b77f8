// From argument effects to effects: what the arguments of a program do to files
// and hosts, with the directories that they are relative to.
#include <sys/stat.h>

#include "base/paths.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxInto = 64;

// Whether the words before it go into it by their own names, or do so when it
// is a directory.
bool IsTarget(const ArgumentEffect& argument_effect) {
  return (argument_effect.role == Role::kWrite ||
          argument_effect.role == Role::kMoveTo) &&
         (argument_effect.modifier == Modifier::kIn ||
          argument_effect.modifier == Modifier::kInto);
}

bool LooksLikeDirectory(const Argument& path) {
  if (!path.known) return path.suffix.ends_with("/");
  return path.text.ends_with("/") || path.text == "." || path.text == ".." ||
         path.text.ends_with("/.") || path.text.ends_with("/..");
}

}  // namespace

Values Evaluator::DirectoryOf(Shell& shell, const ArgumentAnalysis& arguments,
                              bool* moved) const {
  Values inside = shell.cwd;
  for (const ArgumentEffect& argument_effect : arguments.effects) {
    if (argument_effect.role == Role::kDirectory &&
        !argument_effect.words.empty()) {
      Scoped<Values> relative(shell.cwd, inside);
      inside = DirectoriesFrom(shell, argument_effect.words[0],
                               argument_effect.span);
      *moved = true;
    }
  }
  return inside;
}

void Evaluator::AddArgumentEffects(Shell& shell, const ProgramCall& call,
                                   const ArgumentAnalysis& arguments,
                                   uint32_t invocation) {
  (void)call;
  std::vector<const ArgumentEffect*> sources;
  bool moved = false;
  const Values inside = DirectoryOf(shell, arguments, &moved);
  for (const ArgumentEffect& argument_effect : arguments.effects) {
    if (argument_effect.role == Role::kMoveFrom)
      sources.push_back(&argument_effect);
  }
  // The words as they are, and as the directory that the program goes to
  // makes them. Files that the program uses by itself are in that directory.
  struct Place {
    Argument word;
    bool inside;
  };
  auto places = [&](const ArgumentEffect& argument_effect) {
    Argument word;
    if (!argument_effect.words.empty()) word = argument_effect.words[0];
    if (argument_effect.fixed && word.known &&
        (word.text == "~" || word.text.starts_with("~/"))) {
      if (!context_.home.empty()) {
        word.text = context_.home + word.text.substr(1);
      } else {
        word.suffix = word.text.substr(1);
        word.text.clear();
        word.known = false;
      }
    }
    std::vector<Place> out;
    const bool relative = moved && !argument_effect.words.empty() &&
                          !word.text.starts_with("/") &&
                          argument_effect.modifier != Modifier::kHere;
    if (!relative || !argument_effect.fixed) out.push_back({word, false});
    if (relative) out.push_back({word, true});
    return out;
  };
  auto is_directory = [&](const ArgumentEffect& argument_effect,
                          const Argument& resolved) {
    if (argument_effect.modifier == Modifier::kIn ||
        LooksLikeDirectory(argument_effect.words[0])) {
      return true;
    }
    if (!resolved.known) return false;
    size_t names = 0;
    for (const ArgumentEffect& other : arguments.effects) {
      if (other.role == Role::kRead || other.role == Role::kMoveFrom) ++names;
    }
    if (names > 1 || resolved.text == "/" || resolved.text == context_.home ||
        resolved.text == context_.cwd) {
      return true;
    }
    struct stat status = {};
    return context_.look_at_files && looked_ < 256 && ++looked_ != 0 &&
           ::stat(resolved.text.c_str(), &status) == 0 &&
           S_ISDIR(status.st_mode);
  };
  // What lies in the target afterwards, by the names of what goes there.
  auto into = [&](const ArgumentEffect& argument_effect,
                  const Argument& target) {
    std::vector<Argument> out;
    if (argument_effect.words.empty() || !is_directory(argument_effect, target))
      return out;
    for (const ArgumentEffect& other : arguments.effects) {
      if ((other.role != Role::kRead && other.role != Role::kMoveFrom) ||
          other.words.empty() || out.size() >= kMaxInto) {
        continue;
      }
      const Argument& word = other.words[0];
      if (!word.known || word.glob || !target.known) continue;
      const std::string name(BaseName(Normalise(word.text, "/")));
      if (name.empty()) continue;
      Argument path = target;
      path.text += (target.text.ends_with("/") ? "" : "/") + name;
      path.span = word.span;
      out.push_back(std::move(path));
    }
    return out;
  };
  for (const ArgumentEffect& argument_effect : arguments.effects) {
    Scoped<bool> certain(certain_, certain_ && argument_effect.certain);
    const std::vector<Place> where = places(argument_effect);
    const Argument& word = where.front().word;
    auto path_effect = [&](EffectKind kind) {
      const size_t before = analysis_.effects.size();
      for (const Place& place : where) {
        Scoped<bool> sure(certain_, certain_ && where.size() == 1);
        Scoped<Values> cwd(shell.cwd, place.inside ? inside : shell.cwd);
        AddPathEffect(shell, kind, place.word, argument_effect.span, invocation,
                      false);
        if (!IsTarget(argument_effect)) continue;
        for (const Argument& path :
             into(argument_effect, Resolve(shell, place.word))) {
          AddPathEffect(shell, kind, path, argument_effect.span, invocation,
                        false);
        }
      }
      for (size_t i = before; i < analysis_.effects.size(); ++i) {
        analysis_.effects[i].recursive = argument_effect.recursive;
      }
    };
    auto named_effect = [&](EffectKind kind) {
      Effect effect;
      effect.kind = kind;
      effect.certain = certain_;
      effect.path = word;
      effect.span = argument_effect.span;
      effect.invocation = invocation;
      effect.recursive = argument_effect.recursive;
      AddEffect(std::move(effect));
    };
    auto move_effect = [&](const ArgumentEffect& source,
                           const Argument& target) {
      Effect effect;
      effect.kind = EffectKind::kMove;
      effect.certain = certain_;
      if (!source.words.empty()) {
        effect.path = Resolve(shell, source.words[0]);
      }
      effect.target = target;
      effect.span = argument_effect.span;
      effect.invocation = invocation;
      effect.recursive = true;
      AddEffect(std::move(effect));
    };
    switch (argument_effect.role) {
      case Role::kRead:
        // A list on standard input is no file (run_lists.cc).
        if (!argument_effect.words.empty() &&
            !(word.known && word.text == "-" && IsList(argument_effect))) {
          path_effect(EffectKind::kRead);
        }
        break;
      case Role::kWrite:
        path_effect(EffectKind::kWrite);
        break;
      case Role::kDelete:
        path_effect(EffectKind::kDelete);
        break;
      case Role::kPermission:
        path_effect(EffectKind::kPermission);
        break;
      case Role::kMoveTo: {
        const Argument target = Resolve(shell, word);
        for (const ArgumentEffect* source : sources)
          move_effect(*source, target);
        if (!IsTarget(argument_effect)) break;
        const std::vector<Argument> named = into(argument_effect, target);
        for (size_t i = 0; i < named.size() && i < sources.size(); ++i) {
          move_effect(*sources[i], named[i]);
        }
        break;
      }
      case Role::kUrl:
        if (argument_effect.modifier == Modifier::kGlob && word.known) {
          AddGlobbedUrl(word, argument_effect.span, invocation);
        } else {
          AddUrl(word, argument_effect.span, invocation);
        }
        break;
      case Role::kListen: {
        size_t colon = word.text.rfind(':');
        std::string port = colon == std::string::npos
                               ? word.text
                               : word.text.substr(colon + 1);
        bool number =
            !port.empty() &&
            port.find_first_not_of("0123456789") == std::string::npos &&
            port.size() <= 5;
        AddNetwork(colon == std::string::npos ? "" : word.text.substr(0, colon),
                   number && word.known ? std::stoi(port) : 0, "",
                   argument_effect.span, invocation, true);
        break;
      }
      case Role::kPrivilege:
        named_effect(EffectKind::kPrivilege);
        break;
      case Role::kSignal:
        named_effect(EffectKind::kSignal);
        break;
      case Role::kPersistence:
        named_effect(EffectKind::kPersistence);
        break;
      case Role::kSystem:
        named_effect(EffectKind::kSystem);
        break;
      case Role::kRemoteState:
        named_effect(EffectKind::kRemoteState);
        break;
      case Role::kScriptFile:
      case Role::kLoadCode:
        if (!argument_effect.words.empty())
          path_effect(EffectKind::kExecuteFile);
        break;
      default:
        break;
    }
  }
}

}  // namespace gate::parser
