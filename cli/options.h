// The options of one command: CLI11 behind one interface.
//
// CLI11 is all header and makes its validators, and <iostream> its streams,
// before main() in every file that includes it; gate is started for every
// command of an agent. So one file includes it (options.cc), and the commands
// say here what they take.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gate::app {

// One option or positional word; as long-lived as its Options.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option Required() const;
  Option OneOf(std::vector<std::string> values) const;
  Option Needs(const Option& other) const;
  Option Excludes(const Option& other) const;
  // How often it was given.
  size_t count() const;

 private:
  CLI::Option* option_;
};

class Options {
 public:
  // `name`: the command as it is called.
  Options(std::string description, std::string name);
  ~Options();
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;

  // A name with a dash is an option, any other a positional word, in the order
  // they are added. What is bound must outlive the parsing.
  Option Flag(const std::string& name, bool& set, const std::string& help);
  Option Add(const std::string& name, std::string& value,
             const std::string& help);
  Option Add(const std::string& name, std::vector<std::string>& values,
             const std::string& help);
  Option Add(const std::string& name, double& value, const std::string& help);
  Option Add(const std::string& name, uint64_t& value, const std::string& help);
  // A word that stands for a command of its own. It may have its own options;
  // those of this command hold for it, too.
  Options& Command(const std::string& name, const std::string& description);

  // What is wrong, for a person. After -h and --help nothing is, and help() is
  // what they ask for; else it is empty.
  Status Parse(std::vector<std::string> words);
  const std::string& help() const { return help_; }
  // Whether this sub-command was named.
  bool parsed() const;
  std::string name() const;

 private:
  explicit Options(CLI::App* app);

  std::unique_ptr<CLI::App> own_;  // empty for a sub-command
  CLI::App* app_;
  std::vector<std::unique_ptr<Options>> commands_;
  std::string help_;
};

}  // namespace gate::app
