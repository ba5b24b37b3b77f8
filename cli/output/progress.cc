#include "cli/output/progress.h"

#include <unistd.h>

#include <cstdio>

#include "facts/process_facts.h"

namespace gate::app {

Progress::Progress(std::string what)
    : Progress(std::move(what), MonotonicUs, {}) {
  if (::isatty(STDERR_FILENO) == 0) return;
  write_ = [](const std::string& text) {
    std::fflush(stdout);
    std::fputs(text.c_str(), stderr);
  };
}

Progress::Progress(std::string what, std::function<uint64_t()> now_us,
                   std::function<void(const std::string&)> write)
    : what_(std::move(what)),
      now_us_(std::move(now_us)),
      write_(std::move(write)),
      start_us_(now_us_()) {}

Progress::~Progress() { Clear(); }

void Progress::At(size_t done, size_t total) {
  if (!write_) return;
  const uint64_t now = now_us_();
  if (now - start_us_ < kPatienceUs || (shown_ && now - last_us_ < kPauseUs))
    return;
  last_us_ = now;
  shown_ = true;
  write_("\r" + what_ + ": " + std::to_string(done) + " of " +
         std::to_string(total) + "\x1b[K");
}

void Progress::Clear() {
  if (shown_) write_("\r\x1b[K");
  shown_ = false;
}

}  // namespace gate::app
