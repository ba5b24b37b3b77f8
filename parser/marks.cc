#include "parser/marks.h"

#include <algorithm>

namespace gate::parser {
namespace {

// Walks what the tree reaches. Recursion is bounded by the reader's depth.
class Walker {
 public:
  Walker(const Ast& ast, std::string_view source, std::vector<Mark>* marks,
         std::string* text)
      : ast_(ast), source_(source), marks_(marks), text_(text) {}

  void Visit(NodeId id) {
    if (id == kNone) return;
    const Node& node = ast_.nodes[id];
    const bool bracket = node.kind == NodeKind::kSimple &&
                         !node.words.empty() && IsBracket(node.words[0]);
    if (node.kind == NodeKind::kConditional ||
        node.kind == NodeKind::kArithmetic) {
      Add({node.span.begin, node.span.begin + 2}, Mark::kFirst);
    }
    for (const Assignment& assignment : node.assignments) {
      Add(assignment.span, Mark::kAssignment);
      VisitAssignment(assignment);
    }
    for (size_t i = 0; i < node.words.size(); ++i) {
      const WordId word = node.words[i];
      if (node.kind == NodeKind::kSimple) {
        if (i == 0) {
          Add(ast_.words[word].span, Mark::kFirst);
        } else if (!bracket) {
          Add(ast_.words[word].span, Mark::kWord);
        }
      }
      const bool is_operator = i < node.operators.size() && node.operators[i];
      if (is_operator) continue;
      if (i < node.declared.size() && node.declared[i] != kNone) {
        VisitAssignment(node.declarations[node.declared[i]]);
      } else {
        VisitWord(word, node.kind == NodeKind::kConditional,
                  node.kind != NodeKind::kArithmetic &&
                      node.kind != NodeKind::kArithmeticFor);
      }
    }
    if (text_ != nullptr && node.kind == NodeKind::kArithmetic) {
      Plain(ast_.words[node.words[0]].span, ast_.words[node.words[0]].parts);
    }
    for (RedirectId redirect : node.redirects) {
      VisitRedirect(ast_.redirects[redirect], bracket);
    }
    for (const Clause& clause : node.clauses) {
      for (WordId word : clause.patterns) VisitWord(word, false, true);
      Visit(clause.body);
    }
    for (NodeId child : node.children) Visit(child);
  }

  bool changed() const { return changed_; }
  // What was replaced as a whole.
  bool InOpaque(Span span) const {
    return std::any_of(opaque_.begin(), opaque_.end(),
                       [&](Span o) { return o.Contains(span); });
  }

 private:
  void Add(Span span, Mark::Role role) {
    if (marks_ != nullptr) marks_->push_back({span.begin, span.end, role});
  }

  bool IsBracket(WordId word) const {
    const Span span = ast_.words[word].span;
    return Slice(source_, span) == "[" || Slice(source_, span) == "]";
  }

  void VisitAssignment(const Assignment& assignment) {
    VisitWord(assignment.subscript, false, true);
    VisitWord(assignment.value, false, true);
    for (const ArrayElement& element : assignment.elements) {
      VisitWord(element.subscript, false, true);
      VisitWord(element.value, false, true);
    }
  }

  void VisitRedirect(const Redirect& redirect, bool in_bracket) {
    if (redirect.target != kNone) {
      const Span span = ast_.words[redirect.target].span;
      if (!in_bracket && Slice(source_, span) != "-") {
        Add(span, Mark::kTarget);
      }
      VisitWord(redirect.target, false, true);
    }
    if (redirect.body != kNone && !redirect.quoted_delimiter) {
      VisitWord(redirect.body, false, false);
    }
  }

  // `whole`: any character of a literal part may be rewritten.
  void VisitWord(WordId id, bool whole, bool literals) {
    if (id == kNone) return;
    if (text_ != nullptr && IsBracket(id)) return;
    for (PartId part : ast_.words[id].parts) {
      VisitPart(ast_.parts[part], whole, literals);
    }
  }

  void VisitPart(const Part& part, bool whole, bool literals) {
    switch (part.kind) {
      case PartKind::kLiteral:
        if (text_ != nullptr && literals) Literal(part.span, whole);
        break;
      case PartKind::kEscaped:
        if (text_ != nullptr) Fill(part.span, '_');
        break;
      case PartKind::kSingleQuoted:
      case PartKind::kAnsiQuoted:
      case PartKind::kQuotedText:
        break;
      case PartKind::kDoubleQuoted:
      case PartKind::kLocaleQuoted:
        for (PartId inner : part.parts) {
          VisitPart(ast_.parts[inner], false, false);
        }
        break;
      case PartKind::kArithmetic:
        for (PartId inner : part.parts) {
          VisitPart(ast_.parts[inner], false, false);
        }
        if (text_ != nullptr) Plain(Inner(part.span), part.parts);
        break;
      case PartKind::kCommand:
        if (part.backquoted) {
          if (text_ != nullptr) {
            Fill(part.span, '_');
            opaque_.push_back(part.span);
          }
          break;
        }
        Visit(part.body);
        break;
      case PartKind::kProcess:
        Visit(part.body);
        break;
      case PartKind::kParameter:
        VisitParameter(part);
        break;
      case PartKind::kExtendedGlob:
        if (text_ != nullptr) {
          for (uint32_t p = part.span.begin; p < part.span.end; ++p) {
            if (!InWords(part.words, p)) Put(p, '_');
          }
        }
        for (WordId word : part.words) VisitWord(word, true, true);
        break;
    }
  }

  void VisitParameter(const Part& part) {
    const Parameter& parameter = ast_.parameters[part.parameter];
    VisitWord(parameter.subscript, false, false);
    VisitWord(parameter.operand, false, false);
    VisitWord(parameter.replacement, false, false);
    if (text_ == nullptr) return;
    switch (parameter.op) {
      case ParameterOp::kRemovePrefix:
      case ParameterOp::kRemoveSuffix:
      case ParameterOp::kReplace:
      case ParameterOp::kSlice:
      case ParameterOp::kUpper:
      case ParameterOp::kLower:
      case ParameterOp::kToggle:
      case ParameterOp::kTransform:
      case ParameterOp::kNames:
      case ParameterOp::kKeys:
      case ParameterOp::kLength:
        if (!HasCommand(parameter.subscript) &&
            !HasCommand(parameter.operand) &&
            !HasCommand(parameter.replacement)) {
          Fill(part.span, '_');
          opaque_.push_back(part.span);
        }
        break;
      default:
        break;
    }
  }

  bool InWords(const std::vector<WordId>& words, uint32_t p) const {
    return std::any_of(words.begin(), words.end(), [&](WordId word) {
      const Span span = ast_.words[word].span;
      return span.begin <= p && p < span.end;
    });
  }

  bool HasCommand(WordId word) const {
    return word != kNone && HasCommand(ast_.words[word].parts);
  }
  bool HasCommand(const std::vector<PartId>& parts) const {
    for (PartId id : parts) {
      const Part& part = ast_.parts[id];
      if (part.kind == PartKind::kCommand || part.kind == PartKind::kProcess) {
        return true;
      }
      if (HasCommand(part.parts)) return true;
      for (WordId word : part.words) {
        if (HasCommand(word)) return true;
      }
      if (part.parameter != kNone) {
        const Parameter& parameter = ast_.parameters[part.parameter];
        if (HasCommand(parameter.subscript) || HasCommand(parameter.operand) ||
            HasCommand(parameter.replacement)) {
          return true;
        }
      }
    }
    return false;
  }

  // What is between $(( and )), or $[ and ].
  Span Inner(Span span) const {
    const bool bracket =
        span.size() > 2 && source_.substr(span.begin, 2) == "$[";
    const uint32_t open = bracket ? 2 : 3;
    const uint32_t close = bracket ? 1 : 2;
    if (span.size() < open + close) return {span.begin, span.begin};
    return {span.begin + open, span.end - close};
  }

  // An arithmetic expression without commands becomes a number.
  void Plain(Span span, const std::vector<PartId>& parts) {
    if (span.empty() || HasCommand(parts)) return;
    Fill(span, '1');
  }

  void Literal(Span span, bool whole) {
    // In a literal part these mean nothing to the shell's grammar.
    constexpr std::string_view kOdd = "$\\{},=%@~^!#*?[]+:";
    for (uint32_t p = span.begin; p < span.end; ++p) {
      const char c = source_[p];
      const bool joined = (c == '\\' && p + 1 < span.end) || c == '\n';
      if (joined) continue;
      const bool odd = static_cast<unsigned char>(c) >= 0x80 ||
                       static_cast<unsigned char>(c) < 0x20 ||
                       kOdd.find(c) != std::string_view::npos;
      if (odd || whole) Put(p, '_');
    }
  }

  void Fill(Span span, char with) {
    for (uint32_t p = span.begin; p < span.end; ++p) Put(p, with);
  }

  void Put(uint32_t at, char c) {
    if ((*text_)[at] == c) return;
    (*text_)[at] = c;
    changed_ = true;
  }

  const Ast& ast_;
  std::string_view source_;
  std::vector<Mark>* marks_;
  std::string* text_;
  std::vector<Span> opaque_;
  bool changed_ = false;
};

bool IsBlankOrOperator(char c) {
  return std::string_view(" \t\n;&|<>()").find(c) != std::string_view::npos;
}

}  // namespace

void CollectMarks(std::string_view source, const Ast& ast,
                  std::vector<Mark>* out) {
  Walker walker(ast, source, out, nullptr);
  walker.Visit(ast.root);
  std::sort(out->begin(), out->end());
}

bool Rewrite(const Ast& ast, const std::vector<Suspect>& suspects,
             std::string* text, std::vector<Mark>* marks) {
  const std::string source = *text;
  Walker walker(ast, source, nullptr, text);
  walker.Visit(ast.root);
  std::vector<Span> blanked;
  auto fill = [&](Span span, char with) {
    for (uint32_t p = span.begin; p < span.end; ++p) {
      if ((*text)[p] != '\n') (*text)[p] = with;
    }
  };
  for (const Suspect& suspect : suspects) {
    const Span span = suspect.span;
    if (span.empty() || span.end > text->size() || walker.InOpaque(span)) {
      continue;
    }
    switch (suspect.kind) {
      case SuspectKind::kContinuation: {
        const bool edge = span.begin == 0 || span.end >= source.size() ||
                          IsBlankOrOperator(source[span.begin - 1]) ||
                          IsBlankOrOperator(source[span.end]);
        (*text)[span.begin] = edge ? ' ' : '_';
        (*text)[span.end - 1] = edge ? ' ' : '_';
        break;
      }
      case SuspectKind::kSeparator:
      case SuspectKind::kCloser:
        (*text)[span.begin] = ';';
        break;
      case SuspectKind::kComment:
      case SuspectKind::kKeyword:
      case SuspectKind::kHereOperator:
      case SuspectKind::kParenthesis:
        fill(span, ' ');
        break;
      case SuspectKind::kHereBody:
        fill(span, ' ');
        blanked.push_back(span);
        break;
      case SuspectKind::kReadWrite:
        (*text)[span.end - 1] = ' ';
        break;
      case SuspectKind::kDescriptorName:
        fill(span, '1');
        break;
    }
  }
  std::erase_if(*marks, [&](const Mark& mark) {
    return std::any_of(blanked.begin(), blanked.end(), [&](Span span) {
      return span.begin <= mark.begin && mark.end <= span.end;
    });
  });
  return walker.changed() || *text != source;
}

}  // namespace gate::parser
