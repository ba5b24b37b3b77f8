#include "gateway/run_arguments.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <iterator>

#include "net/host_list.h"
#include "router/plan.h"

namespace gate::app {
namespace {

struct Option {
  const char* name;
  std::string RunArguments::* field;  // null: it has names of its own
};
constexpr Option kOptions[] = {{"--profile", nullptr},
                               {"--backend", &RunArguments::backend},
                               {"--network", nullptr},
                               {"--host", nullptr},
                               {"--ticket", &RunArguments::ticket},
                               {"--cwd", &RunArguments::cwd},
                               {"--agent", &RunArguments::agent},
                               {"--session", &RunArguments::session}};

// Seconds, with up to three decimals: "2", "0.5", "90s".
bool ParseSeconds(std::string_view text, uint64_t* ms) {
  if (text.ends_with('s')) text.remove_suffix(1);
  const size_t dot = text.find('.');
  const std::string_view whole = text.substr(0, dot);
  uint64_t seconds = 0;
  auto [end, error] =
      std::from_chars(whole.data(), whole.data() + whole.size(), seconds);
  if (error != std::errc() || end != whole.data() + whole.size() ||
      seconds > 1000000)
    return false;
  uint64_t fraction = 0;
  if (dot != std::string_view::npos) {
    std::string digits(text.substr(dot + 1));
    if (digits.empty() || digits.size() > 3 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      return false;
    digits.resize(3, '0');
    fraction = static_cast<uint64_t>(std::stoi(digits));
  }
  *ms = seconds * 1000 + fraction;
  return *ms > 0;
}

constexpr const char* kHostsOfDomains =
    "`--host` belongs to `--network domains`";

bool IsNetworkSaid(const RunArguments& parsed) {
  return !parsed.hosts || parsed.network == backends::Network::kDomains;
}

}  // namespace

Result<RunArguments> ParseRunArguments(
    const std::vector<std::string>& arguments) {
  RunArguments parsed;
  bool has_command = false;
  const auto usage = [](std::string message) {
    return Fail(ErrorCode::kInvalid, std::move(message));
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") {
      if (has_command)
        return usage("give a command line or `-- ARGV…`, not both");
      parsed.argv.assign(arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                         arguments.end());
      if (parsed.argv.empty()) return usage("nothing follows `--`");
      if (!IsNetworkSaid(parsed)) return usage(kHostsOfDomains);
      parsed.is_argv = true;
      return parsed;
    }
    if (word == "--json") {
      parsed.json = true;
      continue;
    }
    if (word == "--preview" || word == "--preview=auto") {
      parsed.preview = word == "--preview" ? "ask" : "auto";
      continue;
    }
    if (word == "-c") {
      if (has_command) return usage("two command lines were given");
      if (i + 1 == arguments.size()) return usage("`-c` needs a command line");
      parsed.command = arguments[++i];
      has_command = true;
      continue;
    }
    if (word == "-")
      return usage("no line is read from stdin; give it with `-c`");
    if (word.starts_with("-")) {
      const size_t equals = word.find('=');
      const std::string name = word.substr(0, equals);
      const auto option =
          std::find_if(std::begin(kOptions), std::end(kOptions),
                       [&](const Option& known) { return name == known.name; });
      if (option == std::end(kOptions) && name != "--timeout")
        return usage("`" + name +
                     "` is not an option here; a command of several words is "
                     "given as one, or behind `--`");
      std::string value;
      if (equals != std::string::npos) {
        value = word.substr(equals + 1);
      } else if (i + 1 < arguments.size()) {
        value = arguments[++i];
      } else {
        return usage("`" + name + "` needs a value");
      }
      if (name == "--timeout") {
        if (!ParseSeconds(value, &parsed.timeout_ms))
          return usage("`" + value + "` is not a number of seconds");
        continue;
      }
      if (name == "--network") {
        const auto network = rules::ParseNetworkAccess(value);
        if (!network)
          return usage("`" + value +
                       "` is not none, loopback, domains or open");
        parsed.network = router::NetworkOf(*network);
      } else if (name == "--host") {
        const auto rule = net::ParseHostRule(value);
        if (!rule)
          return usage("`" + value + "` is no host: " + rule.error().message);
        if (!parsed.hosts) parsed.hosts.emplace();
        if (parsed.hosts->size() == net::kMaxHostRules)
          return usage("more hosts than gate takes");
        parsed.hosts->push_back(net::Print(*rule));
      } else if (name == "--profile") {
        const auto profile = rules::ParseProfileKind(value);
        if (!profile)
          return usage(
              "`" + value +
              "` is not read-only, workspace-write, tool or full-access");
        parsed.profile = *profile;
      } else {
        parsed.*option->field = value;
      }
      continue;
    }
    if (has_command)
      return usage(
          "two command lines were given; quote the line as one "
          "argument, or give an argument vector after `--`");
    parsed.command = word;
    has_command = true;
  }
  if (!IsNetworkSaid(parsed)) return usage(kHostsOfDomains);
  // A ticket knows its command.
  if (!has_command && parsed.ticket.empty())
    return usage("no command was given");
  return parsed;
}

}  // namespace gate::app
