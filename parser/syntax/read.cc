#include "parser/read.h"

#include <utility>

#include "parser/crosscheck/tree_check.h"
#include "parser/syntax/lexer.h"

namespace gate::parser {

Script Read(std::string_view source, const ReadOptions& options) {
  Script script;
  auto too_large = [&](Span where, std::string why) {
    script.ast = Ast();
    script.status = ReadStatus::kTooLarge;
    script.where = where;
    script.message = std::move(why);
    return std::move(script);
  };
  if (source.size() > kMaxSourceBytes) {
    return too_large({0, 0}, "longer than 1 MiB");
  }
  script.source = source;
  const uint32_t size = static_cast<uint32_t>(source.size());
  if (const size_t nul = source.find('\0'); nul != std::string_view::npos) {
    const uint32_t at = static_cast<uint32_t>(nul);
    script.status = ReadStatus::kSyntaxError;
    script.where = {at, at + 1};
    script.message = "a NUL byte";
    return script;
  }
  reading::Shared shared(script.ast);
  shared.source_size = size;
  shared.extglob = options.extglob;
  shared.depth = options.depth;
  shared.work_limit = 16 * source.size() + (size_t{1} << 16);
  reading::Reader reader(shared, script.source, 0, size, nullptr);
  script.ast.root = reader.ReadScript();
  if (shared.too_large) return too_large(shared.where, shared.why);
  if (reader.failed()) {
    script.status = ReadStatus::kSyntaxError;
    script.where = reader.error_span();
    script.message = reader.error();
    return script;
  }
  if (shared.doubt) {
    script.status = ReadStatus::kDisagreement;
    script.where = shared.where;
    script.message = shared.why;
    return script;
  }
  script.status = ReadStatus::kOk;
  if (options.compare && !IsPlain(source)) {
    const TreeCheck check =
        CheckTree(script.source, script.ast, shared.suspects);
    if (check.too_large) {
      return too_large({0, size}, "too much for the second reader");
    }
    if (check.difference) {
      script.status = ReadStatus::kDisagreement;
      script.where = *check.difference;
      script.message = "tree-sitter-bash reads other commands";
    }
  }
  return script;
}

}  // namespace gate::parser
