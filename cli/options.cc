#include "cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

namespace gate::cli {

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
      app_(own_.get()) {}

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
    help_ = app_->help();
  } catch (const CLI::ParseError& error) {
    return Fail(ErrorCode::kInvalid, error.what());
  }
  return {};
}

bool Options::parsed() const { return app_->parsed(); }

std::string Options::name() const { return app_->get_name(); }

}  // namespace gate::cli
