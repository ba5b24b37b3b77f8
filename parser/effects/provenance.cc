// Files that the line's programs made, and what they hold. The text of such a
// file is not known; where it came from is, and is kept by the file's path.
//
// A place is an absolute path, or, where a path is not known, `?` and how it
// is written: two words that are made of the same unknown parts name the same
// file.
#include <fnmatch.h>

#include <algorithm>
#include <cctype>

#include "base/paths.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxMade = 256;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}

bool IsBelow(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with("/");
  return path.size() > directory.size() && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

bool Fits(const std::string& pattern, const std::string& path) {
  return ::fnmatch(pattern.c_str(), path.c_str(), FNM_PATHNAME) == 0;
}

// `$x`, `${x}`.
bool IsParameter(std::string_view text) {
  if (text.starts_with("${") && text.ends_with("}")) {
    text = text.substr(2, text.size() - 3);
  } else if (text.starts_with("$")) {
    text.remove_prefix(1);
  } else {
    return false;
  }
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

}  // namespace

// Empty when there is an unknown part that nothing tells from another.
std::string Evaluator::NameOfUnknowns(const Value& value) const {
  std::string name;
  for (const Chunk& chunk : value.chunks) {
    if (!chunk.unknown) {
      name += chunk.text;
      continue;
    }
    if (chunk.span.begin >= chunk.span.end) return "";
    std::string text = TextAt(chunk.span);
    if (text.starts_with("\"") && text.ends_with("\"") && text.size() > 1) {
      text = text.substr(1, text.size() - 2);
    }
    if (text.starts_with("${") && text.ends_with("}")) {
      text = "$" + text.substr(2, text.size() - 3);
    }
    name += '\x01';
    if (text.size() > 1 && text[0] == '$' &&
        std::all_of(text.begin() + 1, text.end(), IsNameCharacter)) {
      name += text;
    } else {
      name += std::to_string(chunk.span.begin) + ":" +
              std::to_string(chunk.span.end);
    }
    name += '\x02';
  }
  return name;
}

std::vector<std::string> Evaluator::PlacesOf(const Shell& shell,
                                             const Argument& word,
                                             const Fields& known) const {
  std::vector<std::string> places;
  if (word.glob) return places;
  Value value = ToField(word, known).value;
  if (!word.known && word.text.empty()) {
    // What stands behind a part that is known, as in `f=@$x`.
    for (const Field& field : known) {
      if (field.value.known() || field.value.Suffix() != word.suffix) continue;
      value = field.value;
      if (!value.chunks.front().unknown)
        value.chunks.erase(value.chunks.begin());
      break;
    }
  }
  std::string text;
  if (value.known()) {
    text = value.text();
    if (text.empty()) return places;
    if (text.starts_with("/")) {
      return {IsProcessPath(text) ? text : Normalise(text, "/")};
    }
  } else {
    text = NameOfUnknowns(value);
    if (text.empty()) return places;
    if (text[0] == '/' || value.chunks.front().unknown) return {"?" + text};
  }
  while (text.starts_with("./")) text.erase(0, 2);
  for (const Value& cwd : shell.cwd) {
    if (cwd.known() && value.known()) {
      places.push_back(Normalise(text, cwd.text()));
      continue;
    }
    const std::string name = NameOfUnknowns(cwd);
    if (!name.empty()) places.push_back("?" + name + "/" + text);
  }
  return places;
}

Origin Evaluator::OriginOfFiles(const Shell& shell, const Argument& word,
                                const Fields& known, bool below) const {
  Origin origin;
  if (shell.made.size() == 0 && shell.files.empty()) return origin;
  const auto add_below = [&](const std::string& directory) {
    for (const auto& [place, made] : shell.made) {
      if (IsBelow(place, directory)) origin.Add(made.origin);
    }
    for (const auto& [place, content] : shell.files) {
      if (IsBelow(place, directory)) origin.Add(OriginOf(content));
    }
  };
  // What holds for files in directories holds for those above, too.
  const auto add_above = [&](std::string place) {
    while (true) {
      const size_t slash = place.rfind('/');
      if (slash == std::string::npos) break;
      place.resize(slash);
      const auto it = shell.made.find(place.empty() ? "/" : place);
      if (it != shell.made.end() && it->second.below) {
        origin.Add(it->second.origin);
      }
      if (place.empty()) break;
    }
  };
  if (word.glob && word.known) {
    const size_t wild = word.text.find_first_of("*?[");
    const std::string head = word.text.substr(0, wild);
    const size_t slash = head.rfind('/');
    Argument directory = word;
    directory.glob = false;
    directory.text = slash == std::string::npos ? "." : head.substr(0, slash);
    if (slash == 0) directory.text = "/";
    for (const std::string& place : KnownPaths(shell, directory)) {
      const std::string rest =
          slash == std::string::npos ? word.text : word.text.substr(slash + 1);
      const std::string pattern = (place == "/" ? "" : place) + "/" + rest;
      for (const auto& [path, made] : shell.made) {
        if (made.pattern ? IsBelow(path, place) : Fits(pattern, path)) {
          origin.Add(made.origin);
          if (below) add_below(path);
        }
      }
      for (const auto& [path, content] : shell.files) {
        if (Fits(pattern, path)) origin.Add(OriginOf(content));
      }
      add_above(pattern);
    }
    return origin;
  }
  for (const std::string& place : PlacesOf(shell, word, known)) {
    const auto made = shell.made.find(place);
    if (made != shell.made.end()) origin.Add(made->second.origin);
    const auto file = shell.files.find(place);
    if (file != shell.files.end()) {
      origin.Add(OriginOf(file->second));
    } else {
      add_above(place);
      for (const auto& [pattern, provenance] : shell.made) {
        if (provenance.pattern && Fits(pattern, place)) {
          origin.Add(provenance.origin);
        }
      }
    }
    if (below) add_below(place);
  }
  if (!word.known) {
    const std::string head = Resolve(shell, word).text;
    if (head.size() > 1 && head != "/") {
      for (const auto& [place, made] : shell.made) {
        if (place.starts_with(head)) origin.Add(made.origin);
      }
      for (const auto& [place, content] : shell.files) {
        if (place.starts_with(head)) origin.Add(OriginOf(content));
      }
    }
    // A name that was listed is that of a file in what was listed.
    Origin names = OriginOf({ToField(word, known).value});
    for (const auto& [lister, directory] : names.files) {
      if (!directory.known || !directory.text.starts_with("/")) continue;
      const auto made = shell.made.find(directory.text);
      if (made != shell.made.end()) origin.Add(made->second.origin);
      add_below(directory.text);
      add_above(directory.text);
    }
  }
  return origin;
}

void Evaluator::NoteMade(Shell& shell, const std::string& place,
                         const Origin& origin, bool below, bool pattern) {
  if (place.empty() || origin.empty()) return;
  if (shell.made.size() >= kMaxMade && !shell.made.contains(place)) return;
  Provenance& made = shell.made[place];
  made.origin = origin;
  made.below = below;
  made.pattern = pattern;
}

void Evaluator::ForgetMade(Shell& shell, const std::string& place, bool below) {
  if (shell.made.size() == 0) return;
  shell.made.erase(place);
  if (!below) return;
  std::vector<std::string> gone;
  for (const auto& [path, made] : shell.made) {
    if (IsBelow(path, place)) gone.push_back(path);
  }
  for (const std::string& path : gone) shell.made.erase(path);
}

void Evaluator::AddFileFlows(const Shell& shell, const Argument& word,
                             const Fields& known, bool fixed, uint32_t sink,
                             Span span, bool below) {
  if (shell.made.size() == 0 && shell.files.empty()) return;
  if (fixed) {
    // What a program uses by itself (make's Makefile): only when it was made
    // under that name.
    for (const std::string& place : KnownPaths(shell, word)) {
      const auto made = shell.made.find(place);
      if (made != shell.made.end() && !made->second.below) {
        AddOriginFlows(made->second.origin, Resolve(shell, word), sink, span);
      }
    }
    return;
  }
  AddOriginFlows(OriginOfFiles(shell, word, known, below), Resolve(shell, word),
                 sink, span);
}

void Evaluator::NoteFilesMade(Shell& shell, const ProgramCall& call,
                              const ArgumentAnalysis& arguments,
                              const Origin& origin) {
  if (origin.empty() && shell.made.size() == 0) return;
  if (!Spend(1 + arguments.effects.size())) return;
  bool moved = false;
  const Values inside = DirectoryOf(shell, arguments, &moved);
  bool many = false;  // whole directories go there
  for (const ArgumentEffect& effect : arguments.effects) {
    many = many || effect.role == Role::kMoveFrom ||
           (effect.role == Role::kRead && effect.recursive);
  }
  // What goes away first: it may be made again.
  for (const ArgumentEffect& effect : arguments.effects) {
    if ((effect.role != Role::kDelete && effect.role != Role::kMoveFrom) ||
        effect.words.empty() || !effect.certain) {
      continue;
    }
    const std::vector<std::string> places =
        PlacesOf(shell, effect.words[0], call.argv);
    if (places.size() != 1 || !certain_) continue;
    ForgetMade(shell, places[0],
               effect.recursive || effect.role == Role::kMoveFrom);
  }
  for (const ArgumentEffect& effect : arguments.effects) {
    const bool target =
        effect.role == Role::kWrite || effect.role == Role::kMoveTo;
    if (!target || effect.words.empty()) continue;
    const Argument& word = effect.words[0];
    const bool tree = effect.modifier == Modifier::kTree && effect.certain;
    if (effect.fixed && word.text == "." && !tree) continue;
    for (const bool there : {false, true}) {
      if (there ? !moved : moved && effect.fixed) continue;
      Scoped<Values> relative(shell.cwd, there ? inside : shell.cwd);
      if (word.glob && word.known) {
        Argument plain = word;
        plain.glob = false;
        for (const std::string& place : KnownPaths(shell, plain)) {
          NoteMade(shell, place, origin, false, true);
        }
        continue;
      }
      for (const std::string& place : PlacesOf(shell, word, call.argv)) {
        NoteMade(shell, place, origin, tree || many, false);
        if (effect.modifier != Modifier::kIn &&
            effect.modifier != Modifier::kInto)
          continue;
        for (const ArgumentEffect& source : arguments.effects) {
          if ((source.role != Role::kRead && source.role != Role::kMoveFrom) ||
              source.words.empty() || !source.words[0].known) {
            continue;
          }
          const std::string name(
              BaseName(Normalise(source.words[0].text, "/")));
          if (name.empty()) continue;
          NoteMade(shell, (place == "/" ? "" : place) + "/" + name, origin,
                   many, source.words[0].glob);
        }
      }
    }
  }
}

void Evaluator::AddWrittenFlows(const std::string& path, const Values& content,
                                uint32_t sink, Span span) {
  Argument file;
  file.text = path;
  AddFlow(FlowKind::kFileToCode, UINT32_MAX, sink, file, span);
  // The most likely text is the line's own, but for variables and numbers.
  const auto own = [&](const Chunk& chunk) {
    return !chunk.unknown || chunk.digits || IsParameter(TextAt(chunk.span));
  };
  // What was fetched elsewhere may reach it: by code, as input, as a link.
  const bool fetched =
      !OriginOf(content).network.empty() ||
      std::any_of(fetchers_.begin(), fetchers_.end(),
                  [&](const std::string& from) { return from != path; });
  if (!fetched && !content.empty() &&
      std::any_of(content[0].chunks.begin(), content[0].chunks.end(),
                  [](const Chunk& chunk) { return !chunk.unknown; }) &&
      std::all_of(content[0].chunks.begin(), content[0].chunks.end(), own)) {
    return;
  }
  AddFlow(FlowKind::kUnseenToCode, UINT32_MAX, sink, file, span);
}

}  // namespace gate::parser
