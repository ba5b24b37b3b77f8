// Field splitting: pieces of a word to the fields that a command sees.
#include <cctype>

#include "parser/expand/internal.h"

namespace gate::parser {
namespace {

bool IsBlank(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

void EscapeInto(std::string_view text, std::string* pattern) {
  for (const char c : text) {
    if (std::string_view("*?[]\\!-^(|)@+").find(c) != std::string_view::npos)
      *pattern += '\\';
    *pattern += c;
  }
}

}  // namespace

std::string EscapePattern(std::string_view text) {
  std::string pattern;
  EscapeInto(text, &pattern);
  return pattern;
}

bool HasGlob(std::string_view pattern, bool extglob) {
  bool open = false;
  for (size_t i = 0; i < pattern.size(); ++i) {
    switch (pattern[i]) {
      case '\\':
        ++i;
        break;
      case '*':
      case '?':
        return true;
      case '[':
        open = true;
        break;
      case ']':
        if (open) return true;
        break;
      case '+':
      case '@':
      case '!':
        if (extglob && i + 1 < pattern.size() && pattern[i + 1] == '(')
          return true;
        break;
      default:
        break;
    }
  }
  return false;
}

std::optional<std::string> CurrentIfs(const State& state) {
  if (state.ifs_unknown) return std::nullopt;
  const auto found = state.variables.find("IFS");
  if (found == state.variables.end()) return std::string(" \t\n");
  const Variable& ifs = found->second;
  if (ifs.shape != Variable::Shape::kScalar || ifs.maybe_unset)
    return std::nullopt;
  if (ifs.scalar.empty()) return std::string(" \t\n");
  if (ifs.scalar.size() != 1 || !ifs.scalar[0].known()) return std::nullopt;
  return std::string(ifs.scalar[0].text());
}

FieldBuilder::FieldBuilder(const State& state, Span span)
    : state_(state), span_(span) {}

const std::optional<std::string>& FieldBuilder::Ifs() {
  if (!ifs_read_) {
    ifs_ = CurrentIfs(state_);
    ifs_read_ = true;
  }
  return ifs_;
}

void FieldBuilder::Add(const Piece& piece) {
  if (piece.kind == Piece::Kind::kNothing) {
    if (piece.vanishes) splits_ = true;
    return;
  }
  if (piece.kind == Piece::Kind::kBreak) {
    Finish();
    present_ = piece.quoted;
    return;
  }
  if (piece.vanishes) splits_ = true;
  if (piece.quoted) {
    if (pending_end_) Finish();
    for (const Chunk& chunk : piece.value.chunks) {
      if (chunk.unknown) {
        AppendHole(chunk);
        continue;
      }
      EscapeInto(chunk.text, &pattern_);
      value_.Append(std::string_view(chunk.text));
    }
    present_ = true;
    return;
  }
  if (!piece.split) {
    if (pending_end_) Finish();
    for (const Chunk& chunk : piece.value.chunks) {
      if (chunk.unknown)
        AppendHole(chunk);
      else
        Literal(chunk.text);
    }
    return;
  }
  for (const Chunk& chunk : piece.value.chunks) {
    const std::optional<std::string>& ifs = Ifs();
    if (chunk.unknown) {
      // A number splits only where IFS holds digits or a minus.
      if (!chunk.digits || !ifs ||
          ifs->find_first_of("0123456789-") != std::string::npos)
        splits_ = true;
      AppendHole(chunk);
    } else if (!ifs) {
      splits_ = true;
      AppendHole({"", true, false, UnknownCode::kDynamicArgument, span_});
    } else {
      Split(chunk.text, *ifs);
    }
  }
}

Fields FieldBuilder::Take() {
  Finish();
  return std::move(fields_);
}

void FieldBuilder::AppendHole(const Chunk& chunk) {
  if (pending_end_) Finish();
  Value unknown;
  unknown.chunks.push_back(chunk);
  value_.Append(unknown);
  present_ = true;
}

void FieldBuilder::Literal(std::string_view text) {
  pattern_ += text;
  value_.Append(text);
  present_ = present_ || !text.empty();
}

// POSIX field splitting: a run of IFS white space ends a field; another IFS
// character ends one with the white space around it.
void FieldBuilder::Split(std::string_view text, const std::string& ifs) {
  const auto is_ifs = [&ifs](char c) {
    return ifs.find(c) != std::string::npos;
  };
  size_t i = 0;
  while (i < text.size()) {
    if (!is_ifs(text[i])) {
      size_t end = i;
      while (end < text.size() && !is_ifs(text[end])) ++end;
      if (pending_end_) Finish();
      Literal(text.substr(i, end - i));
      i = end;
      continue;
    }
    if (IsBlank(text[i])) {
      if (present_ || !value_.chunks.empty()) pending_end_ = true;
      ++i;
      continue;
    }
    // A delimiter ends the field it follows, also an empty one.
    present_ = true;
    Finish();
    ++i;
    while (i < text.size() && is_ifs(text[i]) && IsBlank(text[i])) ++i;
  }
}

void FieldBuilder::Finish() {
  if (present_ || splits_ || !value_.chunks.empty()) {
    Field field;
    field.glob = !state_.noglob &&
                 HasGlob(pattern_, state_.extglob || state_.extglob_unknown);
    field.value = std::move(value_);
    field.splits = splits_;
    if (field.glob && field.value.known()) field.pattern = std::move(pattern_);
    field.span = span_;
    fields_.push_back(std::move(field));
  }
  value_ = Value{};
  pattern_.clear();
  present_ = splits_ = pending_end_ = false;
}

std::vector<std::string> SplitFields(std::string_view text,
                                     std::string_view ifs) {
  State state;
  Variable variable;
  variable.scalar = {Value::Of(std::string(ifs))};
  state.variables["IFS"] = variable;
  FieldBuilder builder(state, Span{});
  Piece piece;
  piece.value = Value::Of(std::string(text));
  piece.split = true;
  builder.Add(piece);
  std::vector<std::string> words;
  for (const Field& field : builder.Take())
    words.emplace_back(field.value.text());
  return words;
}

}  // namespace gate::parser
