#include "cli/output/analysis_json.h"

#include "base/text.h"

namespace gate::app {
namespace {

void WriteArgument(const parser::Argument& argument, JsonWriter* json) {
  if (argument.known)
    json->String(argument.text);
  else
    json->Null();
}

void WriteSpan(Span span, JsonWriter* json) {
  json->Key("span").BeginArray();
  json->Number(span.begin).Number(span.end).EndArray();
}

void WriteInvocations(const parser::Analysis& analysis,
                      const InvocationAction& action, JsonWriter* json) {
  json->BeginArray();
  for (size_t i = 0; i < analysis.invocations.size(); ++i) {
    const parser::Invocation& invocation = analysis.invocations[i];
    json->BeginObject().Key("argv").BeginArray();
    for (const parser::Argument& word : invocation.argv)
      WriteArgument(word, json);
    json->EndArray().Key("program");
    if (invocation.program.empty())
      json->Null();
    else
      json->String(invocation.program);
    json->Key("via").BeginArray();
    for (const parser::Via& via : invocation.via) json->String(Name(via));
    json->EndArray();
    WriteSpan(invocation.span, json);
    if (!invocation.certain) json->Flag("certain", false);
    if (action) json->Field("action", action(i));
    json->EndObject();
  }
  json->EndArray();
}

void WriteEffects(const parser::Analysis& analysis, JsonWriter* json) {
  json->BeginArray();
  for (const parser::Effect& effect : analysis.effects) {
    json->BeginObject().Field("kind", Name(effect.kind));
    if (!effect.path.known || !effect.path.text.empty()) {
      json->Key("path");
      WriteArgument(effect.path, json);
    }
    if (!effect.target.text.empty()) {
      json->Key("target");
      WriteArgument(effect.target, json);
    }
    if (effect.kind == parser::EffectKind::kNetwork) {
      json->Key("host");
      if (effect.host.empty())
        json->Null();
      else
        json->String(effect.host);
      if (effect.port != 0) json->Field("port", int64_t{effect.port});
      if (!effect.scheme.empty()) json->Field("scheme", effect.scheme);
      if (effect.listens) json->Flag("listens", true);
    }
    if (effect.recursive) json->Flag("recursive", true);
    json->Flag("certain", effect.certain);
    WriteSpan(effect.span, json);
    json->EndObject();
  }
  json->EndArray();
}

void WriteUnknowns(const parser::Analysis& analysis, JsonWriter* json) {
  json->BeginArray();
  for (const parser::Unknown& unknown : analysis.unknowns) {
    json->BeginObject().Field("code", Name(unknown.code));
    WriteSpan(unknown.span, json);
    json->Field("text", unknown.text).EndObject();
  }
  json->EndArray();
}

}  // namespace

void WriteAnalysisFields(const parser::Analysis& analysis,
                         const InvocationAction& action, JsonWriter* json) {
  json->Key("invocations");
  WriteInvocations(analysis, action, json);
  json->Key("effects");
  WriteEffects(analysis, json);
  json->Key("flows").BeginArray();
  for (const parser::Flow& flow : analysis.flows) {
    json->BeginObject().Field("kind", Name(flow.kind));
    if (!flow.source.known || !flow.source.text.empty()) {
      json->Key("source");
      WriteArgument(flow.source, json);
    }
    WriteSpan(flow.span, json);
    json->EndObject();
  }
  json->EndArray().Key("unknowns");
  WriteUnknowns(analysis, json);
}

std::string AnalysisToJson(std::string_view source, std::string_view cwd,
                           const parser::Analysis& analysis) {
  JsonWriter json;
  json.BeginObject().Field("schema", "gate.analysis/1");
  json.Field("command", source);
  if (!IsUtf8(source)) json.Field("command_b64", Base64(source));
  json.Field("cwd", cwd);
  json.Flag("parse_error", analysis.parse_error);
  json.Flag("dynamic", analysis.hides_commands);
  WriteAnalysisFields(analysis, nullptr, &json);
  json.EndObject();
  return json.Take();
}

}  // namespace gate::app
