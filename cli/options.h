// The options of one command, its help and how its words are read.
//
// Nothing is made before main() runs and nothing is read from files or the
// environment: gate is started for every command of an agent. Words are
// `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, flags, and positional
// words between them; all after `--` are positional. A value may begin with a
// dash. An option given twice is an error.
#pragma once

#include <charconv>
#include <concepts>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gate::cli {

class Option {
 public:
  Option& Required();
  Option& OneOf(std::vector<std::string> values);
  Option& Needs(const Option& other);
  Option& Excludes(const Option& other);
  // How often it was given.
  size_t count() const { return count_; }

 private:
  friend class Options;
  enum class Kind { kFlag, kOne, kMany };

  bool IsPositional() const { return !name_.starts_with('-'); }
  // Takes one value; false when it is not of the option's type.
  Status Take(const std::string& value);

  std::string name_, help_;
  std::string_view type_;  // for the help
  Kind kind_ = Kind::kOne;
  std::function<bool(const std::string&)> set_;
  std::vector<std::string> allowed_;
  const Option* needs_ = nullptr;
  const Option* excludes_ = nullptr;
  bool required_ = false;
  size_t count_ = 0;
};

class Options {
 public:
  // `name`: the command as it is called.
  Options(std::string description, std::string name);
  Options(const Options&) = delete;  // options know each other's place
  Options& operator=(const Options&) = delete;

  // A name with a dash is an option, any other a positional word, in the order
  // they are added. What is bound must outlive the parsing.
  Option& Flag(std::string name, bool& set, std::string help);
  Option& Add(std::string name, std::string& value, std::string help);
  // All positional words that are left.
  Option& Add(std::string name, std::vector<std::string>& values,
              std::string help);
  Option& Add(std::string name, double& value, std::string help);
  template <std::unsigned_integral T>
  Option& Add(std::string name, T& value, std::string help) {
    return Make(
        std::move(name), std::move(help), "UINT",
        [&value](const std::string& text) { return Convert(text, &value); });
  }
  // A word that stands for a command of its own. It may have its own options;
  // those of this command hold for it, too.
  Options& Command(std::string name, std::string description);

  // What is wrong, for a person. Stops at -h and --help (wants_help).
  Status Parse(const std::vector<std::string>& words);
  const Options* wants_help() const { return wants_help_; }
  // Of a sub-command: it was named.
  bool parsed() const { return parsed_; }
  const std::string& name() const { return name_; }
  std::string Help() const;

 private:
  template <typename T>
  static bool Convert(const std::string& text, T* value) {
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, *value);
    return read.ec == std::errc() && read.ptr == end;
  }

  Option& Make(std::string name, std::string help, std::string_view type,
               std::function<bool(const std::string&)> set);
  // Among these options and those of the command this one belongs to.
  Option* Find(std::string_view name);
  Option* NextPositional();
  Options* FindCommand(std::string_view name);
  Status Complete() const;

  std::string description_, name_, word_;
  Options* above_ = nullptr;
  std::deque<Option> options_;
  std::deque<Options> commands_;
  const Options* wants_help_ = nullptr;
  bool parsed_ = false;
};

}  // namespace gate::cli
