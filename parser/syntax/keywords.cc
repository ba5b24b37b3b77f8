// What a finished word is: a number, a reserved word, an assignment, a word.
//
// bash recognises reserved words by the tokens before them and by counts of
// what is open; State has these under other names.
#include <algorithm>

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {
namespace {

struct Reserved {
  std::string_view text;
  Tok token;
};
constexpr Reserved kReserved[] = {
    {"if", Tok::kIf},
    {"then", Tok::kThen},
    {"else", Tok::kElse},
    {"elif", Tok::kElif},
    {"fi", Tok::kFi},
    {"case", Tok::kCase},
    {"esac", Tok::kEsac},
    {"for", Tok::kFor},
    {"select", Tok::kSelect},
    {"while", Tok::kWhile},
    {"until", Tok::kUntil},
    {"do", Tok::kDo},
    {"done", Tok::kDone},
    {"in", Tok::kIn},
    {"function", Tok::kFunction},
    {"time", Tok::kTime},
    {"{", Tok::kOpenBrace},
    {"}", Tok::kCloseBrace},
    {"!", Tok::kBang},
    {"[[", Tok::kConditionStart},
    {"]]", Tok::kConditionEnd},
    {"coproc", Tok::kCoproc},
};

// What may be followed by name=(…) words; bash's assignment builtins and the
// two that take them as text.
constexpr std::string_view kTakesAssignments[] = {
    "alias",    "declare", "export", "local",
    "readonly", "typeset", "eval",   "let"};

bool ParsingRedirection(Tok token) {
  switch (token) {
    case Tok::kLess:
    case Tok::kGreater:
    case Tok::kAppend:
    case Tok::kClobber:
    case Tok::kLessGreater:
    case Tok::kHereDash:
    case Tok::kHere:
    case Tok::kHereString:
    case Tok::kLessAnd:
    case Tok::kGreaterAnd:
    case Tok::kBothWrite:
      return true;
    default:
      return false;  // bash has no &>> here
  }
}

}  // namespace

bool Reader::ReservedAcceptable(Tok token) const {
  switch (token) {
    case Tok::kNewline:
    case Tok::kSemicolon:
    case Tok::kOpen:
    case Tok::kClose:
    case Tok::kPipe:
    case Tok::kAmpersand:
    case Tok::kOpenBrace:
    case Tok::kCloseBrace:
    case Tok::kAndAnd:
    case Tok::kArithmetic:
    case Tok::kBang:
    case Tok::kPipeBoth:
    case Tok::kConditionEnd:
    case Tok::kDo:
    case Tok::kDone:
    case Tok::kElif:
    case Tok::kElse:
    case Tok::kEsac:
    case Tok::kFi:
    case Tok::kIf:
    case Tok::kOrOr:
    case Tok::kSemiSemi:
    case Tok::kSemiAnd:
    case Tok::kSemiSemiAnd:
    case Tok::kThen:
    case Tok::kTime:
    case Tok::kTimeOption:
    case Tok::kTimeEnd:
    case Tok::kCoproc:
    case Tok::kUntil:
    case Tok::kWhile:
    case Tok::kSubstitution:
      return true;
    default:
      return state_.last == Tok::kWord &&
             (state_.before == Tok::kCoproc || state_.before == Tok::kFunction);
  }
}

bool Reader::CommandPosition(Tok token) const {
  if (token == Tok::kAssignment) return true;
  if (state_.redirects_only && !ParsingRedirection(token)) return true;
  return token != Tok::kSemiSemi && token != Tok::kSemiAnd &&
         token != Tok::kSemiSemiAnd && ReservedAcceptable(token);
}

bool Reader::TimeAcceptable() const {
  switch (state_.last) {
    case Tok::kSemicolon:
    case Tok::kNewline:
      return state_.before != Tok::kPipe;
    case Tok::kAndAnd:
    case Tok::kOrOr:
    case Tok::kAmpersand:
    case Tok::kWhile:
    case Tok::kDo:
    case Tok::kUntil:
    case Tok::kIf:
    case Tok::kThen:
    case Tok::kElif:
    case Tok::kElse:
    case Tok::kOpenBrace:
    case Tok::kOpen:
    case Tok::kClose:
    case Tok::kBang:
    case Tok::kTime:
    case Tok::kTimeOption:
    case Tok::kTimeEnd:
      return true;
    default:
      return false;
  }
}

Tok Reader::FinishWord() {
  std::string store;
  const std::string_view text = TokenText(token_, &store);
  const int next = CharAt(p_);
  token_.sites_end = static_cast<uint32_t>(shared_.sites.size());
  if (!text.empty() && IsDigit(text[0]) &&
      (next == '<' || next == '>' || state_.last == Tok::kLessAnd ||
       state_.last == Tok::kGreaterAnd) &&
      std::all_of(text.begin(), text.end(), IsDigit)) {
    int64_t value = 0;
    for (char c : text) {
      value = value * 10 + (c - '0');
      if (value > INT32_MAX) break;
    }
    if (value <= INT32_MAX) {
      token_.number = static_cast<int>(value);
      return Tok::kNumber;
    }
  }
  return ClassifyWord(text, next);
}

Tok Reader::ClassifyWord(std::string_view text, int next) {
  if (text.size() <= 8) {
    const Tok special = SpecialCase(text);
    if (special != Tok::kWord) return special;
    if (!token_.dollar && !token_.quoted && ReservedAcceptable(state_.last)) {
      const Tok reserved = ReservedWord(text);
      if (reserved != Tok::kWord) return reserved;
    }
  } else {
    state_.allow_brace = false;
  }
  Tok result = Tok::kWord;
  if (token_.equals) {
    const uint32_t equals =
        FindEquals(token_.begin, token_.end, {token_.sites, token_.sites_end},
                   state_.compound);
    token_.equals = equals != kNone;
    if (token_.equals &&
        (AssignmentAcceptable(state_.last) || state_.compound)) {
      result = Tok::kAssignment;
    }
  }
  if (CommandPosition(state_.last)) {
    for (std::string_view name : kTakesAssignments) {
      if (text == name) state_.assignment_ok = true;
    }
  }
  if (text.size() > 2 && text.front() == '{' && text.back() == '}' &&
      (next == '<' || next == '>')) {
    const std::string_view inner = text.substr(1, text.size() - 2);
    size_t name = 0;
    if (IsNameStart(inner[0])) {
      while (name < inner.size() && IsNameChar(inner[name])) ++name;
      const bool element = name > 0 && inner.size() > name + 2 &&
                           inner[name] == '[' && inner.back() == ']';
      if (name == inner.size() || element) return Tok::kRedirectName;
    }
  }
  switch (state_.last) {
    case Tok::kFunction:
      state_.allow_brace = true;
      break;
    case Tok::kCase:
    case Tok::kSelect:
    case Tok::kFor:
      ++state_.expecting_in;
      break;
    default:
      break;
  }
  return result;
}

// The reserved words that depend on more than the token before; kWord: none.
Tok Reader::SpecialCase(std::string_view text) {
  State& s = state_;
  const bool after_loop_word =
      s.last == Tok::kWord &&
      (s.before == Tok::kFor || s.before == Tok::kSelect);
  if (text == "in") {
    if (after_loop_word || (s.last == Tok::kWord && s.before == Tok::kCase)) {
      if (s.before == Tok::kCase) {
        s.case_pattern = true;
        ++s.esacs;
      }
      if (s.expecting_in > 0) --s.expecting_in;
      return Tok::kIn;
    }
    if (s.expecting_in > 0 &&
        (s.last == Tok::kWord || s.last == Tok::kNewline)) {
      if (s.case_statement) {
        s.case_pattern = true;
        ++s.esacs;
      }
      --s.expecting_in;
      return Tok::kIn;
    }
  }
  if (text == "do") {
    if (s.expecting_in > 0 &&
        (s.last == Tok::kNewline || s.last == Tok::kSemicolon)) {
      --s.expecting_in;
      return Tok::kDo;
    }
    if (after_loop_word) {
      if (s.expecting_in > 0) --s.expecting_in;
      return Tok::kDo;
    }
  }
  if (s.esacs > 0 && s.last == Tok::kIn && text == "esac") {
    --s.esacs;
    s.case_pattern = false;
    return Tok::kEsac;
  }
  if (s.allow_brace) {
    s.allow_brace = false;
    if (text == "{") return Tok::kOpenBrace;
  }
  if (s.last == Tok::kArithmeticFor) {
    if (text == "do") return Tok::kDo;
    if (text == "{") return Tok::kOpenBrace;
  }
  if (s.last == Tok::kTime) {
    if (text == "-p") return Tok::kTimeOption;
    if (text == "--") return Tok::kTimeEnd;
  }
  if (s.last == Tok::kTimeOption && text == "--") return Tok::kTimeEnd;
  if (s.condition && text == "]]") return Tok::kConditionEnd;
  return Tok::kWord;
}

Tok Reader::ReservedWord(std::string_view text) {
  for (const Reserved& word : kReserved) {
    if (text != word.text) continue;
    if (state_.case_pattern && word.token != Tok::kEsac) return Tok::kWord;
    if (word.token == Tok::kTime && !TimeAcceptable()) return Tok::kWord;
    if (state_.case_pattern &&
        (state_.last == Tok::kPipe || state_.last == Tok::kOpen)) {
      return Tok::kWord;  // an esac that is a pattern
    }
    if (word.token == Tok::kEsac) {
      state_.case_pattern = false;
      state_.case_statement = false;
      if (state_.esacs > 0) --state_.esacs;
    } else if (word.token == Tok::kCase) {
      state_.case_statement = true;
    }
    return word.token;
  }
  return Tok::kWord;
}

}  // namespace gate::parser::reading
