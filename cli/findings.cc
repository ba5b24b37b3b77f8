#include "cli/findings.h"

#include <algorithm>
#include <vector>

#include "base/hash.h"
#include "base/json_writer.h"
#include "base/text.h"

namespace gate::app {
namespace {

using rules::Finding;

// A path as a URI reference.
std::string UriOf(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  constexpr char kHex[] = "0123456789ABCDEF";
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
        (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '-' ||
        c == '_' || c == '~') {
      uri += c;
    } else {
      uri += '%';
      uri += kHex[byte >> 4];
      uri += kHex[byte & 15];
    }
  }
  return uri;
}

// Stays the same when lines move.
std::string Fingerprint(const Finding& finding) {
  const std::string_view path = finding.diagnostic.file;
  std::string text = finding.diagnostic.code + '\n' + finding.rule + '\n' +
                     finding.other + '\n' +
                     std::string(path.substr(path.rfind('/') + 1)) + '\n';
  // Without a rule the message tells findings of a file apart.
  if (finding.rule.empty()) text += finding.diagnostic.message;
  return Hex(Sha256(text)).substr(0, 32);
}

void WriteResult(const Finding& finding, size_t index, JsonWriter* json) {
  const Diagnostic& d = finding.diagnostic;
  json->BeginObject().Field("ruleId", d.code);
  json->Field("ruleIndex", static_cast<int64_t>(index));
  json->Field("level", Name(d.severity));
  json->Key("message").BeginObject();
  json->Field("text",
              d.message + (finding.witness.empty()
                               ? ""
                               : " (for example: " + finding.witness + ")"));
  json->EndObject();
  json->Key("locations").BeginArray();
  if (!d.file.empty()) {
    json->BeginObject().Key("physicalLocation").BeginObject();
    json->Key("artifactLocation").BeginObject();
    json->Field("uri", UriOf(d.file)).EndObject();
    if (d.line > 0) {
      json->Key("region").BeginObject();
      json->Field("startLine", static_cast<int64_t>(d.line));
      if (d.column > 0)
        json->Field("startColumn", static_cast<int64_t>(d.column));
      json->EndObject();
    }
    json->EndObject().EndObject();
  }
  json->EndArray();
  json->Key("partialFingerprints").BeginObject();
  json->Field("gateFinding/v1", Fingerprint(finding)).EndObject();
  if (!finding.accepted.empty()) {
    json->Key("suppressions").BeginArray().BeginObject();
    json->Field("kind", "inSource").Field("justification", finding.accepted);
    json->EndObject().EndArray();
  }
  json->Key("properties").BeginObject();
  if (!finding.rule.empty()) json->Field("rule", finding.rule);
  if (!finding.other.empty()) json->Field("other", finding.other);
  if (!finding.witness.empty()) json->Field("witness", finding.witness);
  json->EndObject().EndObject();
}

}  // namespace

std::string FindingsAsText(std::span<const Finding> findings) {
  std::string out;
  for (const Finding& finding : findings) {
    if (!finding.accepted.empty()) continue;
    out += Render(finding.diagnostic);
    if (!finding.witness.empty())
      out += "    witness: " + Visible(finding.witness) + "\n";
  }
  return out;
}

std::string FindingsAsJson(std::span<const Finding> findings) {
  std::string out;
  for (const Finding& finding : findings) {
    const Diagnostic& d = finding.diagnostic;
    JsonWriter json;
    json.BeginObject().Field("schema", "gate.finding/1");
    json.Field("code", d.code).Field("level", Name(d.severity));
    json.Field("file", d.file).Field("line", static_cast<int64_t>(d.line));
    json.Field("column", static_cast<int64_t>(d.column));
    json.Field("message", d.message).Field("help", d.help);
    json.Field("rule", finding.rule).Field("other", finding.other);
    json.Field("witness", finding.witness);
    json.Field("accepted", finding.accepted).EndObject();
    out += json.text() + "\n";
  }
  return out;
}

std::string FindingsAsSarif(std::span<const Finding> findings,
                            const std::string& version) {
  std::vector<std::string> codes;
  JsonWriter json;
  json.BeginObject();
  json.Field("$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  json.Field("version", "2.1.0").Key("runs").BeginArray().BeginObject();
  json.Key("tool").BeginObject().Key("driver").BeginObject();
  json.Field("name", "gate").Field("version", version);
  json.Key("rules").BeginArray();
  const auto describe = [&](std::string_view code, std::string_view summary,
                            std::string_view help) {
    codes.emplace_back(code);
    json.BeginObject().Field("id", code);
    json.Key("shortDescription").BeginObject().Field("text", summary);
    json.EndObject();
    json.Key("help").BeginObject().Field("text", help).EndObject();
    json.EndObject();
  };
  for (const rules::LintKind& kind : rules::LintKinds())
    describe(kind.code, kind.summary, kind.help);
  for (const Finding& finding : findings)  // what loading found
    if (std::find(codes.begin(), codes.end(), finding.diagnostic.code) ==
        codes.end())
      describe(finding.diagnostic.code, "a rule file does not say what it must",
               "docs/rules.md says what each key takes");
  json.EndArray().EndObject().EndObject();
  json.Key("results").BeginArray();
  for (const Finding& finding : findings)
    WriteResult(finding,
                static_cast<size_t>(std::find(codes.begin(), codes.end(),
                                              finding.diagnostic.code) -
                                    codes.begin()),
                &json);
  json.EndArray();
  // Columns are counted in bytes; what is before them is nearly always ASCII.
  json.Field("columnKind", "unicodeCodePoints");
  json.EndObject().EndArray().EndObject();
  return json.text() + "\n";
}

bool TellPolicyErrors(const rules::Policy& policy) {
  if (!HasErrors(policy.diagnostics())) return false;
  for (const Diagnostic& diagnostic : policy.diagnostics())
    std::fputs(Render(diagnostic).c_str(), stderr);
  return true;
}

}  // namespace gate::app
