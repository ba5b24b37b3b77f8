// Words -> parts, by bash's rules of expansion.
#include <algorithm>
#include <utility>

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {

uint32_t Reader::SkipJoins(uint32_t p, uint32_t end) const {
  while (p + 1 < end && text_[p] == '\\' && text_[p + 1] == '\n') p += 2;
  return p;
}

void Reader::AppendText(uint32_t begin, uint32_t end, std::string* out) const {
  for (uint32_t p = begin; (p = SkipJoins(p, end)) < end; ++p) {
    *out += text_[p];
    if (text_[p] == '\\' && p + 1 < end) *out += text_[++p];
  }
}

WordId Reader::BuildWord(const Token& token) {
  return BuildRange(token.begin, token.end, Mode::kWord,
                    {token.sites, token.sites_end});
}

WordId Reader::BuildRange(uint32_t begin, uint32_t end, Mode mode,
                          Sites sites) {
  const WordId word = AddWord(begin, end);
  if (word == kNone) return kNone;
  std::vector<PartId> parts;
  BuildParts(begin, end, mode, sites, parts);
  shared_.ast.words[word].parts = std::move(parts);
  return word;
}

void Reader::BuildParts(uint32_t begin, uint32_t end, Mode mode, Sites sites,
                        std::vector<PartId>& out) {
  if (!Enter()) return;
  const PartKind plain =
      mode == Mode::kWord ? PartKind::kLiteral : PartKind::kQuotedText;
  PartId text = kNone;  // the plain part that is being filled
  auto append = [&](uint32_t from, uint32_t to) {
    if (text == kNone) {
      text = AddPart(plain, from, to);
      if (text == kNone) return;
      out.push_back(text);
    }
    Part& part = shared_.ast.parts[text];
    part.text.append(text_.substr(from, to - from));
    part.span.end = Map(from, to).end;
  };
  uint32_t p = begin;
  while (p < end && !failed_ && !shared_.too_large) {
    // Plain characters first.
    uint32_t q = p;
    while (q < end) {
      const uint8_t stop = mode == Mode::kWord
                               ? kQuoteClass | kSpecialClass | kMetaClass
                               : kOpenerClass;
      if ((ClassOf(text_[q]) & stop) != 0) break;
      ++q;
    }
    if (q > p) append(p, q);
    if ((p = q) >= end) break;
    const char c = text_[p];
    switch (c) {
      case '\\': {
        if (p + 1 >= end) {
          // The last character of the input stands for itself, whatever
          // brace expansion makes of the rest.
          if (mode == Mode::kWord && end == text_.size()) {
            text = AddPart(PartKind::kEscaped, p, p + 1);
            if (text != kNone) {
              shared_.ast.parts[text].text = c;
              out.push_back(text);
            }
            text = kNone;
          } else {
            append(p, p + 1);
          }
          ++p;
          break;
        }
        const char next = text_[p + 1];
        if (next == '\n') {
          p += 2;
          break;
        }
        if (mode == Mode::kWord) {
          text = AddPart(PartKind::kEscaped, p, p + 2);
          if (text == kNone) break;
          shared_.ast.parts[text].text = next;
          out.push_back(text);
          text = kNone;
          p += 2;
          break;
        }
        const bool removed = next == '$' || next == '`' || next == '\\' ||
                             (next == '"' && mode != Mode::kHere) ||
                             (next == '}' && (mode == Mode::kDoubleBrace ||
                                              mode == Mode::kHereBrace));
        append(removed ? p + 1 : p, p + 2);
        p += 2;
        break;
      }
      case '\'': {
        if (mode != Mode::kWord) {
          append(p, p + 1);
          ++p;
          break;
        }
        const size_t found = text_.substr(0, end).find('\'', p + 1);
        const uint32_t close = found == std::string_view::npos
                                   ? end
                                   : static_cast<uint32_t>(found);
        const uint32_t after = std::min(close + 1, end);
        const PartId part = AddPart(PartKind::kSingleQuoted, p, after);
        if (part == kNone) break;
        shared_.ast.parts[part].text = text_.substr(p + 1, close - p - 1);
        out.push_back(part);
        text = kNone;
        p = after;
        break;
      }
      case '"': {
        if (mode == Mode::kHere) {
          append(p, p + 1);
          ++p;
          break;
        }
        if (mode != Mode::kWord) {
          ++p;  // dropped; what is inside is quoted all the same
          text = kNone;
          break;
        }
        Site site;
        Sites inner;
        const bool closed =
            Locate(p, end, SiteKind::kDouble, mode, sites, &site, &inner);
        const uint32_t after = closed ? site.end : end;
        const PartId part = AddPart(PartKind::kDoubleQuoted, p, after);
        if (part == kNone) break;
        std::vector<PartId> parts;
        BuildParts(p + 1, closed ? after - 1 : end, Mode::kDouble, inner,
                   parts);
        shared_.ast.parts[part].parts = std::move(parts);
        out.push_back(part);
        text = kNone;
        p = after;
        break;
      }
      case '`':
        p = BuildBackquote(p, end, mode, sites, out);
        text = kNone;
        break;
      case '$': {
        const uint32_t after = BuildDollar(p, end, mode, sites, out);
        if (after == p) {
          append(p, p + 1);
          ++p;
        } else {
          text = kNone;
          p = after;
        }
        break;
      }
      case '<':
      case '>': {
        const uint32_t next = SkipJoins(p + 1, end);
        if (mode == Mode::kWord && next < end && text_[next] == '(') {
          p = BuildCommand(p, end, SiteKind::kProcess, sites, out);
          text = kNone;
          break;
        }
        append(p, p + 1);
        ++p;
        break;
      }
      default: {
        while (sites.next < sites.end && shared_.sites[sites.next].begin < p) {
          ++sites.next;
        }
        if (mode == Mode::kWord && sites.next < sites.end &&
            shared_.sites[sites.next].begin == p &&
            shared_.sites[sites.next].kind == SiteKind::kGroup) {
          p = BuildGroup(p, end, sites, out);
          text = kNone;
          break;
        }
        append(p, p + 1);
        ++p;
        break;
      }
    }
  }
  Leave();
}

bool Reader::Locate(uint32_t p, uint32_t end, SiteKind kind, Mode mode,
                    Sites& sites, Site* site, Sites* inner) {
  while (sites.next < sites.end && shared_.sites[sites.next].begin < p) {
    ++sites.next;
  }
  uint32_t index = sites.next;
  bool known = index < sites.end && shared_.sites[index].begin == p &&
               shared_.sites[index].kind == kind &&
               shared_.sites[index].end <= end;
  if (known) {
    *site = shared_.sites[index];
    uint32_t last = index + 1;
    while (last < sites.end && shared_.sites[last].begin < site->end) ++last;
    *inner = {index + 1, last};
    sites.next = last;
    return true;
  }
  // A place that bash does not look into before it expands the word.
  uint32_t open = SkipJoins(p + 1, end);
  Reader scan(shared_, text_, p, end, map_);
  scan.state_.extglob = state_.extglob;
  const uint32_t base = static_cast<uint32_t>(shared_.sites.size());
  const unsigned quoted =
      mode == Mode::kWord ? 0u : static_cast<unsigned>(kInDouble);
  bool ok = false;
  switch (kind) {
    case SiteKind::kDouble:
    case SiteKind::kBackquote: {
      const uint32_t at = scan.OpenSite(p, kind);
      scan.p_ = p + 1;
      ok = scan.ScanPair(text_[p], text_[p], text_[p], 0);
      if (ok) scan.CloseSite(at);
      break;
    }
    case SiteKind::kProcess:
      scan.p_ = open + 1;
      ok = scan.ScanCommand(p, kind);
      break;
    default:
      scan.p_ = open + 1;
      ok = scan.ScanDollar(text_[open], quoted, p);
      break;
  }
  Spend(scan.p_ - p);
  // The virtual newline is not part of the range.
  if (!ok || shared_.sites[base].end > end) return false;
  *site = shared_.sites[base];
  *inner = {base + 1, static_cast<uint32_t>(shared_.sites.size())};
  return true;
}

uint32_t Reader::BuildDollar(uint32_t p, uint32_t end, Mode mode, Sites& sites,
                             std::vector<PartId>& out) {
  const uint32_t q = SkipJoins(p + 1, end);
  if (q >= end) return p;
  const char c = text_[q];
  switch (c) {
    case '(': {
      const uint32_t r = SkipJoins(q + 1, end);
      if (r < end && text_[r] == '(') {
        return BuildArithmetic(p, end, sites, out);
      }
      return BuildCommand(p, end, SiteKind::kCommand, sites, out);
    }
    case '{':
      return BuildParameter(p, end, mode, sites, out);
    case '[':
      return BuildArithmetic(p, end, sites, out);
    case '\'':
    case '"': {
      const bool ansi = c == '\'';
      const SiteKind kind = ansi ? SiteKind::kAnsi : SiteKind::kLocale;
      if (mode != Mode::kWord && mode != Mode::kDoubleBrace) return p;
      Site site;
      Sites inner;
      while (sites.next < sites.end && shared_.sites[sites.next].begin < p) {
        ++sites.next;
      }
      if (sites.next >= sites.end || shared_.sites[sites.next].begin != p ||
          !Locate(p, end, kind, mode, sites, &site, &inner)) {
        return p;
      }
      if (mode == Mode::kDoubleBrace && !ansi) {
        BuildParts(q + 1, site.end - 1, Mode::kDoubleBrace, inner, out);
        return site.end;
      }
      PartKind part_kind =
          ansi ? PartKind::kAnsiQuoted : PartKind::kLocaleQuoted;
      if (mode == Mode::kDoubleBrace) part_kind = PartKind::kQuotedText;
      const PartId part = AddPart(part_kind, p, site.end);
      if (part == kNone) return end;
      out.push_back(part);
      if (ansi) {
        std::string text = DecodeAnsi(q + 1, site.end - 1);
        if (mode == Mode::kDoubleBrace &&
            text.find_first_of("$`\"\\'}") != std::string::npos) {
          Doubt(p, site.end, "a decoded string that is expanded once more");
        }
        shared_.ast.parts[part].text = std::move(text);
      } else {
        std::vector<PartId> parts;
        BuildParts(q + 1, site.end - 1, Mode::kDouble, inner, parts);
        shared_.ast.parts[part].parts = std::move(parts);
      }
      return site.end;
    }
    default:
      break;
  }
  uint32_t name_end = q + 1;
  if (IsNameStart(c)) {
    while ((name_end = SkipJoins(name_end, end)) < end &&
           IsNameChar(text_[name_end])) {
      ++name_end;
    }
  } else if (!IsDigit(c) &&
             std::string_view("@*#?-$!").find(c) == std::string_view::npos) {
    return p;
  }
  const PartId part = AddPart(PartKind::kParameter, p, name_end);
  if (part == kNone) return end;
  Parameter parameter;
  AppendText(q, name_end, &parameter.name);
  parameter.in_quotes = mode != Mode::kWord;
  shared_.ast.parts[part].parameter =
      static_cast<uint32_t>(shared_.ast.parameters.size());
  shared_.ast.parameters.push_back(std::move(parameter));
  out.push_back(part);
  return name_end;
}

// $(…), <(…) and >(…).
uint32_t Reader::BuildCommand(uint32_t p, uint32_t end, SiteKind kind,
                              Sites& sites, std::vector<PartId>& out) {
  const bool process = kind == SiteKind::kProcess;
  const PartId part =
      AddPart(process ? PartKind::kProcess : PartKind::kCommand, p, end);
  if (part == kNone) return end;
  out.push_back(part);
  Site site;
  Sites inner;
  const bool located = Locate(p, end, kind, Mode::kWord, sites, &site, &inner);
  const uint32_t after = located ? site.end : end;
  NodeId body = located ? site.body : kNone;
  bool unreadable = !located;
  if (body == kUnread) {
    const uint32_t open = SkipJoins(p + 1, end);
    Reader reader(shared_, text_, open + 1, after - 1, map_);
    reader.state_.extglob = state_.extglob;
    body = reader.ReadScript();
    Spend(after - open);
    unreadable = reader.failed();
  }
  Part& built = shared_.ast.parts[part];
  built.span = Map(p, after);
  built.body = body;
  built.unreadable = unreadable;
  if (process) built.text = text_[p];
  return after;
}

// `…`: backslashes before $ ` \ are taken away (before " too, inside double
// quotes), then what is left is read as a script of its own.
uint32_t Reader::BuildBackquote(uint32_t p, uint32_t end, Mode mode,
                                Sites& sites, std::vector<PartId>& out) {
  const PartId part = AddPart(PartKind::kCommand, p, end);
  if (part == kNone) return end;
  out.push_back(part);
  Site site;
  Sites inner;
  const bool located =
      Locate(p, end, SiteKind::kBackquote, mode, sites, &site, &inner);
  const uint32_t after = located ? site.end : end;
  const uint32_t inner_end = located ? after - 1 : end;
  const std::string_view raw = text_.substr(p + 1, inner_end - p - 1);
  NodeId body = kNone;
  bool unreadable = !located;
  if (!located) {
    // bash stops before it runs anything of it.
  } else if (raw.find('\\') == std::string_view::npos) {
    Reader reader(shared_, text_, p + 1, inner_end, map_);
    reader.state_.extglob = state_.extglob;
    body = reader.ReadScript();
    unreadable = reader.failed();
  } else {
    std::string text;
    OffsetMap map;
    const bool in_double = mode == Mode::kDouble || mode == Mode::kDoubleBrace;
    for (uint32_t q = p + 1; (q = SkipJoins(q, inner_end)) < inner_end; ++q) {
      if (text_[q] == '\\' && q + 1 < inner_end) {
        const char next = text_[q + 1];
        const bool removed = next == '$' || next == '`' || next == '\\' ||
                             (next == '"' && in_double);
        if (!removed) {
          text += '\\';
          map.push_back(map_ != nullptr ? (*map_)[q] : q);
        }
        ++q;
      }
      text += text_[q];
      map.push_back(map_ != nullptr ? (*map_)[q] : q);
    }
    map.push_back(Map(inner_end, inner_end).begin);
    Reader reader(shared_, text, 0, static_cast<uint32_t>(text.size()), &map);
    reader.state_.extglob = state_.extglob;
    body = reader.ReadScript();
    unreadable = reader.failed();
  }
  Spend(after - p);
  Part& built = shared_.ast.parts[part];
  built.span = Map(p, after);
  built.backquoted = true;
  built.body = body;
  built.unreadable = unreadable;
  return after;
}

// True when the text between `((` and `))` has its parentheses in order; else
// bash runs $((…)) as a command.
bool Reader::LooksArithmetic(uint32_t begin, uint32_t end) const {
  int count = 0;
  for (uint32_t p = begin; p < end; ++p) {
    switch (text_[p]) {
      case '(':
        ++count;
        break;
      case ')':
        if (--count < 0) return false;
        break;
      case '\\':
        ++p;
        break;
      case '\'':
      case '"': {
        const char quote = text_[p];
        for (++p; p < end && text_[p] != quote; ++p) {
          if (text_[p] == '\\' && quote == '"') ++p;
        }
        break;
      }
      default:
        break;
    }
  }
  return count == 0;
}

// $((…)) and $[…].
uint32_t Reader::BuildArithmetic(uint32_t p, uint32_t end, Sites& sites,
                                 std::vector<PartId>& out) {
  const uint32_t open = SkipJoins(p + 1, end);
  const bool bracket = text_[open] == '[';
  const PartId part = AddPart(PartKind::kArithmetic, p, end);
  if (part == kNone) return end;
  out.push_back(part);
  Site site;
  Sites inner;
  const bool located =
      Locate(p, end, bracket ? SiteKind::kBracket : SiteKind::kArithmetic,
             Mode::kDouble, sites, &site, &inner);
  const uint32_t after = located ? site.end : end;
  uint32_t text_begin = bracket ? open + 1 : SkipJoins(open + 1, end) + 1;
  uint32_t text_end = located ? after - 1 : end;
  shared_.ast.parts[part].span = Map(p, after);
  if (!located) {
    shared_.ast.parts[part].kind = PartKind::kCommand;
    shared_.ast.parts[part].unreadable = true;
    return after;
  }
  if (!bracket) {
    const bool closes = text_end > text_begin && text_[text_end - 1] == ')';
    if (!closes || !LooksArithmetic(text_begin, text_end - 1)) {
      Reader reader(shared_, text_, open + 1, after - 1, map_);
      reader.state_.extglob = state_.extglob;
      const NodeId body = reader.ReadScript();
      Spend(after - p);
      Part& built = shared_.ast.parts[part];
      built.kind = PartKind::kCommand;
      built.body = body;
      built.unreadable = reader.failed();
      return after;
    }
    --text_end;
  }
  std::vector<PartId> parts;
  BuildParts(text_begin, text_end, Mode::kArithmetic, inner, parts);
  shared_.ast.parts[part].parts = std::move(parts);
  return after;
}

// ?(a|b) and its like.
uint32_t Reader::BuildGroup(uint32_t p, uint32_t end, Sites& sites,
                            std::vector<PartId>& out) {
  Site site;
  Sites inner;
  if (!Locate(p, end, SiteKind::kGroup, Mode::kWord, sites, &site, &inner)) {
    return end;
  }
  const PartId part = AddPart(PartKind::kExtendedGlob, p, site.end);
  if (part == kNone) return end;
  out.push_back(part);
  shared_.ast.parts[part].text = text_[p];
  uint32_t begin = SkipJoins(p + 1, end) + 1;
  std::vector<WordId> words;
  // Alternatives end at a `|` outside of quotes, constructs and parentheses.
  int count = 0;
  uint32_t site_at = inner.next;
  for (uint32_t q = begin; q < site.end; ++q) {
    while (site_at < inner.end && shared_.sites[site_at].begin < q) ++site_at;
    if (site_at < inner.end && shared_.sites[site_at].begin == q) {
      q = shared_.sites[site_at].end - 1;
      continue;
    }
    const char c = text_[q];
    if (c == '\\') {
      ++q;
    } else if (c == '(') {
      ++count;
    } else if (q == site.end - 1 || (c == '|' && count == 0)) {
      words.push_back(BuildRange(begin, q, Mode::kWord, inner));
      begin = q + 1;
    } else if (c == ')') {
      --count;
    }
  }
  shared_.ast.parts[part].words = std::move(words);
  return site.end;
}

}  // namespace gate::parser::reading
