#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/help.h"

namespace gate::app {
namespace {

// Where what an option means begins.
constexpr size_t kHelpColumn = 24;

std::string Upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

// What stands for a value: the words it must be one of, or what it is.
std::string Value(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (open != std::string::npos && close != std::string::npos && open < close) {
    std::string words = type.substr(open + 1, close - open - 1);
    std::replace(words.begin(), words.end(), ',', '|');
    return words;
  }
  return type == "UINT" || type == "FLOAT" ? "N" : "VALUE";
}

std::string Word(const CLI::Option& option) {
  std::string word = Upper(option.get_name(true));
  if (option.get_expected_max() > 1) word += "…";
  return option.get_required() ? word : "[" + word + "]";
}

// Characters of UTF-8, each a column here.
size_t Columns(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(),
                    [](unsigned char byte) { return (byte & 0xc0) != 0x80; }));
}

// Two columns; what does not fit into the first has a line of its own.
std::string Row(std::string left, const std::string& right) {
  left.insert(0, "  ");
  if (right.empty()) return left + "\n";
  const size_t columns = Columns(left);
  if (columns + 2 > kHelpColumn) {
    left += "\n" + std::string(kHelpColumn, ' ');
  } else {
    left.append(kHelpColumn - columns, ' ');
  }
  return left + right + "\n";
}

std::string Help(const CLI::App& app) {
  std::string name = app.get_name();
  for (const CLI::App* parent = app.get_parent(); parent != nullptr;
       parent = parent->get_parent()) {
    name = parent->get_name() + " " + name;
  }
  std::string usage = "usage: " + name + " [OPTIONS]";
  std::string words, options, commands;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      usage += " " + Word(*option);
      words += Row(Upper(option->get_name(true)), option->get_description());
      continue;
    }
    std::string names = option->get_name(false, true);
    for (size_t at = 0; (at = names.find(',', at)) != std::string::npos;
         at += 2) {
      names.insert(at + 1, " ");
    }
    if (option->get_items_expected_max() > 0) names += " " + Value(*option);
    options += Row(std::move(names), option->get_description());
  }
  for (const CLI::App* command : app.get_subcommands({})) {
    commands += Row(command->get_name(), command->get_description());
  }
  if (!commands.empty()) usage += " [COMMAND …]";
  std::string help = usage + "\n\n" + app.get_description() + "\n";
  for (const std::string& part : {words, commands, options}) {
    if (!part.empty()) help += "\n" + part;
  }
  constexpr std::string_view kProgram = "gate ";
  return WithExamples(std::move(help), name.starts_with(kProgram)
                                           ? name.substr(kProgram.size())
                                           : name);
}

}  // namespace

Option Option::Required() const {
  option_->required();
  return *this;
}

Option Option::OneOf(std::vector<std::string> values) const {
  option_->check(CLI::IsMember(std::move(values)));
  return *this;
}

Option Option::Needs(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}

Option Option::Excludes(const Option& other) const {
  option_->excludes(other.option_);
  return *this;
}

size_t Option::count() const { return option_->count(); }

Options::Options(std::string description, std::string name)
    : own_(std::make_unique<CLI::App>(std::move(description), std::move(name))),
      app_(own_.get()) {
  app_->set_help_flag("-h,--help", "show this help");
}

Options::Options(CLI::App* app) : app_(app) {}

Options::~Options() = default;

Option Options::Flag(const std::string& name, bool& set,
                     const std::string& help) {
  return Option(app_->add_flag(name, set, help));
}

Option Options::Add(const std::string& name, std::string& value,
                    const std::string& help) {
  return Option(app_->add_option(name, value, help));
}

Option Options::Add(const std::string& name, std::vector<std::string>& values,
                    const std::string& help) {
  return Option(app_->add_option(name, values, help));
}

Option Options::Add(const std::string& name, double& value,
                    const std::string& help) {
  return Option(app_->add_option(name, value, help));
}

Option Options::Add(const std::string& name, uint64_t& value,
                    const std::string& help) {
  CLI::Option* option = app_->add_option(name, value, help);
  // Without it CLI11 takes -1 for the largest number.
  option->check([](const std::string& word) {
    return word.starts_with('-') ? "may not be negative" : "";
  });
  return Option(option);
}

Options& Options::Command(const std::string& name,
                          const std::string& description) {
  CLI::App* command = app_->add_subcommand(name, description);
  command->fallthrough();
  commands_.push_back(std::unique_ptr<Options>(new Options(command)));
  return *commands_.back();
}

Status Options::Parse(std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());
  try {
    app_->parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    const CLI::App* asked = app_;
    for (const auto* command : app_->get_subcommands()) asked = command;
    help_ = Help(*asked);
  } catch (const CLI::ParseError& error) {
    return Fail(ErrorCode::kInvalid, error.what());
  }
  return {};
}

bool Options::parsed() const { return app_->parsed(); }

std::string Options::name() const { return app_->get_name(); }

void Complain(const std::string& message) {
  // It may quote what somebody else wrote: arguments, file names.
  std::fprintf(stderr, "gate: %s\n", Visible(message).c_str());
}

int FailedInternally(const Error& error) {
  Complain(error.message);
  return kExitInternal;
}

std::optional<int> ParseWith(Options& app, const Arguments& arguments) {
  const Status parsed = app.Parse(arguments);
  if (!app.help().empty()) {
    std::fputs(app.help().c_str(), stdout);
    return 0;
  }
  if (parsed) return std::nullopt;
  Complain(Visible(parsed.error().message));
  std::fprintf(stderr, "help: `%s --help` lists the options\n",
               app.name().c_str());
  return kExitUsage;
}

}  // namespace gate::app
