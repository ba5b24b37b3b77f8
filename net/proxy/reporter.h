// Writes the report of a run as it goes on (net/filter_report.h).
#pragma once

#include <set>
#include <string>
#include <utility>

#include "base/file.h"
#include "net/filter_report.h"

namespace gate::net::proxy {

class Reporter {
 public:
  // `file` has a fixed size of `room` bytes.
  Reporter(Fd file, size_t room) : file_(std::move(file)), room_(room) {}

  // A connection that has ended.
  void Add(const Connection& connection);
  // A name that was asked for and is not listed.
  void AddRefused(const std::string& host, uint16_t port, const char* via);
  // The totals. Once, at the end.
  void Finish();

 private:
  void Write(const std::string& line);

  Fd file_;
  size_t room_;
  size_t written_ = 0;
  FilterReport totals_;
  size_t told_ = 0;
  std::set<std::pair<std::string, uint16_t>> refused_;
};

}  // namespace gate::net::proxy
