// Flows: what fetched, decoded or secret data reaches.
//
// Unknown text carries the span of the command that made it; where that text
// came from is kept by span.
#include <algorithm>
#include <cctype>

#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxSources = 64;

uint64_t Key(Span span) {
  return static_cast<uint64_t>(span.begin) << 32 | span.end;
}

template <typename T>
void AddOnce(std::vector<T>& into, const T& item) {
  if (into.size() >= kMaxSources) return;
  if (std::find(into.begin(), into.end(), item) == into.end()) {
    into.push_back(item);
  }
}

}  // namespace

void Origin::Add(const Origin& other) {
  for (uint32_t item : other.network) AddOnce(network, item);
  for (uint32_t item : other.decoded) AddOnce(decoded, item);
  for (const auto& item : other.files) AddOnce(files, item);
  if (files.size() >= kMaxSources && files.back().second.known) {
    // One more may be any file.
    files.back().second.text.clear();
    files.back().second.known = false;
  }
}

void Evaluator::Holds(const std::string& name, const Values& values) {
  if (origins_.empty()) return;
  const Origin origin = OriginOf(values);
  if (!origin.empty() && held_.size() < 1000) held_[name].Add(origin);
}

// An expansion of an array of which nothing else is known.
void Evaluator::AddHeld(Span span, Origin* origin) const {
  const std::string text = TextAt(span);
  for (size_t at = text.find('$'); at != std::string::npos;
       at = text.find('$', at + 1)) {
    size_t begin = at + 1;
    if (begin < text.size() && text[begin] == '{') ++begin;
    if (begin < text.size() && text[begin] == '!') ++begin;
    size_t end = begin;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
            text[end] == '_')) {
      ++end;
    }
    std::string name = text.substr(begin, end - begin);
    if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "@";
    const auto it = held_.find(name);
    if (it != held_.end()) origin->Add(it->second);
  }
}

Origin Evaluator::OriginOf(const Values& values) const {
  Origin origin;
  if (origins_.empty()) return origin;
  for (const Value& value : values) {
    for (const Chunk& chunk : value.chunks) {
      if (!chunk.unknown) continue;
      auto it = origins_.find(Key(chunk.span));
      if (it != origins_.end()) origin.Add(it->second);
      if (!held_.empty()) AddHeld(chunk.span, &origin);
    }
  }
  return origin;
}

void Evaluator::SetOrigin(Span span, const Origin& origin) {
  if (origin.empty() || origins_.size() > 10000) return;
  origins_[Key(span)].Add(origin);
}

void Evaluator::AddFlow(FlowKind kind, uint32_t source, uint32_t sink,
                        Argument from, Span span) {
  uint64_t hash = static_cast<uint64_t>(kind) * 1000003ULL;
  hash = (hash ^ source) * 1099511628211ULL;
  hash = (hash ^ sink) * 1099511628211ULL;
  for (char c : from.text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  if (!flow_index_.insert(hash).second || analysis_.flows.size() >= kMaxFlows) {
    return;
  }
  Flow flow;
  flow.kind = kind;
  flow.source_invocation = source;
  flow.sink_invocation = sink;
  flow.source = std::move(from);
  flow.span = span;
  analysis_.flows.push_back(std::move(flow));
}

void Evaluator::AddOriginFlows(const Origin& origin, const Argument& from,
                               uint32_t sink, Span span) {
  for (uint32_t source : origin.network) {
    AddFlow(FlowKind::kNetworkToCode, source, sink, from, span);
  }
  for (uint32_t source : origin.decoded) {
    AddFlow(FlowKind::kDecodedToCode, source, sink, from, span);
  }
}

void Evaluator::AddCodeFlows(const Values& code, uint32_t sink, Span span,
                             bool decoded) {
  Origin origin = OriginOf(code);
  if (!decoded) origin.decoded.clear();
  AddOriginFlows(origin, {}, sink, span);
}

void Evaluator::AddUploadFlows(const Values& data, uint32_t sink, Span span) {
  Origin origin = OriginOf(data);
  for (const auto& [source, file] : origin.files) {
    AddFlow(FlowKind::kFileToNetwork, source, sink, file, span);
  }
}

}  // namespace gate::parser
