// How far long work is, for a person who waits.
//
// One line on stderr that is written over and taken away at the end; only on a
// terminal, and only when the work takes longer than half a second.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace gate::app {

class Progress {
 public:
  static constexpr uint64_t kPatienceUs = 500'000;
  static constexpr uint64_t kPauseUs = 100'000;  // between two lines

  // `what`: "deciding", "checking rules". On stderr, if that is a terminal.
  explicit Progress(std::string what);
  // With a clock and a place for what is written, for tests.
  Progress(std::string what, std::function<uint64_t()> now_us,
           std::function<void(const std::string&)> write);
  ~Progress();
  Progress(const Progress&) = delete;  // two would write over each other
  Progress& operator=(const Progress&) = delete;

  void At(size_t done, size_t total);
  // Takes the line away, so that something else can be printed.
  void Clear();

 private:
  std::string what_;
  std::function<uint64_t()> now_us_;
  std::function<void(const std::string&)> write_;  // empty: nobody looks
  uint64_t start_us_ = 0;
  uint64_t last_us_ = 0;
  bool shown_ = false;
};

}  // namespace gate::app
