#include "net/filter_report.h"

#include <array>

#include "base/json.h"
#include "base/json_writer.h"
#include "base/text.h"

namespace gate::net {
namespace {

constexpr std::array<std::string_view, 9> kVerdicts = {
    "malformed",  "passed",       "not-listed", "denied",     "address",
    "other-name", "unauthorized", "limit",      "unreachable"};

constexpr size_t kMaxHostText = 256;
constexpr size_t kMaxWhy = 300;

std::string Cut(const std::string& text, size_t most) {
  return ToUtf8(text.substr(0, most));
}

std::string TextIn(const Json& json, const char* name, size_t most) {
  const auto at = json.find(name);
  if (at == json.end() || !at->is_string()) return "";
  return Visible(at->get<std::string>().substr(0, most));
}

uint64_t NumberIn(const Json& json, const char* name) {
  const auto at = json.find(name);
  return at != json.end() && at->is_number_unsigned() ? at->get<uint64_t>() : 0;
}

uint16_t PortIn(const Json& json) {
  const uint64_t port = NumberIn(json, "port");
  return port <= UINT16_MAX ? static_cast<uint16_t>(port) : 0;
}

Connection ReadConnection(const Json& json) {
  Connection one;
  one.host = TextIn(json, "host", kMaxHostText);
  one.port = PortIn(json);
  one.via = TextIn(json, "via", 16);
  const std::string verdict = TextIn(json, "verdict", 16);
  for (size_t i = 0; i < kVerdicts.size(); ++i)
    if (kVerdicts[i] == verdict)
      one.verdict = static_cast<ConnectionVerdict>(i);
  one.address = TextIn(json, "address", 64);
  one.bytes_out = NumberIn(json, "sent");
  one.bytes_in = NumberIn(json, "received");
  one.started_ms = NumberIn(json, "started_ms");
  one.duration_ms = NumberIn(json, "duration_ms");
  one.why = TextIn(json, "why", kMaxWhy);
  return one;
}

void Put(const Connection& one, JsonWriter* json) {
  json->BeginObject()
      .Field("host", Cut(one.host, kMaxHostText))
      .Field("port", one.port)
      .Field("via", one.via)
      .Field("verdict", Name(one.verdict))
      .Field("address", one.address)
      .Field("sent", static_cast<int64_t>(one.bytes_out))
      .Field("received", static_cast<int64_t>(one.bytes_in))
      .Field("started_ms", static_cast<int64_t>(one.started_ms))
      .Field("duration_ms", static_cast<int64_t>(one.duration_ms))
      .Field("why", Cut(one.why, kMaxWhy))
      .EndObject();
}

}  // namespace

std::string_view Name(ConnectionVerdict verdict) {
  return kVerdicts[static_cast<size_t>(verdict)];
}

std::string ReportLine(const Connection& one) {
  JsonWriter json;
  Put(one, &json);
  return json.Take() + "\n";
}

std::string ReportLine(const RefusedHost& host) {
  JsonWriter json;
  json.BeginObject()
      .Field("refused", Cut(host.host, kMaxHostText))
      .Field("port", host.port)
      .Field("via", host.via)
      .EndObject();
  return json.Take() + "\n";
}

std::string ReportTotals(const FilterReport& report) {
  JsonWriter json;
  json.BeginObject()
      .Field("total", static_cast<int64_t>(report.total))
      .Field("passed", static_cast<int64_t>(report.passed))
      .Field("out", static_cast<int64_t>(report.bytes_out))
      .Field("in", static_cast<int64_t>(report.bytes_in))
      .EndObject();
  return json.Take() + "\n";
}

FilterReport ReadFilterReport(std::string_view text) {
  FilterReport report;
  text = text.substr(0, text.find('\0'));
  for (size_t end = 0; (end = text.find('\n')) != text.npos;
       text.remove_prefix(end + 1)) {
    const auto json = ParseJson(text.substr(0, end));
    if (!json || !json->is_object()) return report;
    if (json->contains("total")) {
      report.total = NumberIn(*json, "total");
      report.passed = NumberIn(*json, "passed");
      report.bytes_out = NumberIn(*json, "out");
      report.bytes_in = NumberIn(*json, "in");
      report.complete = true;
      return report;
    }
    if (json->contains("refused")) {
      if (report.refused.size() < kMaxReportedHosts)
        report.refused.push_back({TextIn(*json, "refused", kMaxHostText),
                                  PortIn(*json), TextIn(*json, "via", 16)});
      continue;
    }
    if (report.connections.size() == kMaxReportedConnections) continue;
    report.connections.push_back(ReadConnection(*json));
    const Connection& one = report.connections.back();
    ++report.total;
    report.passed += one.verdict == ConnectionVerdict::kPassed ? 1 : 0;
    report.bytes_out += one.bytes_out;
    report.bytes_in += one.bytes_in;
  }
  return report;
}

std::string RecordOf(const FilterReport& report) {
  JsonWriter json;
  json.BeginObject()
      .Field("connections", static_cast<int64_t>(report.total))
      .Field("passed", static_cast<int64_t>(report.passed))
      .Field("sent", static_cast<int64_t>(report.bytes_out))
      .Field("received", static_cast<int64_t>(report.bytes_in))
      .Flag("complete", report.complete);
  json.Key("each").BeginArray();
  for (const Connection& one : report.connections) Put(one, &json);
  json.EndArray().Key("refused").BeginArray();
  for (const RefusedHost& host : report.refused)
    json.BeginObject()
        .Field("host", Cut(host.host, kMaxHostText))
        .Field("port", host.port)
        .Field("via", host.via)
        .EndObject();
  json.EndArray().EndObject();
  return json.Take();
}

std::vector<Connection> ConnectionsIn(std::string_view detail) {
  std::vector<Connection> all;
  const auto json = ParseJson(detail);
  if (!json || !json->is_object()) return all;
  const Json& network = json->value("network", Json::object());
  if (!network.is_object()) return all;
  for (const Json& one : network.value("each", Json::array()))
    if (one.is_object()) all.push_back(ReadConnection(one));
  return all;
}

}  // namespace gate::net
