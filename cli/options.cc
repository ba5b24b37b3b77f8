#include "cli/options.h"

#include <algorithm>
#include <utility>

namespace gate::cli {
namespace {

// Where the help's second column begins.
constexpr size_t kColumn = 30;

std::string Braced(const std::vector<std::string>& values) {
  std::string text = "{";
  for (const std::string& value : values) {
    if (text.size() > 1) text += ',';
    text += value;
  }
  return text + "}";
}

void AddRow(std::string left, const std::string& right, std::string* out) {
  left.insert(0, "  ");
  *out += left;
  if (!right.empty()) {
    if (left.size() >= kColumn)
      *out += "\n" + std::string(kColumn, ' ');
    else
      out->append(kColumn - left.size(), ' ');
    *out += right;
  }
  *out += '\n';
}

std::unexpected<Error> Wrong(std::string message) {
  return Fail(ErrorCode::kInvalid, std::move(message));
}

}  // namespace

Option& Option::Required() {
  required_ = true;
  return *this;
}

Option& Option::OneOf(std::vector<std::string> values) {
  allowed_ = std::move(values);
  return *this;
}

Option& Option::Needs(const Option& other) {
  needs_ = &other;
  return *this;
}

Option& Option::Excludes(const Option& other) {
  excludes_ = &other;
  return *this;
}

Status Option::Take(const std::string& value) {
  ++count_;
  if (count_ > 1 && kind_ == Kind::kOne)
    return Wrong(name_ + " was given twice");
  if (!allowed_.empty() &&
      std::find(allowed_.begin(), allowed_.end(), value) == allowed_.end())
    return Wrong(name_ + ": " + value + " not in " + Braced(allowed_));
  if (!set_(value)) return Wrong("Could not convert: " + name_ + " = " + value);
  return {};
}

Options::Options(std::string description, std::string name)
    : description_(std::move(description)), name_(std::move(name)) {}

Option& Options::Make(std::string name, std::string help, std::string_view type,
                      std::function<bool(const std::string&)> set) {
  Option& option = options_.emplace_back();
  option.name_ = std::move(name);
  option.help_ = std::move(help);
  option.type_ = type;
  option.set_ = std::move(set);
  return option;
}

Option& Options::Flag(std::string name, bool& set, std::string help) {
  Option& option =
      Make(std::move(name), std::move(help), "", [&set](const std::string&) {
        set = true;
        return true;
      });
  option.kind_ = Option::Kind::kFlag;
  return option;
}

Option& Options::Add(std::string name, std::string& value, std::string help) {
  return Make(std::move(name), std::move(help), "TEXT",
              [&value](const std::string& text) {
                value = text;
                return true;
              });
}

Option& Options::Add(std::string name, std::vector<std::string>& values,
                     std::string help) {
  Option& option = Make(std::move(name), std::move(help), "TEXT",
                        [&values](const std::string& text) {
                          values.push_back(text);
                          return true;
                        });
  option.kind_ = Option::Kind::kMany;
  return option;
}

Option& Options::Add(std::string name, double& value, std::string help) {
  return Make(
      std::move(name), std::move(help), "FLOAT",
      [&value](const std::string& text) { return Convert(text, &value); });
}

Options& Options::Command(std::string name, std::string description) {
  Options& command =
      commands_.emplace_back(std::move(description), name_ + " " + name);
  command.word_ = std::move(name);
  command.above_ = this;
  return command;
}

Option* Options::Find(std::string_view name) {
  for (Option& option : options_)
    if (!option.IsPositional() && option.name_ == name) return &option;
  return above_ == nullptr ? nullptr : above_->Find(name);
}

Option* Options::NextPositional() {
  for (Option& option : options_)
    if (option.IsPositional() &&
        (option.count_ == 0 || option.kind_ == Option::Kind::kMany))
      return &option;
  return nullptr;
}

Options* Options::FindCommand(std::string_view name) {
  for (Options& command : commands_)
    if (command.word_ == name) return &command;
  return nullptr;
}

Status Options::Parse(const std::vector<std::string>& words) {
  Options* at = this;
  bool positional = false;
  std::string unexpected;
  size_t strangers = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (!positional && word == "--") {
      positional = true;
      continue;
    }
    if (!positional && (word == "-h" || word == "--help")) {
      wants_help_ = at;
      return {};
    }
    Option* option = nullptr;
    std::string value;
    bool has_value = false;
    if (positional || !word.starts_with('-') || word.size() < 2) {
      Options* command = positional || at != this ? nullptr : FindCommand(word);
      if (command != nullptr) {
        at = command;
        at->parsed_ = true;
        continue;
      }
      option = at->NextPositional();
      value = word;
      has_value = true;
    } else if (word.starts_with("--")) {
      const size_t equals = word.find('=');
      option = at->Find(std::string_view(word).substr(0, equals));
      has_value = equals != std::string::npos;
      if (has_value) value = word.substr(equals + 1);
    } else {
      option = at->Find(std::string_view(word).substr(0, 2));
      has_value = word.size() > 2;
      if (has_value) value = word.substr(2);
    }
    if (option == nullptr) {
      unexpected += (strangers++ > 0 ? " " : "") + word;
      continue;
    }
    if (option->kind_ == Option::Kind::kFlag) {
      if (has_value) return Wrong(option->name_ + " takes no value");
    } else if (!has_value) {
      if (++i == words.size())
        return Wrong(option->name_ + ": 1 required " +
                     std::string(option->type_) + " missing");
      value = words[i];
    }
    GATE_CHECK(option->Take(value));
  }
  for (const Options* done : {static_cast<const Options*>(at),
                              static_cast<const Options*>(at->above_)})
    if (done != nullptr) GATE_CHECK(done->Complete());
  if (strangers > 0)
    return Wrong(std::string("The following argument") +
                 (strangers > 1 ? "s were" : " was") +
                 " not expected: " + unexpected);
  return {};
}

Status Options::Complete() const {
  for (const Option& option : options_) {
    if (option.required_ && option.count_ == 0)
      return Wrong(option.name_ + " is required");
    if (option.count_ == 0) continue;
    if (option.needs_ != nullptr && option.needs_->count_ == 0)
      return Wrong(option.name_ + " requires " + option.needs_->name_);
    if (option.excludes_ != nullptr && option.excludes_->count_ > 0)
      return Wrong(option.name_ + " excludes " + option.excludes_->name_);
  }
  return {};
}

std::string Options::Help() const {
  std::string out = description_ + "\nUsage: " + name_ + " [OPTIONS]";
  std::string positionals, options;
  for (const Option& option : options_) {
    const bool many = option.kind_ == Option::Kind::kMany;
    std::string left = option.name_;
    if (!option.type_.empty()) left += " " + std::string(option.type_);
    if (!option.allowed_.empty()) left += ":" + Braced(option.allowed_);
    if (many) left += " ...";
    if (option.required_) left += " REQUIRED";
    AddRow(left, option.help_, option.IsPositional() ? &positionals : &options);
    if (!option.IsPositional()) continue;
    const std::string shown = option.name_ + (many ? "..." : "");
    out += option.required_ ? " " + shown : " [" + shown + "]";
  }
  if (!commands_.empty()) out += " [SUBCOMMAND]";
  out += '\n';
  if (!positionals.empty()) out += "\nPositionals:\n" + positionals;
  out += "\nOptions:\n";
  AddRow("-h,--help", "Print this help message and exit", &out);
  out += options;
  if (commands_.empty()) return out;
  out += "\nSubcommands:\n";
  for (const Options& command : commands_)
    AddRow(command.word_, command.description_, &out);
  return out;
}

}  // namespace gate::cli
