#include "parser/crosscheck/marks.h"

#include <algorithm>

namespace gate::parser {
namespace {

// Goes over what the tree reaches, in no particular order and without
// recursion: adds marks, or rewrites `text`, or both.
class Walker {
 public:
  Walker(const Ast& ast, std::string_view source, std::vector<Mark>* marks,
         std::string* text)
      : ast_(ast), source_(source), marks_(marks), text_(text) {}

  void Walk() {
    nodes_.push_back(ast_.root);
    while (!nodes_.empty() || !words_.empty() || !parts_.empty()) {
      if (!parts_.empty()) {
        const PartItem item = parts_.back();
        parts_.pop_back();
        VisitPart(ast_.parts[item.part], item.how);
      } else if (!words_.empty()) {
        const WordItem item = words_.back();
        words_.pop_back();
        VisitWord(item.word, item.how);
      } else {
        const NodeId id = nodes_.back();
        nodes_.pop_back();
        if (id != kNone) VisitNode(ast_.nodes[id]);
      }
    }
  }

  // What was replaced as a whole.
  bool InOpaque(Span span) const {
    return std::any_of(opaque_.begin(), opaque_.end(),
                       [&](Span o) { return o.Contains(span); });
  }

 private:
  // What may be rewritten in the literal parts of a word.
  enum class How : uint8_t {
    kNothing,
    kOddCharacters,
    kEverything,  // of patterns: what parts words elsewhere, too
  };
  struct WordItem {
    WordId word;
    How how;
  };
  struct PartItem {
    PartId part;
    How how;
  };

  void Add(Span span, Mark::Role role) {
    if (marks_ != nullptr) marks_->push_back({span.begin, span.end, role});
  }
  void Later(WordId word, How how) {
    if (word != kNone) words_.push_back({word, how});
  }

  bool IsBracket(WordId word) const {
    const Span span = ast_.words[word].span;
    return Slice(source_, span) == "[" || Slice(source_, span) == "]";
  }

  void VisitNode(const Node& node) {
    const bool simple = node.kind == NodeKind::kSimple;
    const bool bracket =
        simple && !node.words.empty() && IsBracket(node.words[0]);
    How how = How::kOddCharacters;
    if (node.kind == NodeKind::kConditional) how = How::kEverything;
    if (node.kind == NodeKind::kArithmetic ||
        node.kind == NodeKind::kArithmeticFor) {
      how = How::kNothing;
    }
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
      if (simple && i == 0) Add(ast_.words[word].span, Mark::kFirst);
      // The grammar has an expression inside [ … ], not words.
      if (simple && i > 0 && !bracket) {
        Add(ast_.words[word].span, Mark::kWord);
      }
      if (i < node.operators.size() && node.operators[i]) continue;
      if (i < node.declared.size() && node.declared[i] != kNone) {
        VisitAssignment(node.declarations[node.declared[i]]);
      } else {
        Later(word, how);
      }
    }
    if (node.kind == NodeKind::kArithmetic && !node.words.empty()) {
      AsNumber(ast_.words[node.words[0]].span);
    }
    for (RedirectId redirect : node.redirects) {
      VisitRedirect(ast_.redirects[redirect], bracket);
    }
    for (const Clause& clause : node.clauses) {
      for (WordId word : clause.patterns) Later(word, How::kOddCharacters);
      nodes_.push_back(clause.body);
    }
    nodes_.insert(nodes_.end(), node.children.begin(), node.children.end());
  }

  void VisitAssignment(const Assignment& assignment) {
    Later(assignment.subscript, How::kOddCharacters);
    Later(assignment.value, How::kOddCharacters);
    for (const ArrayElement& element : assignment.elements) {
      Later(element.subscript, How::kOddCharacters);
      Later(element.value, How::kOddCharacters);
    }
  }

  void VisitRedirect(const Redirect& redirect, bool in_bracket) {
    if (redirect.target != kNone) {
      const Span span = ast_.words[redirect.target].span;
      if (!in_bracket && Slice(source_, span) != "-") {
        Add(span, Mark::kTarget);
      }
      Later(redirect.target, How::kOddCharacters);
    }
    if (!redirect.quoted_delimiter) Later(redirect.body, How::kNothing);
  }

  void VisitWord(WordId id, How how) {
    if (text_ != nullptr && IsBracket(id)) return;
    for (PartId part : ast_.words[id].parts) parts_.push_back({part, how});
  }

  void VisitPart(const Part& part, How how) {
    for (PartId inner : part.parts) {
      parts_.push_back({inner, How::kNothing});
    }
    switch (part.kind) {
      case PartKind::kLiteral:
        Literal(part.span, how);
        break;
      case PartKind::kEscaped:
        Fill(part.span, '_');
        break;
      case PartKind::kArithmetic:
        AsNumber(Inner(part.span));
        break;
      case PartKind::kCommand:
        if (part.backquoted) {
          Opaque(part.span);
          break;
        }
        nodes_.push_back(part.body);
        break;
      case PartKind::kProcess:
        nodes_.push_back(part.body);
        break;
      case PartKind::kParameter:
        VisitParameter(part);
        break;
      case PartKind::kExtendedGlob:
        for (uint32_t p = part.span.begin; p < part.span.end; ++p) {
          if (!InWords(part.words, p)) Put(p, '_');
        }
        for (WordId word : part.words) Later(word, How::kEverything);
        break;
      default:
        break;
    }
  }

  void VisitParameter(const Part& part) {
    const Parameter& parameter = ast_.parameters[part.parameter];
    Later(parameter.subscript, How::kNothing);
    Later(parameter.operand, How::kNothing);
    Later(parameter.replacement, How::kNothing);
    switch (parameter.op) {
      case ParameterOp::kPlain:
      case ParameterOp::kDefault:
      case ParameterOp::kAssign:
      case ParameterOp::kError:
      case ParameterOp::kAlternative:
      case ParameterOp::kBad:
        break;
      default:
        if (!MayRun(part.span)) Opaque(part.span);
        break;
    }
  }

  bool InWords(const std::vector<WordId>& words, uint32_t p) const {
    return std::any_of(words.begin(), words.end(), [&](WordId word) {
      const Span span = ast_.words[word].span;
      return span.begin <= p && p < span.end;
    });
  }

  // True when a command may stand in the text: such are not made opaque.
  bool MayRun(Span span) const {
    return Slice(source_, span).find_first_of("(`") != std::string_view::npos;
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
  void AsNumber(Span span) {
    if (Slice(source_, span).find('`') != std::string_view::npos ||
        Slice(source_, span).find("$(") != std::string_view::npos) {
      return;
    }
    Fill(span, '1');
  }

  void Opaque(Span span) {
    if (text_ == nullptr) return;
    Fill(span, '_');
    opaque_.push_back(span);
  }

  void Literal(Span span, How how) {
    if (text_ == nullptr || how == How::kNothing) return;
    // In a literal part these mean nothing to the shell's grammar.
    constexpr std::string_view kOdd = "$\\{},=%@~^!#*?[]+:";
    for (uint32_t p = span.begin; p < span.end; ++p) {
      const char c = source_[p];
      const bool joined = (c == '\\' && p + 1 < span.end) || c == '\n';
      if (joined) continue;
      const bool odd = static_cast<unsigned char>(c) >= 0x80 ||
                       static_cast<unsigned char>(c) < 0x20 ||
                       kOdd.find(c) != std::string_view::npos;
      if (odd || how == How::kEverything) Put(p, '_');
    }
  }

  void Fill(Span span, char with) {
    for (uint32_t p = span.begin; p < span.end; ++p) Put(p, with);
  }

  void Put(uint32_t at, char c) {
    if (text_ != nullptr) (*text_)[at] = c;
  }

  const Ast& ast_;
  std::string_view source_;
  std::vector<Mark>* marks_;
  std::string* text_;
  std::vector<NodeId> nodes_;
  std::vector<WordItem> words_;
  std::vector<PartItem> parts_;
  std::vector<Span> opaque_;
};

bool IsBlankOrOperator(char c) {
  return std::string_view(" \t\n;&|<>()").find(c) != std::string_view::npos;
}

}  // namespace

void CollectMarks(std::string_view source, const Ast& ast,
                  std::vector<Mark>* out) {
  Walker walker(ast, source, out, nullptr);
  walker.Walk();
  std::sort(out->begin(), out->end());
}

bool Rewrite(const Ast& ast, const std::vector<Suspect>& suspects,
             std::string* text, std::vector<Mark>* marks) {
  const std::string source = *text;
  Walker walker(ast, source, nullptr, text);
  walker.Walk();
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
      case SuspectKind::kHereString:
        fill({span.begin + 1, span.end}, ' ');
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
  return *text != source;
}

}  // namespace gate::parser
