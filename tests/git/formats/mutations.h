// Changes to files: of bits and bytes, and of the fields of git's formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gate::formats {

// Numbers that follow from a seed alone.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next();
  size_t Below(size_t limit) {
    return limit == 0 ? 0 : static_cast<size_t>(Next() % limit);
  }

 private:
  uint64_t state_;
};

// One change of bytes anywhere.
void MutateBytes(Random* random, std::string* text);

// One to three changes of an index with object names of `hash` bytes; most are
// of its fields: names, their lengths, flags, modes, counts, extensions,
// tables.
std::string MutateIndex(Random* random, std::string index, size_t hash);

// One or two changes of a text, in which one of `pieces` may come anywhere.
std::string MutateText(Random* random, std::string text,
                       const std::vector<std::string>& pieces);

}  // namespace gate::formats
