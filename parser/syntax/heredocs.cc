// Here-documents: which lines belong to them, and what is left of them.
#include <algorithm>
#include <utility>

#include "parser/syntax/lexer.h"

namespace gate::parser::reading {
namespace {

// bash reads no more at once.
constexpr size_t kMaxPendingHere = 16;

}  // namespace

void Reader::PushHere(RedirectId redirect, const Token& delimiter, bool strip) {
  if (pending_.size() - state_.here_base >= kMaxPendingHere) {
    Fail(delimiter.begin, delimiter.end, "too many here-documents at once");
    return;
  }
  PendingHere here;
  here.redirect = redirect;
  here.strip = strip;
  here.quoted = delimiter.quoted;
  here.span = {delimiter.begin, delimiter.end};
  for (uint32_t i = delimiter.sites; i < delimiter.sites_end; ++i) {
    const SiteKind kind = shared_.sites[i].kind;
    if (kind == SiteKind::kCommand || kind == SiteKind::kProcess) {
      Doubt(delimiter.begin, delimiter.end,
            "a substitution in a here-document's delimiter");
    }
  }
  if (!here.quoted) {
    AppendText(delimiter.begin, delimiter.end, &here.delimiter);
  } else {
    Sites sites{delimiter.sites, delimiter.sites_end};
    bool in_double = false;
    uint32_t p = delimiter.begin;
    while ((p = SkipJoins(p, delimiter.end)) < delimiter.end) {
      const char c = text_[p];
      while (sites.next < sites.end && shared_.sites[sites.next].begin < p) {
        ++sites.next;
      }
      const Site* site =
          sites.next < sites.end && shared_.sites[sites.next].begin == p
              ? &shared_.sites[sites.next]
              : nullptr;
      if (c == '\\' && p + 1 < delimiter.end) {
        const char next = text_[p + 1];
        if (in_double && next != '$' && next != '`' && next != '"' &&
            next != '\\') {
          here.delimiter += '\\';
        }
        here.delimiter += next;
        p += 2;
      } else if (c == '\'' && !in_double) {
        const size_t close = text_.find('\'', p + 1);
        here.delimiter.append(text_.substr(p + 1, close - p - 1));
        p = static_cast<uint32_t>(close) + 1;
      } else if (c == '"') {
        in_double = !in_double;
        ++p;
      } else if (site != nullptr && !in_double &&
                 site->kind == SiteKind::kAnsi) {
        here.delimiter += DecodeAnsi(p + 2, site->end - 1);
        p = site->end;
      } else if (site != nullptr && site->kind == SiteKind::kLocale) {
        ++p;
      } else {
        here.delimiter += c;
        ++p;
      }
    }
  }
  pending_.push_back(std::move(here));
}

// Reads the bodies of the pending here-documents; they begin on the line after
// the one that p_ is on, or at p_ when a line begins there.
void Reader::GatherHere() {
  uint32_t at = p_;
  const bool at_line = p_ == begin_ || p_ > end_ || text_[p_ - 1] == '\n';
  uint32_t newline = kNone;
  if (!at_line) {
    const size_t found = text_.substr(0, end_).find('\n', p_);
    newline =
        found == std::string_view::npos ? end_ : static_cast<uint32_t>(found);
    at = newline >= end_ ? end_ : After(newline);
  }
  at = std::min(at, end_);
  if (rewound_to_ > at) {
    Doubt(token_.begin, token_.end, "a here-document inside `((`");
  }
  for (size_t i = state_.here_base; i < pending_.size(); ++i) {
    PendingHere here = std::move(pending_[i]);
    ReadHere(here, &at);
  }
  pending_.resize(state_.here_base);
  if (at_line) {
    p_ = std::max(p_, at);
  } else if (newline < end_) {
    skip_at_ = newline;
    skip_to_ = at;
  }
}

void Reader::ReadHere(PendingHere& here, uint32_t* at) {
  const uint32_t begin = *at;
  uint32_t line = begin;
  uint32_t body_end = begin;
  bool cleaned = false;  // the body is not a plain range of the text
  bool found = false;
  struct Piece {
    uint32_t begin;
    uint32_t end;
  };
  std::vector<Piece> stripped;  // tabs that do not belong to the body
  while (line < end_) {
    // One line, or several joined by \<newline>.
    uint32_t q = line;
    bool joined = false;
    while (q < end_ && text_[q] != '\n') {
      if (text_[q] == '\\' && !here.quoted && q + 1 < end_) {
        joined |= text_[q + 1] == '\n';
        q += 2;
      } else {
        ++q;
      }
    }
    q = std::min(q, end_);
    const uint32_t next = q < end_ ? q + 1 : end_;
    std::string store;
    std::string_view content = text_.substr(line, q - line);
    if (joined) {
      AppendText(line, q, &store);
      content = store;
    }
    if (here.strip && content == here.delimiter) {
      found = true;
    } else {
      size_t tabs = 0;
      if (here.strip) {
        tabs = std::min(content.find_first_not_of('\t'), content.size());
        content.remove_prefix(tabs);
      }
      found = content == here.delimiter;
      if (!found && state_.substitution &&
          content.substr(0, here.delimiter.size()) == here.delimiter &&
          content.find(')', here.delimiter.size()) != std::string_view::npos) {
        // bash takes this for the end, too; the rest of the line is code.
        if (joined) Doubt(line, q, "a continued end of a here-document");
        *at = line + static_cast<uint32_t>(tabs + here.delimiter.size());
        found = true;
        body_end = line;
        break;
      }
      if (!found && tabs > 0) {
        stripped.push_back({line, line + static_cast<uint32_t>(tabs)});
        cleaned = true;
      }
    }
    if (found) {
      body_end = line;
      *at = next;
      break;
    }
    cleaned |= joined;
    line = next;
    body_end = next;
  }
  if (!found) {
    *at = end_;
    body_end = end_;
  }
  Suspicious(SuspectKind::kHereBody, begin, *at);

  Redirect& redirect = shared_.ast.redirects[here.redirect];
  redirect.quoted_delimiter = here.quoted;
  redirect.body_span = Map(begin, body_end);
  // bash ends the last line of a body itself.
  const bool add_newline = body_end > begin && text_[body_end - 1] != '\n';
  std::string text;
  OffsetMap map;
  if (cleaned || add_newline || here.quoted) {
    size_t piece = 0;
    for (uint32_t p = begin; p < body_end;) {
      if (piece < stripped.size() && stripped[piece].begin == p) {
        p = stripped[piece++].end;
        continue;
      }
      if (!here.quoted && text_[p] == '\\' && p + 1 < body_end) {
        if (text_[p + 1] != '\n') {
          text += text_[p];
          map.push_back(map_ != nullptr ? (*map_)[p] : p);
          ++p;
        } else {
          p += 2;
          continue;
        }
      }
      text += text_[p];
      map.push_back(map_ != nullptr ? (*map_)[p] : p);
      ++p;
    }
    const uint32_t end_at = Map(body_end, body_end).begin;
    if (add_newline) {
      text += '\n';
      map.push_back(end_at);
    }
    map.push_back(end_at);
  }
  WordId body = kNone;
  if (here.quoted) {
    body = AddWord(begin, body_end);
    if (body == kNone) return;
    const PartId part = AddPart(PartKind::kSingleQuoted, begin, body_end);
    if (part == kNone) return;
    shared_.ast.parts[part].text = std::move(text);
    shared_.ast.words[body].parts.push_back(part);
  } else if (cleaned || add_newline) {
    Reader inner(shared_, text, 0, static_cast<uint32_t>(text.size()), &map);
    body = inner.ReadHereBody();
  } else {
    Reader inner(shared_, text_, begin, body_end, map_);
    body = inner.ReadHereBody();
  }
  shared_.ast.redirects[here.redirect].body = body;
}

WordId Reader::ReadHereBody() {
  const uint32_t size = static_cast<uint32_t>(shared_.sites.size());
  return BuildRange(begin_, end_, Mode::kHere, {size, size});
}

}  // namespace gate::parser::reading
