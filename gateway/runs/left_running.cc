#include "gateway/runs/left_running.h"

#include <algorithm>
#include <array>

#include "lasting/lasting_runs.h"
#include "parser/read.h"
#include "services/listeners.h"

namespace gate::app {

Background FindBackground(std::string_view code) {
  parser::ReadOptions options;
  options.compare = false;
  const parser::Ast ast = parser::Read(code, options).ast;
  Background found;
  for (const parser::Node& node : ast.nodes)
    for (size_t i = 0; i < node.asynchronous.size(); ++i) {
      if (!node.asynchronous[i]) continue;
      found.any = true;
      found.end = std::max(found.end, ast.nodes[node.children[i]].span.end);
    }
  return found;
}

bool IsEndedByLine(const parser::Analysis& analysis,
                   const Background& background) {
  constexpr auto kEndsIt = std::to_array<std::string_view>(
      {"fg", "kill", "killall", "pkill", "wait"});
  return background.any &&
         std::ranges::any_of(
             analysis.invocations, [&](const parser::Invocation& invocation) {
               const bool asks = invocation.argv.size() > 1 &&
                                 invocation.argv[1].text == "-0";
               return !asks && invocation.span.begin >= background.end &&
                      std::ranges::find(kEndsIt, invocation.program) !=
                          kEndsIt.end();
             });
}

bool IsListenedOn(uint16_t port) {
  const auto listening = services::FindListening({}, port);
  return !listening || !listening->empty();
}

bool SignalsProcesses(const parser::Analysis& analysis) {
  constexpr auto kByFile = std::to_array<std::string_view>(
      {"apachectl", "fuser", "kill", "killall", "nginx", "pg_ctl", "pkill",
       "pidwait", "skill", "start-stop-daemon", "supervisorctl"});
  return std::ranges::any_of(analysis.effects,
                             [](const parser::Effect& effect) {
                               return effect.kind ==
                                      parser::EffectKind::kSignal;
                             }) ||
         std::ranges::any_of(
             analysis.invocations, [&](const parser::Invocation& invocation) {
               return std::ranges::find(kByFile, invocation.program) !=
                      kByFile.end();
             });
}

bool HasEarlierRuns(const std::string& state, const Question& question,
                    const std::string& workspace) {
  if (question.session.empty()) return false;
  const auto runs = lasting::ListRunning(state);
  return runs && std::ranges::any_of(*runs, [&](const lasting::Entry& run) {
           return run.session == question.session &&
                  run.agent == question.agent && run.workspace == workspace;
         });
}

}  // namespace gate::app
