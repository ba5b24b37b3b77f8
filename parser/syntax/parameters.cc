// ${…}: names, operators, operands.
#include <utility>

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {
namespace {

bool OneOf(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

}  // namespace

uint32_t Reader::BuildParameter(uint32_t p, uint32_t end, Mode mode,
                                Sites& sites, std::vector<PartId>& out) {
  const PartId part = AddPart(PartKind::kParameter, p, end);
  if (part == kNone) return end;
  out.push_back(part);
  Site site;
  Sites inner;
  const bool located =
      Locate(p, end, SiteKind::kBrace, mode, sites, &site, &inner);
  const uint32_t after = located ? site.end : end;
  Parameter parameter;
  parameter.in_quotes = mode != Mode::kWord;
  parameter.op = ParameterOp::kBad;
  // A level of its own, besides that of the operand's parts: what is on the
  // stack for both is twice as much as for others.
  if (located && Enter()) {
    const uint32_t open = SkipJoins(p + 1, end);
    ParseParameter(open + 1, after - 1, mode, inner, &parameter);
    Leave();
  }
  shared_.ast.parts[part].span = Map(p, after);
  shared_.ast.parts[part].parameter =
      static_cast<uint32_t>(shared_.ast.parameters.size());
  shared_.ast.parameters.push_back(std::move(parameter));
  return after;
}

// name, name[subscript], digits or a special character. Leaves p after it.
bool Reader::ParseName(uint32_t& p, uint32_t end, Sites& sites,
                       Parameter* parameter) {
  p = SkipJoins(p, end);
  if (p >= end) return false;
  const char c = text_[p];
  if (IsNameStart(c)) {
    while ((p = SkipJoins(p, end)) < end && IsNameChar(text_[p])) {
      parameter->name += text_[p++];
    }
    if (p < end && text_[p] == '[') {
      const uint32_t close = SkipSubscript(p, end, sites);
      if (close >= end) return false;
      if (close == p + 1) return false;
      parameter->has_subscript = true;
      parameter->subscript = BuildRange(p + 1, close, Mode::kWord, sites);
      p = close + 1;
    }
  } else if (IsDigit(c)) {
    while ((p = SkipJoins(p, end)) < end && IsDigit(text_[p])) {
      parameter->name += text_[p++];
    }
  } else if (OneOf(c, "@*#?-$!")) {
    parameter->name = c;
    ++p;
  } else {
    return false;
  }
  p = SkipJoins(p, end);
  return true;
}

void Reader::ParseParameter(uint32_t begin, uint32_t end, Mode mode,
                            Sites sites, Parameter* parameter) {
  uint32_t p = SkipJoins(begin, end);
  if (p >= end) return;
  const uint32_t second = SkipJoins(p + 1, end);
  const uint32_t third = second < end ? SkipJoins(second + 1, end) : end;
  const char next = second < end ? text_[second] : '\0';
  if (text_[p] == '#' && second < end) {
    // A length, or an operator on $#.
    const bool special = OneOf(next, "-?#@");
    if (special ? third >= end : !OneOf(next, "%:=+/")) {
      p = second;
      if (ParseName(p, end, sites, parameter) && p >= end) {
        parameter->op = ParameterOp::kLength;
      }
      return;
    }
    if (third >= end) return;  // ${#%} and its like
    parameter->name = "#";
    ParseOperator(second, end, mode, sites, parameter);
    return;
  }
  if (text_[p] == '!' && second < end &&
      (IsNameChar(next) || OneOf(next, "#?@*"))) {
    parameter->indirect = true;
    p = second;
    if (!ParseName(p, end, sites, parameter)) return;
    if (p >= end) {
      parameter->op = ParameterOp::kPlain;
      if (parameter->has_subscript && parameter->subscript != kNone) {
        const Word& word = shared_.ast.words[parameter->subscript];
        if (word.parts.size() == 1) {
          const Part& only = shared_.ast.parts[word.parts[0]];
          if (only.kind == PartKind::kLiteral &&
              (only.text == "@" || only.text == "*")) {
            parameter->op = ParameterOp::kKeys;
            parameter->at_names = only.text == "@";
          }
        }
      }
      return;
    }
    if (OneOf(text_[p], "@*") && SkipJoins(p + 1, end) >= end &&
        !parameter->has_subscript && IsNameStart(parameter->name[0])) {
      parameter->op = ParameterOp::kNames;
      parameter->at_names = text_[p] == '@';
      return;
    }
    if (OneOf(parameter->name[0], "#?@*") &&
        !OneOf(text_[p], parameter->name[0] == '@' ? ":" : "#%:-=?+/@")) {
      return;
    }
    ParseOperator(p, end, mode, sites, parameter);
    return;
  }
  if (!ParseName(p, end, sites, parameter)) return;
  ParseOperator(p, end, mode, sites, parameter);
}

// From the operator to the end; op stays kBad when there is none such.
void Reader::ParseOperator(uint32_t p, uint32_t end, Mode mode, Sites sites,
                           Parameter* parameter) {
  p = SkipJoins(p, end);
  if (p >= end) {
    parameter->op = ParameterOp::kPlain;
    return;
  }
  const bool here = mode == Mode::kHere || mode == Mode::kHereBrace;
  const Mode word_mode = mode == Mode::kWord ? Mode::kWord
                         : here              ? Mode::kHereBrace
                                             : Mode::kDoubleBrace;
  char c = text_[p];
  uint32_t after = SkipJoins(p + 1, end);
  const char next = after < end ? text_[after] : '\0';
  switch (c) {
    case ':':
      if (after >= end) return;
      if (!OneOf(next, "-=?+")) {
        parameter->op = ParameterOp::kSlice;
        const uint32_t colon = FindDelimiter(p + 1, end, ':', sites, true);
        parameter->operand = BuildRange(p + 1, colon, Mode::kArithmetic, sites);
        if (colon < end) {
          parameter->replacement =
              BuildRange(colon + 1, end, Mode::kArithmetic, sites);
        }
        return;
      }
      parameter->colon = true;
      c = next;
      after = SkipJoins(after + 1, end);
      [[fallthrough]];
    case '-':
    case '=':
    case '?':
    case '+':
      parameter->op = c == '-'   ? ParameterOp::kDefault
                      : c == '=' ? ParameterOp::kAssign
                      : c == '?' ? ParameterOp::kError
                                 : ParameterOp::kAlternative;
      parameter->operand = BuildRange(after, end, word_mode, sites);
      return;
    case '#':
    case '%':
    case '^':
    case ',':
    case '~':
      parameter->op = c == '#'   ? ParameterOp::kRemovePrefix
                      : c == '%' ? ParameterOp::kRemoveSuffix
                      : c == '^' ? ParameterOp::kUpper
                      : c == ',' ? ParameterOp::kLower
                                 : ParameterOp::kToggle;
      if (next == c) {
        (c == '#' || c == '%' ? parameter->longest : parameter->all) = true;
        after = SkipJoins(after + 1, end);
      }
      parameter->operand = BuildRange(after, end, Mode::kWord, sites);
      return;
    case '/': {
      parameter->op = ParameterOp::kReplace;
      bool slash_first = false;
      if (next == '/') {
        parameter->replace = ReplaceMode::kAll;
        after = SkipJoins(after + 1, end);
        slash_first = after < end && text_[after] == '/';
      } else if (next == '#' || next == '%') {
        parameter->replace =
            next == '#' ? ReplaceMode::kPrefix : ReplaceMode::kSuffix;
        after = SkipJoins(after + 1, end);
      }
      const uint32_t slash = FindDelimiter(slash_first ? after + 1 : after, end,
                                           '/', sites, false);
      parameter->operand = BuildRange(after, slash, Mode::kWord, sites);
      if (slash < end) {
        parameter->replacement = BuildRange(slash + 1, end, Mode::kWord, sites);
      }
      return;
    }
    case '@':
      if (OneOf(next, "QEPAKakUuL") && SkipJoins(after + 1, end) >= end &&
          next != '\0') {
        parameter->op = ParameterOp::kTransform;
        parameter->operand = BuildRange(after, end, Mode::kWord, sites);
      }
      return;
    default:
      return;
  }
}

// The first `delimiter` outside of quotes, constructs and, in arithmetic,
// parentheses and ?: pairs; `end` when there is none.
uint32_t Reader::FindDelimiter(uint32_t p, uint32_t end, char delimiter,
                               Sites sites, bool arithmetic) {
  int parentheses = 0;
  int questions = 0;
  while (p < end) {
    while (sites.next < sites.end && shared_.sites[sites.next].begin < p) {
      ++sites.next;
    }
    if (sites.next < sites.end && shared_.sites[sites.next].begin == p) {
      p = shared_.sites[sites.next].end;
      continue;
    }
    const char c = text_[p];
    if (c == '\\') {
      p += 2;
      continue;
    }
    if (arithmetic && c == '(') ++parentheses;
    if (arithmetic && c == ')' && parentheses > 0) --parentheses;
    if (parentheses == 0) {
      if (arithmetic && c == ':' && questions > 0) {
        --questions;
      } else if (c == delimiter) {
        return p;
      } else if (arithmetic && c == '?') {
        ++questions;
      }
    }
    ++p;
  }
  return end;
}

}  // namespace gate::parser::reading
