#include "net/proxy/reporter.h"

#include <errno.h>
#include <unistd.h>

namespace gate::net::proxy {
namespace {

// Kept for the totals.
constexpr size_t kTotalsBytes = 256;

}  // namespace

void Reporter::Add(const Connection& connection) {
  ++totals_.total;
  totals_.bytes_out += connection.bytes_out;
  totals_.bytes_in += connection.bytes_in;
  if (connection.verdict == ConnectionVerdict::kPassed) ++totals_.passed;
  if (connection.verdict == ConnectionVerdict::kNotListed)
    AddRefused(connection.host, connection.port, connection.via.c_str());
  if (told_ == kMaxReportedConnections) return;
  ++told_;
  Write(ReportLine(connection));
}

void Reporter::AddRefused(const std::string& host, uint16_t port,
                          const char* via) {
  if (refused_.size() == kMaxReportedHosts) return;
  if (!refused_.emplace(host, port).second) return;
  Write(ReportLine(RefusedHost{host, port, via}));
}

void Reporter::Finish() {
  room_ += kTotalsBytes;
  Write(ReportTotals(totals_));
}

void Reporter::Write(const std::string& line) {
  if (written_ + line.size() + kTotalsBytes > room_) return;
  size_t put = 0;
  while (put < line.size()) {
    const ssize_t now =
        ::pwrite(file_.get(), line.data() + put, line.size() - put,
                 static_cast<off_t>(written_ + put));
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return;
    put += static_cast<size_t>(now);
  }
  written_ += put;
}

}  // namespace gate::net::proxy
