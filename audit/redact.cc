// Secrets that are known by where they stand. One pass over the text follows
// the shell's quotes, words and separators loosely: it must find the obvious
// in anything that people and agents type, broken lines included, not parse
// it. Values are consumed when they are found, so that the pass is linear.
#include "audit/redact.h"

#include <algorithm>

#include "audit/secret_names.h"
#include "audit/secret_options.h"
#include "base/ascii.h"
#include "known/secret_prefixes.h"

namespace gate::audit {
namespace {

constexpr size_t kNone = std::string_view::npos;

bool IsNameChar(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

bool IsSeparator(char c) {
  return c == ';' || c == '|' || c == '&' || c == '(' || c == ')' || c == '<' ||
         c == '>' || c == '`';
}

std::string_view WithoutDirectory(std::string_view word) {
  const size_t slash = word.rfind('/');
  return slash == kNone ? word : word.substr(slash + 1);
}

class Scanner {
 public:
  Scanner(std::string_view text, std::vector<SecretSpan>* out)
      : text_(text), out_(out) {}

  void Run() {
    while (at_ < text_.size()) Next();
  }

 private:
  char Peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  // Ends a command of a list or pipeline.
  void NewCommand(bool pipe) {
    fed_by_ = pipe && (first_ == "echo" || first_ == "printf")
                  ? std::pair(arguments_, std::min(at_, redirect_))
                  : std::pair(kNone, kNone);
    redirect_ = kNone;
    first_ = program_ = {};
    set_ = stdin_mark_ = false;
    arguments_ = kNone;
    word_ = before_word_ = {};
  }

  void Next() {
    const char c = text_[at_];
    if ((quote_ != '\'' || ansi_) && c == '\\') {
      at_ += 2;
      return;
    }
    if (quote_ == 0 && c == '#' && IsWordStart()) in_comment_ = true;
    if (c == '\n') in_comment_ = false;
    if (in_comment_ && (c == '\'' || c == '"')) {
      ++at_;
      return;
    }
    if (c == '\'' || c == '"') {
      if (quote_ == 0) {
        quote_ = c;
        ansi_ = c == '\'' && at_ > 0 && text_[at_ - 1] == '$';
        if (word_ == "-c" || word_ == "eval") first_ = program_ = {};
      } else if (quote_ == c) {
        quote_ = 0;
      }
      ++at_;
      return;
    }
    if (IsNameChar(c) || c == '/') {
      Word();
      return;
    }
    if (c == '<' && quote_ == 0 && text_.substr(at_).starts_with("<<<")) {
      at_ += 3;
      while (IsSpace(Peek())) ++at_;
      here_string_ = {at_, ValueEnd(at_, false)};
      if (stdin_mark_) TakeStdin(&here_string_);
      return;
    }
    if (IsSeparator(c) || c == '\n') {
      if (c != '<' && c != '>') {
        NewCommand(c == '|' && Peek(1) != '|');
      } else if (quote_ == 0) {
        redirect_ = std::min(redirect_, at_);
      }
    }
    ++at_;
  }

  // A value that is computed, or was redacted before: not looked at, and what
  // stands inside is scanned on its own.
  bool IsOpaque(size_t at) const {
    while (at < text_.size() &&
           (text_[at] == '"' || text_[at] == '\'' || text_[at] == '\\')) {
      ++at;
    }
    const std::string_view rest = text_.substr(std::min(at, text_.size()));
    return rest.starts_with("$(") || rest.starts_with("`") ||
           rest.starts_with("[redacted:");
  }

  bool IsWordStart() const {
    return at_ == 0 || IsSpace(text_[at_ - 1]) || IsSeparator(text_[at_ - 1]);
  }

  // `code` or $(code): it runs, so that it is no part of a secret.
  bool IsSubstitution(size_t at) const {
    return text_[at] == '`' ||
           (text_[at] == '$' && at + 1 < text_.size() && text_[at + 1] == '(');
  }

  // A value may go on after the line break at `at` as the lines of a key do.
  bool GoesOn(size_t at) const { return KeyLineEnd(text_, at + 1) != 0; }

  // Whether the words of the command are read as a line once more: what stands
  // in their quotes may be commands.
  bool IsCode() const {
    return word_ == "-c" || Contains(kCodePrograms, first_);
  }

  // Where the value that begins at `at` ends: the end of the shell word, or of
  // the quotes that the whole assignment stands in (`outer`). However quotes
  // were misunderstood, it never goes over the end of a line, or over what
  // runs.
  size_t ValueEnd(size_t at, bool stop_at_ampersand) const {
    return ValueEnd(at, stop_at_ampersand, quote_);
  }
  size_t ValueEnd(size_t at, bool stop_at_ampersand, char outer) const {
    if (IsOpaque(at)) return at;
    const bool code = outer == 0 && IsCode();
    // \"…\" inside a double-quoted string.
    std::string_view escaped;
    if (at + 1 < text_.size() && text_[at] == '\\' &&
        (text_[at + 1] == '"' || text_[at + 1] == '\'')) {
      escaped = text_.substr(at, 2);
      at += 2;
    }
    char inner = 0;
    for (; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '\n' && !GoesOn(at)) return at;
      if (outer != 0 && c == outer) return at;
      if (IsSubstitution(at) && !(inner == '\'' && outer == 0 && !code)) {
        return at;
      }
      if (!escaped.empty()) {
        if (text_.substr(at).starts_with(escaped)) return at + 2;
        if (c == '\\') ++at;
        if (outer == 0 && (IsSpace(c) || IsSeparator(c))) return at;
        continue;
      }
      if (code && (IsSpace(c) || IsSeparator(c) || c == '\\')) return at;
      if (inner != 0) {
        if (c == '\\' && inner == '"') {
          ++at;
        } else if (c == inner) {
          inner = 0;
        }
        continue;
      }
      if (c == '\\') {
        // A quote escaped for an outer level ends a value as a quote does.
        if (at + 1 < text_.size() && text_[at + 1] == '"' && outer == '"') {
          return at;
        }
        ++at;
        continue;
      }
      if (!in_comment_ && (c == '"' || c == '\'')) {
        inner = c;
        continue;
      }
      if (IsSpace(c)) return at;
      if (stop_at_ampersand && (c == '&' || c == '#')) return at;
      if (IsSeparator(c) && (outer == 0 || (c != '(' && c != ')'))) return at;
    }
    return text_.size();
  }

  // Marks [begin, end) and goes on after it; false when it is no secret.
  bool Take(std::string_view name, size_t begin, size_t end, const char* kind) {
    end = std::min(end, text_.size());
    if (begin >= end ||
        IsHarmlessValue(name, text_.substr(begin, end - begin))) {
      return false;
    }
    out_->push_back({begin, end, kind});
    at_ = end;
    return true;
  }

  // A header's value inside quotes: a scheme and its credentials, cookies, the
  // name="value" list of Digest. What may be a command behind it is not its.
  size_t LineEnd(size_t at) const {
    if (quote_ == 0 || IsOpaque(at)) return ValueEnd(at, false);
    const size_t begin = at;
    bool words = false;
    for (bool listed = false; at < text_.size(); ++at) {
      const char c = text_[at];
      if (c == '\n' || c == '\\' || c == quote_ || IsSubstitution(at))
        return at;
      if (c == '"' && at > begin && text_[at - 1] == '=') listed = true;
      if ((c == '\'' || c == '"') && !listed) return at;
      if (c == ';' && !BeginsCookie(text_, at + 1)) return at;
      if (c == '<' || c == '>') return at;
      if ((c == '|' || c == '&') && !IsTokenTail(text_, at + 1)) return at;
      if (c == ' ' && text_[at - 1] != ',' && text_[at - 1] != ';') {
        if (words) return at;
        words = true;
      }
    }
    return at;
  }

  void Word() {
    const size_t begin = at_;
    while (IsNameChar(Peek()) || Peek() == '/') ++at_;
    const std::string_view run = text_.substr(begin, at_ - begin);
    const size_t slash = run.rfind('/');
    const std::string_view name = slash == kNone ? run : run.substr(slash + 1);
    const char before = begin > 0 ? text_[begin - 1] : '\0';
    if (Member(name, begin) || Assignment(name, before) || Code(name, begin) ||
        Header(name, begin) || Attached(run, begin)) {
      Remember(run, begin);
      return;
    }
    Remember(run, begin);
    if (IsSpace(Peek())) Separate(run);
    Stdin(run);
  }

  // Keeps the last two words, the command's first word, and the last program
  // that has an option of its own: `sudo -u root mysql -pX` is mysql's.
  void Remember(std::string_view run, size_t begin) {
    const bool whole = at_ == begin + run.size();
    if (whole && run.front() != '-' && Peek() != '=') {
      const std::string_view program = WithoutDirectory(run);
      if (first_.empty() && !Contains(kWrappers, program)) {
        first_ = program;
        arguments_ = at_;
      }
      if (program == "chpasswd" ||
          std::any_of(std::begin(kProgramOptions), std::end(kProgramOptions),
                      [&](const ProgramOption& known) {
                        return known.program == program;
                      })) {
        program_ = program;
      }
    }
    before_word_ = word_;
    word_ = run;
    if (run == "set") set_ = true;
    if (run == "secret" && first_ == "gh") gh_secret_ = true;
  }

  // NAME=value, --name=value, ?name=value
  bool Assignment(std::string_view name, char before) {
    // NAME+=value, ${NAME:=value}, ${NAME:-value}
    const bool braces = before == '{';
    const bool two =
        (Peek() == '+' && Peek(1) == '=') ||
        (braces && Peek() == ':' && (Peek(1) == '=' || Peek(1) == '-'));
    if (!two && (Peek() != '=' || Peek(1) == '=')) return false;
    const bool query = before == '?' || before == '&';
    const bool option = name.starts_with("-");
    size_t value = at_ + (two ? 2 : 1);
    if (name == "--from-literal" || (name == "--body" && gh_secret_)) {
      const size_t end = ValueEnd(value, false);
      const size_t equals = text_.substr(value, end - value).find('=');
      if (name == "--from-literal" && equals != kNone) value += equals + 1;
      at_ = value;
      Take(name, value, end, "option");
      return true;
    }
    if (option && UserPassword(name, value)) return true;
    if (!IsSecret(name, !option) &&
        !(query && (name == "key" || name == "sig" || name == "code"))) {
      return false;
    }
    at_ = value;
    size_t end = FilledEnd(value, before);
    if (end == 0) end = ValueEnd(value, query);
    if (braces) end = std::min(end, text_.find('}', value));
    Take(name, value, end,
         query ? "query" : (option ? "option" : "assignment"));
    return true;
  }

  // The same in other languages, XML, and Kubernetes' list of variables
  // (`- name: DB_PASSWORD`, `value: x` in the line below).
  bool Code(std::string_view name, size_t begin) {
    if (word_ == "name") named_ = IsSecret(name, true);
    if (named_ && name == "value" && Peek() == ':') {
      named_ = false;
      size_t value = at_ + 1;
      while (value < text_.size() && text_[value] == ' ') ++value;
      return Take("", value, ValueEnd(value, false), "member");
    }
    if (name.starts_with("-") || !IsSecret(name, true)) return false;
    const size_t element = ElementEnd(text_, begin, at_);
    if (element > 0) return Take(name, at_ + 1, element, "member");
    const size_t value = AssignedValue(text_, begin, at_);
    if (value == 0) return false;
    // Quotes of the index that the scan took for the shell's.
    const bool own = Peek() == quote_ && quote_ != 0;
    const size_t end = ValueEnd(value, false, own ? '\0' : quote_);
    if (!Take(name, value, end, "assignment")) return false;
    if (own) quote_ = 0;
    return true;
  }

  // Where a value ends that fills its quotes, as docker's -e "NAME=a b", or its
  // brackets, as NAME=(a b); 0 for others.
  size_t FilledEnd(size_t value, char before) const {
    const bool quoted = quote_ != 0 && before == quote_ &&
                        Contains(kVariableOptions, word_) &&
                        Contains(kContainerPrograms, first_);
    const bool array = quote_ == 0 && value < text_.size() &&
                       text_[value] == '(' && first_.empty();
    if (!quoted && !array) return 0;
    const size_t begin = value;
    for (; value < text_.size(); ++value) {
      const char c = text_[value];
      if (c == '\n' || IsSubstitution(value)) return 0;
      if (quoted && c == quote_) return value;
      if (!array || value == begin) continue;
      if (c == ')') return value + 1;
      if (IsSeparator(c)) return 0;
    }
    return 0;
  }

  // "name": "value", in JSON and in Python, quoted once more or not.
  bool Member(std::string_view name, size_t begin) {
    if (begin == 0) return false;
    const char open = text_[begin - 1];
    if (open != '"' && open != '\'') return false;
    size_t at = at_;
    if (at < text_.size() && text_[at] == '\\') ++at;
    if (at >= text_.size() || text_[at] != open) return false;
    ++at;
    while (at < text_.size() && IsSpace(text_[at])) ++at;
    if (at >= text_.size() || text_[at] != ':') return false;
    ++at;
    while (at < text_.size() && IsSpace(text_[at])) ++at;
    if (at >= text_.size() || !IsSecret(name, true) || IsOpaque(at)) {
      return false;
    }
    // Quotes that are escaped belong to quotes around them; the others are
    // those that the scan took for the shell's.
    const bool own = quote_ == open && (begin < 2 || text_[begin - 2] != '\\');
    const char outer = own ? '\0' : quote_;
    size_t end = at;
    if (text_[at] == '"' || text_[at] == '\'') {
      const char close = text_[at];
      for (end = at + 1; end < text_.size() && text_[end] != close; ++end) {
        if (text_[end] == '\n' || text_[end] == outer || IsSubstitution(end))
          break;
        if (text_[end] == '\\') ++end;
      }
      end = std::min(end, text_.size());
      if (end < text_.size() && text_[end] == close) ++end;
    } else if (text_[at] == '\\') {
      end = ValueEnd(at, false, outer);
    } else {
      while (end < text_.size() && !IsSpace(text_[end]) && text_[end] != ',' &&
             text_[end] != '}' && text_[end] != '"' && text_[end] != '\'' &&
             !IsSeparator(text_[end])) {
        ++end;
      }
    }
    if (!Take(name, at, end, "member")) return false;
    // The quote that closed the name was skipped over.
    if (own) quote_ = 0;
    return true;
  }

  // Authorization: …, Cookie: …, X-Api-Key: …, and `password: …` at the start
  // of a line.
  bool Header(std::string_view name, size_t begin) {
    if (Peek() != ':') return false;
    const PlainName plain(name);
    const bool header = plain.view().ends_with("AUTHORIZATION") ||
                        plain.view().ends_with("COOKIE");
    if (!header && !IsSecret(name, true)) return false;
    size_t value = at_ + 1;
    while (value < text_.size() &&
           (text_[value] == ' ' || text_[value] == '\t')) {
      ++value;
    }
    if (!header && name.find('-') == kNone) {
      if (value == at_ + 1) return false;
      size_t back = begin;
      while (back > 0 && (text_[back - 1] == ' ' || text_[back - 1] == '\t')) {
        --back;
      }
      const char before = back > 0 ? text_[back - 1] : '\n';
      if (before != '\n' && before != '"' && before != '\'' && before != '{' &&
          before != ',') {
        return false;
      }
    }
    const size_t end = header ? LineEnd(value) : ValueEnd(value, false);
    return Take(name, value, end, "header");
  }

  // Behind curl's -u or -U in `run`, also in a bundle with flags that take no
  // value: -sSfu, -uNAME. kNone when there is none.
  size_t BehindUser(std::string_view run) const {
    constexpr std::string_view kFlags = "#012346BGIJLMNORSZafgijklnpqsv";
    if (program_ != "curl" || !run.starts_with('-')) return kNone;
    for (size_t at = 1; at < run.size(); ++at) {
      if (run[at] == 'u' || run[at] == 'U') return at + 1;
      if (kFlags.find(run[at]) == kNone) return kNone;
    }
    return kNone;
  }

  // -pSECRET, for the programs that have it.
  bool Attached(std::string_view run, size_t begin) {
    const size_t user = BehindUser(run);
    if (user != kNone && begin + user < text_.size() &&
        !IsSpace(text_[begin + user]) && UserPassword("-u", begin + user)) {
      return true;
    }
    for (const ProgramOption& known : kProgramOptions) {
      if (known.form != Form::kAttached || known.program != program_ ||
          !run.starts_with(known.option)) {
        continue;
      }
      const size_t value = begin + known.option.size();
      if (value < text_.size() && !IsSpace(text_[value]) &&
          Take(run, value, ValueEnd(value, false), "option")) {
        return true;
      }
    }
    return false;
  }

  // user:password at `value`; the user stays.
  bool UserPassword(std::string_view option, size_t value) {
    for (const ProgramOption& known : kProgramOptions) {
      if (known.form != Form::kUserPassword || known.program != program_ ||
          known.option != option) {
        continue;
      }
      size_t end = ValueEnd(value, false);
      const std::string_view word = text_.substr(value, end - value);
      const size_t colon = word.find_first_of(":%,");
      if (colon == kNone) return false;
      if (word.front() == '"' || word.front() == '\'') --end;
      const size_t secret = value + colon + 1;
      if (secret < end) Take(option, secret, end, "option");
      return true;
    }
    return false;
  }

  // The word after `run`, when `run` is an option or a setting.
  void Separate(std::string_view run) {
    size_t value = at_;
    // Also over the end of a line that is continued.
    for (bool more = true; more && value < text_.size();) {
      const bool joint = text_.substr(value).starts_with("\\\n");
      more = joint || (IsSpace(text_[value]) && text_[value] != '\n');
      if (more) value += joint ? 2 : 1;
    }
    if (value >= text_.size() || text_[value] == '\n') return;
    const bool option = run.front() == '-';
    if (option &&
        UserPassword(BehindUser(run) == run.size() ? "-u" : run, value)) {
      return;
    }
    bool secret = false;
    if (option && run.size() > 2) {
      secret = IsSecret(run, false) || (run == "--body" && gh_secret_) ||
               run == "--cookie";
    }
    for (const ProgramOption& known : kProgramOptions) {
      const bool cookies =
          known.form == Form::kCookies &&
          text_.substr(value, ValueEnd(value, false) - value).find('=') !=
              kNone;
      secret = secret || ((known.form == Form::kSeparate || cookies) &&
                          known.program == program_ && known.option == run);
    }
    const char* kind = "option";
    if (!option) {
      // aws configure set aws_secret_access_key X; netrc's password X; SQL's
      // PASSWORD 'x'; npm config set //host/:_authToken X
      const PlainName plain(run);
      const bool password =
          plain.view() == "PASSWORD" || plain.view() == "PASSWD";
      if (password && PlainName(before_word_).view() == "SET" &&
          SetPassword(run)) {
        return;
      }
      if (plain.view() == "IDENTIFIED") identified_ = true;
      secret = (set_ && IsSecret(run, true) && first_ != "gh") ||
               (before_word_ == "setenv" && IsSecret(run, true)) ||
               (password && (text_[value] == '\'' || login_)) ||
               (plain.view() == "BY" && identified_);
      kind = "setting";
      if (plain.view() == "LOGIN") login_ = true;
    } else if (text_[value] == '-') {
      secret = false;
    }
    if (!secret) return;
    Take(run, value, ValueEnd(value, false), kind);
  }

  // SQL's SET PASSWORD [FOR 'user'@'host'] = ['x' or PASSWORD('x')].
  bool SetPassword(std::string_view run) {
    const size_t end = std::min(text_.find_first_of(";\n", at_), text_.size());
    size_t value = text_.find('=', at_);
    if (value >= end) return false;
    do {
      ++value;
    } while (value < end && text_[value] == ' ');
    if (value < end && text_[value] != '\'' && text_[value] != '"' &&
        text_[value] != '\\') {
      const size_t open = text_.find('(', value);
      if (open < end) value = open + 1;
    }
    if (value < end) Take(run, value, ValueEnd(value, false), "setting");
    return true;
  }

  // echo SECRET | program --password-stdin
  void Stdin(std::string_view run) {
    const bool mark = Contains(kStdinMarks, run) || program_ == "chpasswd" ||
                      (run == "-S" && Contains(kWrappers, before_word_));
    if (!mark) return;
    stdin_mark_ = true;
    TakeStdin(&fed_by_);
    TakeStdin(&here_string_);
  }

  void TakeStdin(std::pair<size_t, size_t>* span) {
    auto [begin, end] = *span;
    *span = {kNone, kNone};
    if (begin == kNone) return;
    while (begin < end && IsSpace(text_[begin])) ++begin;
    while (end > begin && IsSpace(text_[end - 1])) --end;
    if (begin < end && !IsHarmlessValue("", text_.substr(begin, end - begin))) {
      out_->push_back({begin, end, "stdin"});
    }
  }

  std::string_view text_;
  std::vector<SecretSpan>* out_;
  size_t at_ = 0;
  char quote_ = 0;
  bool ansi_ = false;        // the quotes are $'…', where \' is no end
  size_t redirect_ = kNone;  // the command's first redirection
  bool in_comment_ = false;
  bool named_ = false;  // the last `name:` was that of a secret
  bool login_ = false;
  bool identified_ = false;  // SQL: IDENTIFIED [WITH plugin] BY 'x'
  std::string_view first_, program_;
  bool gh_secret_ = false;
  bool set_ = false;         // the command has a word `set`
  bool stdin_mark_ = false;  // the command reads a secret from its input
  size_t arguments_ = kNone;
  std::string_view word_, before_word_;
  std::pair<size_t, size_t> fed_by_{kNone, kNone};
  std::pair<size_t, size_t> here_string_{kNone, kNone};
};

}  // namespace

void FindSecretPlaces(std::string_view text, std::vector<SecretSpan>* out) {
  Scanner(text, out).Run();
}

}  // namespace gate::audit
