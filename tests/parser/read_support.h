// What the tests of the reader share.
#pragma once

#include <random>
#include <string>

#include "parser/read.h"
#include "tests/parser/print_tree.h"

namespace gate::parser {

struct ReadCase {
  const char* source;
  const char* tree;  // as Print() gives it
};

// The tree of `source`, or its status and message when it is not one script.
inline std::string TreeOf(const std::string& source, bool compare = false,
                          bool extglob = false) {
  ReadOptions options;
  options.compare = compare;
  options.extglob = extglob;
  const Script script = Read(source, options);
  if (script.status == ReadStatus::kOk) return Print(script.ast);
  return "status " + std::to_string(static_cast<int>(script.status)) + ": " +
         script.message;
}

// A text of up to `most` of the given pieces in a row.
template <size_t kCount>
std::string Soup(std::mt19937& random, const char* const (&pieces)[kCount],
                 int most) {
  std::string text;
  for (auto left = 1 + random() % static_cast<unsigned>(most); left > 0;
       --left) {
    text += pieces[random() % kCount];
  }
  return text;
}

}  // namespace gate::parser
