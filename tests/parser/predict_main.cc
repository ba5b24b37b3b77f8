// gate_predict: {"id","cmd"} a line on stdin, the prediction of each on stdout.
// A tool of the soundness measurement that needs no gate binary. --time prints
// how long each line took to standard error.
#include <cstdio>
#include <cstring>
#include <ctime>
#include <iostream>
#include <string>

#include "base/json.h"
#include "parser/analysis.h"
#include "parser/predict.h"

namespace {

// Processor time of this thread, which other work on the machine leaves alone.
double Microseconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 +
         static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace

int main(int argc, char** argv) {
  bool time = argc > 1 && std::strcmp(argv[1], "--time") == 0;
  gate::parser::Context context;
  context.cwd = "/home/agent/work";
  context.home = "/home/agent";
  context.user = "agent";
  context.shell = "/bin/bash";
  context.path = "/usr/bin:/bin";
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.empty()) continue;
    auto row = nlohmann::json::parse(line, nullptr, false);
    if (row.is_discarded() || !row.contains("cmd")) {
      std::puts(gate::parser::UnreadablePrediction("null").c_str());
      continue;
    }
    std::string id = row["id"].dump();
    double begin = Microseconds();
    gate::parser::Analysis analysis =
        gate::parser::Analyze(row["cmd"].get<std::string>(), context);
    double end = Microseconds();
    if (time) {
      std::fprintf(
          stderr, "%.1f %s\n",
          std::chrono::duration<double, std::micro>(end - begin).count(),
          id.c_str());
    }
    std::puts(gate::parser::PredictionToJson(analysis, id).c_str());
  }
  return 0;
}
