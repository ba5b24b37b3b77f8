// The report of gate-net, which has read what contained commands sent, and the
// policy that it is given: what is read keeps its bounds, shows no control
// characters, and is written as it was read.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "fuzz/require.h"
#include "net/filter_policy.h"
#include "net/filter_report.h"

using namespace gate;
using namespace gate::net;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const FilterReport report = ReadFilterReport(text);
  Require(report.connections.size() <= kMaxReportedConnections);
  Require(report.refused.size() <= kMaxReportedHosts);
  std::string again;
  for (const Connection& one : report.connections) {
    for (const std::string* part :
         {&one.host, &one.via, &one.address, &one.why})
      Require(*part == Visible(*part));
    again += ReportLine(one);
  }
  Require(ReadFilterReport(again).connections.size() ==
          report.connections.size());
  const auto policy = ReadFilterPolicy(text);
  if (!policy) return 0;
  const auto same = ReadFilterPolicy(WriteFilterPolicy(*policy));
  Require(same && *same == *policy);
  (void)CompilePolicy(*policy);
  return 0;
}
