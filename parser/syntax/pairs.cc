// Where the constructs inside a word end, by bash's rules for matching pairs
// (which are simpler than its rules of expansion and come first).
#include <utility>

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {

uint32_t Reader::OpenSite(uint32_t begin, SiteKind kind) {
  shared_.sites.push_back({begin, begin, kind, kNone});
  return static_cast<uint32_t>(shared_.sites.size() - 1);
}

void Reader::CloseSite(uint32_t index) { shared_.sites[index].end = p_; }

bool Reader::Unterminated(char close, uint32_t begin) {
  return Fail(begin, end_,
              std::string("unexpected end while looking for a matching `") +
                  close + "'");
}

// From after `open` to after its `close`. `quote` is `"` when the pair is a
// double-quoted string itself, and so on.
bool Reader::ScanPair(char open, char close, char quote, unsigned flags) {
  const uint32_t start = p_ - 1;
  if (open == '\'' && (flags & kAllowEscape) == 0) {
    const size_t at = text_.substr(0, end_).find('\'', p_);
    if (skip_at_ == kNone && at != std::string_view::npos) {
      p_ = static_cast<uint32_t>(at) + 1;
      return true;
    }
    if (at == std::string_view::npos) return Unterminated(close, start);
  }
  if (!Enter()) return false;
  const unsigned nested =
      quote == '"' ? static_cast<unsigned>(kInDouble) : flags & kInDouble;
  const bool join = quote != '\'';
  int count = 1;
  bool was_dollar = false;
  bool was_angle = false;
  uint32_t sign_at = p_;  // of the last $ < >
  for (;;) {
    const int got = Get(join);
    if (got < 0) {
      Leave();
      return Unterminated(close, start);
    }
    const char c = static_cast<char>(got);
    if (c == close) {
      --count;
    } else if (open == '{' && open != close && was_dollar && c == open) {
      ++count;
    } else if ((flags & kFirstClose) == 0 && c == open) {
      ++count;
    }
    if (count == 0) break;
    if (open == '\'') {
      if (c == '\\' && (flags & kAllowEscape) != 0 && CharAt(p_) >= 0) {
        p_ = After(p_);
      }
      continue;
    }
    if (c == '\\') {
      if (CharAt(p_) < 0) {
        Leave();
        return Unterminated(close, start);
      }
      p_ = After(p_);
      was_dollar = was_angle = false;
      continue;
    }
    const uint32_t at = p_ - 1;
    const bool opener = c == '(' || c == '{' || c == '[';
    bool dollar_word = false;
    bool ok = true;
    if (open != close) {
      if ((ClassOf(c) & kQuoteClass) != 0) {
        const bool dollar = was_dollar && c != '`';
        SiteKind kind = SiteKind::kBackquote;
        if (c == '\'') kind = dollar ? SiteKind::kAnsi : SiteKind::kSingle;
        if (c == '"') kind = dollar ? SiteKind::kLocale : SiteKind::kDouble;
        const uint32_t site = OpenSite(dollar ? sign_at : at, kind);
        ok = ScanPair(
            c, c, c,
            nested | (dollar && c == '\'' ? static_cast<unsigned>(kAllowEscape)
                                          : 0u));
        CloseSite(site);
      } else if ((flags & (kSubscriptFlag | kDollarBrace)) != 0 && was_dollar &&
                 opener) {
        dollar_word = true;
      } else if ((flags & kArithmeticFlag) != 0 && was_dollar && c == '(') {
        dollar_word = true;
      } else if ((flags & (kSubscriptFlag | kDollarBrace)) != 0 && was_angle &&
                 c == '(') {
        dollar_word = true;
      }
    } else if (open == '"' && c == '`') {
      const uint32_t site = OpenSite(at, SiteKind::kBackquote);
      ok = ScanPair('`', '`', 0, nested);
      CloseSite(site);
    } else if (open != '`' && was_dollar && opener) {
      dollar_word = true;
    }
    if (dollar_word) {
      if (open == c) --count;
      ok = was_angle && !was_dollar ? ScanCommand(sign_at, SiteKind::kProcess)
                                    : ScanDollar(c, nested, sign_at);
    }
    if (!ok) {
      Leave();
      return false;
    }
    was_angle = (c == '<' || c == '>') && !was_angle;
    was_dollar = c == '$' && !was_dollar;
    if (was_angle || was_dollar) sign_at = at;
  }
  Leave();
  return true;
}

// After `$(`, `${` or `$[` whose $ is at `begin`.
bool Reader::ScanDollar(int opener, unsigned flags, uint32_t begin) {
  if (opener == '(') {
    if (PeekChar(true) != '(') return ScanCommand(begin, SiteKind::kCommand);
    const uint32_t site = OpenSite(begin, SiteKind::kArithmetic);
    if (!ScanPair('(', ')', 0, kArithmeticFlag)) return false;
    CloseSite(site);
    return true;
  }
  const bool brace = opener == '{';
  const uint32_t site =
      OpenSite(begin, brace ? SiteKind::kBrace : SiteKind::kBracket);
  const bool ok =
      brace ? ScanPair('{', '}', 0, kFirstClose | kDollarBrace | flags)
            : ScanPair('[', ']', 0, kArithmeticFlag | flags);
  if (!ok) return false;
  CloseSite(site);
  return true;
}

// After `$(`, `<(` or `>(`: bash parses the commands to find the end.
bool Reader::ScanCommand(uint32_t begin, SiteKind kind) {
  const uint32_t site = OpenSite(begin, kind);
  if (PeekChar(true) == '(') {
    // Only <(( comes here: its end is found by counting.
    if (!ScanPair('(', ')', 0, kArithmeticFlag)) return false;
    shared_.sites[site].body = kUnread;
    CloseSite(site);
    return true;
  }
  if (!Enter()) return false;
  const Token token = token_;
  const State state = state_;
  const uint32_t consumed = consumed_;
  const uint32_t site_base = site_base_;
  site_base_ = site + 1;
  state_ = State();
  state_.extglob = state.extglob;
  state_.case_statement = state.case_statement;
  state_.assignment_ok = state.assignment_ok;
  state_.allow_brace = state.allow_brace;
  state_.substitution = true;
  state_.current = Tok::kSubstitution;
  state_.here_base = static_cast<uint32_t>(pending_.size());
  const NodeId body = ReadSubstitution();
  if (!failed_ && pending_.size() > state_.here_base) {
    // The bodies stand on the lines after the one that `)` is on.
    Doubt(begin, p_, "a here-document continues after its substitution");
    GatherHere();
  }
  token_ = token;
  state_ = state;
  consumed_ = consumed;
  site_base_ = site_base;
  have_ = false;
  Leave();
  shared_.sites.resize(site + 1);
  if (failed_ || shared_.too_large) return false;
  shared_.sites[site].body = body;
  CloseSite(site);
  return true;
}

// At the parenthesis of name=(…): reads the elements.
bool Reader::ScanCompound(uint32_t begin) {
  if (!Enter()) return false;
  const uint32_t site = OpenSite(begin, SiteKind::kArray);
  p_ = After(p_);
  const Token token = token_;
  const State state = state_;
  state_.last = Tok::kWord;  // so no reserved words
  state_.compound = true;
  state_.condition = false;
  state_.regex = false;
  state_.esacs = 0;
  state_.expecting_in = 0;
  std::vector<ArrayElement> elements;
  Tok kind = Tok::kError;
  for (;;) {
    token_ = Token();
    token_.sites = static_cast<uint32_t>(shared_.sites.size());
    kind = LexRaw();
    if (failed_ || shared_.too_large) kind = Tok::kError;
    token_.sites_end = static_cast<uint32_t>(shared_.sites.size());
    if (kind == Tok::kNewline) continue;
    if (kind != Tok::kWord && kind != Tok::kAssignment) break;
    ArrayElement element;
    if (kind == Tok::kAssignment) {
      Assignment assignment;
      if (BuildAssignment(token_, true, &assignment)) {
        element.subscript = assignment.subscript;
        element.append = assignment.append;
        element.value = assignment.value;
        if (assignment.is_array) {
          Doubt(token_.begin, token_.end, "an array as an array's element");
        }
      }
    } else {
      element.value = BuildWord(token_);
    }
    elements.push_back(element);
    shared_.sites.resize(token_.sites);
  }
  const Token last = token_;
  token_ = token;
  state_ = state;
  Leave();
  if (failed_ || shared_.too_large) return false;
  if (kind != Tok::kClose) {
    return kind == Tok::kEof
               ? Unterminated(')', begin)
               : Fail(last.begin, last.end,
                      "unexpected token in a list of array elements");
  }
  shared_.sites[site].body = static_cast<uint32_t>(shared_.arrays.size());
  shared_.arrays.push_back(std::move(elements));
  CloseSite(site);
  return true;
}

bool Reader::IsName(uint32_t begin, uint32_t end) const {
  uint32_t p = SkipJoins(begin, end);
  if (p >= end || !IsNameStart(text_[p])) return false;
  for (; p < end; p = SkipJoins(p + 1, end)) {
    if (!IsNameChar(text_[p])) return false;
  }
  return true;
}

uint32_t Reader::SkipSubscript(uint32_t p, uint32_t end, Sites sites) const {
  int count = 0;
  while (p < end) {
    while (sites.next < sites.end && shared_.sites[sites.next].begin < p) {
      ++sites.next;
    }
    if (sites.next < sites.end && shared_.sites[sites.next].begin == p) {
      const Site& site = shared_.sites[sites.next];
      if (site.kind == SiteKind::kSubscript && count == 0) return site.end - 1;
      p = site.end;
      continue;
    }
    switch (text_[p]) {
      case '\\':
        p += 2;
        continue;
      case '[':
        ++count;
        break;
      case ']':
        if (--count == 0) return p;
        break;
      case '\'':
      case '"':
      case '`': {
        const char quote = text_[p];
        for (++p; p < end && text_[p] != quote; ++p) {
          if (text_[p] == '\\' && quote != '\'') ++p;
        }
        break;
      }
      default:
        break;
    }
    ++p;
  }
  return end;
}

uint32_t Reader::FindEquals(uint32_t begin, uint32_t end, Sites sites,
                            bool element) const {
  uint32_t p = SkipJoins(begin, end);
  if (p >= end) return kNone;
  if (element ? text_[p] != '[' : !IsNameStart(text_[p])) return kNone;
  while (p < end && IsNameChar(text_[p])) p = SkipJoins(p + 1, end);
  if (p < end && text_[p] == '[') {
    p = SkipSubscript(p, end, sites);
    if (p >= end) return kNone;
    p = SkipJoins(p + 1, end);
  }
  if (p < end && text_[p] == '+') p = SkipJoins(p + 1, end);
  return p < end && text_[p] == '=' ? p : kNone;
}

}  // namespace gate::parser::reading
