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

constexpr size_t kFlushParsedBytes = 64 * 1024;

parser::Analysis Read(const ProcessFacts& facts, const Request& request) {
  parser::Context context = MakeContext(facts, request.cwd);
  context.look_at_files = request.on_this_machine;
  return request.is_argv ? parser::AnalyzeArgv(request.argv, context)
                         : parser::Analyze(request.command, context);
}

int ParseBatch(const ProcessFacts& facts, const LookOptions& options) {
  std::string out;
  bool written = true;
  const auto flush = [&out, &written] {
    written = written && WriteAll(STDOUT_FILENO, out).has_value();
    out.clear();
  };
  const bool read =
      ForEachLine([&](size_t, std::optional<std::string_view> line) {
        if (line && line->find_first_not_of(" \t\r") == std::string_view::npos)
          return;
        BatchItem item =
            line ? ReadBatchItem(*line) : BatchItem{"null", "", "", "too long"};
        if (!item.error.empty()) {
          out += parser::UnreadablePrediction(item.id_json);
        } else {
          Request request = options.request;
          request.on_this_machine = false;
          request.command = std::move(item.command);
          if (!item.cwd.empty()) request.cwd = Normalise(item.cwd, "/");
          out += parser::PredictionToJson(Read(facts, request), item.id_json);
        }
        out += '\n';
        if (out.size() > kFlushParsedBytes) flush();
      });
  flush();
  if (read && written) return 0;
  Complain(read ? "the answers could not be written" : "stdin is unreadable");
  return kExitInternal;
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
