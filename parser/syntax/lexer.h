// The reader's inside: bash's lexer and grammar over one text.
//
// Private to the reader's own files. One Reader reads one range of one text;
// bodies that bash unescapes first (`…`, <<- with tabs) are read by a further
// Reader over the unescaped text with a map back to the source.
//
// Reading goes the way bash does it. The lexer finds where a word ends by
// bash's rules for matching pairs, and notes every construct it passed as a
// Site; then the word is taken apart into parts by bash's rules of expansion,
// which differ in places, with the sites as a table of ends, so that no text
// is scanned once more for each level of nesting.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/span.h"
#include "parser/ast.h"
#include "parser/crosscheck/tree_check.h"
#include "parser/read.h"

namespace gate::parser::reading {

enum class Tok : uint8_t {
  kEof,
  kError,
  kNewline,
  kSemicolon,
  kAmpersand,
  kPipe,
  kLess,
  kGreater,
  kOpen,
  kClose,
  kMinus,
  kAndAnd,
  kOrOr,
  kAppend,       // >>
  kHere,         // <<
  kHereDash,     // <<-
  kHereString,   // <<<
  kLessAnd,      // <&
  kGreaterAnd,   // >&
  kLessGreater,  // <>
  kClobber,      // >|
  kBothWrite,    // &>
  kBothAppend,   // &>>
  kPipeBoth,     // |&
  kSemiSemi,
  kSemiAnd,
  kSemiSemiAnd,
  kWord,
  kAssignment,
  kRedirectName,  // {name} before a redirection
  kNumber,
  kArithmetic,
  kArithmeticFor,
  kConditional,
  // Reserved words.
  kIf,
  kThen,
  kElse,
  kElif,
  kFi,
  kCase,
  kEsac,
  kFor,
  kSelect,
  kWhile,
  kUntil,
  kDo,
  kDone,
  kIn,
  kFunction,
  kTime,
  kTimeOption,  // -p after time
  kTimeEnd,     // -- after time
  kOpenBrace,
  kCloseBrace,
  kBang,
  kConditionStart,
  kConditionEnd,
  kCoproc,
  kSubstitution,  // stands before the first token of $(…)
};

// Character classes, as bash's syntax table has them.
enum : uint8_t {
  kBlankClass = 1,  // space and tab; nothing else parts words
  kMetaClass = 2,   // ( ) < > ; & |
  kNewlineClass = 4,
  kQuoteClass = 8,     // ' " `
  kSpecialClass = 16,  // what a word's fast path stops at besides the above
  kNameClass = 32,     // letters, digits, _
  kDigitClass = 64,
  kOpenerClass = 128,  // what may open a construct inside double quotes
};
extern const std::array<uint8_t, 256> kClasses;
inline uint8_t ClassOf(char c) { return kClasses[static_cast<uint8_t>(c)]; }
inline bool IsBreak(char c) {
  return (ClassOf(c) & (kBlankClass | kMetaClass | kNewlineClass)) != 0;
}
inline bool IsNameStart(char c) {
  return (ClassOf(c) & (kNameClass | kDigitClass)) == kNameClass;
}
inline bool IsNameChar(char c) { return (ClassOf(c) & kNameClass) != 0; }
inline bool IsDigit(char c) { return (ClassOf(c) & kDigitClass) != 0; }

enum class SiteKind : uint8_t {
  kSingle,
  kDouble,
  kAnsi,
  kLocale,
  kBackquote,
  kBrace,       // ${…}
  kCommand,     // $(…): `body`
  kProcess,     // <(…) >(…): `body`
  kArithmetic,  // $((…))
  kBracket,     // $[…]
  kSubscript,   // name[…] and [key] of an element
  kGroup,       // extended glob, or a group of a regular expression
  kArray,       // (…) of a compound assignment: `body` is an index
};

// `body` of a process substitution that is yet to be read.
inline constexpr uint32_t kUnread = kNone - 1;

// One construct inside a word that the lexer has passed; [begin, end).
struct Site {
  uint32_t begin = 0;
  uint32_t end = 0;
  SiteKind kind = SiteKind::kSingle;
  uint32_t body = kNone;
};

// The sites of one word, consumed from left to right.
struct Sites {
  uint32_t next = 0;
  uint32_t end = 0;
};

// What the readers of one Read() share.
struct Shared {
  explicit Shared(Ast& tree) : ast(tree) {}
  Ast& ast;
  std::vector<Site> sites;
  std::vector<std::vector<ArrayElement>> arrays;  // of kArray sites
  std::vector<Suspect> suspects;
  uint32_t source_size = 0;
  bool extglob = false;
  int depth = 0;
  size_t count = 0;  // nodes, words, parts
  size_t work = 0;   // characters that were scanned again
  size_t work_limit = 0;
  bool too_large = false;
  bool doubt = false;  // a corner where bash's reading is not followed for sure
  Span where;          // of too_large, doubt
  const char* why = "";
};

// A literal quoting context for the parts of a word.
enum class Mode : uint8_t {
  kWord,         // outside quotes
  kDouble,       // inside "…"
  kHere,         // a here-document's body
  kArithmetic,   // an arithmetic expression
  kDoubleBrace,  // a word inside "${x-…}": embedded " are dropped
  kHereBrace,    // the same in a here-document: no $'…' there
};

// Offsets of each byte of an unescaped text in the source.
using OffsetMap = std::vector<uint32_t>;

struct Token {
  Tok kind = Tok::kEof;
  uint32_t begin = 0;
  uint32_t end = 0;
  int number = -1;
  bool quoted = false;
  bool dollar = false;
  bool continued = false;  // holds \<newline>
  bool equals = false;     // holds an unquoted =
  Span inner;              // the expression of ((…))
  uint32_t sites = 0;      // its sites: [sites, sites_end) of Shared::sites
  uint32_t sites_end = 0;
};

class Reader {
 public:
  Reader(Shared& shared, std::string_view text, uint32_t begin, uint32_t end,
         const OffsetMap* map);

  // The whole range as a script: a kList, or kNone when it has no command.
  // After an error (failed()) the list holds the lines before it.
  NodeId ReadScript();
  // From just after `$(` or `<(` to just after the closing parenthesis.
  NodeId ReadSubstitution();
  // The range as one here-document body.
  WordId ReadHereBody();

  bool failed() const { return failed_; }
  uint32_t position() const { return p_; }
  Span error_span() const { return error_span_; }
  const std::string& error() const { return error_; }

 private:
  // What changes inside $(…) and comes back after it.
  struct State {
    Tok last = Tok::kNewline;    // the token before the current one
    Tok before = Tok::kNewline;  // and the one before that
    Tok current = Tok::kNewline;
    bool case_pattern = false;
    bool case_statement = false;
    bool assignment_ok = false;   // after declare and its like
    bool redirects_only = false;  // a simple command has only redirections yet
    bool regex = false;
    bool compound = false;  // inside name=(…)
    bool allow_brace = false;
    bool substitution = false;  // `)` ends the text
    bool condition = false;
    bool extglob = false;
    uint16_t esacs = 0;
    uint16_t expecting_in = 0;
    uint32_t here_base = 0;
  };
  struct PendingHere {
    RedirectId redirect = kNone;
    bool strip = false;
    bool quoted = false;
    std::string delimiter;
    Span span;
  };
  enum : unsigned {
    kFirstClose = 1,
    kAllowEscape = 2,
    kInDouble = 4,
    kSubscriptFlag = 8,
    kDollarBrace = 16,
    kArithmeticFlag = 32,
  };

  // reader.cc
  void AddChild(NodeId node, NodeId child);

  // lexer.cc: characters and tokens; keywords.cc: what words mean.
  int CharAt(uint32_t p) const;
  uint32_t After(uint32_t p) const { return p == skip_at_ ? skip_to_ : p + 1; }
  int Get(bool join);  // `join`: \<newline> disappears
  int PeekChar(bool join);
  Tok Peek() {
    if (!have_) Lex();
    return token_.kind;
  }
  void Lex();
  void Accept() {
    have_ = false;
    consumed_ = token_.end;
  }
  Tok LexRaw();
  Tok LexMeta(int c);
  Tok LexDoubleParen();
  Tok LexWord();
  Tok FinishWord();
  Tok ClassifyWord(std::string_view text, int next);
  Tok SpecialCase(std::string_view text);
  Tok ReservedWord(std::string_view text);
  bool ReservedAcceptable(Tok token) const;
  bool CommandPosition(Tok token) const;
  bool AssignmentAcceptable(Tok token) const {
    return CommandPosition(token) && !state_.case_pattern;
  }
  bool TimeAcceptable() const;
  std::string_view TokenText(const Token& token, std::string* store) const;
  void SkipComment();

  // heredocs.cc
  void PushHere(RedirectId redirect, const Token& delimiter, bool strip);
  void GatherHere();
  void ReadHere(PendingHere& here, uint32_t* at);

  // pairs.cc: where constructs end.
  bool ScanPair(char open, char close, char quote, unsigned flags);
  bool ScanDollar(int opener, unsigned flags, uint32_t begin);
  bool ScanCommand(uint32_t begin, SiteKind kind);
  bool ScanCompound(uint32_t begin);
  uint32_t OpenSite(uint32_t begin, SiteKind kind);
  void CloseSite(uint32_t index);
  bool Unterminated(char close, uint32_t begin);
  bool IsName(uint32_t begin, uint32_t end) const;
  // The offset of the `=` of an assignment form, or kNone.
  uint32_t FindEquals(uint32_t begin, uint32_t end, Sites sites,
                      bool element) const;
  uint32_t SkipSubscript(uint32_t p, uint32_t end, Sites sites) const;

  // words.cc: parts.
  WordId BuildWord(const Token& token);
  WordId BuildRange(uint32_t begin, uint32_t end, Mode mode, Sites sites);
  void BuildParts(uint32_t begin, uint32_t end, Mode mode, Sites sites,
                  std::vector<PartId>& out);
  uint32_t BuildDollar(uint32_t p, uint32_t end, Mode mode, Sites& sites,
                       std::vector<PartId>& out);
  uint32_t BuildBackquote(uint32_t p, uint32_t end, Mode mode, Sites& sites,
                          std::vector<PartId>& out);
  uint32_t BuildCommand(uint32_t p, uint32_t end, SiteKind kind, Sites& sites,
                        std::vector<PartId>& out);
  uint32_t BuildArithmetic(uint32_t p, uint32_t end, Sites& sites,
                           std::vector<PartId>& out);
  uint32_t BuildGroup(uint32_t p, uint32_t end, Sites& sites,
                      std::vector<PartId>& out);
  bool LooksArithmetic(uint32_t begin, uint32_t end) const;
  bool BuildAssignment(const Token& token, bool element, Assignment* out);
  WordId BuildDeclaration(const Token& token, const Assignment& assignment);
  // The site at `p`; when the lexer has not passed it, finds its end within
  // `end` by the rules of expansion. False: it has none.
  bool Locate(uint32_t p, uint32_t end, SiteKind kind, Mode mode, Sites& sites,
              Site* site, Sites* inner);
  void AppendText(uint32_t begin, uint32_t end, std::string* out) const;
  uint32_t SkipJoins(uint32_t p, uint32_t end) const;
  std::string DecodeAnsi(uint32_t begin, uint32_t end) const;

  // parameters.cc
  uint32_t BuildParameter(uint32_t p, uint32_t end, Mode mode, Sites& sites,
                          std::vector<PartId>& out);
  void ParseParameter(uint32_t begin, uint32_t end, Mode mode, Sites sites,
                      Parameter* parameter);
  bool ParseName(uint32_t& p, uint32_t end, Sites& sites, Parameter* parameter);
  void ParseOperator(uint32_t p, uint32_t end, Mode mode, Sites sites,
                     Parameter* parameter);
  uint32_t FindDelimiter(uint32_t p, uint32_t end, char delimiter, Sites sites,
                         bool arithmetic);

  // commands.cc: the grammar.
  bool ParseListItems(NodeId list, bool compound);
  NodeId ParseCompoundList();
  NodeId ParseAndOr();
  NodeId ParsePipelineCommand();
  NodeId ParsePipeline(uint32_t begin, bool negated, bool timed);
  NodeId ParseCommand();
  NodeId ParseSimpleOrFunction();
  bool ParseSimple(NodeId node);
  void AddSimpleWord(NodeId node);
  bool ParseRedirect(NodeId node);
  bool ParseRedirects(NodeId node);
  static bool IsRedirect(Tok tok);
  static bool StartsShellCommand(Tok tok);
  static bool StartsCommand(Tok tok);
  void SkipNewlines();
  bool Expect(Tok tok);
  bool AddBody(NodeId node, Tok end);  // a compound list and what ends it
  NodeId Unexpected();

  // compounds.cc
  NodeId ParseShellCommand();
  bool ParseSubshell(NodeId node);
  bool ParseLoop(NodeId node);
  bool ParseLoopBody(NodeId node);
  bool ParseArithmeticFor(NodeId node);
  bool ParseCase(NodeId node);
  bool ParseClause(NodeId node, bool* last);
  bool ParseIf(NodeId node);
  NodeId ParseFunction();
  bool ParseFunctionBody(NodeId node);
  NodeId ParseCoproc();

  // conditions.cc
  bool ParseConditional(NodeId node);
  Tok ConditionToken();
  Tok ConditionSkip();
  bool ConditionTerm(NodeId node, Tok* next);
  bool ConditionList(NodeId node, Tok* next);
  void ConditionWord(NodeId node, bool is_operator);
  bool ConditionError(const char* message);

  // reader.cc
  NodeId AddNode(NodeKind kind, uint32_t begin);
  WordId AddWord(uint32_t begin, uint32_t end);
  PartId AddPart(PartKind kind, uint32_t begin, uint32_t end);
  void Close(NodeId node);
  Node& NodeAt(NodeId node) { return shared_.ast.nodes[node]; }
  Span Map(uint32_t begin, uint32_t end) const;
  void Suspicious(SuspectKind kind, uint32_t begin, uint32_t end);
  void Doubt(uint32_t begin, uint32_t end, const char* why);
  bool TooLarge(const char* why);
  bool Fail(uint32_t begin, uint32_t end, std::string message);
  bool Enter();  // one level deeper; false when that is too deep
  void Leave() { --shared_.depth; }
  bool Spend(size_t work);

  Shared& shared_;
  std::string_view text_;
  const OffsetMap* map_;
  uint32_t begin_;
  uint32_t end_;
  uint32_t virtual_end_;  // with the newline that bash adds
  char virtual_char_ = '\n';
  uint32_t p_;
  uint32_t skip_at_ = kNone;  // a newline after which here-documents follow
  uint32_t skip_to_ = 0;      // that were read before it
  uint32_t consumed_ = 0;     // end of the last accepted token
  bool have_ = false;
  bool failed_ = false;
  Token token_;
  State state_;
  uint32_t site_base_ = 0;   // sites above it are of the current token
  uint32_t rewound_to_ = 0;  // up to here text stands in a rewound `((`
  std::vector<PendingHere> pending_;
  Span error_span_;
  std::string error_;
};

// How deep this stack may go is counted, not measured: one level takes less
// than 4 KiB also with sanitizers (read_limits_test).

}  // namespace gate::parser::reading
