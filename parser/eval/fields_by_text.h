// Internal to parser/: the words of a call, found by what is known of them.
#pragma once

#include <string>
#include <unordered_map>

#include "parser/analysis.h"
#include "parser/expand/expand.h"

namespace gate::parser {

// What a reader of arguments hands out are Arguments, which say less than the
// Fields they were made of. Looking through all fields for each argument costs
// their product; this looks once. The fields must outlive it and stay as they
// are. Costs their text at the first question, each other O(1).
class FieldsByText {
 public:
  explicit FieldsByText(const Fields& fields) : fields_(fields) {}

  // The first field with an unknown part that begins, ends and splits as
  // `word`, which is not known; nullptr: none.
  const Field* Find(const Argument& word);

  const Fields& fields() const { return fields_; }

 private:
  static std::string Key(const std::string& prefix, const std::string& suffix,
                         bool splits);

  const Fields& fields_;
  bool made_ = false;
  std::unordered_map<std::string, const Field*> by_text_;
};

}  // namespace gate::parser
