// Filters over lines and characters (GNU coreutils, util-linux rev).

#include <algorithm>

#include "parser/filters/filters.h"
#include "parser/filters/internal.h"

namespace gate::parser::filters {

Output Cat(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "u", "", &p) || !OnlyStdin(p)) return std::nullopt;
  return std::string(input);
}

// What tee prints does not depend on the files it writes.
Output Tee(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "aip", "append=a ignore-interrupts=i output-error", &p)) {
    return std::nullopt;
  }
  // `tee -` writes a file called `-`; /dev/stdout would print twice.
  for (const std::string& file : p.operands) {
    if (file.starts_with("/dev/") && file != "/dev/null") return std::nullopt;
    if (file.starts_with("/proc/")) return std::nullopt;
  }
  return std::string(input);
}

Output Tac(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "", "", &p) || !OnlyStdin(p)) return std::nullopt;
  const auto lines = Lines(input);
  std::string out;
  for (size_t k = lines.size(); k-- > 0;) out += lines[k];
  return out;
}

Output Rev(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "", "", &p) || !p.operands.empty() || !IsAscii(input)) {
    return std::nullopt;
  }
  std::string out;
  for (const std::string_view line : Lines(input)) {
    const std::string_view text = WithoutNewline(line);
    out.append(text.rbegin(), text.rend());
    if (text.size() != line.size()) out += '\n';
  }
  return out;
}

namespace {

// Turns `-5` into `-n 5`, which the programs accept as the first word.
Argv Modern(const Argv& argv) {
  Argv modern = argv;
  size_t count = 0;
  if (argv.size() > 1 && argv[1].size() > 1 && argv[1][0] == '-' &&
      ParseCount(std::string_view(argv[1]).substr(1), &count)) {
    modern[1] = "-n" + argv[1].substr(1);
  }
  return modern;
}

// How much of its input head or tail prints.
struct Amount {
  bool bytes = false;      // else lines
  bool other_end = false;  // counted from the end that it does not print
  size_t count = 0;

  // How many of `size` stand before the cut.
  size_t Before(size_t size, bool head) const {
    if (head == other_end) return size - std::min(count, size);
    return std::min(head || count == 0 ? count : count - 1, size);
  }
};

// `other_end`: the sign that says so. `more`: long options that only this one
// has.
std::optional<Amount> ReadAmount(const Argv& argv, const std::string& more,
                                 char other_end) {
  Parsed p;
  if (!Parse(Modern(argv), "n:c:q",
             "lines=n bytes=c quiet=q silent=q verbose zero-terminated" + more,
             &p) ||
      !OnlyStdin(p) || (p.Has('n') && p.Has('c'))) {
    return std::nullopt;
  }
  Amount amount;
  amount.bytes = p.Has('c');
  const std::string* value = p.Value(amount.bytes ? 'c' : 'n');
  std::string_view number = value == nullptr ? "10" : std::string_view(*value);
  amount.other_end = number.starts_with(other_end);
  if (amount.other_end || number.starts_with('-')) number.remove_prefix(1);
  if (!ParseCount(number, &amount.count)) return std::nullopt;
  return amount;
}

// The lines of `all` from `begin` to `end`.
std::string Joined(const std::vector<std::string_view>& all, size_t begin,
                   size_t end) {
  std::string out;
  for (size_t k = begin; k < end; ++k) out += all[k];
  return out;
}

}  // namespace

Output Head(const Argv& argv, std::string_view input) {
  const auto amount = ReadAmount(argv, "", '-');
  if (!amount) return std::nullopt;
  if (amount->bytes)
    return std::string(input.substr(0, amount->Before(input.size(), true)));
  const auto lines = Lines(input);
  return Joined(lines, 0, amount->Before(lines.size(), true));
}

Output Tail(const Argv& argv, std::string_view input) {
  const auto amount = ReadAmount(
      argv, " follow retry pid max-unchanged-stats sleep-interval", '+');
  if (!amount) return std::nullopt;
  if (amount->bytes)
    return std::string(input.substr(amount->Before(input.size(), false)));
  const auto lines = Lines(input);
  return Joined(lines, amount->Before(lines.size(), false), lines.size());
}

Output Fold(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "bw:", "bytes=b spaces width=w characters", &p) ||
      !OnlyStdin(p) || !IsAscii(input) ||
      input.find_first_of("\t\b\r") != std::string_view::npos) {
    return std::nullopt;
  }
  size_t width = 80;
  if (const std::string* value = p.Value('w')) {
    if (!ParseCount(*value, &width) || width == 0) return std::nullopt;
  }
  std::string out;
  size_t column = 0;
  for (const char c : input) {
    if (c == '\n') {
      column = 0;
    } else if (column == width) {
      out += '\n';
      column = 1;
    } else {
      ++column;
    }
    out += c;
  }
  return out;
}

namespace {

// The characters of a set of cut: 1-based, inclusive; end SIZE_MAX: open.
bool ParseRanges(std::string_view text,
                 std::vector<std::pair<size_t, size_t>>* ranges) {
  while (true) {
    const size_t comma = text.find_first_of(", ");
    const std::string_view item = text.substr(0, comma);
    const size_t dash = item.find('-');
    size_t begin = 1, end = SIZE_MAX;
    if (dash == std::string_view::npos) {
      if (!ParseCount(item, &begin)) return false;
      end = begin;
    } else {
      if (item.size() == 1) return false;
      if (dash > 0 && !ParseCount(item.substr(0, dash), &begin)) return false;
      if (dash + 1 < item.size() && !ParseCount(item.substr(dash + 1), &end)) {
        return false;
      }
    }
    if (begin == 0 || end < begin) return false;
    ranges->emplace_back(begin, end);
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Output Cut(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "b:c:d:f:nsCo:",
             "bytes=b characters=c fields=f delimiter=d only-delimited=s "
             "output-delimiter=o complement=C zero-terminated",
             &p) ||
      !OnlyStdin(p) || !IsAscii(input)) {
    return std::nullopt;
  }
  // -o and -C are spelled only as long options.
  for (size_t i = 1; i < argv.size(); ++i) {
    if (argv[i].starts_with("-o") || argv[i].starts_with("-C")) {
      return std::nullopt;
    }
  }
  if (p.Has('b') + p.Has('c') + p.Has('f') != 1) return std::nullopt;
  const bool fields = p.Has('f');
  const std::string* list = p.Value(fields ? 'f' : p.Has('c') ? 'c' : 'b');
  int lists = 0;
  for (const auto& [option, value] : p.options) {
    lists += option == 'b' || option == 'c' || option == 'f';
  }
  std::vector<std::pair<size_t, size_t>> ranges;
  if (lists != 1 || !ParseRanges(*list, &ranges)) return std::nullopt;
  if (!fields && (p.Has('d') || p.Has('s') || p.Has('o'))) return std::nullopt;
  const std::string* delimiter = p.Value('d');
  if (delimiter != nullptr && delimiter->size() != 1) return std::nullopt;
  const char separator = delimiter == nullptr ? '\t' : (*delimiter)[0];
  if (separator == '\n') return std::nullopt;
  const std::string joiner =
      p.Has('o') ? *p.Value('o') : std::string(1, separator);
  const bool complement = p.Has('C');
  const auto chosen = [&](size_t n) {
    const bool in =
        std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
          return range.first <= n && n <= range.second;
        });
    return in != complement;
  };
  std::string out;
  for (const std::string_view line : Lines(input)) {
    std::string_view text = WithoutNewline(line);
    if (!fields) {
      for (size_t k = 0; k < text.size(); ++k) {
        if (chosen(k + 1)) out += text[k];
      }
    } else if (text.find(separator) == std::string_view::npos) {
      if (p.Has('s')) continue;
      out += text;
    } else {
      bool first = true;
      for (size_t n = 1;; ++n) {
        const size_t end = text.find(separator);
        if (chosen(n)) {
          if (!first) out += joiner;
          first = false;
          out += text.substr(0, end);
        }
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
      }
    }
    out += '\n';
  }
  return out;
}

Output Paste(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "sd:", "serial=s delimiters=d zero-terminated", &p) ||
      input.empty() || !IsAscii(input)) {
    return std::nullopt;
  }
  std::string delimiters = "\t";
  if (const std::string* value = p.Value('d')) delimiters = *value;
  if (delimiters.empty() || !IsAscii(delimiters) ||
      delimiters.find('\\') != std::string::npos) {
    return std::nullopt;
  }
  for (const std::string& operand : p.operands) {
    if (operand != "-") return std::nullopt;
  }
  const size_t columns = std::max<size_t>(p.operands.size(), 1);
  const auto lines = Lines(input);
  std::string out;
  if (p.Has('s')) {
    if (columns != 1) return std::nullopt;
    for (size_t k = 0; k < lines.size(); ++k) {
      if (k > 0) out += delimiters[(k - 1) % delimiters.size()];
      out += WithoutNewline(lines[k]);
    }
    return out + "\n";
  }
  for (size_t k = 0; k < lines.size(); k += columns) {
    for (size_t c = 0; c < columns; ++c) {
      if (c > 0) out += delimiters[(c - 1) % delimiters.size()];
      if (k + c < lines.size()) out += WithoutNewline(lines[k + c]);
    }
    out += '\n';
  }
  return out;
}

// Orders of collation agree with bytes only for lines of digits and small
// letters, and for -n over numbers that are all different.
Output Sort(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "rnu", "reverse=r numeric-sort=n unique=u", &p) ||
      !OnlyStdin(p)) {
    return std::nullopt;
  }
  for (size_t i = 1; i < argv.size(); ++i) {
    if (argv[i].starts_with("--") && argv[i] != "--reverse" &&
        argv[i] != "--numeric-sort" && argv[i] != "--unique" &&
        argv[i] != "--") {
      return std::nullopt;  // abbreviations: the list above is not whole
    }
  }
  std::vector<std::string_view> lines;
  for (const std::string_view line : Lines(input)) {
    lines.push_back(WithoutNewline(line));
  }
  if (p.Has('n')) {
    std::vector<std::pair<size_t, std::string_view>> numbers;
    for (const std::string_view line : lines) {
      size_t value = 0;
      if (!ParseCount(line, &value) || (line.size() > 1 && line[0] == '0')) {
        return std::nullopt;
      }
      numbers.emplace_back(value, line);
    }
    std::sort(numbers.begin(), numbers.end());
    for (size_t k = 0; k < lines.size(); ++k) lines[k] = numbers[k].second;
  } else {
    for (const std::string_view line : lines) {
      for (const char c : line) {
        if ((c < 'a' || c > 'z') && (c < '0' || c > '9')) return std::nullopt;
      }
    }
    std::sort(lines.begin(), lines.end());
  }
  if (p.Has('u')) {
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  }
  if (p.Has('r')) std::reverse(lines.begin(), lines.end());
  std::string out;
  for (const std::string_view line : lines) {
    out += line;
    out += '\n';
  }
  return out;
}

Output Uniq(const Argv& argv, std::string_view input) {
  Parsed p;
  if (!Parse(argv, "cdu", "", &p) || !OnlyStdin(p) || !IsAscii(input)) {
    return std::nullopt;
  }
  const auto lines = Lines(input);
  std::string out;
  for (size_t k = 0; k < lines.size();) {
    const std::string_view text = WithoutNewline(lines[k]);
    size_t end = k + 1;
    while (end < lines.size() && WithoutNewline(lines[end]) == text) ++end;
    const size_t count = end - k;
    k = end;
    if ((p.Has('d') && count == 1) || (p.Has('u') && count > 1)) continue;
    if (p.Has('c')) {
      const std::string number = std::to_string(count);
      out.append(number.size() < 7 ? 7 - number.size() : 0, ' ');
      out += number + " ";
    }
    out += text;
    out += '\n';
  }
  return out;
}

}  // namespace gate::parser::filters
