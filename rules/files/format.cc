#include "rules/format.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gate::rules {
namespace {

enum class Kind : uint8_t { kOpen, kClose, kComma, kColon, kValue, kComment };

struct Token {
  Kind kind = Kind::kValue;
  int lines = 0;  // line ends before it, at most 2
  std::string_view text;
};

// The tokens of a text that Tree has read without an error.
std::vector<Token> Split(std::string_view text) {
  std::vector<Token> tokens;
  size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  int lines = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n' && lines < 2) ++lines;
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      ++at;
      continue;
    }
    size_t end = at + 1;
    Kind kind = Kind::kValue;
    if (c == '{' || c == '[') {
      kind = Kind::kOpen;
    } else if (c == '}' || c == ']') {
      kind = Kind::kClose;
    } else if (c == ',') {
      kind = Kind::kComma;
    } else if (c == ':') {
      kind = Kind::kColon;
    } else if (c == '"') {
      while (end < text.size() && text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
      ++end;
    } else if (c == '/') {
      kind = Kind::kComment;
      if (text[end] == '*') {
        end = text.find("*/", at + 2) + 2;
      } else {
        end = std::min(text.find('\n', at), text.size());
        while (text[end - 1] == '\r' || text[end - 1] == ' ' ||
               text[end - 1] == '\t')
          --end;
      }
    } else {
      end = std::min(text.find_first_of(" \t\r\n,:[]{}\"/", at), text.size());
    }
    tokens.push_back({kind, lines, text.substr(at, end - at)});
    at = end;
    lines = 0;
  }
  return tokens;
}

// A comma or colon belongs to what stands before it, so it goes before the
// comments that follow that.
void PullBack(std::vector<Token>* tokens) {
  for (size_t i = 1; i < tokens->size(); ++i) {
    const Kind kind = (*tokens)[i].kind;
    if (kind != Kind::kComma && kind != Kind::kColon) continue;
    const int lines = (*tokens)[i].lines;
    size_t to = i;
    while (to > 0 && (*tokens)[to - 1].kind == Kind::kComment) {
      std::swap((*tokens)[to], (*tokens)[to - 1]);
      --to;
    }
    (*tokens)[to].lines = 0;
    // The line end before the comma is one after it.
    if (i + 1 < tokens->size() && (*tokens)[i + 1].lines < lines)
      (*tokens)[i + 1].lines = lines;
  }
}

class Writer {
 public:
  std::string Write(const std::vector<Token>& tokens) {
    for (size_t i = 0; i < tokens.size(); ++i)
      One(tokens[i], i + 1 < tokens.size() ? &tokens[i + 1] : nullptr);
    out_ += '\n';
    return std::move(out_);
  }

 private:
  struct Frame {
    bool block = false;
    size_t members = 0;  // where they are indented to
    size_t close = 0;    // and the bracket, when it begins a line
  };

  void Put(std::string_view text) {
    for (const char c : text) {
      if (c == '\n')
        column_ = 0;
      else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
        ++column_;
    }
    out_ += text;
  }

  void Line(int lines, size_t indent) {
    for (int i = 0; i < lines; ++i) Put("\n");
    Put(std::string(indent, ' '));
    indent_ = indent;
  }

  void One(const Token& token, const Token* next) {
    // A comment to the end of the line ends the line.
    const int lines = std::max(token.lines, after_line_comment_ ? 1 : 0);
    const size_t members = frames_.empty() ? 0 : frames_.back().members;
    switch (token.kind) {
      case Kind::kComma:
      case Kind::kColon:
        Put(token.text);
        break;
      case Kind::kClose: {
        const Frame frame = frames_.back();
        frames_.pop_back();
        if (frame.block || after_line_comment_) Line(1, frame.close);
        Put(token.text);
        break;
      }
      case Kind::kComment:
      case Kind::kOpen:
      case Kind::kValue:
        if (out_.empty()) {
          // Nothing stands before it.
        } else if (before_ == Kind::kColon && token.kind != Kind::kComment) {
          if (after_line_comment_)
            Line(1, members + 2);
          else
            Put(" ");
        } else if (before_ == Kind::kOpen) {
          if (frames_.back().block) Line(1, members);
        } else if (lines > 0) {
          Line(lines, members);
        } else {
          Put(token.kind == Kind::kComment && token.text[1] == '/' ? "  "
                                                                   : " ");
        }
        if (token.kind == Kind::kOpen) {
          Frame frame;
          frame.block =
              next != nullptr && next->kind != Kind::kClose && next->lines > 0;
          frame.close = frame.block ? indent_ : column_;
          frame.members = frame.block ? indent_ + 2 : column_ + 1;
          frames_.push_back(frame);
        }
        Put(token.text);
        break;
    }
    after_line_comment_ = token.kind == Kind::kComment && token.text[1] == '/';
    // A comment does not come between a key's colon and its value.
    if (token.kind != Kind::kComment || before_ != Kind::kColon)
      before_ = token.kind;
  }

  std::string out_;
  size_t column_ = 0;
  size_t indent_ = 0;  // of the line being written
  std::vector<Frame> frames_;
  Kind before_ = Kind::kValue;
  bool after_line_comment_ = false;
};

}  // namespace

std::expected<std::string, TreeError> FormatRuleFile(std::string_view text) {
  const auto tree = Tree::Parse(text);
  if (!tree) return std::unexpected(tree.error());
  std::vector<Token> tokens = Split(text);
  PullBack(&tokens);
  return Writer().Write(tokens);
}

}  // namespace gate::rules
