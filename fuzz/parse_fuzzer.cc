// Any bytes are read without a crash, twice alike, within bounds, with every
// span inside the source.
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "parser/read.h"
#include "tests/parser/print_tree.h"

namespace {

using namespace gate;
using namespace gate::parser;

void CheckSpan(Span span, size_t size) {
  Require(span.begin <= span.end && span.end <= size);
}

void CheckIds(const std::vector<uint32_t>& ids, size_t size) {
  for (uint32_t id : ids) Require(id == kNone || id < size);
}

void CheckScript(const Script& script) {
  const Ast& ast = script.ast;
  const size_t size = script.source.size();
  CheckSpan(script.where, size);
  Require(ast.nodes.size() + ast.words.size() + ast.parts.size() <= kMaxNodes);
  Require(ast.root == kNone || ast.root < ast.nodes.size());
  Require((script.status == ReadStatus::kOk) == script.message.empty());
  for (const Node& node : ast.nodes) {
    CheckSpan(node.span, size);
    CheckIds(node.words, ast.words.size());
    CheckIds(node.children, ast.nodes.size());
    CheckIds(node.redirects, ast.redirects.size());
    CheckIds(node.declared, node.declarations.size());
    for (const Assignment& assignment : node.assignments) {
      CheckSpan(assignment.span, size);
    }
    for (const Clause& clause : node.clauses) {
      CheckIds(clause.patterns, ast.words.size());
    }
  }
  for (const Word& word : ast.words) {
    CheckSpan(word.span, size);
    CheckIds(word.parts, ast.parts.size());
  }
  for (const Part& part : ast.parts) {
    CheckSpan(part.span, size);
    CheckIds(part.parts, ast.parts.size());
    CheckIds(part.words, ast.words.size());
    CheckIds({part.body}, ast.nodes.size());
    CheckIds({part.parameter}, ast.parameters.size());
  }
  for (const Redirect& redirect : ast.redirects) {
    CheckSpan(redirect.span, size);
    CheckSpan(redirect.body_span, size);
    CheckIds({redirect.target, redirect.body}, ast.words.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool extglob : {false, true}) {
    ReadOptions options;
    options.extglob = extglob;
    const Script first = Read(text, options);
    CheckScript(first);
    const Script again = Read(text, options);
    Require(first.status == again.status && first.where == again.where &&
            first.message == again.message);
    Require(Print(first.ast) == Print(again.ast));
    // The comparison decides only between agreement and disagreement.
    options.compare = false;
    const Script alone = Read(text, options);
    Require(alone.status == first.status ||
            first.status == ReadStatus::kDisagreement);
    Require(Print(alone.ast) == Print(first.ast));
  }
  return 0;
}
