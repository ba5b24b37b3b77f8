#include "parser/expand/value.h"

#include <algorithm>
#include <cstdint>

namespace gate::parser {
namespace {

// Most pieces of one value.
constexpr size_t kMaxChunks = 256;

bool DigitsOnly(const Value& value) {
  if (value.chunks.empty()) return false;
  return std::all_of(
      value.chunks.begin(), value.chunks.end(), [](const Chunk& chunk) {
        return chunk.unknown ? chunk.digits
                             : chunk.text.find_first_not_of("0123456789") ==
                                   std::string::npos;
      });
}

}  // namespace

Value OneOf(const Values& values) {
  if (values.size() == 1) return values[0];
  Chunk unknown{"", true, true, UnknownCode::kDynamicArgument, Span{}};
  bool found = false;
  std::string prefix = values.front().Prefix();
  std::string suffix = values.front().Suffix();
  size_t shortest = SIZE_MAX;  // of the values that are known
  for (const Value& value : values) {
    unknown.digits = unknown.digits && DigitsOnly(value);
    for (const Chunk& chunk : value.chunks) {
      if (!chunk.unknown || found) continue;
      found = true;
      unknown.code = chunk.code;
      unknown.span = chunk.span;
    }
    const std::string head = value.Prefix();
    const std::string tail = value.Suffix();
    size_t same = 0;
    while (same < std::min(prefix.size(), head.size()) &&
           prefix[same] == head[same])
      ++same;
    prefix.resize(same);
    same = 0;
    while (same < std::min(suffix.size(), tail.size()) &&
           suffix[suffix.size() - 1 - same] == tail[tail.size() - 1 - same])
      ++same;
    suffix.erase(0, suffix.size() - same);
    if (value.known()) shortest = std::min(shortest, value.text().size());
  }
  if (unknown.digits) return Value::Unknown(unknown.code, unknown.span, true);
  if (prefix.size() + suffix.size() > shortest)
    suffix.erase(0, prefix.size() + suffix.size() - shortest);
  Value value = Value::Of(std::move(prefix));
  value.chunks.push_back(std::move(unknown));
  value.Append(suffix);
  return value;
}

namespace {

size_t KnownBytes(const Value& value) {
  size_t bytes = 0;
  for (const Chunk& chunk : value.chunks) bytes += chunk.text.size();
  return bytes;
}

}  // namespace

Value Value::Of(std::string text) {
  Value value;
  if (text.empty()) return value;
  value.chunks.push_back(
      {std::move(text), false, false, UnknownCode::kDynamicArgument, Span{}});
  return value;
}

Value Value::Unknown(UnknownCode code, Span span, bool digits) {
  Value value;
  value.chunks.push_back({"", true, digits, code, span});
  return value;
}

bool Value::known() const {
  return chunks.empty() || (chunks.size() == 1 && !chunks[0].unknown);
}

std::string_view Value::text() const {
  return chunks.empty() ? std::string_view() : std::string_view(chunks[0].text);
}

std::string Value::Prefix() const {
  return chunks.empty() || chunks.front().unknown ? "" : chunks.front().text;
}

std::string Value::Suffix() const {
  return chunks.empty() || chunks.back().unknown ? "" : chunks.back().text;
}

void Value::Append(std::string_view more) {
  if (more.empty()) return;
  size_t before = chunks.empty() ? 0 : chunks.back().text.size();
  if (before + more.size() > kMaxValueBytes || chunks.size() > kMaxChunks) {
    *this = Unknown(UnknownCode::kDynamicArgument, Span{});
    return;
  }
  if (!chunks.empty() && !chunks.back().unknown) {
    chunks.back().text += more;
    return;
  }
  chunks.push_back(
      {std::string(more), false, false, UnknownCode::kDynamicArgument, Span{}});
}

void Value::Append(const Value& other) {
  for (const Chunk& chunk : other.chunks) {
    if (chunk.unknown) {
      // One more unknown part after an unknown part says nothing new, but for
      // digits.
      if (chunks.size() <= kMaxChunks) chunks.push_back(chunk);
    } else {
      Append(std::string_view(chunk.text));
    }
  }
}

Values Union(const Values& a, const Values& b) {
  Values all = a;
  for (const Value& value : b)
    if (std::find(all.begin(), all.end(), value) == all.end())
      all.push_back(value);
  return all.size() > kMaxAlternatives ? Values{OneOf(all)} : all;
}

Values Concatenate(const Values& a, const Values& b) {
  if (a.size() * b.size() > kMaxAlternatives) {
    const Values heads = {OneOf(a)};
    return Concatenate(heads, {OneOf(b)});
  }
  Values all;
  for (const Value& head : a) {
    for (const Value& tail : b) {
      if (KnownBytes(head) + KnownBytes(tail) > kMaxValueBytes)
        return {Value::Unknown(UnknownCode::kLimit, Span{})};
      Value value = head;
      value.Append(tail);
      if (std::find(all.begin(), all.end(), value) == all.end())
        all.push_back(std::move(value));
    }
  }
  return all;
}

}  // namespace gate::parser
