// Encodings: base64, base32, hexadecimal, gzip.

#include <array>
#include <cstdint>

#include "parser/filters/filters.h"
#include "parser/filters/internal.h"

namespace gate::parser::filters {
namespace {

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

// Decodes digits of `bits` bits each; the text must be whole groups, padded
// or (when allowed) cut off, with no bits left over.
bool Decode(std::string_view text, std::string_view alphabet, unsigned bits,
            size_t group, bool ignore_garbage, std::string* out) {
  std::string digits;
  for (const char c : text) {
    if (c == '\n') continue;
    if (c != '=' && alphabet.find(c) == std::string_view::npos) {
      if (ignore_garbage) continue;
      return false;
    }
    digits += c;
  }
  const size_t end = digits.find('=');
  size_t count = digits.size();
  if (end != std::string::npos) {
    if (digits.find_first_not_of('=', end) != std::string::npos ||
        digits.size() % group != 0 || digits.size() - end >= group) {
      return false;
    }
    count = end;
  } else if (digits.size() % group != 0) {
    return false;
  }
  uint32_t value = 0;
  unsigned have = 0;
  for (size_t k = 0; k < count; ++k) {
    value = value << bits | static_cast<uint32_t>(alphabet.find(digits[k]));
    have += bits;
    if (have >= 8) {
      have -= 8;
      *out += static_cast<char>(value >> have & 0xff);
    }
    value &= 0xffff;
  }
  // A digit too many, or bits that are not zero.
  return have < bits && (value & ((1u << have) - 1)) == 0;
}

std::string Encode(std::string_view bytes, std::string_view alphabet,
                   unsigned bits, size_t group) {
  std::string out;
  uint32_t value = 0;
  unsigned have = 0;
  for (const char c : bytes) {
    value = (value << 8 | static_cast<unsigned char>(c)) & 0xfffff;
    have += 8;
    while (have >= bits) {
      have -= bits;
      out += alphabet[value >> have & ((1u << bits) - 1)];
    }
  }
  if (have > 0) out += alphabet[value << (bits - have) & ((1u << bits) - 1)];
  while (out.size() % group != 0) out += '=';
  return out;
}

std::string Wrap(std::string_view text, size_t width, bool last_newline) {
  std::string out;
  if (width == 0) return std::string(text);
  for (size_t k = 0; k < text.size(); k += width) {
    out += text.substr(k, width);
    if (last_newline || k + width < text.size()) out += '\n';
  }
  return out;
}

Output Base(const Argv& argv, std::string_view input, bool base32) {
  Parsed p;
  if (!Parse(argv, "diw:", "decode=d ignore-garbage=i wrap=w", &p) ||
      !OnlyStdin(p)) {
    return std::nullopt;
  }
  const std::string_view alphabet = base32 ? kBase32 : kBase64;
  const unsigned bits = base32 ? 5 : 6;
  const size_t group = base32 ? 8 : 4;
  size_t width = 76;
  if (const std::string* value = p.Value('w')) {
    if (!ParseCount(*value, &width)) return std::nullopt;
  }
  if (!p.Has('d')) {
    return Wrap(Encode(input, alphabet, bits, group), width, true);
  }
  std::string out;
  if (!Decode(input, alphabet, bits, group, p.Has('i'), &out)) {
    return std::nullopt;
  }
  return out;
}

}  // namespace

Output Base32(const Argv& argv, std::string_view input) {
  return Base(argv, input, /*base32=*/true);
}

Output Base64(const Argv& argv, std::string_view input) {
  return Base(argv, input, /*base32=*/false);
}

// `openssl base64 -d [-A]`, `openssl enc -base64 -d [-A]`: with -A one line;
// without, lines as openssl writes them.
Output Openssl(const Argv& argv, std::string_view input) {
  if (argv.size() < 2) return std::nullopt;
  bool decode = false, one_line = false, base64 = argv[1] == "base64";
  if (!base64 && argv[1] != "enc") return std::nullopt;
  for (size_t i = 2; i < argv.size(); ++i) {
    if (argv[i] == "-d") {
      decode = true;
    } else if (argv[i] == "-A") {
      one_line = true;
    } else if (argv[i] == "-a" || argv[i] == "-base64") {
      base64 = true;
    } else if (argv[i] != "-e") {
      return std::nullopt;
    }
  }
  if (!base64) return std::nullopt;
  if (!decode) {
    const std::string text = Encode(input, kBase64, 6, 4);
    return one_line ? text : Wrap(text, 64, true);
  }
  if (input.size() > 60000) return std::nullopt;
  const auto lines = Lines(input);
  if (one_line) {
    if (lines.size() != 1 || WithoutNewline(lines[0]).size() > 1000) {
      return std::nullopt;
    }
  } else {
    for (size_t k = 0; k < lines.size(); ++k) {
      const size_t size = WithoutNewline(lines[k]).size();
      if (size == lines[k].size() || size > 76 ||
          (k + 1 < lines.size() && size != 64 && size != 76)) {
        return std::nullopt;
      }
    }
  }
  std::string out;
  if (!Decode(input, kBase64, 6, 4, false, &out)) return std::nullopt;
  return out;
}

// xxd -r -p, xxd -p [-c N]. xxd looks at two characters of an option.
Output Xxd(const Argv& argv, std::string_view input) {
  bool plain = false, revert = false;
  size_t columns = 30;
  for (size_t i = 1; i < argv.size(); ++i) {
    const std::string& word = argv[i];
    if (word == "-" && i + 1 == argv.size()) continue;
    if (word == "-p" || word == "-ps" || word == "-plain") {
      plain = true;
    } else if (word == "-r" || word == "-revert") {
      revert = true;
    } else if (word == "-c" && i + 1 < argv.size()) {
      if (!ParseCount(argv[++i], &columns) || columns == 0 || columns > 256) {
        return std::nullopt;
      }
    } else if (word.starts_with("-c") && word.size() > 2) {
      if (!ParseCount(std::string_view(word).substr(2), &columns) ||
          columns == 0 || columns > 256) {
        return std::nullopt;
      }
    } else {
      return std::nullopt;
    }
  }
  if (!plain) return std::nullopt;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  if (!revert) {
    for (size_t k = 0; k < input.size(); ++k) {
      const unsigned char byte = static_cast<unsigned char>(input[k]);
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
      if ((k + 1) % columns == 0 || k + 1 == input.size()) out += '\n';
    }
    return out;
  }
  int high = -1;
  for (const char c : input) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c + 32) : c;
    const size_t digit = kDigits.find(lower);
    if (digit == std::string_view::npos) return std::nullopt;
    if (high < 0) {
      high = static_cast<int>(digit);
    } else {
      out += static_cast<char>(high * 16 + static_cast<int>(digit));
      high = -1;
    }
  }
  if (high >= 0) return std::nullopt;
  return out;
}

namespace {

// Inflate (RFC 1951), bit by bit over canonical codes: small and bounded.
class Inflater {
 public:
  Inflater(std::string_view data, std::string* out) : data_(data), out_(out) {}

  bool Run() {
    for (bool last = false; !last;) {
      last = Bits(1) != 0;
      const unsigned type = Bits(2);
      if (failed_) return false;
      const bool ok = type == 0   ? Stored()
                      : type == 1 ? Fixed()
                      : type == 2 ? Dynamic()
                                  : false;
      if (!ok || failed_) return false;
    }
    return true;
  }

  size_t used() const { return at_; }

 private:
  struct Code {
    std::array<uint16_t, 16> count = {};
    std::array<uint16_t, 320> symbol = {};
  };

  unsigned Bits(unsigned count) {
    while (have_ < count) {
      if (at_ >= data_.size()) {
        failed_ = true;
        return 0;
      }
      hold_ |= static_cast<uint32_t>(static_cast<unsigned char>(data_[at_++]))
               << have_;
      have_ += 8;
    }
    const unsigned value = hold_ & ((1u << count) - 1);
    hold_ >>= count;
    have_ -= count;
    return value;
  }

  static bool Build(const uint8_t* lengths, size_t count, Code* code) {
    for (size_t k = 0; k < count; ++k) ++code->count[lengths[k]];
    code->count[0] = 0;
    int left = 1;
    for (size_t bits = 1; bits < 16; ++bits) {
      left = left * 2 - code->count[bits];
      if (left < 0) return false;
    }
    std::array<uint16_t, 16> offsets = {};
    for (size_t bits = 1; bits < 15; ++bits) {
      offsets[bits + 1] =
          static_cast<uint16_t>(offsets[bits] + code->count[bits]);
    }
    for (size_t k = 0; k < count; ++k) {
      if (lengths[k] != 0) {
        code->symbol[offsets[lengths[k]]++] = static_cast<uint16_t>(k);
      }
    }
    return true;
  }

  int Symbol(const Code& code) {
    int value = 0, first = 0, index = 0;
    for (size_t bits = 1; bits < 16; ++bits) {
      value |= static_cast<int>(Bits(1));
      if (failed_) return -1;
      const int count = code.count[bits];
      if (value - count < first) {
        return code.symbol[static_cast<size_t>(index + value - first)];
      }
      index += count;
      first = (first + count) * 2;
      value *= 2;
    }
    return -1;
  }

  bool Stored() {
    hold_ = 0;
    have_ = 0;
    if (data_.size() - at_ < 4) return false;
    const auto byte = [&](size_t k) {
      return static_cast<unsigned>(static_cast<unsigned char>(data_[at_ + k]));
    };
    const unsigned size = byte(0) | byte(1) << 8;
    if ((size ^ 0xffff) != (byte(2) | byte(3) << 8)) return false;
    at_ += 4;
    if (data_.size() - at_ < size) return false;
    *out_ += data_.substr(at_, size);
    at_ += size;
    return out_->size() <= kMaxFilterBytes;
  }

  bool Fixed() {
    std::array<uint8_t, 288> lengths;
    for (size_t k = 0; k < 288; ++k) {
      lengths[k] = k < 144 ? 8 : k < 256 ? 9 : k < 280 ? 7 : 8;
    }
    std::array<uint8_t, 30> distances;
    distances.fill(5);
    Code length_code, distance_code;
    Build(lengths.data(), 288, &length_code);
    Build(distances.data(), 30, &distance_code);
    return Block(length_code, distance_code);
  }

  bool Dynamic() {
    const unsigned lengths_count = Bits(5) + 257;
    const unsigned distances_count = Bits(5) + 1;
    const unsigned codes_count = Bits(4) + 4;
    if (failed_ || lengths_count > 286 || distances_count > 30) return false;
    constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                    11, 4,  12, 3, 13, 2, 14, 1, 15};
    std::array<uint8_t, 320> lengths = {};
    for (unsigned k = 0; k < codes_count; ++k) {
      lengths[kOrder[k]] = static_cast<uint8_t>(Bits(3));
    }
    Code code;
    if (failed_ || !Build(lengths.data(), 19, &code)) return false;
    lengths = {};
    for (unsigned k = 0; k < lengths_count + distances_count;) {
      const int symbol = Symbol(code);
      if (symbol < 0) return false;
      if (symbol < 16) {
        lengths[k++] = static_cast<uint8_t>(symbol);
        continue;
      }
      if (symbol == 16 && k == 0) return false;
      const uint8_t value = symbol == 16 ? lengths[k - 1] : 0;
      unsigned repeat = symbol == 16   ? 3 + Bits(2)
                        : symbol == 17 ? 3 + Bits(3)
                                       : 11 + Bits(7);
      if (failed_ || k + repeat > lengths_count + distances_count) {
        return false;
      }
      while (repeat-- > 0) lengths[k++] = value;
    }
    if (lengths[256] == 0) return false;
    Code length_code, distance_code;
    if (!Build(lengths.data(), lengths_count, &length_code) ||
        !Build(lengths.data() + lengths_count, distances_count,
               &distance_code)) {
      return false;
    }
    return Block(length_code, distance_code);
  }

  bool Block(const Code& length_code, const Code& distance_code) {
    constexpr uint16_t kLength[29] = {
        3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
        31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    constexpr uint8_t kLengthBits[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1,
                                         1, 1, 2, 2, 2, 2, 3, 3, 3, 3,
                                         4, 4, 4, 4, 5, 5, 5, 5, 0};
    constexpr uint16_t kDistance[30] = {
        1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
        33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
        1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    constexpr uint8_t kDistanceBits[30] = {
        0, 0, 0, 0, 1, 1, 2, 2,  3,  3,  4,  4,  5,  5,  6,
        6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13};
    for (;;) {
      const int symbol = Symbol(length_code);
      if (symbol < 0) return false;
      if (symbol == 256) return true;
      if (symbol < 256) {
        *out_ += static_cast<char>(symbol);
      } else {
        const size_t l = static_cast<size_t>(symbol - 257);
        if (l >= 29) return false;
        const size_t length = kLength[l] + Bits(kLengthBits[l]);
        const int d = Symbol(distance_code);
        if (d < 0 || d >= 30) return false;
        const size_t distance = kDistance[d] + Bits(kDistanceBits[d]);
        if (failed_ || distance > out_->size()) return false;
        for (size_t k = 0; k < length; ++k) {
          *out_ += (*out_)[out_->size() - distance];
        }
      }
      if (out_->size() > kMaxFilterBytes) return false;
    }
  }

  std::string_view data_;
  std::string* out_;
  size_t at_ = 0;
  uint32_t hold_ = 0;
  unsigned have_ = 0;
  bool failed_ = false;
};

uint32_t Crc32(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) {
      crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320u : 0);
    }
  }
  return ~crc;
}

uint32_t Little(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t k = 4; k-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[k]);
  }
  return value;
}

// One member (RFC 1952) that fills `data`.
Output Inflated(std::string_view data) {
  if (data.size() < 18 || !data.starts_with("\x1f\x8b\x08")) {
    return std::nullopt;
  }
  const unsigned flags = static_cast<unsigned char>(data[3]);
  if ((flags & 0xe2) != 0) return std::nullopt;  // reserved, header CRC
  size_t at = 10;
  if ((flags & 4) != 0) {
    if (data.size() < at + 2) return std::nullopt;
    at +=
        2u + static_cast<unsigned char>(data[at]) +
        (static_cast<unsigned>(static_cast<unsigned char>(data[at + 1])) << 8);
  }
  for (const unsigned flag : {8u, 16u}) {  // name, comment
    if ((flags & flag) == 0) continue;
    const size_t end =
        at < data.size() ? data.find('\0', at) : std::string_view::npos;
    if (end == std::string_view::npos) return std::nullopt;
    at = end + 1;
  }
  if (at + 8 > data.size()) return std::nullopt;
  std::string out;
  Inflater inflater(data.substr(at, data.size() - at - 8), &out);
  if (!inflater.Run() || inflater.used() != data.size() - at - 8 ||
      Little(data.substr(data.size() - 8)) != Crc32(out) ||
      Little(data.substr(data.size() - 4)) != out.size()) {
    return std::nullopt;
  }
  return out;
}

// gunzip, gzip -d, zcat over standard input.
Output Unpack(const Argv& argv, std::string_view input, bool needs_option) {
  Parsed p;
  if (!Parse(argv, "cdfkqn", "stdout=c to-stdout=c decompress=d uncompress=d",
             &p) ||
      !OnlyStdin(p)) {
    return std::nullopt;
  }
  for (size_t i = 1; i < argv.size(); ++i) {
    if (argv[i].starts_with("--") && argv[i] != "--stdout" &&
        argv[i] != "--to-stdout" && argv[i] != "--decompress" &&
        argv[i] != "--uncompress") {
      return std::nullopt;
    }
  }
  if (needs_option && !p.Has('d')) return std::nullopt;
  return Inflated(input);
}

}  // namespace

Output Gzip(const Argv& argv, std::string_view input) {
  return Unpack(argv, input, /*needs_option=*/true);
}

Output Gunzip(const Argv& argv, std::string_view input) {
  return Unpack(argv, input, /*needs_option=*/false);
}

}  // namespace gate::parser::filters
