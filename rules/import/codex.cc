// codex's *.rules: calls of Starlark with literal arguments. Whatever is more
// than that (loops, functions, f-strings) refuses the file at its line.
#include <algorithm>
#include <map>
#include <variant>

#include "base/text.h"
#include "rules/import/importer.h"

namespace gate::rules {
namespace {

struct Value;
using List = std::vector<Value>;
struct Value {
  std::variant<std::monostate, std::string, List> data;
  size_t at = 0;
  const std::string* Text() const { return std::get_if<std::string>(&data); }
  const List* Items() const { return std::get_if<List>(&data); }
};

struct Token {
  enum Kind : uint8_t { kName, kText, kPunctuation, kNewline, kEnd, kBad };
  Kind kind = kEnd;
  std::string text;
  size_t at = 0;
};

class Reader {
 public:
  struct Call {
    std::string name;
    size_t at = 0;
    std::vector<Value> positional;
    std::map<std::string, Value> named;
  };

  explicit Reader(std::string_view text) : text_(text) { Next(); }

  // False at an error, which error_at and error then tell.
  bool Read(std::vector<Call>* calls) {
    while (true) {
      while (token_.kind == Token::kNewline || Is(";")) Next();
      if (token_.kind == Token::kEnd) return true;
      if (token_.kind != Token::kName) return Fails("a call was expected");
      const Token name = token_;
      Next();
      if (Is("=")) {
        Next();
        Value value;
        if (!Expression(&value)) return false;
        variables_[name.text] = value;
      } else if (Is("(")) {
        Call call;
        call.name = name.text;
        call.at = name.at;
        if (!Arguments(&call)) return false;
        calls->push_back(std::move(call));
      } else {
        return Fails("only calls and assignments of literals are understood");
      }
      if (token_.kind != Token::kNewline && token_.kind != Token::kEnd &&
          !Is(";"))
        return Fails("more than a call with literal arguments");
    }
  }

  size_t error_at = 0;
  std::string error;

 private:
  bool Is(std::string_view text) const {
    return token_.kind == Token::kPunctuation && token_.text == text;
  }
  bool Fails(std::string why) {
    if (!error.empty()) return false;
    error_at = token_.at;
    error = token_.kind == Token::kBad ? token_.text : std::move(why);
    return false;
  }

  bool Arguments(Call* call) {
    ++nesting_;
    Next();
    while (!Is(")")) {
      Value value;
      if (token_.kind == Token::kName) {
        const Token name = token_;
        Next();
        if (Is("=")) {
          Next();
          if (!Expression(&value)) return false;
          if (!call->named.emplace(name.text, value).second)
            return Fails("an argument is given twice");
        } else {
          if (!Variable(name, &value) || !More(&value)) return false;
          call->positional.push_back(value);
        }
      } else {
        if (!Expression(&value)) return false;
        call->positional.push_back(value);
      }
      if (Is(","))
        Next();
      else if (!Is(")"))
        return Fails("`,` or `)` was expected");
    }
    --nesting_;
    Next();
    return true;
  }

  bool Variable(const Token& name, Value* out) {
    const auto found = variables_.find(name.text);
    if (found == variables_.end() && name.text != "None")
      return Fails("`" + name.text + "` is not known");
    if (found != variables_.end()) *out = found->second;
    out->at = name.at;
    return true;
  }

  bool Expression(Value* out) { return Primary(out) && More(out); }

  bool More(Value* out) {
    while (Is("+")) {
      Next();
      Value right;
      if (!Primary(&right)) return false;
      if (out->Text() != nullptr && right.Text() != nullptr)
        std::get<std::string>(out->data) += *right.Text();
      else if (out->Items() != nullptr && right.Items() != nullptr)
        for (const Value& item : *right.Items())
          std::get<List>(out->data).push_back(item);
      else
        return Fails("`+` of different things");
    }
    return true;
  }

  bool Primary(Value* out) {
    if (++depth_ > 32) return Fails("nested too deep");
    const bool done = PrimaryAt(out);
    --depth_;
    return done;
  }

  bool PrimaryAt(Value* out) {
    out->at = token_.at;
    if (token_.kind == Token::kText) {
      out->data = token_.text;
      Next();
      // Starlark has no juxtaposed strings.
      if (token_.kind == Token::kText) return Fails("two strings in a row");
      return true;
    }
    if (token_.kind == Token::kName) {
      const Token name = token_;
      Next();
      return Variable(name, out);
    }
    if (!Is("[")) return Fails("a string or a list was expected");
    ++nesting_;
    Next();
    List items;
    while (!Is("]")) {
      Value item;
      if (!Expression(&item)) return false;
      items.push_back(std::move(item));
      if (Is(","))
        Next();
      else if (!Is("]"))
        return Fails("only lists of literals are understood");
    }
    out->data = std::move(items);
    --nesting_;
    Next();
    return true;
  }

  void Next() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n') ++at_;
      } else if (c == ' ' || c == '\t' || c == '\r' ||
                 (c == '\n' && nesting_ > 0)) {
        ++at_;
      } else {
        break;
      }
    }
    token_ = {Token::kEnd, "", at_};
    if (at_ >= text_.size()) return;
    const char c = text_[at_];
    if (c == '\n') {
      token_.kind = Token::kNewline;
      ++at_;
    } else if (c == '"' || c == '\'') {
      ReadText(c);
    } else if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      token_.kind = Token::kName;
      while (at_ < text_.size() &&
             (std::isalnum(static_cast<unsigned char>(text_[at_])) ||
              text_[at_] == '_'))
        token_.text += text_[at_++];
      if (at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'')) {
        token_.kind = Token::kBad;
        token_.text = "a string with a prefix (f, r, b) is not understood";
      }
    } else {
      token_.kind = std::string_view("()[],=+;").find(c) != std::string::npos
                        ? Token::kPunctuation
                        : Token::kBad;
      token_.text = token_.kind == Token::kBad
                        ? "`" + Visible(std::string(1, c)) +
                              "` is more than calls with literals"
                        : std::string(1, c);
      ++at_;
    }
  }

  void ReadText(char quote) {
    const std::string triple(3, quote);
    const bool is_triple = text_.substr(at_, 3) == triple;
    at_ += is_triple ? 3 : 1;
    token_.kind = Token::kText;
    while (at_ < text_.size()) {
      if (is_triple ? text_.substr(at_, 3) == triple : text_[at_] == quote) {
        at_ += is_triple ? 3 : 1;
        return;
      }
      if (text_[at_] == '\n' && !is_triple) break;
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        const size_t escape = std::string_view("\\\"'nt").find(text_[at_ + 1]);
        if (escape == std::string_view::npos) {
          token_.kind = Token::kBad;
          token_.text = "this escape is not understood";
          at_ = text_.size();
          return;
        }
        token_.text += "\\\"'\n\t"[escape];
        at_ += 2;
        continue;
      }
      token_.text += text_[at_++];
    }
    token_.kind = Token::kBad;
    token_.text = "a string does not end";
    at_ = text_.size();
  }

  std::string_view text_;
  size_t at_ = 0;
  int nesting_ = 0;
  int depth_ = 0;
  Token token_;
  std::map<std::string, Value> variables_;
};

// A word of gate's prefix; "@name" would be a list.
bool IsWord(const Value& value) {
  return value.Text() != nullptr && !value.Text()->empty() &&
         !value.Text()->starts_with('@');
}

// Examples: command lines, or lists of words.
bool ReadExamples(const Value& value, Json* out) {
  *out = Json::array();
  if (std::holds_alternative<std::monostate>(value.data)) return true;
  if (value.Items() == nullptr) return false;
  for (const Value& example : *value.Items()) {
    std::string line;
    if (example.Text() != nullptr) {
      line = *example.Text();
    } else {
      if (example.Items() == nullptr) return false;
      for (const Value& word : *example.Items()) {
        if (word.Text() == nullptr) return false;
        line += (line.empty() ? "" : " ") + ShellQuote(*word.Text());
      }
    }
    out->push_back(line);
  }
  return true;
}

class CodexImporter final : public Importer {
 public:
  using Importer::Importer;
  void Read() override;
};

void CodexImporter::Read() {
  Reader reader(text_);
  std::vector<Reader::Call> calls;
  if (!reader.Read(&calls))
    return Refuse(reader.error_at, reader.error,
                  "calls of prefix_rule with literal arguments are understood");
  static constexpr const char* kParameters[] = {"pattern", "decision", "match",
                                                "not_match", "justification"};
  for (Reader::Call& call : calls) {
    if (call.name != "prefix_rule") {
      Refuse(call.at, "`" + call.name + "` has no counterpart in gate");
      continue;
    }
    std::map<std::string, Value> arguments = call.named;
    bool understood = call.positional.size() <= 5;
    for (size_t i = 0; understood && i < call.positional.size(); ++i)
      understood = arguments.emplace(kParameters[i], call.positional[i]).second;
    for (const auto& [name, value] : arguments)
      understood = understood &&
                   std::find(std::begin(kParameters), std::end(kParameters),
                             name) != std::end(kParameters);
    Json prefix = Json::array();
    std::string words;
    const Value& pattern = arguments["pattern"];
    understood = understood && pattern.Items() && !pattern.Items()->empty();
    if (understood)
      for (const Value& item : *pattern.Items()) {
        if (IsWord(item)) {
          prefix.push_back(*item.Text());
          words += *item.Text() + " ";
          continue;
        }
        understood = understood && item.Items() && !item.Items()->empty();
        Json choice = Json::array();
        if (!understood) break;
        for (const Value& word : *item.Items()) {
          understood = understood && IsWord(word);
          if (understood) choice.push_back(*word.Text());
        }
        prefix.push_back(choice);
      }
    std::string decision = "allow";
    if (arguments.contains("decision")) {
      const std::string* text = arguments["decision"].Text();
      understood = understood && text != nullptr;
      if (understood) decision = *text;
    }
    std::string reason = "imported from codex (" + decision + ")";
    if (const std::string* text = arguments["justification"].Text())
      reason = *text;
    Json yes, no;
    understood = understood && ReadExamples(arguments["match"], &yes) &&
                 ReadExamples(arguments["not_match"], &no);
    const bool known =
        decision == "allow" || decision == "prompt" || decision == "forbidden";
    if (understood && known) {
      const Json& first = prefix[0];
      const auto grammar = [](const Json& word) {
        return IsNoProgram(word.get<std::string>());
      };
      if (first.is_array() ? std::any_of(first.begin(), first.end(), grammar)
                           : grammar(first)) {
        Refuse(call.at, "no command begins so once gate has read the line");
        continue;
      }
    }
    if (!understood || !known) {
      Refuse(call.at,
             known ? "the arguments of prefix_rule are not understood"
                   : "the decision `" + Visible(decision) + "` is not known");
      continue;
    }
    Json more = Json::object();
    if (!yes.empty() || !no.empty())
      more["examples"] = {{"match", yes}, {"no_match", no}};
    Add(Id("codex", words),
        decision == "allow"    ? Action::kAllow
        : decision == "prompt" ? Action::kAsk
                               : Action::kDeny,
        reason, {{"prefix", prefix}}, more);
  }
}

}  // namespace

namespace codex {
const ImportFormat* Get();
const ImportFormat* Get() {
  static constexpr ImportFormat kFormat = FormatOf<CodexImporter>("codex");
  return &kFormat;
}
}  // namespace codex

}  // namespace gate::rules
