// echo, printf and test.
#include "parser/eval/builtins/builtins.h"
#include "parser/syntax/lexer.h"

namespace gate::parser::builtins {

std::optional<std::string> PrintfOutput(std::vector<std::string> words) {
  // A NUL can be printed, but not be part of a value: another character that
  // nobody writes stands for it while the format is worked out.
  static constexpr char kStandIn = '\x1d';
  bool used = false;
  for (const std::string& word : words) {
    used = used || word.find(kStandIn) != std::string::npos;
  }
  bool has_nul = false;
  if (!words.empty() && !used) {
    std::string& format = words[0];
    for (size_t i = 0; i + 1 < format.size(); ++i) {
      if (format[i] != '\\') continue;
      size_t digits = 0;
      while (digits < 3 && i + 1 + digits < format.size() &&
             format[i + 1 + digits] == '0') {
        ++digits;
      }
      bool more = i + 1 + digits < format.size() && digits < 3 &&
                  format[i + 1 + digits] >= '1' &&
                  format[i + 1 + digits] <= '7';
      if (digits > 0 && !more) {
        format.replace(i, digits + 1, 1, kStandIn);
        has_nul = true;
      } else {
        ++i;
      }
    }
  }
  std::optional<std::string> text = FormatPrintf(words);
  if (text && has_nul) {
    for (char& c : *text) {
      if (c == kStandIn) c = '\0';
    }
  }
  return text;
}

namespace {

// dash's echo takes \123 as bash's takes \0123.
std::string LongOctal(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] != '\\' || i + 1 >= text.size()) continue;
    char next = text[++i];
    if (next >= '1' && next <= '7') out += '0';
    out += next;
  }
  return out;
}

// Whether a printf that is given `format` may assign by `%n`: flags, width,
// precision and length stand between the two (bash 5.2, printf.def).
bool HasCount(std::string_view format) {
  static constexpr std::string_view kBetween = "#'-+ 0123456789.*hjlLtz";
  for (size_t at = format.find('%'); at != std::string_view::npos;
       at = format.find('%', at)) {
    const size_t next = format.find_first_not_of(kBetween, ++at);
    if (next == std::string_view::npos) return false;
    if (format[next] == 'n') return true;
    // `%%` is one; another one that follows later begins anew.
    at = next == at && format[at] == '%' ? at + 1 : next;
  }
  return false;
}

// Whether it may be the name of a variable.
bool MayBeName(const Value& value) {
  for (const Chunk& chunk : value.chunks) {
    for (const char c : chunk.text)
      if (!reading::IsNameChar(c) && c != '[' && c != ']') return false;
  }
  return !value.known() ||
         (!value.text().empty() && reading::IsNameStart(value.text()[0]));
}

// `printf … %n NAME` sets NAME. `at`: where the format stands; `ended`: behind
// `--`, so that it is no option.
void AssignCounts(Evaluator& e, Shell& shell, const Call& call, size_t at,
                  bool ended) {
  if (at >= call.fields.size()) return;
  const auto several = [&](const Field& field) {
    return field.splits || (field.glob && !shell.noglob);
  };
  const Field& format = call.fields[at];
  std::string text;
  bool known = true;
  for (const Chunk& chunk : format.value.chunks) {
    text += chunk.unknown ? "0" : chunk.text;
    known = known && (!chunk.unknown || chunk.digits);
  }
  if (known && !several(format) && !HasCount(text)) return;
  // One that is not known may be `-v`, too.
  const std::string begin = format.value.Prefix();
  bool anything =
      several(format) || (!known && !ended && at + 1 < call.fields.size() &&
                          (begin.empty() || begin[0] == '-'));
  for (size_t i = at + 1; i < call.fields.size(); ++i) {
    const Field& field = call.fields[i];
    if (!MayBeName(field.value) && !several(field)) continue;
    if (!field.value.known() || several(field) || call.script == nullptr) {
      anything = true;
      continue;
    }
    Expander x{shell, *call.script, e};
    SetVariable(x, std::string(field.value.text()), e.UnknownValue(call.span));
  }
  if (anything) e.NoteAt(UnknownCode::kUnmodelled, call.span, "printf");
}

}  // namespace

void Echo(Evaluator& e, Shell& shell, Call& call) {
  shell.status = 0;
  if (!e.Captured(shell, 1)) return;
  bool newline = true, escapes = false;
  size_t i = 1;
  for (; i < call.fields.size(); ++i) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (!word) break;
    if (word->size() < 2 || (*word)[0] != '-' ||
        word->find_first_not_of("neE", 1) != std::string::npos) {
      break;
    }
    if (shell.posix && *word != "-n") break;
    for (char c : word->substr(1)) {
      if (c == 'n') newline = false;
      if (c == 'e') escapes = true;
      if (c == 'E') escapes = false;
    }
  }
  Values text = JoinArguments(e, shell, call.fields, i);
  auto expand = [&newline](Values values) {
    for (Value& value : values) {
      for (size_t c = 0; c < value.chunks.size(); ++c) {
        Chunk& chunk = value.chunks[c];
        if (chunk.unknown) continue;
        bool stop = false;
        chunk.text = ExpandEchoEscapes(chunk.text, &stop);
        if (stop) {
          newline = false;
          value.chunks.resize(c + 1);
          break;
        }
      }
      std::erase_if(value.chunks, [](const Chunk& chunk) {
        return !chunk.unknown && chunk.text.empty();
      });
    }
    return values;
  };
  if (escapes) {
    text = expand(std::move(text));
  } else if (shell.posix) {
    // dash's echo expands escapes, others' do not.
    bool backslash = false;
    for (const Value& value : text) {
      for (const Chunk& chunk : value.chunks) {
        backslash = backslash || chunk.text.find('\\') != std::string::npos;
      }
    }
    if (backslash) {
      Values octal = text;
      for (Value& value : octal) {
        for (Chunk& chunk : value.chunks) chunk.text = LongOctal(chunk.text);
      }
      text = Union(Union(expand(octal), expand(text)), text);
    }
  }
  if (newline) {
    for (Value& value : text) value.Append("\n");
  }
  e.Write(shell, 1, text);
}

void Printf(Evaluator& e, Shell& shell, Call& call) {
  shell.status.reset();
  size_t i = 1;
  std::optional<std::string> variable;
  bool unknown_variable = false;
  bool ended = false;
  while (i < call.fields.size()) {
    std::optional<std::string> word = Known(call.fields[i]);
    if (word == "--") {
      ended = true;
      ++i;
      break;
    }
    if (word == "-v" && i + 1 < call.fields.size()) {
      variable = Known(call.fields[i + 1]);
      unknown_variable = !variable;
      i += 2;
    } else if (word && word->starts_with("-v") && word->size() > 2) {
      variable = word->substr(2);
      ++i;
    } else {
      break;
    }
  }
  AssignCounts(e, shell, call, i, ended);
  bool captured = e.Captured(shell, 1);
  if (!variable && !unknown_variable && !captured) return;
  Values text;
  std::optional<std::vector<std::string>> words = KnownWords(call.fields, i);
  if (words && !words->empty()) {
    std::optional<std::string> result =
        variable ? FormatPrintf(*words) : PrintfOutput(*words);
    if (result) text = {Value::Of(*result)};
  } else if (i < call.fields.size()) {
    // %s and text, with arguments that are partly known.
    std::optional<std::string> format = Known(call.fields[i]);
    bool fixed = true;
    for (size_t k = i + 1; k < call.fields.size(); ++k) {
      fixed = fixed && !call.fields[k].splits &&
              !(call.fields[k].glob && !shell.noglob);
    }
    if (format && fixed &&
        format->find_first_of("\\%") == format->find_first_of("%\\")) {
      Value out = Value::Of("");
      size_t argument = i + 1;
      bool ok = true;
      do {
        size_t begin = argument;
        for (size_t at = 0; at < format->size() && ok; ++at) {
          char c = (*format)[at];
          if (c == '\\' && at + 1 < format->size()) {
            bool stop = false;
            out.Append(ExpandEchoEscapes(format->substr(at, 2), &stop));
            ok = (*format)[at + 1] == 'n' || (*format)[at + 1] == 't' ||
                 (*format)[at + 1] == '\\';
            ++at;
          } else if (c == '%' && at + 1 < format->size() &&
                     (*format)[at + 1] == 's') {
            if (argument < call.fields.size()) {
              out.Append(call.fields[argument++].value);
            }
            ++at;
          } else if (c == '%') {
            ok = false;
          } else {
            out.Append(std::string_view(&c, 1));
          }
        }
        if (argument == begin) break;
      } while (ok && argument < call.fields.size() && e.Spend(1));
      if (ok) text = {out};
    }
  }
  if (text.empty()) text = e.UnknownValue(call.span);
  if (variable && call.script != nullptr) {
    Expander x{shell, *call.script, e};
    SetVariable(x, *variable, text);
    return;
  }
  if (unknown_variable) {
    // Any variable may have changed.
    e.NoteAt(UnknownCode::kUnmodelled, call.span, "printf -v");
    return;
  }
  e.Write(shell, 1, text);
}

void Test(Evaluator& e, Shell& shell, Call& call) {
  std::optional<bool> result = EvaluateTest(e, shell, call);
  if (result) {
    shell.status = *result ? 0 : 1;
  } else {
    shell.status.reset();
  }
}

}  // namespace gate::parser::builtins
