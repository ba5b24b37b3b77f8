// Which model is which filter, and what they share.

#include "parser/filters/filters.h"

#include <algorithm>

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

bool Parse(const Argv& argv, std::string_view shorts,
           std::initializer_list<std::pair<std::string_view, char>> longs,
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
      const std::pair<std::string_view, char>* found = nullptr;
      int matches = 0;
      for (const auto& option : longs) {
        if (!option.first.starts_with(name)) continue;
        ++matches;
        found = &option;
        if (option.first == name) {
          matches = 1;
          break;
        }
      }
      if (matches != 1 || found->second == '\0') return false;
      const int k = kind(found->second);
      if (k == 2 && equals != std::string::npos) {
        parsed->options.emplace_back(found->second, word.substr(equals + 1));
      } else if (k == 2) {
        if (++i >= argv.size()) return false;
        parsed->options.emplace_back(found->second, argv[i]);
      } else if (k == 1 && equals == std::string::npos) {
        parsed->options.emplace_back(found->second, "");
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

using Function = filters::Output (*)(const filters::Argv&, std::string_view);

Function FunctionOf(OutputModel model) {
  switch (model) {
    case OutputModel::kAwkScript:
      return filters::Awk;
    case OutputModel::kBase32:
      return filters::Base32;
    case OutputModel::kBase64:
      return filters::Base64;
    case OutputModel::kCipher:
      return filters::Openssl;
    case OutputModel::kColumns:
      return filters::Cut;
    case OutputModel::kCopy:
      return filters::Cat;
    case OutputModel::kDistinctLines:
      return filters::Uniq;
    case OutputModel::kFirstLines:
      return filters::Head;
    case OutputModel::kFormat:
      return filters::Printf;
    case OutputModel::kHexadecimal:
      return filters::Xxd;
    case OutputModel::kInput:
      return filters::Tee;
    case OutputModel::kJoinedLines:
      return filters::Paste;
    case OutputModel::kLastLines:
      return filters::Tail;
    case OutputModel::kLinesReversed:
      return filters::Tac;
    case OutputModel::kMatchingLines:
      return filters::Grep;
    case OutputModel::kNumbers:
      return filters::Seq;
    case OutputModel::kPacked:
      return filters::Gzip;
    case OutputModel::kReplacedCharacters:
      return filters::Tr;
    case OutputModel::kReversedLines:
      return filters::Rev;
    case OutputModel::kSedScript:
      return filters::Sed;
    case OutputModel::kSortedLines:
      return filters::Sort;
    case OutputModel::kUnpacked:
      return filters::Gunzip;
    case OutputModel::kWords:
      return filters::Echo;
    case OutputModel::kWrappedLines:
      return filters::Fold;
    case OutputModel::kEndlessLine:
      return filters::Yes;
    default:
      return nullptr;
  }
}

}  // namespace

std::optional<std::string> RunFilter(OutputModel model,
                                     const std::vector<std::string>& argv,
                                     std::string_view input) {
  const Function run = FunctionOf(model);
  if (run == nullptr || argv.empty() || input.size() > kMaxFilterBytes)
    return std::nullopt;
  filters::Output output = run(argv, input);
  if (output && output->size() > kMaxFilterBytes) return std::nullopt;
  return output;
}

}  // namespace gate::parser
