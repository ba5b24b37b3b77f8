#include "services/port_facts.h"

#include <algorithm>
#include <charconv>

#include "base/json.h"

namespace gate::services {

std::string_view EmbeddedPorts();  // ports_data.cc, made by the build

namespace {

std::unexpected<Error> Wrong(const std::string& what) {
  return Fail(ErrorCode::kInvalid, "ports: " + what);
}

// Calls `each` for the words of `text`, which blanks separate.
template <class Each>
void EachWord(std::string_view text, Each each) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

bool IsPort(const Json& value) {
  return value.is_number_unsigned() && value.get<uint64_t>() > 0 &&
         value.get<uint64_t>() <= UINT16_MAX;
}

bool IsTexts(const Json& value) {
  return value.is_array() && std::ranges::all_of(value, [](const Json& one) {
           return one.is_string() && !one.get<std::string>().empty();
         });
}

Status ReadClient(const Json& entry, PortFacts* facts) {
  Client client;
  std::string programs;
  for (const auto& [name, value] : entry.items()) {
    if (name == "program" && value.is_string()) {
      programs = value.get<std::string>();
    } else if (name == "port" && IsPort(value)) {
      client.port = value.get<uint16_t>();
    } else if (name == "ports" && IsTexts(value)) {
      client.ports = value.get<std::vector<std::string>>();
    } else if (name == "hosts" && IsTexts(value)) {
      client.hosts = value.get<std::vector<std::string>>();
    } else if (name == "variables" && IsTexts(value) && value.size() == 2) {
      client.host_variable = value[0].get<std::string>();
      client.port_variable = value[1].get<std::string>();
    } else if (name == "local" && value.is_boolean()) {
      client.local = value.get<bool>();
    } else if (name == "operand" && value.is_boolean()) {
      client.operand = value.get<bool>();
    } else {
      return Wrong("`" + name + "` of a client");
    }
  }
  if (programs.empty()) return Wrong("a client without a program");
  std::string twice;
  EachWord(programs, [&](std::string_view program) {
    if (!facts->clients.emplace(program, client).second) twice = program;
  });
  if (!twice.empty()) return Wrong("`" + twice + "` is there twice");
  return {};
}

Status ReadClosed(const Json& entry, PortFacts* facts) {
  ClosedPort closed;
  for (const auto& [name, value] : entry.items()) {
    if (!value.is_string()) return Wrong("`" + name + "` of a closed port");
    const auto text = value.get<std::string>();
    if (name == "ports") {
      const size_t dash = std::min(text.find('-'), text.size());
      closed.first = PortOf(std::string_view(text).substr(0, dash));
      closed.last = dash == text.size()
                        ? closed.first
                        : PortOf(std::string_view(text).substr(dash + 1));
    } else if (name == "what") {
      closed.what = text;
    } else if (name == "then") {
      closed.then = text;
    } else {
      return Wrong("`" + name + "` of a closed port");
    }
  }
  if (closed.first == 0 || closed.last < closed.first || closed.what.empty() ||
      closed.then.empty())
    return Wrong("a closed port that is not complete");
  facts->closed.push_back(std::move(closed));
  return {};
}

}  // namespace

uint16_t PortOf(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size() &&
                 text[0] != '0'
             ? port
             : 0;
}

Result<PortFacts> ReadPortFacts(std::string_view text) {
  const auto json = ParseJson(text, /*comments=*/true);
  if (!json) return Wrong(json.error().message);
  if (!json->is_object() || json->value("schema", 0) != 1)
    return Wrong("it has no schema 1");
  PortFacts facts;
  for (const auto& [name, value] : json->items()) {
    if (name == "schema") continue;
    if (name == "schemes" && value.is_object()) {
      for (const auto& [scheme, port] : value.items()) {
        if (!IsPort(port)) return Wrong("the scheme `" + scheme + "`");
        facts.schemes[scheme] = port.get<uint16_t>();
      }
    } else if (name == "clients" && value.is_array()) {
      for (const Json& entry : value) GATE_CHECK(ReadClient(entry, &facts));
    } else if (name == "closed" && value.is_array()) {
      for (const Json& entry : value) GATE_CHECK(ReadClosed(entry, &facts));
    } else if (name == "proxies" && IsTexts(value)) {
      facts.proxies = value.get<std::vector<std::string>>();
    } else {
      return Wrong("there is no member `" + name + "`");
    }
  }
  return facts;
}

const PortFacts& Facts() {
  // A build whose data does not read has no ports that qualify: the tests say
  // so.
  static const PortFacts facts =
      ReadPortFacts(EmbeddedPorts()).value_or(PortFacts());
  return facts;
}

bool IsNamedInFacts(std::string_view word) {
  const std::string_view text = EmbeddedPorts();
  const auto ends = [&](size_t at) {
    return at >= text.size() || text[at] == ' ' || text[at] == '"';
  };
  for (size_t at = word.empty() ? text.npos : text.find(word); at != text.npos;
       at = text.find(word, at + 1))
    if (at > 0 && ends(at - 1) && ends(at + word.size())) return true;
  return false;
}

const ClosedPort* FindClosed(const PortFacts& facts, uint16_t port) {
  for (const ClosedPort& closed : facts.closed)
    if (closed.first <= port && port <= closed.last) return &closed;
  return nullptr;
}

}  // namespace gate::services
