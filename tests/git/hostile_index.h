// Index files as nobody's git writes them: built field by field, so that a
// field can lie. HostileIndexes() are those in which git finds another
// repository, or may, that a careless reader does not see.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gate::test {

inline std::string BigEndian(uint64_t value, int bytes = 4) {
  std::string out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out += static_cast<char>(value >> shift);
  return out;
}

// FIPS 180-4; git signs its table of extensions with it.
inline std::string Sha1(std::string_view text) {
  std::array<uint32_t, 5> h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                               0xc3d2e1f0};
  std::string padded(text);
  padded += '\x80';
  while (padded.size() % 64 != 56) padded += '\0';
  padded += BigEndian(text.size() * 8, 8);
  for (size_t at = 0; at < padded.size(); at += 64) {
    std::array<uint32_t, 80> w = {};
    for (size_t i = 0; i < 64; ++i)
      w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(padded[at + i]);
    for (size_t i = 16; i < 80; ++i)
      w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    auto [a, b, c, d, e] = h;
    for (size_t i = 0; i < 80; ++i) {
      const uint32_t f = i < 20   ? (b & c) | (~b & d)
                         : i < 40 ? b ^ c ^ d
                         : i < 60 ? (b & c) | (b & d) | (c & d)
                                  : b ^ c ^ d;
      constexpr uint32_t kRound[] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc,
                                     0xca62c1d6};
      const uint32_t next = std::rotl(a, 5) + f + e + kRound[i / 20] + w[i];
      e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
  }
  std::string out;
  for (const uint32_t word : h) out += BigEndian(word);
  return out;
}

struct IndexEntry {
  std::string name;
  uint32_t mode = 0100644;
  uint32_t flags = 0;  // the upper four bits of the first, as in the file
  uint32_t more = 0;   // the second, written when flags have 0x4000
  int length = -1;     // said in the flags; -1: the true one
  std::string cut = std::string(1, '\0');  // of version 4, as bytes
  std::string hash = {};                   // 0x11 … when empty
};

inline std::string Bytes(const IndexEntry& entry, int version, size_t hash) {
  std::string out(40, '\0');
  out.replace(24, 4, BigEndian(entry.mode));
  std::string object = entry.hash;
  object.resize(hash, '\x11');
  out += object;
  const size_t length =
      entry.length >= 0 ? static_cast<size_t>(entry.length) : entry.name.size();
  out += BigEndian(entry.flags | (length < 0xfff ? length : 0xfff), 2);
  if ((entry.flags & 0x4000) != 0) out += BigEndian(entry.more, 2);
  if (version == 4) return out + entry.cut + entry.name + '\0';
  out += entry.name;
  out.append(8 - out.size() % 8, '\0');
  return out;
}

// A number as version 4 has them, below 16511.
inline std::string Variable(size_t value) {
  if (value < 128) return std::string(1, static_cast<char>(value));
  return {static_cast<char>(0x80 | ((value >> 7) - 1)),
          static_cast<char>(value & 0x7f)};
}

inline std::string Extension(std::string_view name, std::string_view data) {
  return std::string(name) + BigEndian(data.size()) + std::string(data);
}

// An index with `body` behind its header.
inline std::string IndexOf(int version, uint32_t count, std::string_view body,
                           size_t hash = 20) {
  return "DIRC" + BigEndian(static_cast<uint64_t>(version)) + BigEndian(count) +
         std::string(body) + std::string(hash, '\x22');
}

// The extension by which threads find `extensions` at the offset `from`.
inline std::string EndOfEntries(size_t from, std::string_view extensions) {
  std::string headers;
  for (size_t at = 0; at + 8 <= extensions.size();) {
    headers += extensions.substr(at, 8);
    size_t size = 0;
    for (size_t i = 4; i < 8; ++i)
      size = size << 8 | static_cast<unsigned char>(extensions[at + i]);
    at += 8 + size;
  }
  return Extension("EOIE", BigEndian(from) + Sha1(headers));
}

struct HostileIndex {
  const char* name;
  std::string bytes;
  std::string config = {};  // of the repository, behind [core] and a version
  size_t hash = 20;
  std::string shared = {};  // sharedindex.1111…
  bool refused = false;     // by git
};

inline std::vector<HostileIndex> HostileIndexes() {
  using std::string;
  const IndexEntry link = {.name = "sub", .mode = 0160000};
  const IndexEntry file = {.name = "a"};
  const auto nul = [](size_t count) { return string(count, '\0'); };
  std::vector<HostileIndex> all;
  // A name that goes on behind its NUL: a reader that stops there reads `fake`
  // and takes the rest, the gitlink with it, for an extension.
  for (const int version : {2, 3, 4}) {
    for (const size_t hash : {size_t{20}, size_t{32}}) {
      IndexEntry sub = link;
      string carrier, real, name;
      // The extension's size takes another pass.
      for (size_t pass = 0, rest = 0; pass < 2; ++pass) {
        name = "a" + nul(1);
        const size_t fixed = 40 + hash + 2;
        if (version != 4)
          while ((fixed + name.size()) % 8 != 0) name += '\0';
        IndexEntry fake = {.name = "b"};
        fake.cut = Variable(1);
        name += Bytes(fake, version, hash) + "JUNK" + BigEndian(rest);
        const size_t behind = fixed + (version == 4 ? 1 : 0) + name.size();
        carrier = Bytes({.name = name}, version, hash);
        sub.cut = Variable(name.size());  // all of it falls away
        real = Bytes(sub, version, hash);
        rest = carrier.size() - behind + real.size();
      }
      all.push_back({hash == 20 ? "a name behind its NUL"
                                : "a name behind its NUL, SHA-256",
                     IndexOf(version, 2, carrier + real, hash),
                     hash == 20 ? "" : "[extensions]\nobjectFormat = sha256\n",
                     hash});
    }
  }
  const string files = Bytes(file, 2, 20);
  // Nothing of the shared index is deleted, and nothing replaced.
  const string bitmap = nul(4) + BigEndian(1) + nul(12);
  const string split = Extension("link", string(20, '\x11') + bitmap + bitmap);
  const string shared = "DIRC" + BigEndian(2) + BigEndian(1) +
                        Bytes(link, 2, 20) + string(20, '\x11');
  const auto add = [&](const char* name, string bytes, string config = "",
                       size_t hash = 20, string base = "",
                       bool refused = false) {
    all.push_back({name, std::move(bytes), std::move(config), hash,
                   std::move(base), refused});
  };
  const auto one = [&](const char* name, const IndexEntry& entry,
                       int version = 2) {
    add(name, IndexOf(version, 2,
                      Bytes(file, version, 20) + Bytes(entry, version, 20)));
  };
  one("plain", link);
  one("more bits in the mode",
      {.name = "sub", .mode = 0160000 | 0xabcd0000 | 0755});
  one("in conflict", {.name = "sub", .mode = 0160000, .flags = 0x2000});
  one("assumed valid", {.name = "sub", .mode = 0160000, .flags = 0x8000});
  one("skipped in the work tree",
      {.name = "sub", .mode = 0160000, .flags = 0x4000, .more = 0x4000}, 3);
  one("to be added",
      {.name = "sub", .mode = 0160000, .flags = 0x4000, .more = 0x2000}, 3);
  one("more flags in version 2",
      {.name = "sub", .mode = 0160000, .flags = 0x4000}, 2);
  one("the same name as a file", {.name = "a", .mode = 0160000});
  one("out of order", {.name = "A", .mode = 0160000});
  one("said to be long, and is not",
      {.name = "sub", .mode = 0160000, .length = 0xfff});
  one("version 4, the number of bytes cut off in more bytes",
      {.name = "ub", .mode = 0160000, .length = 3, .cut = nul(1)}, 4);
  add("behind a name of 5000 bytes",
      IndexOf(2, 2,
              Bytes({.name = string(5000, 'a')}, 2, 20) + Bytes(link, 2, 20)));
  add("behind a name of 4095 bytes",
      IndexOf(2, 2,
              Bytes({.name = string(4095, 'a')}, 2, 20) + Bytes(link, 2, 20)));
  add("SHA-256", IndexOf(2, 1, Bytes(link, 2, 32), 32),
      "[extensions]\nobjectFormat = sha256\n", 32);
  // git reads 32 bytes only of a format that has a version.
  for (const char* config :
       {"repositoryformatversion = 0\n[extensions]\nobjectFormat = sha256\n",
        "[extensions]\nobjectFormat = SHA256\n",
        "[extensions]\nobjectFormat = sha256\nobjectFormat = sha1\n",
        "[extensions]\nobjectFormat\n"})
    add("a hash that is not certain",
        IndexOf(2, 1, Bytes({.name = string(60, 'a')}, 2, 32), 32), config, 0,
        "", true);
  add("split", IndexOf(2, 1, files + split), "", 20, shared);
  add("split, and the other half is missing",
      IndexOf(2, 1, files + Extension("link", string(20, '\x33'))), "", 20, "",
      true);
  // The directory is there: what is among its entries says only its tree. The
  // others are as git writes none.
  const auto sparse = [&](const test::IndexEntry& entry, int version = 3) {
    add("sparse",
        IndexOf(version, 1, Bytes(entry, version, 20) + Extension("sdir", "")),
        "", 20, "", true);
  };
  for (const char* there : {".git/", ".git/objects/", ".git/HEAD/"})
    sparse({there, 040000, 0x4000, 0x4000});
  for (const char* odd :
       {"", "/", "./", "../x/", "x/../y/", "x//y/", "/x/", "x/./", "x//", "x"})
    sparse({odd, 040000, 0x4000, 0x4000});
  for (const uint32_t mode : {040755u, 041000u, 0140000u, 0170000u, 0u})
    sparse({"x/", mode, 0x4000, 0x4000});
  sparse({"x/", 040000, 0x4000, 0x2000});
  sparse({"x/", 040000, 0x4000, 0x6000});
  sparse({"x/", 040000, 0x5000, 0x4000});
  sparse({"x/", 040000}, 2);
  add("a directory",
      IndexOf(2, 1, Bytes({.name = "d/", .mode = 040000}, 2, 20)), "", 20, "",
      true);
  add("an extension that git must know",
      IndexOf(2, 1, files + Extension("evil", "x")), "", 20, "", true);
  add("flags that no git knows",
      IndexOf(3, 1,
              Bytes({.name = "a", .flags = 0x4000, .more = 0x8000}, 3, 20)),
      "", 20, "", true);
  add("more entries than there are", IndexOf(2, 9, files), "", 20, "", true);
  add("cut off", IndexOf(2, 1, files).substr(0, 90), "", 20, "", true);
  add("version 5", IndexOf(5, 1, files), "", 20, "", true);
  add("version 4, more cut off than there is",
      IndexOf(4, 2,
              Bytes(file, 4, 20) + Bytes({.name = "b", .cut = "\x05"}, 4, 20)),
      "", 20, "", true);
  add("version 4, a number without end",
      IndexOf(4, 2,
              Bytes(file, 4, 20) +
                  Bytes({.name = "b", .cut = string(30, '\xff')}, 4, 20)),
      "", 20, "", true);
  {
    // Threads find both blocks of entries by a table at the end; the second
    // lies in an extension that git ignores.
    const string threads = "[index]\nthreads = 4\n";
    const string second = Bytes({.name = "b"}, 2, 20);
    const size_t end = 12 + files.size() + second.size();
    const auto table = [&](size_t hidden) {
      const string data = BigEndian(1) + BigEndian(12) + BigEndian(1) +
                          BigEndian(hidden) + BigEndian(1);
      const string extensions =
          Extension("IEOT", data) + Extension("JUNK", Bytes(link, 2, 20));
      return extensions + EndOfEntries(end, extensions);
    };
    const size_t hidden =
        end + table(0).size() - 32 - Bytes(link, 2, 20).size();
    add("a table for threads with another second block",
        IndexOf(2, 2, files + second + table(hidden)), threads);
    // Extensions, too, are where that table says.
    const size_t from = end + 8;
    add("a table for threads with other extensions",
        IndexOf(2, 2,
                files + second + Extension("JUNK", split) +
                    EndOfEntries(from, split)),
        threads, 20, shared);
  }
  return all;
}

}  // namespace gate::test
