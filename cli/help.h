// One layout for the help of every command: how it is called, what it does,
// its words and options, and examples that can be typed as they stand.
#pragma once

#include <string>
#include <string_view>

namespace gate::app {

// `text` (usage, what it does, options), then the examples of `command`
// ("check", "rules lint"). `text` ends with a newline.
std::string WithExamples(std::string text, std::string_view command);

// Whether `arguments` begin with -h or --help.
template <class Arguments>
bool WantsHelp(const Arguments& arguments) {
  return !arguments.empty() &&
         (arguments[0] == "--help" || arguments[0] == "-h");
}

}  // namespace gate::app
