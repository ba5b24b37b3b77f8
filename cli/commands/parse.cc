// gate parse: what a command line runs, touches, and what is unknown.
#include <unistd.h>

#include <cstdio>

#include "approvals/terminal.h"
#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/exit_codes.h"
#include "cli/output/analysis_json.h"
#include "cli/output/render.h"
#include "cli/request_arguments.h"
#include "parser/predict.h"

namespace gate::app {
namespace {

parser::Analysis Read(const ProcessFacts& facts, const Request& request) {
  parser::Context context = MakeContext(facts, request.cwd);
  context.look_at_files = request.on_this_machine;
  return request.is_argv ? parser::AnalyzeArgv(request.argv, context)
                         : parser::Analyze(request.command, context);
}

int ParseBatch(const ProcessFacts& facts, const LookOptions& options) {
  return AnswerBatch([&](size_t, const BatchItem& item) {
    if (!item.error.empty()) return parser::UnreadablePrediction(item.id_json);
    return parser::PredictionToJson(Read(facts, RequestOf(options, item)),
                                    item.id_json);
  });
}

}  // namespace

int ParseCommand(const GlobalOptions& globals, const Arguments& arguments) {
  LookOptions options;
  const ProcessFacts facts = ReadProcessFacts(globals);
  if (auto code = ReadLookArguments(
          "parse", "Shows what a command line runs and touches.", facts,
          arguments, &options))
    return *code;
  if (options.batch) return ParseBatch(facts, options);
  const parser::Analysis analysis = Read(facts, options.request);
  std::string source = options.request.command;
  for (const std::string& word : options.request.argv)
    source += (source.empty() ? "" : " ") + ShellQuote(word);
  const std::string out =
      options.json
          ? AnalysisToJson(source, options.request.cwd, analysis) + "\n"
          : RenderAnalysis(source, analysis, WantsColour(STDOUT_FILENO));
  if (WriteAll(STDOUT_FILENO, out)) return 0;
  Complain("the answer could not be written");
  return kExitInternal;
}

}  // namespace gate::app
