// Which model is which filter, and what they share.

#include "parser/filters/filters.h"

#include <algorithm>
#include <iterator>

#include "parser/filters/internal.h"

namespace gate::parser {
namespace filters {

bool Parsed::Has(char option) const {
  return std::any_of(options.begin(), options.end(),
                     [&](const auto& o) { return o.first == option; });
}

const std::string* Parsed::Value(char option) const {
  for (size_t k = options.size(); k-- > 0;) {
    if (options[k].first == option) return &options[k].second;
  }
  return nullptr;
}

namespace {

// The letter that `name`, perhaps cut short, stands for among `longs`; '\0' for
// none that is supported.
char LongOption(std::string_view name, std::string_view longs) {
  char letter = '\0';
  int matches = 0;
  const auto look = [&](std::string_view option, char stands_for) {
    if (!option.starts_with(name)) return false;
    ++matches;
    letter = stands_for;
    return option == name;
  };
  while (!longs.empty()) {
    const std::string_view word = longs.substr(0, longs.find(' '));
    longs.remove_prefix(std::min(word.size() + 1, longs.size()));
    const size_t equals = word.find('=');
    if (look(word.substr(0, equals), equals == word.npos ? '\0' : word.back()))
      return letter;
  }
  look("help", '\0');
  look("version", '\0');
  return matches == 1 ? letter : '\0';
}

}  // namespace

bool Parse(const Argv& argv, std::string_view shorts, std::string_view longs,
           Parsed* parsed, bool posix) {
  // 0: unknown, 1: flag, 2: takes a value.
  const auto kind = [&](char c) {
    const size_t at = c == ':' ? std::string_view::npos : shorts.find(c);
    if (at == std::string_view::npos) return 0;
    return at + 1 < shorts.size() && shorts[at + 1] == ':' ? 2 : 1;
  };
  bool options = true;
  for (size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (!options || word.size() < 2 || word[0] != '-') {
      parsed->operands.push_back(word);
      if (posix) options = false;
      continue;
    }
    if (word == "--") {
      options = false;
      continue;
    }
    if (word[1] == '-') {
      const size_t equals = word.find('=');
      const std::string_view name = std::string_view(word).substr(
          2, equals == std::string::npos ? std::string::npos : equals - 2);
      const char found = LongOption(name, longs);
      if (found == '\0') return false;
      const int k = kind(found);
      if (k == 2 && equals != std::string::npos) {
        parsed->options.emplace_back(found, word.substr(equals + 1));
      } else if (k == 2) {
        if (++i >= argv.size()) return false;
        parsed->options.emplace_back(found, argv[i]);
      } else if (k == 1 && equals == std::string::npos) {
        parsed->options.emplace_back(found, "");
      } else {
        return false;
      }
      continue;
    }
    for (size_t at = 1; at < word.size(); ++at) {
      const int k = kind(word[at]);
      if (k == 0) return false;
      if (k == 1) {
        parsed->options.emplace_back(word[at], "");
        continue;
      }
      std::string value = word.substr(at + 1);
      if (value.empty()) {
        if (++i >= argv.size()) return false;
        value = argv[i];
      }
      parsed->options.emplace_back(word[at], std::move(value));
      break;
    }
  }
  return true;
}

bool OnlyStdin(const Parsed& parsed) {
  return parsed.operands.empty() ||
         (parsed.operands.size() == 1 && parsed.operands[0] == "-");
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

std::string_view WithoutNewline(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c != '\0' && static_cast<unsigned char>(c) < 0x80;
  });
}

bool ParseCount(std::string_view text, size_t* value) {
  if (text.empty() || text.size() > 9) return false;
  size_t sum = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    sum = sum * 10 + static_cast<size_t>(c - '0');
  }
  *value = sum;
  return true;
}

}  // namespace filters

namespace {

using enum OutputModel;

constexpr struct {
  OutputModel model;
  filters::Output (*run)(const filters::Argv&, std::string_view);
} kFilters[] = {
    {kAwkScript, filters::Awk},      {kBase32, filters::Base32},
    {kBase64, filters::Base64},      {kCipher, filters::Openssl},
    {kColumns, filters::Cut},        {kCopy, filters::Cat},
    {kDistinctLines, filters::Uniq}, {kFirstLines, filters::Head},
    {kFormat, filters::Printf},      {kHexadecimal, filters::Xxd},
    {kInput, filters::Tee},          {kJoinedLines, filters::Paste},
    {kLastLines, filters::Tail},     {kLinesReversed, filters::Tac},
    {kMatchingLines, filters::Grep}, {kNumbers, filters::Seq},
    {kPacked, filters::Gzip},        {kReplacedCharacters, filters::Tr},
    {kReversedLines, filters::Rev},  {kSedScript, filters::Sed},
    {kSortedLines, filters::Sort},   {kUnpacked, filters::Gunzip},
    {kWords, filters::Echo},         {kWrappedLines, filters::Fold},
    {kEndlessLine, filters::Yes}};

}  // namespace

std::optional<std::string> RunFilter(OutputModel model,
                                     const std::vector<std::string>& argv,
                                     std::string_view input) {
  const auto filter = std::ranges::find(
      kFilters, model, [](const auto& row) { return row.model; });
  if (filter == std::end(kFilters) || argv.empty() ||
      input.size() > kMaxFilterBytes)
    return std::nullopt;
  filters::Output output = filter->run(argv, input);
  if (output && output->size() > kMaxFilterBytes) return std::nullopt;
  return output;
}

}  // namespace gate::parser
