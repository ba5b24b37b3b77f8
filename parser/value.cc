#include "parser/value.h"

#include <algorithm>

namespace gate::parser {
namespace {

// Most pieces of one value.
constexpr size_t kMaxChunks = 256;

// What a set that grew beyond its bound becomes.
Values Anything() {
  return {Value::Hole(UnknownCode::kDynamicArgument, Span{})};
}

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

Value Value::Hole(UnknownCode code, Span span, bool digits) {
  Value value;
  value.chunks.push_back({"", true, digits, code, span});
  return value;
}

bool Value::known() const {
  return chunks.empty() || (chunks.size() == 1 && !chunks[0].hole);
}

std::string_view Value::text() const {
  return chunks.empty() ? std::string_view() : std::string_view(chunks[0].text);
}

std::string Value::Prefix() const {
  return chunks.empty() || chunks.front().hole ? "" : chunks.front().text;
}

std::string Value::Suffix() const {
  return chunks.empty() || chunks.back().hole ? "" : chunks.back().text;
}

void Value::Append(std::string_view more) {
  if (more.empty()) return;
  size_t before = chunks.empty() ? 0 : chunks.back().text.size();
  if (before + more.size() > kMaxValueBytes || chunks.size() > kMaxChunks) {
    *this = Hole(UnknownCode::kDynamicArgument, Span{});
    return;
  }
  if (!chunks.empty() && !chunks.back().hole) {
    chunks.back().text += more;
    return;
  }
  chunks.push_back(
      {std::string(more), false, false, UnknownCode::kDynamicArgument, Span{}});
}

void Value::Append(const Value& other) {
  for (const Chunk& chunk : other.chunks) {
    if (chunk.hole) {
      // One more hole after a hole says nothing new, but for digits.
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
  return all.size() > kMaxAlternatives ? Anything() : all;
}

Values Concatenate(const Values& a, const Values& b) {
  if (a.size() * b.size() > kMaxAlternatives) return Anything();
  Values all;
  for (const Value& head : a) {
    for (const Value& tail : b) {
      if (KnownBytes(head) + KnownBytes(tail) > kMaxValueBytes)
        return Anything();
      Value value = head;
      value.Append(tail);
      if (std::find(all.begin(), all.end(), value) == all.end())
        all.push_back(std::move(value));
    }
  }
  return all;
}

}  // namespace gate::parser
