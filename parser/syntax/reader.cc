#include <algorithm>
#include <utility>

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {

NodeId Reader::AddNode(NodeKind kind, uint32_t begin) {
  if (++shared_.count > kMaxNodes) {
    TooLarge("more than 100000 commands, words and parts");
    return kNone;
  }
  const NodeId id = static_cast<NodeId>(shared_.ast.nodes.size());
  Node& node = shared_.ast.nodes.emplace_back();
  node.kind = kind;
  node.span = Map(begin, begin);
  return id;
}

WordId Reader::AddWord(uint32_t begin, uint32_t end) {
  if (++shared_.count > kMaxNodes) {
    TooLarge("more than 100000 commands, words and parts");
    return kNone;
  }
  const WordId id = static_cast<WordId>(shared_.ast.words.size());
  shared_.ast.words.emplace_back().span = Map(begin, end);
  return id;
}

PartId Reader::AddPart(PartKind kind, uint32_t begin, uint32_t end) {
  if (++shared_.count > kMaxNodes) {
    TooLarge("more than 100000 commands, words and parts");
    return kNone;
  }
  const PartId id = static_cast<PartId>(shared_.ast.parts.size());
  Part& part = shared_.ast.parts.emplace_back();
  part.kind = kind;
  part.span = Map(begin, end);
  return id;
}

void Reader::AddChild(NodeId node, NodeId child) {
  NodeAt(node).children.push_back(child);
}

void Reader::Close(NodeId node) {
  NodeAt(node).span.end =
      std::max(NodeAt(node).span.begin, Map(consumed_, consumed_).end);
}

Span Reader::Map(uint32_t begin, uint32_t end) const {
  const uint32_t size = shared_.source_size;
  if (map_ == nullptr) return {std::min(begin, size), std::min(end, size)};
  const uint32_t last = static_cast<uint32_t>(map_->size()) - 1;
  const uint32_t from = (*map_)[std::min(begin, last)];
  const uint32_t to = end > begin ? (*map_)[std::min(end - 1, last)] + 1 : from;
  return {std::min(from, size), std::min(std::max(from, to), size)};
}

void Reader::Suspicious(SuspectKind kind, uint32_t begin, uint32_t end) {
  if (shared_.suspects.size() > kMaxNodes) return;
  shared_.suspects.push_back({Map(begin, end), kind});
}

void Reader::Doubt(uint32_t begin, uint32_t end, const char* why) {
  if (shared_.doubt || shared_.too_large) return;
  shared_.doubt = true;
  shared_.where = Map(begin, end);
  shared_.why = why;
}

bool Reader::TooLarge(const char* why) {
  if (!shared_.too_large) {
    shared_.too_large = true;
    shared_.where = Map(p_, p_);
    shared_.why = why;
  }
  return false;
}

bool Reader::Fail(uint32_t begin, uint32_t end, std::string message) {
  if (!failed_) {
    failed_ = true;
    error_span_ = Map(begin, end);
    error_ = std::move(message);
  }
  return false;
}

bool Reader::Enter() {
  if (++shared_.depth <= kMaxDepth) return true;
  --shared_.depth;
  return TooLarge("nested more than 200 levels deep");
}

bool Reader::Spend(size_t work) {
  shared_.work += work;
  if (shared_.work <= shared_.work_limit) return true;
  return TooLarge("too much text in nested constructs");
}

}  // namespace gate::parser::reading
