// RAII for tree-sitter's handles. Private to the folder: no other header and
// no other folder sees tree-sitter.
#pragma once

#include <tree_sitter/api.h>

#include <memory>

extern "C" const TSLanguage* tree_sitter_bash(void);

namespace gate::parser {

struct TsDelete {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};
using TsParser = std::unique_ptr<TSParser, TsDelete>;
using TsTree = std::unique_ptr<TSTree, TsDelete>;

// A cursor is a value with a heap block of its own; this one owns it.
class TsCursor {
 public:
  explicit TsCursor(TSNode node) : cursor_(ts_tree_cursor_new(node)) {}
  ~TsCursor() { ts_tree_cursor_delete(&cursor_); }
  TsCursor(const TsCursor&) = delete;
  TsCursor& operator=(const TsCursor&) = delete;

  TSTreeCursor* get() { return &cursor_; }

 private:
  TSTreeCursor cursor_;
};

}  // namespace gate::parser
