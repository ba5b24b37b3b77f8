// read, mapfile and getopts: variables from text.
#include <algorithm>

#include "base/text.h"
#include "parser/eval/builtins/builtins.h"

namespace gate::parser::builtins {
namespace {

const std::string* IfsOf(const Shell& shell, std::string* storage) {
  *storage = " \t\n";
  auto it = shell.variables.find("IFS");
  if (shell.ifs_unknown) return nullptr;
  if (it == shell.variables.end()) return storage;
  std::optional<std::string> known = Known(it->second.scalar);
  if (!known) return it->second.scalar.empty() ? storage : nullptr;
  *storage = *known;
  return storage;
}

// What `read` makes of a line that it splits by `ifs`, as
// get_word_from_string of bash's subst.c does.
class LineSplitter {
 public:
  // `escaped[i]` is 'x' for characters that a backslash protects.
  LineSplitter(const std::string& line, const std::string& escaped,
               const std::string& ifs)
      : line_(line), escaped_(escaped), ifs_(ifs) {}

  std::vector<std::string> Split(size_t count) {
    std::vector<std::string> words;
    SkipBlanks();
    while (words.size() + 1 < count && at_ < line_.size())
      words.push_back(TakeWord());
    // The last name takes the rest: the word alone when there is one more
    // with what ends it, else all but the blanks at the end.
    const size_t begin = at_;
    std::string rest = at_ < line_.size() ? TakeWord() : "";
    if (at_ < line_.size()) {
      size_t end = line_.size();
      while (end > begin && Blank(end - 1)) --end;
      rest = line_.substr(begin, end - begin);
    }
    words.push_back(std::move(rest));
    words.resize(count);
    return words;
  }

 private:
  bool Separator(size_t i) const {
    return escaped_[i] != 'x' && ifs_.find(line_[i]) != std::string::npos;
  }
  bool Blank(size_t i) const {
    return Separator(i) &&
           (line_[i] == ' ' || line_[i] == '\t' || line_[i] == '\n');
  }
  void SkipBlanks() {
    while (at_ < line_.size() && Blank(at_)) ++at_;
  }
  // A word and what separates it from the next: blanks of IFS with at most one
  // other separator among them.
  std::string TakeWord() {
    const size_t begin = at_;
    while (at_ < line_.size() && !Separator(at_)) ++at_;
    std::string word = line_.substr(begin, at_ - begin);
    if (at_ == line_.size()) return word;
    const bool blank = Blank(at_++);
    SkipBlanks();
    if (blank && at_ < line_.size() && Separator(at_)) {
      ++at_;
      SkipBlanks();
    }
    return word;
  }

  const std::string& line_;
  const std::string& escaped_;
  const std::string& ifs_;
  size_t at_ = 0;
};

// Whether bash splits such a line as LineSplitter does. It takes its own marks
// for quoted characters (CTLESC and CTLNUL) for bytes of the line and the
// reverse: where IFS holds other characters than blanks escaped ones keep
// them, and a protected blank at the end is cut off all the same.
bool SplitsPlainly(const std::string& line, const std::string& escaped,
                   const std::string& ifs) {
  if (line.find_first_of("\001\177") != std::string::npos) return false;
  if (escaped.find('x') == std::string::npos) return true;
  if (ifs.find_first_not_of(" \t\n") != std::string::npos) return false;
  for (size_t i = 0; i < line.size(); ++i)
    if (escaped[i] == 'x' && ifs.find(line[i]) != std::string::npos)
      return false;
  return true;
}

struct ReadOptions {
  bool raw = false;
  std::string array;
  int fd = 0;
  char delimiter = '\n';
  std::optional<size_t> count;
  bool exact_count = false;
  bool unknown = false;
  bool timed = false;
  bool asks = false;
};

}  // namespace

void Read(Evaluator& e, Shell& shell, Call& call) {
  ReadOptions options;
  std::vector<std::string> names;
  bool unknown_name = false;
  size_t i = 1;
  while (const std::optional<std::string> word = OptionWord(call.fields, &i)) {
    for (size_t at = 1; at < word->size(); ++at) {
      char c = (*word)[at];
      if (c == 'r') options.raw = true;
      if (std::string_view("adinNptu").find(c) == std::string_view::npos) {
        continue;
      }
      std::optional<std::string> value = word->substr(at + 1);
      if (value->empty() && i + 1 < call.fields.size()) {
        value = Known(call.fields[++i]);
      }
      if (!value) {
        options.unknown = options.unknown || (c != 'p' && c != 't');
      } else if (c == 'a') {
        options.array = *value;
      } else if (c == 'd') {
        options.delimiter = value->empty() ? '\0' : (*value)[0];
      } else if (c == 'u') {
        options.fd = std::atoi(value->c_str());
      } else if (c == 'n' || c == 'N') {
        options.count = std::strtoul(value->c_str(), nullptr, 10);
        options.exact_count = c == 'N';
      } else if (c == 't') {
        options.timed = true;
        // Asks whether there is something to read, and reads nothing.
        options.asks =
            options.asks || value->find_first_not_of("0.") == std::string::npos;
      }
      break;
    }
    ++i;
  }
  for (; i < call.fields.size(); ++i) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (!word) {
      unknown_name = true;
      continue;
    }
    names.push_back(*word);
  }
  if (unknown_name) {
    e.NoteAt(UnknownCode::kUnmodelled, call.span, "read");
  }
  if (options.asks) {
    shell.status.reset();
    return;
  }
  if (!options.array.empty()) names.clear();  // not looked at
  bool reply = names.empty() && options.array.empty();
  if (reply) names.push_back("REPLY");
  static const Script kEmpty;
  const Script& script = call.script != nullptr ? *call.script : kEmpty;
  Expander x{shell, script, e};
  auto all_unknown = [&](const Values& unknown) {
    for (const std::string& name : names) SetVariable(x, name, unknown);
    if (!options.array.empty()) {
      Variable array;
      array.shape = Variable::Shape::kIndexed;
      array.unknown_elements = true;
      array.tainted = true;
      shell.variables[options.array] = std::move(array);
    }
    shell.status.reset();
  };
  std::string ifs_storage;
  const std::string* ifs = IfsOf(shell, &ifs_storage);
  auto fd = shell.fds.find(options.fd);
  Values* stream = nullptr;
  if (fd != shell.fds.end() && fd->second.kind == Descriptor::Kind::kStream) {
    auto it = shell.streams.find(fd->second.stream);
    if (it != shell.streams.end()) stream = &it->second;
  }
  if (fd != shell.fds.end() && fd->second.kind == Descriptor::Kind::kNull) {
    for (const std::string& name : names) {
      SetVariable(x, name, {Value::Of("")});
    }
    shell.status = 1;
    return;
  }
  if (stream == nullptr || options.unknown || ifs == nullptr ||
      stream->size() != 1) {
    Values unknown = e.UnknownValue(call.span);
    if (stream != nullptr) {
      // Where it came from stays known.
      for (const Value& value : *stream) {
        for (const Chunk& chunk : value.chunks) {
          if (chunk.unknown) unknown[0].chunks[0].span = chunk.span;
        }
      }
      if (!options.array.empty()) e.Holds(options.array, *stream);
      *stream = unknown;
    }
    all_unknown(unknown);
    return;
  }
  Value& text = (*stream)[0];
  if (text.chunks.empty()) {
    for (const std::string& name : names) {
      SetVariable(x, name, {Value::Of("")});
    }
    if (!options.array.empty()) {
      Variable array;
      array.shape = Variable::Shape::kIndexed;
      shell.variables[options.array] = std::move(array);
    }
    shell.status = 1;
    return;
  }
  if (text.chunks[0].unknown) {
    Values unknown = {Value{{text.chunks[0]}}};
    all_unknown(unknown);
    return;
  }
  // The line, with backslashes taken out unless raw.
  const std::string& source = text.chunks[0].text;
  std::string line, escaped;
  size_t at = 0;
  bool found = false;
  size_t most = options.count.value_or(SIZE_MAX);
  while (at < source.size() && line.size() < most) {
    char c = source[at];
    if (c == options.delimiter && !options.exact_count) {
      found = true;
      ++at;
      break;
    }
    if (c == '\\' && !options.raw) {
      if (at + 1 >= source.size()) {
        ++at;
        break;
      }
      if (source[at + 1] == '\n') {
        at += 2;
        continue;
      }
      line += source[at + 1];
      escaped += 'x';
      at += 2;
      continue;
    }
    if (c != '\0') {
      line += c;
      escaped += ' ';
    }
    ++at;
  }
  if (line.size() >= most) found = true;
  if (!e.Spend(1 + at / 64)) return;
  bool complete = found || text.chunks.size() == 1;
  Value partly = Value::Of(line);
  if (!complete) {
    // The line goes on in what is not known.
    partly.Append(Value{{text.chunks[1]}});
    Values rest = {Value{{text.chunks[1]}}};
    *stream = rest;
    if (names.size() == 1) {
      SetVariable(x, names[0], {partly});
      shell.status.reset();
    } else {
      all_unknown(rest);
    }
    return;
  }
  text.chunks[0].text.erase(0, at);
  if (text.chunks[0].text.empty()) text.chunks.erase(text.chunks.begin());
  // Other shells take some escaped characters for more than themselves, and the
  // elements of an array are split without them.
  if (((shell.posix || !options.array.empty()) &&
       escaped.find('x') != std::string::npos) ||
      !SplitsPlainly(line, escaped, *ifs)) {
    all_unknown(e.UnknownValue(call.span));
    return;
  }
  shell.status = found ? 0 : 1;
  if (options.timed) shell.status.reset();
  for (const std::string& name : names) {
    auto it = shell.variables.find(name);
    if (it != shell.variables.end() &&
        (it->second.readonly || it->second.maybe_readonly)) {
      shell.status.reset();
    }
  }
  if (!options.array.empty()) {
    Variable array;
    array.shape = Variable::Shape::kIndexed;
    int64_t index = 0;
    for (const std::string& word : SplitFields(line, *ifs)) {
      array.indexed[index++] = {Value::Of(word)};
    }
    shell.variables[options.array] = std::move(array);
    return;
  }
  if (reply || options.exact_count) {
    SetVariable(x, names[0], {Value::Of(line)});
    for (size_t k = 1; k < names.size(); ++k) {
      SetVariable(x, names[k], {Value::Of("")});
    }
    return;
  }
  std::vector<std::string> words =
      LineSplitter(line, escaped, *ifs).Split(names.size());
  for (size_t k = 0; k < names.size(); ++k) {
    SetVariable(x, names[k], {Value::Of(words[k])});
  }
}

void Mapfile(Evaluator& e, Shell& shell, Call& call) {
  std::string array = "MAPFILE", callback;
  bool trims = false, has_callback = false, limits = false;
  int fd = 0;
  size_t quantum = 5000;
  char delimiter = '\n';
  for (size_t i = 1; i < call.fields.size(); ++i) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (!word) {
      e.NoteAt(UnknownCode::kUnmodelled, call.span, "mapfile");
      continue;
    }
    if (word->size() < 2 || (*word)[0] != '-') {
      array = *word;
      continue;
    }
    for (size_t at = 1; at < word->size(); ++at) {
      char c = (*word)[at];
      if (c == 't') trims = true;
      if (std::string_view("dnOsuCc").find(c) == std::string_view::npos) {
        continue;
      }
      std::optional<std::string> value = word->substr(at + 1);
      if (value->empty() && i + 1 < call.fields.size()) {
        value = Known(call.fields[++i]);
      }
      if (c == 'C') {
        has_callback = true;
        if (!value) {
          e.NoteAt(UnknownCode::kDynamicCode, call.span, "mapfile -C");
        }
        callback = value.value_or("");
      } else if (!value) {
        limits = true;
      } else if (c == 'c') {
        quantum =
            std::max<size_t>(1, std::strtoul(value->c_str(), nullptr, 10));
      } else if (c == 'u') {
        fd = std::atoi(value->c_str());
      } else if (c == 'd') {
        delimiter = value->empty() ? '\0' : (*value)[0];
      } else {
        limits = true;
      }
      break;
    }
  }
  Values text = e.HasInput(shell, fd) ? e.ReadRest(shell, fd, call.span)
                                      : e.UnknownValue(call.span);
  Variable variable;
  variable.shape = Variable::Shape::kIndexed;
  std::optional<std::string> known = Known(text);
  std::vector<std::string> lines;
  if (known && !limits) {
    std::string_view rest = *known;
    while (!rest.empty() && lines.size() < 4096) {
      size_t end = rest.find(delimiter);
      std::string line(rest.substr(
          0, end == std::string_view::npos ? rest.size() : end + 1));
      rest.remove_prefix(line.size());
      if (trims && end != std::string_view::npos) line.pop_back();
      lines.push_back(std::move(line));
    }
    if (!rest.empty()) variable.unknown_elements = true;
    for (size_t k = 0; k < lines.size(); ++k) {
      variable.indexed[static_cast<int64_t>(k)] = {Value::Of(lines[k])};
    }
  } else {
    variable.unknown_elements = true;
    variable.tainted = true;
  }
  e.Spend(1 + lines.size());
  e.Holds(array, text);
  shell.variables[array] = std::move(variable);
  if (has_callback) {
    Evaluator::TextOptions options;
    options.via = Via{ViaKind::kMapfile};
    size_t runs = 0;
    for (size_t k = 0; k < lines.size() && runs < 16; ++k) {
      if ((k + 1) % quantum != 0) continue;
      ++runs;
      std::string code =
          callback + " " + std::to_string(k) + " " + ShellQuote(lines[k]);
      e.RunText(shell, {Value::Of(code)}, call.span, options);
    }
    if (runs == 0 || !known) {
      Scoped<bool> uncertain(e.certain_, false);
      Shell copy = shell;
      e.RunText(copy, {Value::Of(callback + " 0 \"${_gate_unknown}\"")},
                call.span, options);
      shell = JoinShells(shell, copy);
    }
  }
  shell.status.reset();
}

void Getopts(Evaluator& e, Shell& shell, Call& call) {
  shell.status.reset();
  if (call.script == nullptr) return;
  // Words that may be any number hide the name of the variable.
  if (call.fields.size() < 3 && call.fields.back().splits)
    e.NoteAt(UnknownCode::kUnmodelled, call.span, "getopts");
  if (call.fields.size() < 3) return;
  Expander x{shell, *call.script, e};
  std::optional<std::string> letters = Known(call.fields[1]);
  std::optional<std::string> name = Known(call.fields[2]);
  if (!name) {
    e.NoteAt(UnknownCode::kUnmodelled, call.span, "getopts");
    return;
  }
  std::vector<std::string> words;
  bool known = letters.has_value();
  if (call.fields.size() > 3) {
    std::optional<std::vector<std::string>> given = KnownWords(call.fields, 3);
    known = known && given;
    if (given) words = *given;
  } else {
    known = known && !shell.positional_unknown;
    for (const Values& value : shell.positional) {
      std::optional<std::string> word = Known(value);
      known = known && word;
      words.push_back(word.value_or(""));
    }
  }
  auto number = [&](const char* variable, size_t fallback) {
    auto it = shell.variables.find(variable);
    if (it == shell.variables.end() || it->second.scalar.empty()) {
      return fallback;
    }
    std::optional<std::string> text = Known(it->second.scalar);
    if (!text || text->empty() || text->size() > 6 ||
        text->find_first_not_of("0123456789") != std::string::npos) {
      known = false;
      return fallback;
    }
    return static_cast<size_t>(std::stoul(*text));
  };
  size_t index = number("OPTIND", 1);
  size_t offset = number("_gate_optpos", 1);
  if (!known) {
    SetVariable(x, *name, e.UnknownValue(call.span));
    SetVariable(x, "OPTARG", e.UnknownValue(call.span));
    SetVariable(
        x, "OPTIND",
        {Value::Unknown(UnknownCode::kDynamicArgument, call.span, true)});
    return;
  }
  auto set = [&](const std::string& variable, std::string value) {
    SetVariable(x, variable, {Value::Of(std::move(value))});
  };
  if (index < 1) index = 1;
  if (index > words.size() || words[index - 1].size() < 2 ||
      words[index - 1][0] != '-' || words[index - 1] == "--") {
    if (index <= words.size() && words[index - 1] == "--") {
      set("OPTIND", std::to_string(index + 1));
    }
    set(*name, "?");
    set("_gate_optpos", "1");
    shell.status = 1;
    return;
  }
  const std::string& word = words[index - 1];
  if (offset >= word.size()) offset = 1;
  char letter = word[offset];
  ++offset;
  size_t at = letter == ':' ? std::string::npos : letters->find(letter);
  bool silent = letters->starts_with(":");
  bool takes = at != std::string::npos && at + 1 < letters->size() &&
               (*letters)[at + 1] == ':';
  std::string value;
  std::string result(1, letter);
  bool has_value = false;
  if (at == std::string::npos) {
    result = "?";
    value = silent ? std::string(1, letter) : "";
    has_value = silent;
  } else if (takes) {
    has_value = true;
    if (offset < word.size()) {
      value = word.substr(offset);
      offset = word.size();
    } else if (index < words.size()) {
      value = words[index];
      ++index;
    } else {
      result = silent ? ":" : "?";
      value = std::string(1, letter);
    }
  }
  if (offset >= word.size()) {
    ++index;
    offset = 1;
  }
  set("_gate_optpos", std::to_string(offset));
  set("OPTIND", std::to_string(index));
  set(*name, result);
  if (has_value) {
    set("OPTARG", value);
  } else {
    UnsetVariable(x, "OPTARG");
  }
  shell.status = 0;
}

}  // namespace gate::parser::builtins
