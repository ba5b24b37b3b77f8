// Writes a seccomp filter instruction by instruction.
#pragma once

#include <linux/seccomp.h>
#include <stddef.h>

#include <cstdint>
#include <span>

#include "backends/native/seccomp.h"

namespace gate::backends {

inline constexpr uint32_t kAllow = SECCOMP_RET_ALLOW;
constexpr uint32_t Errno(int error) {
  return SECCOMP_RET_ERRNO | static_cast<uint32_t>(error);
}

class Assembler {
 public:
  explicit Assembler(Filter* filter) : filter_(filter) {}

  void Load(size_t offset) {
    Add(BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<uint32_t>(offset));
  }
  // The low half of argument `n`: both architectures are little endian.
  void LoadArgument(size_t n) {
    Load(offsetof(seccomp_data, args) + n * sizeof(uint64_t));
  }
  void Return(uint32_t verdict) { Add(BPF_RET | BPF_K, 0, 0, verdict); }
  // Skips `count` instructions unless the value is `value`.
  void Unless(uint32_t value, uint8_t count) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, 0, count, value);
  }
  void SkipIf(uint32_t value, uint8_t count) {
    Add(BPF_JMP | BPF_JEQ | BPF_K, count, 0, value);
  }
  void ReturnIf(uint32_t value, uint32_t verdict) {
    Unless(value, 1);
    Return(verdict);
  }
  // Sorted numbers. Falls through when the value is none of them.
  void ReturnIfIn(std::span<const uint32_t> numbers, uint32_t verdict) {
    constexpr size_t kChain = 4;
    if (numbers.size() <= kChain) {
      for (const uint32_t number : numbers) ReturnIf(number, verdict);
      return;
    }
    const size_t half = numbers.size() / 2;
    const unsigned short branch = filter_->size;
    Add(BPF_JMP | BPF_JGE | BPF_K, 0, 0, numbers[half]);
    ReturnIfIn(numbers.first(half), verdict);
    // The lower half ends here: over the upper one.
    const unsigned short skip = filter_->size;
    Add(BPF_JMP | BPF_JA, 0, 0, 0);
    filter_->code[branch].jt = static_cast<uint8_t>(skip - branch);
    ReturnIfIn(numbers.subspan(half), verdict);
    filter_->code[skip].k = filter_->size - skip - 1u;
  }
  void ReturnIfAny(uint32_t mask, uint32_t verdict) {
    Add(BPF_JMP | BPF_JSET | BPF_K, 0, 1, mask);
    Return(verdict);
  }
  // Skips `count` instructions unless a bit of `mask` is set.
  void SkipUnlessAny(uint32_t mask, uint8_t count) {
    Add(BPF_JMP | BPF_JSET | BPF_K, 0, count, mask);
  }
  // Skips `count` instructions if a bit of `mask` is set.
  void SkipIfAny(uint32_t mask, uint8_t count) {
    Add(BPF_JMP | BPF_JSET | BPF_K, count, 0, mask);
  }
  void ReturnIfAtLeast(uint32_t value, uint32_t verdict) {
    Add(BPF_JMP | BPF_JGE | BPF_K, 0, 1, value);
    Return(verdict);
  }

 private:
  void Add(int code, uint8_t yes, uint8_t no, uint32_t k) {
    // A table that outgrows the array would lose its end, the part that
    // allows: everything is refused then, and every test fails.
    if (filter_->size >= kMaxFilter) return;
    filter_->code[filter_->size++] = {static_cast<uint16_t>(code), yes, no, k};
  }
  Filter* filter_;
};

}  // namespace gate::backends
