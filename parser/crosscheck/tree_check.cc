#include "parser/crosscheck/tree_check.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "parser/crosscheck/marks.h"
#include "parser/crosscheck/ts_handle.h"

namespace gate::parser {
namespace {

// What the walk does with a node of the grammar.
enum class Class : uint8_t {
  kOther,
  kCommand,      // its children are words, assignments, redirections
  kDeclaration,  // declare, unset…: the first child is the keyword
  kTest,         // [ … ], [[ … ]], ((…)): the first child is the opener
  kRedirect,     // file_redirect: its destinations are words
  kHereString,
  kHereDocument,  // heredoc_redirect: its arguments belong to the command
  kName,          // command_name
  kAssignment,
  kLoopHead,      // its assignments are arithmetic
  kSubstitution,  // may be `…`
  kDescriptor,
};

struct Grammar {
  TsParser parser;
  std::vector<Class> classes;  // by symbol
  TSFieldId destination = 0;
  TSFieldId argument = 0;

  Grammar() {
    const TSLanguage* language = tree_sitter_bash();
    parser.reset(ts_parser_new());
    if (parser != nullptr && !ts_parser_set_language(parser.get(), language)) {
      parser.reset();
    }
    struct Named {
      const char* name;
      Class of;
    };
    constexpr Named kNames[] = {
        {"command", Class::kCommand},
        {"declaration_command", Class::kDeclaration},
        {"unset_command", Class::kDeclaration},
        {"test_command", Class::kTest},
        {"file_redirect", Class::kRedirect},
        {"herestring_redirect", Class::kHereString},
        {"heredoc_redirect", Class::kHereDocument},
        {"command_name", Class::kName},
        {"variable_assignment", Class::kAssignment},
        {"c_style_for_statement", Class::kLoopHead},
        {"command_substitution", Class::kSubstitution},
        {"file_descriptor", Class::kDescriptor},
    };
    const uint32_t count = ts_language_symbol_count(language);
    classes.assign(count, Class::kOther);
    for (uint32_t symbol = 0; symbol < count; ++symbol) {
      const auto id = static_cast<TSSymbol>(symbol);
      if (ts_language_symbol_type(language, id) != TSSymbolTypeRegular) {
        continue;
      }
      const char* name = ts_language_symbol_name(language, id);
      for (const Named& named : kNames) {
        if (std::strcmp(name, named.name) == 0) classes[symbol] = named.of;
      }
    }
    auto field = [&](const char* name) {
      return ts_language_field_id_for_name(
          language, name, static_cast<uint32_t>(std::strlen(name)));
    };
    destination = field("destination");
    argument = field("argument");
  }

  Class Of(TSNode node) const {
    const TSSymbol symbol = ts_node_symbol(node);
    return symbol < classes.size() ? classes[symbol] : Class::kOther;
  }
};

// The text for tree-sitter, and how much work it has done on it.
struct Input {
  std::string_view text;
  uint32_t rounds = 0;
  size_t served = 0;     // bytes handed out, again and again
  bool stopped = false;  // for the work it took

  // In pieces, so that what is read again is counted: the grammar looks for
  // the end of each here-document without taking a step.
  static const char* Read(void* payload, uint32_t at, TSPoint,
                          uint32_t* length) {
    auto* input = static_cast<Input*>(payload);
    const size_t from = std::min<size_t>(at, input->text.size());
    const size_t size = std::min(input->text.size() - from, kTreePiece);
    input->served += size;
    if (input->served > kMaxTreeBytes) input->stopped = true;
    *length = input->stopped ? 0 : static_cast<uint32_t>(size);
    return input->text.data() + from;
  }

  // Called after every 100 steps of the parser, so that the same text always
  // stops at the same place. A tree with an error is of no use: its recovery,
  // which may take long, is not waited for.
  static bool Stop(TSParseState* state) {
    auto* input = static_cast<Input*>(state->payload);
    if (++input->rounds > kMaxTreeRounds) input->stopped = true;
    return input->stopped || state->has_error;
  }
};

// The marks of tree-sitter's tree in the order of the text. False when the
// tree has an error or takes too much work (`*stopped`).
bool CollectTree(Grammar& grammar, std::string_view text,
                 std::vector<Mark>* out, Span* error, bool* stopped) {
  *error = {0, static_cast<uint32_t>(text.size())};
  if (grammar.parser == nullptr) return false;
  ts_parser_reset(grammar.parser.get());
  Input input{text};
  const TSInput reader = {&input, Input::Read, TSInputEncodingUTF8, nullptr};
  const TSParseOptions options = {&input, Input::Stop};
  TsTree tree(ts_parser_parse_with_options(grammar.parser.get(), nullptr,
                                           reader, options));
  if (tree == nullptr || input.stopped) {
    *stopped = input.stopped;
    ts_parser_reset(grammar.parser.get());
    return false;
  }
  const TSNode root = ts_tree_root_node(tree.get());
  if (ts_node_has_error(root)) return false;
  TsCursor owner(root);
  TSTreeCursor* cursor = owner.get();
  struct Level {
    Class of;
    bool first;   // no child has been seen yet
    bool target;  // the target of a redirection has been seen
  };
  std::vector<Level> levels;
  levels.reserve(64);
  Class of = grammar.Of(root);
  bool descend = true;
  for (;;) {
    if (descend && ts_tree_cursor_goto_first_child(cursor)) {
      levels.push_back({of, true, false});
    } else {
      while (!ts_tree_cursor_goto_next_sibling(cursor)) {
        if (!ts_tree_cursor_goto_parent(cursor)) return true;
        levels.pop_back();
        if (levels.empty()) return true;
      }
    }
    Level& level = levels.back();
    const bool first = level.first;
    level.first = false;
    const TSNode node = ts_tree_cursor_current_node(cursor);
    of = grammar.Of(node);
    const uint32_t begin = ts_node_start_byte(node);
    const uint32_t end = ts_node_end_byte(node);
    const bool redirect = of == Class::kRedirect || of == Class::kHereString ||
                          of == Class::kHereDocument;
    switch (level.of) {
      case Class::kCommand:
        if (of == Class::kName) {
          out->push_back({begin, end, Mark::kFirst});
        } else if (of == Class::kAssignment) {
          out->push_back({begin, end, Mark::kAssignment});
        } else if (!redirect) {
          out->push_back({begin, end, Mark::kWord});
        }
        break;
      case Class::kDeclaration:
        if (!redirect) {
          out->push_back({begin, end, first ? Mark::kFirst : Mark::kWord});
        }
        break;
      case Class::kTest:
        if (first) out->push_back({begin, end, Mark::kFirst});
        break;
      case Class::kRedirect:
        // The grammar takes the words after a target for further targets.
        if (ts_tree_cursor_current_field_id(cursor) == grammar.destination) {
          out->push_back(
              {begin, end, level.target ? Mark::kWord : Mark::kTarget});
          level.target = true;
        }
        break;
      case Class::kHereString:
        if (ts_node_is_named(node) && of != Class::kDescriptor) {
          out->push_back({begin, end, Mark::kTarget});
        }
        break;
      case Class::kHereDocument:
        if (ts_tree_cursor_current_field_id(cursor) == grammar.argument) {
          out->push_back({begin, end, Mark::kWord});
        } else if (of == Class::kAssignment) {
          out->push_back({begin, end, Mark::kAssignment});
        }
        break;
      case Class::kLoopHead:
        break;
      default:
        if (of == Class::kAssignment) {
          out->push_back({begin, end, Mark::kAssignment});
        }
        break;
    }
    descend = !(of == Class::kSubstitution && text[begin] == '`');
  }
}

// Where the two lists first differ.
std::optional<Span> FirstDifference(const std::vector<Mark>& a,
                                    const std::vector<Mark>& b) {
  const size_t common = std::min(a.size(), b.size());
  for (size_t i = 0; i < common; ++i) {
    if (a[i] == b[i]) continue;
    const Mark& first = a[i].begin < b[i].begin ? a[i] : b[i];
    return Span{first.begin, first.end};
  }
  if (a.size() == b.size()) return std::nullopt;
  const Mark& more = a.size() > common ? a[common] : b[common];
  return Span{more.begin, more.end};
}

}  // namespace

TreeCheck CheckTree(std::string_view source, const Ast& ast,
                    const std::vector<Suspect>& suspects) {
  thread_local Grammar grammar;
  std::vector<Mark> ours;
  std::vector<Mark> theirs;
  CollectMarks(source, ast, &ours);
  theirs.reserve(ours.size());
  TreeCheck check;
  Span where;
  if (CollectTree(grammar, source, &theirs, &where, &check.too_large)) {
    std::sort(theirs.begin(), theirs.end());
    check.difference = FirstDifference(ours, theirs);
    if (!check.difference) return check;
  } else {
    check.difference = where;
    if (check.too_large) return check;
  }
  std::string plainer(source);
  if (!Rewrite(ast, suspects, &plainer, &ours)) return check;
  theirs.clear();
  if (!CollectTree(grammar, plainer, &theirs, &where, &check.too_large)) {
    return check;
  }
  std::sort(theirs.begin(), theirs.end());
  check.difference = FirstDifference(ours, theirs);
  return check;
}

}  // namespace gate::parser
