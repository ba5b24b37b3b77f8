#include "tests/git/formats/mutations.h"

#include <algorithm>

#include "tests/git/hostile_index.h"

namespace gate::formats {
namespace {

using test::BigEndian;

uint32_t Number(const std::string& text, size_t at, size_t count) {
  uint32_t value = 0;
  for (size_t i = 0; i < count && at + i < text.size(); ++i)
    value = value << 8 | static_cast<unsigned char>(text[at + i]);
  return value;
}

void Put(std::string* text, size_t at, const std::string& bytes) {
  if (at + bytes.size() <= text->size()) text->replace(at, bytes.size(), bytes);
}

struct Layout {
  std::vector<size_t> entries;     // where each begins
  std::vector<size_t> extensions;  // and each extension
  size_t end = 0;                  // of the entries
};

// Of an index as git writes it, or what is left of one.
Layout Read(const std::string& index, size_t hash) {
  Layout layout;
  const uint32_t version = Number(index, 4, 4);
  size_t at = 12;
  for (uint32_t left = Number(index, 8, 4);
       left > 0 && at + 42 + hash < index.size(); --left) {
    layout.entries.push_back(at);
    size_t name = at + 40 + hash + 2;
    if ((Number(index, name - 2, 2) & 0x4000) != 0) name += 2;
    if (version == 4) {
      while (name < index.size() && (index[name] & 0x80) != 0) ++name;
      ++name;
    }
    const size_t nul = index.find('\0', std::min(name, index.size()));
    if (nul == std::string::npos) break;
    at = version == 4 ? nul + 1 : at + ((nul - at + 8) & ~size_t{7});
  }
  layout.end = at;
  while (at + 8 + hash < index.size()) {
    layout.extensions.push_back(at);
    at += size_t{8} + Number(index, at + 4, 4);
  }
  return layout;
}

std::string RandomBytes(Random* random, size_t most) {
  std::string bytes(1 + random->Below(most), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random->Next());
  return bytes;
}

void MutateEntry(Random* random, std::string* index, size_t hash, size_t at) {
  const uint32_t version = Number(*index, 4, 4);
  const size_t flags_at = at + 40 + hash;
  const uint32_t flags = Number(*index, flags_at, 2);
  const uint32_t length = flags & 0xfff;
  const auto say = [&](uint32_t other) {
    Put(index, flags_at, BigEndian((flags & 0xf000) | (other & 0xfff), 2));
  };
  switch (random->Below(12)) {
    case 0: {
      constexpr uint32_t kLengths[] = {0, 1, 0xffe, 0xfff};
      return say(kLengths[random->Below(4)]);
    }
    case 1:
      return say(length + static_cast<uint32_t>(random->Below(129)) - 64);
    case 2:
      return say(static_cast<uint32_t>(random->Next()));
    case 3:
      return Put(index, flags_at,
                 BigEndian(flags ^ (0x1000u << random->Below(4)), 2));
    case 4: {
      constexpr uint32_t kModes[] = {0160000, 0100644,    0120000, 040000, 0,
                                     0160755, 0xffffe000, 0170000, 0140000};
      return Put(index, at + 24, BigEndian(kModes[random->Below(9)]));
    }
    case 5:  // a NUL in the name
      return Put(index, flags_at + 2 + random->Below(length + 2),
                 std::string(1, '\0'));
    case 6:  // none behind it
      return Put(index, flags_at + 2 + length, "x");
    case 7:  // what is cut off, or the first byte of the name
      return Put(index, flags_at + 2,
                 RandomBytes(random, version == 4 ? 6 : 2));
    case 8:
      return Put(index, flags_at + 2, RandomBytes(random, 2));
    case 9: {  // a longer name, with the fields to match
      const std::string more = RandomBytes(random, 200);
      if (flags_at + 2 + length > index->size()) return;
      index->insert(flags_at + 2 + length, more);
      return say(length + static_cast<uint32_t>(more.size()));
    }
    case 10: {  // the same entry again, as another repository
      std::string copy = index->substr(at, 40 + hash + 2 + length + 8);
      Put(&copy, 24, BigEndian(0160000));
      index->insert(at, copy);
      return;
    }
    default:
      return Put(index, at + 40, RandomBytes(random, hash));
  }
}

void MutateExtension(Random* random, std::string* index, const Layout& layout,
                     size_t hash) {
  const auto& known = layout.extensions;
  const size_t at =
      known.empty() ? layout.end : known[random->Below(known.size())];
  if (at + hash > index->size()) return;
  constexpr const char* kNames[] = {"link", "sdir", "TREE", "JUNK", "EOIE",
                                    "IEOT", "evil", "UNTR", "FSMN", "REUC"};
  const char* const name = kNames[random->Below(10)];
  switch (random->Below(7)) {
    case 0:
      return Put(index, at, name);
    case 1:
      return Put(index, at + 4,
                 BigEndian(Number(*index, at + 4, 4) + random->Below(17) - 8));
    case 2:
      index->insert(at, test::Extension(name, RandomBytes(random, 60)));
      return;
    case 3:
      return Put(index, at + 8 + random->Below(40), RandomBytes(random, 4));
    case 4: {
      // An entry hidden in an extension, and a table that may lead there.
      test::IndexEntry link = {.name = "d/t", .mode = 0160000};
      const std::string entry =
          test::Bytes(link, static_cast<int>(Number(*index, 4, 4)), hash);
      const size_t place = layout.end;
      std::string body =
          test::Extension("IEOT", BigEndian(1) + BigEndian(12) +
                                      BigEndian(Number(*index, 8, 4) - 1) +
                                      BigEndian(place + 36) + BigEndian(1));
      body += test::Extension("JUNK", entry);
      if (place + hash > index->size()) return;
      const std::string tail = index->substr(index->size() - hash);
      index->resize(place);
      const size_t from = random->Below(4) == 0 ? place + 28 : place;
      *index +=
          body + test::EndOfEntries(from, body.substr(from - place)) + tail;
      return;
    }
    case 5: {  // all extensions signed again
      if (known.empty()) return;
      const std::string body =
          index->substr(layout.end, index->size() - hash - layout.end);
      index->insert(
          index->size() - hash,
          test::EndOfEntries(layout.end + random->Below(2) * 8, body));
      return;
    }
    default: {
      std::string null = test::Extension(
          "link", std::string(hash, static_cast<char>(random->Below(2))));
      index->insert(at, null);
      return;
    }
  }
}

}  // namespace

// Sebastiano Vigna's splitmix64.
uint64_t Random::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void MutateBytes(Random* random, std::string* text) {
  const size_t at = random->Below(text->size() + 1);
  switch (random->Below(6)) {
    case 0:
    case 1:
      if (at < text->size())
        (*text)[at] = static_cast<char>((*text)[at] ^ (1 << random->Below(8)));
      return;
    case 2:
      if (at < text->size()) (*text)[at] = static_cast<char>(random->Next());
      return;
    case 3:
      if (random->Below(4) == 0) text->resize(at);
      return;
    case 4:
      text->insert(at, RandomBytes(random, 16));
      return;
    default:
      text->erase(at, 1 + random->Below(16));
  }
}

std::string MutateIndex(Random* random, std::string index, size_t hash) {
  for (size_t i = 1 + random->Below(3); i > 0; --i) {
    const Layout layout = Read(index, hash);
    const size_t entries = layout.entries.size();
    const size_t kind = random->Below(10);
    if (kind < 2) {
      MutateBytes(random, &index);
    } else if (kind < 7 && entries > 0) {
      MutateEntry(random, &index, hash, layout.entries[random->Below(entries)]);
    } else if (kind == 7) {
      if (random->Below(2) == 0)
        Put(&index, 8, BigEndian(Number(index, 8, 4) + random->Below(5) - 2));
      else
        Put(&index, 4, BigEndian(1 + random->Below(5)));
    } else {
      MutateExtension(random, &index, layout, hash);
    }
  }
  return index;
}

std::string MutateText(Random* random, std::string text,
                       const std::vector<std::string>& pieces) {
  for (size_t i = 1 + random->Below(3) / 2; i > 0; --i) {
    if (pieces.empty() || random->Below(3) == 0)
      MutateBytes(random, &text);
    else
      text.insert(random->Below(text.size() + 1),
                  pieces[random->Below(pieces.size())]);
  }
  return text;
}

}  // namespace gate::formats
