// Shell values: joining, comparing and widening them.
#include <algorithm>

#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

template <typename Map, typename Combine>
void JoinMap(Map& into, const Map& other, Combine combine) {
  for (const auto& [key, value] : other) {
    auto [it, added] = into.try_emplace(key, value);
    if (!added && !(it->second == value))
      it->second = combine(it->second, value);
  }
}

Values UnknownText() {
  return {Value::Unknown(UnknownCode::kDynamicArgument, Span{})};
}

void WidenVariable(Variable& variable) {
  variable.unknown_elements = variable.shape != Variable::Shape::kScalar;
  variable.indexed.clear();
  variable.associative.clear();
  variable.scalar = UnknownText();
  variable.maybe_unset = true;
}

void WidenVariables(const Shell& before, Shell* after) {
  for (auto& [name, variable] : after->variables.Edit()) {
    auto it = before.variables.find(name);
    if (it == before.variables.end() || !(it->second == variable)) {
      WidenVariable(variable);
      if (name == "IFS") after->ifs_unknown = true;
    }
  }
  for (const auto& [name, variable] : before.variables) {
    if (!after->variables.contains(name)) {
      Variable lost = variable;
      WidenVariable(lost);
      after->variables.emplace(name, std::move(lost));
    }
  }
}

}  // namespace

Shell JoinShells(const Shell& a, const Shell& b) {
  if (a.exited && !b.exited) return b;
  if (b.exited && !a.exited) return a;
  Shell joined = a;
  static_cast<State&>(joined) = Join(a, b);
  joined.exited = a.exited && b.exited;
  for (const auto& [fd, descriptor] : b.fds) {
    auto [it, added] = joined.fds.try_emplace(fd, descriptor);
    if (!added && !(it->second == descriptor)) {
      it->second = Descriptor{Descriptor::Kind::kUnknown, -1, "",
                              Union(it->second.opened, descriptor.opened)};
    }
  }
  JoinMap(joined.streams, b.streams,
          [](const Values& x, const Values& y) { return Union(x, y); });
  JoinMap(joined.hashed, b.hashed,
          [](const std::string& x, const std::string&) { return x; });
  if (!(joined.made == b.made)) {
    for (const auto& [place, other] : b.made) {
      Provenance& mine = joined.made[place];
      mine.origin.Add(other.origin);
      mine.below |= other.below;
      mine.pattern |= other.pattern;
    }
  }
  joined.exported_functions.insert(b.exported_functions.begin(),
                                   b.exported_functions.end());
  ForgetDirections(joined);
  return joined;
}

void ForgetDirections(Shell& shell) {
  shell.cwd_on_success.reset();
  shell.cwd_on_failure.reset();
}

void JoinFailed(Shell& shell, Shell&& before) {
  before.files = shell.files;
  before.made = shell.made;
  before.fds = shell.fds;
  before.streams = shell.streams;
  before.status.reset();
  JoinInto(shell, before);
  shell.status.reset();
}

void JoinInto(Shell& into, const Shell& other) {
  if (other.exited && !into.exited) return;
  if (into.exited && !other.exited) {
    into = other;
    return;
  }
  // Most branches change nothing that lasts; finding that costs less than
  // making a new state.
  if (into.background_pid == other.background_pid &&
      into.errexit == other.errexit && into.globstar == other.globstar &&
      into.dotglob == other.dotglob && into.nounset == other.nounset &&
      into.nocaseglob == other.nocaseglob && into.failglob == other.failglob &&
      SameShell(into, other)) {
    if (into.status != other.status) into.status.reset();
    ForgetDirections(into);
    return;
  }
  into = JoinShells(into, other);
}

void MergeInto(std::optional<Shell>& slot, const Shell& shell) {
  if (!slot) {
    slot = shell;
  } else {
    JoinInto(*slot, shell);
  }
}

void MergeInto(std::optional<Shell>& slot, Shell&& shell) {
  if (!slot) {
    slot = std::move(shell);
  } else {
    JoinInto(*slot, shell);
  }
}

bool SameShell(const Shell& a, const Shell& b) {
  return a.variables == b.variables && a.functions == b.functions &&
         a.aliases == b.aliases && a.positional == b.positional &&
         a.positional_unknown == b.positional_unknown && a.cwd == b.cwd &&
         a.directory_stack == b.directory_stack && a.traps == b.traps &&
         a.files == b.files && a.made == b.made && a.fds == b.fds &&
         a.streams == b.streams && a.hashed == b.hashed &&
         a.expand_aliases == b.expand_aliases && a.extglob == b.extglob &&
         a.noglob == b.noglob && a.nullglob == b.nullglob &&
         a.xtrace == b.xtrace && a.allexport == b.allexport &&
         a.ifs_unknown == b.ifs_unknown && a.zero == b.zero &&
         a.loop_continue == b.loop_continue &&
         a.brace_expansion == b.brace_expansion &&
         a.brace_unknown == b.brace_unknown &&
         a.extglob_unknown == b.extglob_unknown &&
         a.nocasematch == b.nocasematch &&
         a.nocasematch_unknown == b.nocasematch_unknown &&
         a.exported_functions == b.exported_functions &&
         a.lastpipe == b.lastpipe && a.noexec == b.noexec;
}

void Widen(const Shell& before, Shell* after) {
  if (!(before.variables == after->variables)) WidenVariables(before, after);
  if (!(before.positional == after->positional)) {
    after->positional.clear();
    after->positional_unknown = true;
  }
  if (!(before.cwd == after->cwd)) after->cwd = UnknownText();
  if (!(before.directory_stack == after->directory_stack)) {
    after->directory_stack = {UnknownText()};
  }
  if (!(before.zero == after->zero)) after->zero = UnknownText();
  auto widen_texts = [](const auto& old, auto& now) {
    for (auto& [key, text] : now) {
      auto it = old.find(key);
      if (it == old.end() || !(it->second == text)) text = UnknownText();
    }
  };
  widen_texts(before.files, after->files);
  widen_texts(before.streams, after->streams);
  widen_texts(before.aliases, after->aliases);
  widen_texts(before.traps, after->traps);
}

size_t CopyCost(const Shell& shell) {
  size_t count = shell.variables.size() + shell.functions.size() +
                 shell.positional.size() + shell.streams.size() +
                 shell.files.size();
  size_t bytes = 0;
  auto add = [&bytes](const Values& values) {
    for (const Value& value : values) {
      for (const Chunk& chunk : value.chunks) bytes += chunk.text.size();
    }
  };
  for (const auto& [name, variable] : shell.variables) {
    add(variable.scalar);
    count += variable.indexed.size() + variable.associative.size();
    for (const auto& [index, values] : variable.indexed) add(values);
    for (const auto& [key, values] : variable.associative) add(values);
  }
  for (const Values& values : shell.positional) add(values);
  for (const auto& [id, text] : shell.streams) add(text);
  for (const auto& [path, text] : shell.files) add(text);
  // Bounds the memory of all copies together, too.
  return 2 + count + bytes / 128;
}

bool AnyHole(const Values& values) {
  return std::any_of(values.begin(), values.end(),
                     [](const Value& value) { return !value.known(); });
}

std::optional<std::string> Known(const Values& values) {
  if (values.size() != 1 || !values[0].known()) return std::nullopt;
  return std::string(values[0].text());
}

std::optional<std::string> Known(const Field& field) {
  if (!field.value.known() || field.splits) return std::nullopt;
  return std::string(field.value.text());
}

std::optional<std::vector<std::string>> KnownWords(const Fields& fields,
                                                   size_t from) {
  std::vector<std::string> words;
  for (size_t i = from; i < fields.size(); ++i) {
    if (!fields[i].value.known() || fields[i].splits || fields[i].glob) {
      return std::nullopt;
    }
    words.emplace_back(fields[i].value.text());
  }
  return words;
}

Field KnownField(std::string text, Span span) {
  Field field;
  field.value = Value::Of(std::move(text));
  field.span = span;
  return field;
}

Value PatternValue(std::string_view pattern, Span span) {
  size_t first = pattern.find_first_of("*?[\\+@!(");
  size_t last = pattern.find_last_of("*?])\\");
  if (first == std::string_view::npos) return Value::Of(std::string(pattern));
  Value value = Value::Of(std::string(pattern.substr(0, first)));
  value.Append(Value::Unknown(UnknownCode::kDynamicArgument, span));
  if (last != std::string_view::npos && last + 1 < pattern.size() &&
      last >= first && pattern[last] != '\\') {
    value.Append(pattern.substr(last + 1));
  }
  return value;
}

Values StripNewlines(Values values) {
  for (Value& value : values) {
    while (!value.chunks.empty() && !value.chunks.back().unknown) {
      std::string& text = value.chunks.back().text;
      while (!text.empty() && text.back() == '\n') text.pop_back();
      if (!text.empty()) break;
      value.chunks.pop_back();
    }
  }
  return values;
}

bool IsPlaceholder(std::string_view name) {
  return name.find(kProcessPath) != std::string_view::npos ||
         name.find(kNumber) != std::string_view::npos;
}

bool IsProcessPath(std::string_view path) {
  return path.starts_with(kProcessPath);
}

}  // namespace gate::parser
