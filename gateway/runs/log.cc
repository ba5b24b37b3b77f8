#include "gateway/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "base/text.h"

namespace gate::app {
namespace {

// Null until --verbose asked for it: a logger is work that a decision does
// not need.
std::shared_ptr<spdlog::logger>& Logger() {
  static std::shared_ptr<spdlog::logger> logger;
  return logger;
}

}  // namespace

void StartLogging() {
  try {
    Logger() = std::make_shared<spdlog::logger>(
        "gate", std::make_shared<spdlog::sinks::stderr_sink_st>());
    Logger()->set_pattern("gate[%P] %H:%M:%S.%f %v");
    Logger()->set_level(spdlog::level::debug);
  } catch (const spdlog::spdlog_ex&) {
    Logger().reset();
  }
}

void LogDebug(const std::string& message) {
  if (Logger()) Logger()->debug("{}", Visible(message));
}

}  // namespace gate::app
