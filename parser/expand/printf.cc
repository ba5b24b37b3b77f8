// printf and echo of bash, for known arguments (bash 5.2, SHELL BUILTINS).
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "parser/expand/escapes.h"
#include "parser/expand/expand.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxWidth = 4096;

// What `%q` prints for a word.
std::optional<std::string> QuoteForPrintf(const std::string& word) {
  if (word.empty()) return "''";
  std::string out;
  for (const char c : word) {
    const auto u = static_cast<unsigned char>(c);
    if (u < 0x20 || u == 0x7f) {
      for (const char other : word)
        if (static_cast<unsigned char>(other) >= 0x80) return std::nullopt;
      return AnsiQuote(word);
    }
    if (u >= 0x80) return std::nullopt;  // the locale decides
    if (std::string_view(" !\"$&'()*,;<>?[\\]^`{|}").find(c) !=
            std::string_view::npos ||
        (out.empty() && (c == '#' || c == '~')))
      out += '\\';
    out += c;
  }
  return out;
}

// A numeric argument: 'c gives a character's code; else a C integer. False
// when bash would complain, so that the value is not relied on.
bool ToInteger(const std::string& text, int64_t* value) {
  if (text.empty()) {
    *value = 0;
    return true;
  }
  if (text[0] == '\'' || text[0] == '"') {
    const auto u = text.size() > 1 ? static_cast<unsigned char>(text[1]) : 0;
    *value = u;
    return u < 0x80;
  }
  errno = 0;
  char* end = nullptr;
  *value = std::strtoll(text.c_str(), &end, 0);
  return *end == '\0' && errno == 0;
}

class Formatter {
 public:
  explicit Formatter(const std::vector<std::string>& words) : words_(words) {}

  std::optional<std::string> Run() {
    const std::string& format = words_[0];
    do {
      consumed_ = false;
      if (!Once(format)) return std::nullopt;
    } while (!stop_ && consumed_ && next_ < words_.size() &&
             out_.size() < kMaxValueBytes);
    if (out_.size() >= kMaxValueBytes) return std::nullopt;
    return out_;
  }

 private:
  std::string Next() {
    consumed_ = true;
    return next_ < words_.size() ? words_[next_++] : "";
  }

  bool Once(const std::string& format) {
    for (size_t i = 0; i < format.size() && !stop_;) {
      if (format[i] == '\\') {
        i += DecodeEscape(std::string_view(format).substr(i),
                          EscapeStyle::kPrintfFormat, &out_, &stop_);
        continue;
      }
      if (format[i] != '%') {
        out_ += format[i++];
        continue;
      }
      if (i + 1 < format.size() && format[i + 1] == '%') {
        out_ += '%';
        i += 2;
        continue;
      }
      if (!Conversion(format, &i)) return false;
    }
    return true;
  }

  bool Number(const std::string& format, size_t* i, int* value) {
    if (*i < format.size() && format[*i] == '*') {
      ++*i;
      int64_t number = 0;
      if (!ToInteger(Next(), &number) || std::abs(number) > int64_t{kMaxWidth})
        return false;
      *value = static_cast<int>(number);
      return true;
    }
    int number = 0;
    while (*i < format.size() &&
           std::isdigit(static_cast<unsigned char>(format[*i])) != 0) {
      number = number * 10 + (format[(*i)++] - '0');
      if (number > static_cast<int>(kMaxWidth)) return false;
      *value = number;
    }
    return true;
  }

  void Pad(std::string text, const std::string& flags, int width,
           int precision) {
    if (precision >= 0 && text.size() > static_cast<size_t>(precision))
      text.resize(static_cast<size_t>(precision));
    bool left = flags.find('-') != std::string::npos;
    if (width < 0) {
      left = true;
      width = -width;
    }
    const auto wide = static_cast<size_t>(width);
    if (text.size() < wide)
      text.insert(left ? text.size() : 0, wide - text.size(), ' ');
    out_ += text;
  }

  bool Floating(const std::string& flags, int width, int precision, char kind) {
    const std::string word = Next();
    long double value = 0;
    if (!word.empty()) {
      // Plain decimal numbers only; others are read by the locale's rules.
      if (word.find_first_not_of("0123456789+-.eE") != std::string::npos)
        return false;
      char* end = nullptr;
      errno = 0;
      value = std::strtold(word.c_str(), &end);
      if (*end != '\0' || errno != 0) return false;
    }
    if (flags.find('\'') != std::string::npos) return false;
    const std::string spec = "%" + flags + "*.*L" + kind;
    std::string text(kMaxWidth * 2 + 5000, '\0');
    const int size = std::snprintf(text.data(), text.size(), spec.c_str(),
                                   width, precision < 0 ? 6 : precision, value);
    if (size < 0 || static_cast<size_t>(size) >= text.size()) return false;
    text.resize(static_cast<size_t>(size));
    out_ += text;
    return true;
  }

  bool Conversion(const std::string& format, size_t* at) {
    size_t i = *at + 1;
    std::string flags;
    while (i < format.size() &&
           std::string_view("-+ #0'").find(format[i]) != std::string_view::npos)
      flags += format[i++];
    int width = 0;
    int precision = -1;
    if (!Number(format, &i, &width)) return false;
    if (i < format.size() && format[i] == '.') {
      ++i;
      precision = 0;
      if (!Number(format, &i, &precision)) return false;
    }
    while (i < format.size() &&
           std::string_view("hlLjzt").find(format[i]) != std::string_view::npos)
      ++i;
    if (i >= format.size()) return false;
    const char kind = format[i++];
    *at = i;
    switch (kind) {
      case 's':
        Pad(Next(), flags, width, precision);
        return true;
      case 'q': {
        const auto quoted = QuoteForPrintf(Next());
        if (!quoted) return false;
        Pad(*quoted, flags, width, precision);
        return true;
      }
      case 'Q': {
        std::string word = Next();
        if (precision >= 0 && word.size() > static_cast<size_t>(precision))
          word.resize(static_cast<size_t>(precision));
        const auto quoted = QuoteForPrintf(word);
        if (!quoted) return false;
        Pad(*quoted, flags, width, -1);
        return true;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return Floating(flags, width, precision, kind);
      case 'b': {
        const std::string word = Next();
        std::string text;
        bool stop = false;
        for (size_t k = 0; k < word.size() && !stop;) {
          if (word[k] == '\\') {
            k += DecodeEscape(std::string_view(word).substr(k),
                              EscapeStyle::kPrintfB, &text, &stop);
          } else {
            text += word[k++];
          }
        }
        Pad(std::move(text), flags, width, precision);
        stop_ = stop;
        return true;
      }
      case 'c': {
        const std::string word = Next();
        if (word.empty()) return false;  // prints a NUL
        Pad(word.substr(0, 1), flags, width, -1);
        return true;
      }
      case 'd':
      case 'i':
      case 'o':
      case 'u':
      case 'x':
      case 'X': {
        int64_t value = 0;
        if (!ToInteger(Next(), &value)) return false;
        std::string spec = "%" + flags;
        if (spec.find('\'') != std::string::npos) return false;
        spec += "*";
        if (precision >= 0) spec += ".*";
        spec += "ll";
        spec += kind;
        std::string text(kMaxWidth * 2 + 64, '\0');
        const int size =
            precision >= 0
                ? std::snprintf(text.data(), text.size(), spec.c_str(), width,
                                precision, static_cast<long long>(value))
                : std::snprintf(text.data(), text.size(), spec.c_str(), width,
                                static_cast<long long>(value));
        if (size < 0 || static_cast<size_t>(size) >= text.size()) return false;
        text.resize(static_cast<size_t>(size));
        out_ += text;
        return true;
      }
      default:
        return false;  // floating point, times, %n: not followed
    }
  }

  const std::vector<std::string>& words_;
  size_t next_ = 1;
  bool consumed_ = false;
  bool stop_ = false;
  std::string out_;
};

}  // namespace

std::optional<std::string> FormatPrintf(const std::vector<std::string>& args) {
  if (args.empty()) return std::nullopt;
  return Formatter(args).Run();
}

std::string ExpandEchoEscapes(std::string_view text, bool* stop) {
  std::string out;
  *stop = false;
  while (!text.empty() && !*stop) {
    if (text[0] != '\\') {
      out += text[0];
      text.remove_prefix(1);
      continue;
    }
    text.remove_prefix(DecodeEscape(text, EscapeStyle::kEcho, &out, stop));
  }
  return out;
}

}  // namespace gate::parser
