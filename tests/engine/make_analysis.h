// Analyses written by hand, so that the engine is tested by itself.
#pragma once

#include <string>
#include <vector>

#include "base/paths.h"
#include "engine/evaluate.h"
#include "parser/analysis.h"

namespace gate::test {

// One command of known words; "\x01" stands for an unknown quoted word and
// "\x02" for an unknown unquoted one.
inline parser::Invocation Command(const std::vector<std::string>& words) {
  parser::Invocation invocation;
  for (const std::string& word : words) {
    parser::Argument argument;
    argument.text = word;
    if (const size_t hole = word.find_first_of("\x01\x02");
        hole != std::string::npos) {
      argument.known = false;
      argument.splits = word[hole] == '\x02';
      argument.text = word.substr(0, hole);
      argument.suffix = word.substr(hole + 1);
    }
    invocation.argv.push_back(argument);
  }
  if (!words.empty() && invocation.argv[0].known)
    invocation.program = std::string(BaseName(words[0]));
  invocation.cwd.text = "/home/dev/project";
  return invocation;
}

struct Line {
  parser::Analysis analysis;

  Line() { analysis.read_whole = true; }
  Line& Run(const std::vector<std::string>& words) {
    analysis.invocations.push_back(Command(words));
    return *this;
  }
  // Belongs to the last command unless `loose`.
  Line& Effect(parser::EffectKind kind, const std::string& path,
               bool recursive = false, bool redirect = false,
               bool loose = false) {
    parser::Effect effect;
    effect.kind = kind;
    effect.path.text = path;
    if (const size_t hole = path.find('\x01'); hole != std::string::npos) {
      effect.path.known = false;
      effect.path.text = path.substr(0, hole);
      effect.path.suffix = path.substr(hole + 1);
    }
    effect.path.glob = path.find('*') != std::string::npos;
    effect.recursive = recursive;
    effect.from_redirect = redirect;
    if (!loose && !analysis.invocations.empty())
      effect.invocation =
          static_cast<uint32_t>(analysis.invocations.size() - 1);
    analysis.effects.push_back(effect);
    return *this;
  }
  Line& Unknown(parser::UnknownCode code, bool hides = false) {
    analysis.unknowns.push_back({code, {}, ""});
    analysis.hides_commands = analysis.hides_commands || hides;
    return *this;
  }
  Line& Flow(parser::FlowKind kind, const std::string& source = {}) {
    parser::Flow flow;
    flow.kind = kind;
    flow.source.text = source;
    analysis.flows.push_back(flow);
    return *this;
  }
  Line& Env(const std::string& name, const std::string& value) {
    parser::EnvironmentSetting setting;
    setting.name = name;
    setting.value.text = value;
    analysis.invocations.back().environment.push_back(setting);
    return *this;
  }
};

inline engine::Request Developer() {
  engine::Request request;
  request.cwd = "/home/dev/project";
  request.workspace = "/home/dev/project";
  request.home = "/home/dev";
  request.config_dir = "/home/dev/.config/gate";
  request.state_dir = "/home/dev/.local/state/gate";
  request.cache_dir = "/home/dev/.cache/gate";
  request.now_ms = 1'790'000'000'000;
  return request;
}

// Rules of one user file, without the shipped ones.
inline rules::Policy Rules(const std::string& json,
                           rules::Layer layer = rules::Layer::kUser) {
  rules::RuleFile file;
  file.name = "test.json";
  file.layer = layer;
  file.trusted = true;
  file.text = R"({"schema": 1, "pack": "test", "rules": [)" + json + "]}";
  return rules::MakePolicy({file}, false);
}

inline engine::Decision Decide(const rules::Policy& policy, const Line& line,
                               const engine::Request& request = Developer()) {
  return engine::Evaluate(policy, line.analysis, request, {});
}

}  // namespace gate::test
