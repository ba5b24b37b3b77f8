// Writes a seccomp filter.
//
// When a filter is installed the kernel runs it once for every call's number,
// to remember those that are always allowed; and it translates every
// instruction. So a filter costs its length and, far more, the steps that an
// allowed number takes through it: the numbers are looked up in a tree, and
// what returns the same verdict shares one instruction.
#pragma once

#include <linux/seccomp.h>
#include <stddef.h>

#include <array>
#include <cstdint>
#include <utility>

#include "backends/native/calls/seccomp.h"

namespace gate::backends {

inline constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t Errno(int error) {
  return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error);
}

class FilterWriter {
 public:
  // Where a jump ends: at kNext, at a verdict, or where Place() puts it, which
  // must be further down.
  using Label = uint16_t;
  static constexpr Label kNext = 0;

  Label NewLabel();
  Label Verdict(uint32_t value);
  void Place(Label label);

  void Load(size_t offset);
  void LoadNumber() { Load(offsetof(seccomp_data, nr)); }
  // The low half of argument `n`, and the high one: both architectures are
  // little endian.
  void LoadArgument(size_t n);
  void LoadHigh(size_t n);
  // On the value loaded last.
  void IfEqual(uint32_t value, Label yes, Label no);
  void IfAny(uint32_t mask, Label yes, Label no);

  // For Dispatch(). A number's first entry counts.
  void OnCall(uint32_t number, Label to);
  // From here on, for those numbers without an entry.
  void OnCallsFrom(uint32_t number, Label to);
  // Goes where the loaded number is to go, else to `otherwise`.
  void Dispatch(Label otherwise);

  // What grew too large refuses every call.
  Filter Finish();

 private:
  static constexpr size_t kMaxLabels = 512, kMaxCalls = 256, kMaxVerdicts = 16;
  static constexpr uint16_t kNowhere = 0xffff;

  struct Step {
    uint16_t code = 0;
    Label yes = kNext, no = kNext;
    uint32_t k = 0;
  };
  struct Entry {
    uint32_t number = 0;
    Label to = kNext;
  };

  void Add(int code, uint32_t k, Label yes = kNext, Label no = kNext);
  void AddTree(const Entry* first, size_t count);
  // How far down `label` is from step `from`; more than a jump can take when
  // it is nowhere.
  size_t Distance(size_t from, Label label) const;

  std::array<Step, kMaxFilter> steps_ = {};
  std::array<uint16_t, kMaxLabels> places_ = {};
  std::array<Entry, kMaxCalls> calls_ = {};
  std::array<std::pair<uint32_t, Label>, kMaxVerdicts> verdicts_ = {};
  size_t size_ = 0, labels_ = 1, call_count_ = 0, verdict_count_ = 0;
  Entry beyond_ = {UINT32_MAX, kNext};
  bool whole_ = true;
};

}  // namespace gate::backends
