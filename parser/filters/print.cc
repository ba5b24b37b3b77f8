// Programs that print and do not read: echo, printf, seq, yes.

#include "base/ascii.h"
#include "parser/filters/filters.h"
#include "parser/filters/internal.h"

namespace gate::parser::filters {

Output Seq(const Argv& argv, std::string_view) {
  std::string separator = "\n";
  std::vector<long> numbers;
  size_t i = 1;
  if (i + 1 < argv.size() && argv[i] == "-s") {
    separator = argv[i + 1];
    i += 2;
  } else if (i < argv.size() && argv[i].starts_with("-s")) {
    separator = argv[i].substr(2);
    ++i;
  }
  for (; i < argv.size(); ++i) {
    std::string_view text = argv[i];
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    size_t value = 0;
    if (!ParseCount(text, &value) || (text.size() > 1 && text[0] == '0')) {
      return std::nullopt;
    }
    if (negative && value == 0) return std::nullopt;
    numbers.push_back(negative ? -static_cast<long>(value)
                               : static_cast<long>(value));
  }
  if (numbers.empty() || numbers.size() > 3) return std::nullopt;
  const long first = numbers.size() > 1 ? numbers[0] : 1;
  const long step = numbers.size() > 2 ? numbers[1] : 1;
  const long last = numbers.back();
  if (step == 0) return std::nullopt;
  std::string out;
  for (long n = first; step > 0 ? n <= last : n >= last; n += step) {
    if (!out.empty()) out += separator;
    out += std::to_string(n);
    if (out.size() > kMaxFilterBytes) return std::nullopt;
  }
  if (!out.empty()) out += '\n';
  return out;
}

Output Yes(const Argv& argv, std::string_view) {
  std::string line;
  for (size_t i = 1; i < argv.size(); ++i) {
    if (argv[i].starts_with('-')) return std::nullopt;
    if (i > 1) line += ' ';
    line += argv[i];
  }
  if (argv.size() == 1) line = "y";
  line += '\n';
  std::string out;
  while (out.size() + line.size() <= kMaxFilterBytes) out += line;
  return out;
}

namespace {

// One escape of `echo -e` or printf(1) at text[*at] == '\\'. False when it is
// not one that all versions know.
bool Escape(std::string_view text, size_t* at, bool octal_needs_zero,
            std::string* out) {
  if (*at + 1 >= text.size()) return false;
  const char c = text[*at + 1];
  *at += 2;
  if (const auto control = ControlEscape(c)) {
    *out += *control;
    return true;
  }
  switch (c) {
    case '\\':
      *out += '\\';
      return true;
    case 'e':
      *out += '\x1b';
      return true;
    default:
      break;
  }
  const auto digit = [&](int base) -> int {
    if (*at >= text.size()) return -1;
    const int value = HexValue(text[*at]);
    return value < base ? value : -1;
  };
  int value = 0, count = 0;
  if (c == 'x') {
    for (; count < 2 && digit(16) >= 0; ++count, ++*at) {
      value = value * 16 + digit(16);
    }
    if (count == 0) return false;
  } else if (c >= '0' && c <= '7' && (c == '0' || !octal_needs_zero)) {
    // echo: \0NNN; printf: \NNN.
    --*at;
    if (octal_needs_zero) ++*at;
    for (; count < 3 && digit(8) >= 0; ++count, ++*at) {
      value = value * 8 + digit(8);
    }
    if (value > 255) return false;
  } else {
    return false;
  }
  *out += static_cast<char>(value);
  return true;
}

}  // namespace

// The program echo, not the builtin; they agree in what is accepted here.
Output Echo(const Argv& argv, std::string_view) {
  size_t i = 1;
  bool newline = true, escapes = false;
  for (; i < argv.size() && argv[i].size() > 1 && argv[i][0] == '-' &&
         argv[i].find_first_not_of("neE", 1) == std::string::npos;
       ++i) {
    for (const char c : argv[i].substr(1)) {
      if (c == 'n') newline = false;
      if (c != 'n') escapes = c == 'e';
    }
  }
  if (argv.size() == 2 && argv[1].starts_with("--") && argv[1].size() > 2) {
    return std::nullopt;  // --help, --version
  }
  std::string out;
  for (size_t k = i; k < argv.size(); ++k) {
    if (k > i) out += ' ';
    if (!escapes) {
      out += argv[k];
      continue;
    }
    for (size_t at = 0; at < argv[k].size();) {
      if (argv[k][at] != '\\') {
        out += argv[k][at++];
      } else if (!Escape(argv[k], &at, /*octal_needs_zero=*/true, &out)) {
        return std::nullopt;
      }
    }
  }
  if (newline) out += '\n';
  return out;
}

// %s, %b without escapes, %% and escapes in the format.
Output Printf(const Argv& argv, std::string_view) {
  size_t i = 1;
  if (i < argv.size() && argv[i] == "--") ++i;
  if (i >= argv.size() || (i == 1 && argv[i].starts_with('-'))) {
    return std::nullopt;
  }
  const std::string& format = argv[i++];
  std::string out;
  do {
    const size_t before = i;
    for (size_t at = 0; at < format.size();) {
      if (format[at] == '\\') {
        if (!Escape(format, &at, /*octal_needs_zero=*/false, &out)) {
          return std::nullopt;
        }
        continue;
      }
      if (format[at] != '%') {
        out += format[at++];
        continue;
      }
      if (at + 1 >= format.size()) return std::nullopt;
      const char conversion = format[at + 1];
      at += 2;
      if (conversion == '%') {
        out += '%';
      } else if (conversion == 's' || conversion == 'b') {
        if (i < argv.size()) {
          if (conversion == 'b' && argv[i].find('\\') != std::string::npos) {
            return std::nullopt;
          }
          out += argv[i++];
        }
      } else {
        return std::nullopt;
      }
    }
    if (i == before) break;  // no conversion used an argument
    if (out.size() > kMaxFilterBytes) return std::nullopt;
  } while (i < argv.size());
  return out;
}

}  // namespace gate::parser::filters
