#include "parser/syntax/lexer.h"

#include <algorithm>

namespace gate::parser::reading {
namespace {

constexpr std::array<uint8_t, 256> MakeClasses() {
  std::array<uint8_t, 256> table{};
  auto add = [&](std::string_view chars, uint8_t value) {
    for (char c : chars) table[static_cast<uint8_t>(c)] |= value;
  };
  add(" \t", kBlankClass);
  add("()<>;&|", kMetaClass);
  add("\n", kNewlineClass);
  add("'\"`", kQuoteClass);
  add("\\$[=?*+@!", kSpecialClass);
  add("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789",
      kNameClass);
  add("0123456789", kDigitClass);
  add("\\$`\"", kOpenerClass);
  return table;
}

}  // namespace

const std::array<uint8_t, 256> kClasses = MakeClasses();

Reader::Reader(Shared& shared, std::string_view text, uint32_t begin,
               uint32_t end, const OffsetMap* map)
    : shared_(shared),
      text_(text),
      map_(map),
      begin_(begin),
      end_(end),
      virtual_end_(end),
      p_(begin),
      site_base_(static_cast<uint32_t>(shared.sites.size())) {
  state_.extglob = shared.extglob;
  if (begin == end || text[end - 1] == '\n') return;
  // bash ends the last line itself: by a newline, or, where that would be
  // quoted by a backslash, by another backslash.
  virtual_end_ = end + 1;
  uint32_t slashes = 0;
  while (end - slashes > begin && text[end - slashes - 1] == '\\') ++slashes;
  if (slashes % 2 == 1) virtual_char_ = '\\';
}

int Reader::CharAt(uint32_t p) const {
  if (p < end_) return static_cast<uint8_t>(text_[p]);
  return p < virtual_end_ ? virtual_char_ : -1;
}

int Reader::Get(bool join) {
  int c = CharAt(p_);
  while (join && c == '\\' && CharAt(p_ + 1) == '\n') {
    Suspicious(SuspectKind::kContinuation, p_, p_ + 2);
    p_ = After(p_ + 1);
    c = CharAt(p_);
  }
  if (c >= 0) p_ = After(p_);
  return c;
}

int Reader::PeekChar(bool join) {
  const uint32_t saved = p_;
  const int c = Get(join);
  if (c >= 0) {
    // Stay behind the joins, before the character.
    uint32_t at = saved;
    while (join && CharAt(at) == '\\' && CharAt(at + 1) == '\n') {
      at = After(at + 1);
    }
    p_ = at;
  }
  return c;
}

void Reader::Lex() {
  state_.before = state_.last;
  state_.last = state_.current;
  token_ = Token();
  shared_.sites.resize(site_base_);  // those of the token before are used up
  token_.sites = static_cast<uint32_t>(shared_.sites.size());
  token_.kind = failed_ || shared_.too_large ? Tok::kError : LexRaw();
  if (failed_ || shared_.too_large) token_.kind = Tok::kError;
  token_.sites_end = static_cast<uint32_t>(shared_.sites.size());
  state_.current = token_.kind;
  have_ = true;
}

void Reader::SkipComment() {
  const size_t newline = text_.substr(0, end_).find('\n', p_);
  const uint32_t end =
      newline == std::string_view::npos ? end_ : static_cast<uint32_t>(newline);
  Suspicious(SuspectKind::kComment, p_, end);
  p_ = end;
}

Tok Reader::LexRaw() {
  int c = 0;
  for (;;) {
    token_.begin = p_;
    c = CharAt(p_);
    if (c == ' ' || c == '\t') {
      p_ = After(p_);
    } else if (c == '\\' && CharAt(p_ + 1) == '\n') {
      Suspicious(SuspectKind::kContinuation, p_, p_ + 2);
      p_ = After(p_ + 1);
    } else {
      break;
    }
  }
  token_.begin = std::min(p_, end_);
  token_.end = token_.begin;
  if (c < 0) return Tok::kEof;
  if (c == '#') {
    SkipComment();
    token_.begin = std::min(p_, end_);
    c = '\n';
  }
  if (c == '\n') {
    const bool at_end = p_ >= virtual_end_;
    if (!at_end) p_ = After(p_);
    token_.end = std::min(p_, end_);
    state_.assignment_ok = false;
    if (pending_.size() > state_.here_base) GatherHere();
    return Tok::kNewline;
  }
  if (state_.regex) return LexWord();
  if ((ClassOf(static_cast<char>(c)) & kMetaClass) != 0) {
    const Tok token = LexMeta(c);
    if (token != Tok::kWord) {
      token_.end = p_;
      return token;
    }
    p_ = token_.begin;  // <( or >(
    return LexWord();
  }
  if (c == '-' &&
      (state_.last == Tok::kLessAnd || state_.last == Tok::kGreaterAnd)) {
    p_ = After(p_);
    token_.end = p_;
    return Tok::kMinus;
  }
  return LexWord();
}

// An operator; kWord for the start of a process substitution.
Tok Reader::LexMeta(int c) {
  state_.assignment_ok = false;
  p_ = After(p_);
  const uint32_t first_end = p_;
  const bool closes = state_.substitution && c == ')';
  const int next = closes ? CharAt(p_) : PeekChar(true);
  auto take = [&](Tok token) {
    p_ = After(p_);
    return token;
  };
  if (next == c) {
    switch (c) {
      case '<': {
        p_ = After(p_);
        const uint32_t end = p_;
        const int third = PeekChar(true);
        if (third == '-') return take(Tok::kHereDash);
        if (third == '<') return take(Tok::kHereString);
        p_ = end;
        return Tok::kHere;
      }
      case '>':
        return take(Tok::kAppend);
      case ';': {
        state_.case_pattern = true;
        p_ = After(p_);
        const uint32_t end = p_;
        if (PeekChar(true) == '&') return take(Tok::kSemiSemiAnd);
        p_ = end;
        return Tok::kSemiSemi;
      }
      case '&':
        return take(Tok::kAndAnd);
      case '|':
        return take(Tok::kOrOr);
      case '(': {
        const Tok token = LexDoubleParen();
        if (token != Tok::kOpen) return token;
        break;
      }
      default:
        break;
    }
  } else if (c == '<' && next == '&') {
    return take(Tok::kLessAnd);
  } else if (c == '>' && next == '&') {
    return take(Tok::kGreaterAnd);
  } else if (c == '<' && next == '>') {
    return take(Tok::kLessGreater);
  } else if (c == '>' && next == '|') {
    return take(Tok::kClobber);
  } else if (c == '&' && next == '>') {
    p_ = After(p_);
    const uint32_t end = p_;
    if (PeekChar(true) == '>') return take(Tok::kBothAppend);
    p_ = end;
    return Tok::kBothWrite;
  } else if (c == '|' && next == '&') {
    return take(Tok::kPipeBoth);
  } else if (c == ';' && next == '&') {
    state_.case_pattern = true;
    return take(Tok::kSemiAnd);
  }
  p_ = first_end;
  if (c == ')' && state_.last == Tok::kOpen && state_.before == Tok::kWord) {
    state_.allow_brace = true;
  }
  if (state_.case_pattern && c == ')') state_.case_pattern = false;
  switch (c) {
    case '(':
      return Tok::kOpen;
    case ')':
      return Tok::kClose;
    case ';':
      return Tok::kSemicolon;
    case '&':
      return Tok::kAmpersand;
    case '|':
      return Tok::kPipe;
    case '<':
      return next == '(' ? Tok::kWord : Tok::kLess;
    default:
      return next == '(' ? Tok::kWord : Tok::kGreater;
  }
}

// After `(` with another one next: an arithmetic command, the head of an
// arithmetic for, or kOpen when it is a subshell in a subshell.
Tok Reader::LexDoubleParen() {
  const bool in_for = state_.last == Tok::kFor;
  if (!in_for && !ReservedAcceptable(state_.last)) return Tok::kOpen;
  const uint32_t first_end = p_;
  PeekChar(true);
  p_ = After(p_);
  const uint32_t inner = p_;
  if (!ScanPair('(', ')', 0, kArithmeticFlag)) return Tok::kError;
  const uint32_t inner_end = p_ - 1;
  if (CharAt(p_) == ')') {
    p_ = After(p_);
    token_.inner = {inner, inner_end};
    return in_for ? Tok::kArithmeticFor : Tok::kArithmetic;
  }
  if (in_for) {
    Fail(token_.begin, p_, "arithmetic expression required after `for`");
    return Tok::kError;
  }
  Spend(p_ - first_end);
  rewound_to_ = std::max(rewound_to_, p_);
  shared_.sites.resize(token_.sites);
  p_ = first_end;
  return Tok::kOpen;
}

Tok Reader::LexWord() {
  constexpr uint8_t kStops =
      kBlankClass | kMetaClass | kNewlineClass | kQuoteClass | kSpecialClass;
  const uint32_t begin = p_;
  uint32_t end = p_;
  for (;;) {
    uint32_t q = p_;
    while (q < end_ && (ClassOf(text_[q]) & kStops) == 0) ++q;
    if (q != p_) end = p_ = q;
    const int c = CharAt(p_);
    if (c < 0) break;
    if (c == '\\') {
      if (CharAt(p_ + 1) == '\n') {
        Suspicious(SuspectKind::kContinuation, p_, p_ + 2);
        p_ = After(p_ + 1);
        token_.continued = true;
        continue;
      }
      token_.quoted = true;
      p_ = After(p_);
      const int escaped = CharAt(p_);
      if (escaped >= 0) p_ = After(p_);
      end = p_;
      continue;
    }
    if (c == '\'' || c == '"' || c == '`') {
      const SiteKind kind = c == '\''  ? SiteKind::kSingle
                            : c == '"' ? SiteKind::kDouble
                                       : SiteKind::kBackquote;
      const uint32_t site = OpenSite(p_, kind);
      const uint32_t inner = p_ = After(p_);
      const char q_char = static_cast<char>(c);
      if (!ScanPair(q_char, q_char, q_char, 0)) return Tok::kError;
      CloseSite(site);
      if (c != '`') token_.quoted = true;
      if (c == '"' &&
          text_.substr(inner, p_ - inner).find('$') != std::string_view::npos) {
        token_.dollar = true;
      }
      end = p_;
      continue;
    }
    if (state_.regex && (c == '(' || c == '|')) {
      p_ = After(p_);
      if (c == '(') {
        if (!ScanPair('(', ')', 0, 0)) return Tok::kError;
        token_.dollar = false;
      }
      end = p_;
      continue;
    }
    if (state_.extglob &&
        (c == '?' || c == '*' || c == '+' || c == '@' || c == '!')) {
      const uint32_t at = p_;
      p_ = After(p_);
      if (PeekChar(true) == '(') {
        const uint32_t site = OpenSite(at, SiteKind::kGroup);
        p_ = After(p_);
        if (!ScanPair('(', ')', 0, 0)) return Tok::kError;
        CloseSite(site);
        token_.dollar = false;
        end = p_;
        continue;
      }
      p_ = at;
    }
    if (c == '$' || c == '<' || c == '>') {
      const uint32_t at = p_;
      p_ = After(p_);
      const int next = PeekChar(true);
      if (next == '(' || (c == '$' && (next == '{' || next == '['))) {
        p_ = After(p_);
        if (c != '$') {
          if (!ScanCommand(at, SiteKind::kProcess)) return Tok::kError;
        } else if (!ScanDollar(next, 0, at)) {
          return Tok::kError;
        }
        token_.dollar = true;
        end = p_;
        continue;
      }
      if (c == '$' && (next == '\'' || next == '"')) {
        const bool ansi = next == '\'';
        const uint32_t site =
            OpenSite(at, ansi ? SiteKind::kAnsi : SiteKind::kLocale);
        p_ = After(p_);
        const char q_char = static_cast<char>(next);
        if (!ScanPair(q_char, q_char, q_char, ansi ? kAllowEscape : 0u)) {
          return Tok::kError;
        }
        CloseSite(site);
        token_.quoted = true;
        end = p_;
        continue;
      }
      if (c == '$') {
        token_.dollar = true;
        if (next == '$') p_ = After(p_);
        end = p_;
        continue;
      }
      p_ = at;
    } else if (c == '[') {
      const bool element = p_ == begin && state_.compound;
      if (element || (p_ > begin && AssignmentAcceptable(state_.last) &&
                      IsName(begin, p_))) {
        const uint32_t site = OpenSite(p_, SiteKind::kSubscript);
        p_ = After(p_);
        if (!ScanPair('[', ']', 0, kSubscriptFlag)) return Tok::kError;
        CloseSite(site);
        end = p_;
        continue;
      }
    } else if (c == '=') {
      token_.equals = true;
      const uint32_t at = p_;
      p_ = After(p_);
      const bool may = at > begin && (AssignmentAcceptable(state_.last) ||
                                      state_.assignment_ok);
      if (may && PeekChar(true) == '(' &&
          FindEquals(
              begin, at + 1,
              {token_.sites, static_cast<uint32_t>(shared_.sites.size())},
              state_.compound) == at) {
        if (!ScanCompound(p_)) return Tok::kError;
      } else {
        p_ = at + 1;
      }
      end = p_;
      continue;
    }
    if (IsBreak(static_cast<char>(c))) break;
    p_ = After(p_);
    end = p_;
  }
  token_.begin = std::min(begin, end_);
  token_.end = std::min(end, end_);
  return FinishWord();
}

std::string_view Reader::TokenText(const Token& token,
                                   std::string* store) const {
  if (!token.continued) {
    return text_.substr(token.begin, token.end - token.begin);
  }
  AppendText(token.begin, token.end, store);
  return *store;
}

}  // namespace gate::parser::reading
