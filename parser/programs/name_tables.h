// What descriptions say beside programs: what variables of the environment mean
// to every program, and which words name a language. Internal to the compiler.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "parser/programs/image.h"

namespace gate::parser::programs {

// Where in a file (a JSON pointer) something is wrong, and what.
using OnProblem = std::function<void(const std::string&, std::string)>;

class NameTables {
 public:
  // `variables`: name → "ROLE" or "ROLE:DETAIL".
  void AddEnvironment(const Json& variables, const OnProblem& problem);
  // `languages`: words, with blanks between → the name of a Language.
  void AddLanguages(const Json& languages, const OnProblem& problem);
  // The sections kEnvironment and kLanguages, the last of an image.
  void Write(FlatWriter* writer);

 private:
  std::vector<std::pair<std::string, std::pair<uint32_t, std::string>>>
      environment_;
  std::vector<std::pair<std::string, Language>> languages_;
};

// The models that the program `json`, at `pointer`, gives to the one of its
// names: by a word for all of them, or an object of names and words.
struct Models {
  OutputModel output = OutputModel::kNone;
  LeftFiles leaves = LeftFiles::kNone;
  RunModel runs = RunModel::kNone;
};
Models ParseModels(const Json& json, const std::string& pointer,
                   const std::vector<std::string>& names,
                   const std::string& name, const OnProblem& problem);

}  // namespace gate::parser::programs
