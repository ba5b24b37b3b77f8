#include "backends/native/calls/filter_writer.h"

#include <algorithm>
#include <span>

namespace gate::backends {
namespace {

constexpr size_t kLongestJump = 255;

}  // namespace

FilterWriter::Label FilterWriter::NewLabel() {
  if (labels_ >= kMaxLabels) {
    whole_ = false;
    return kNext;
  }
  places_[labels_] = kNowhere;
  return static_cast<Label>(labels_++);
}

FilterWriter::Label FilterWriter::Verdict(uint32_t value) {
  for (size_t i = 0; i < verdict_count_; ++i)
    if (verdicts_[i].first == value) return verdicts_[i].second;
  if (verdict_count_ >= kMaxVerdicts) {
    whole_ = false;
    return kNext;
  }
  const Label label = NewLabel();
  verdicts_[verdict_count_++] = {value, label};
  return label;
}

void FilterWriter::Place(Label label) {
  places_[label] = static_cast<uint16_t>(size_);
}

void FilterWriter::Load(size_t offset) {
  Add(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}

void FilterWriter::LoadArgument(size_t n) {
  Load(offsetof(seccomp_data, args) + n * sizeof(uint64_t));
}

void FilterWriter::LoadHigh(size_t n) {
  Load(offsetof(seccomp_data, args) + n * sizeof(uint64_t) + sizeof(uint32_t));
}

void FilterWriter::IfEqual(uint32_t value, Label yes, Label no) {
  Add(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
}

void FilterWriter::IfAny(uint32_t mask, Label yes, Label no) {
  Add(BPF_JMP | BPF_JSET | BPF_K, mask, yes, no);
}

void FilterWriter::OnCall(uint32_t number, Label to) {
  if (call_count_ >= kMaxCalls) {
    whole_ = false;
    return;
  }
  calls_[call_count_++] = {number, to};
}

void FilterWriter::OnCallsFrom(uint32_t number, Label to) {
  beyond_ = {number, to};
}

void FilterWriter::Dispatch(Label otherwise) {
  const auto calls = std::span(calls_).first(call_count_);
  std::stable_sort(
      calls.begin(), calls.end(),
      [](const Entry& a, const Entry& b) { return a.number < b.number; });
  // Where the numbers from one on go, up to the next: neighbours are one.
  std::array<Entry, 2 * kMaxCalls + 2> ranges;
  size_t count = 0;
  const auto begin_range = [&](uint32_t number, Label to) {
    if (count > 0 && ranges[count - 1].number == number)
      --count;  // nothing was in it
    if (count > 0 && ranges[count - 1].to == to) return;
    ranges[count++] = {number, to};
  };
  begin_range(0, otherwise);
  uint32_t next = 0;
  for (const Entry& call : calls) {
    if (call.number < next || call.number >= beyond_.number) continue;
    begin_range(call.number, call.to);
    next = call.number + 1;
    begin_range(next, otherwise);
  }
  if (beyond_.number != UINT32_MAX) begin_range(beyond_.number, beyond_.to);
  AddTree(ranges.data(), count);
}

void FilterWriter::AddTree(const Entry* first, size_t count) {
  if (count == 1) {
    IfEqual(0, first->to, first->to);
    return;
  }
  const size_t half = count / 2;
  const Label low = half == 1 ? first->to : kNext;
  const bool one = count - half == 1;
  const Label high = one ? first[half].to : NewLabel();
  Add(BPF_JMP | BPF_JGE | BPF_K, first[half].number, high, low);
  if (half > 1) AddTree(first, half);
  if (one) return;
  Place(high);
  AddTree(first + half, count - half);
}

size_t FilterWriter::Distance(size_t from, Label label) const {
  if (label == kNext) return 0;
  const size_t to = places_[label];
  if (to == kNowhere || to <= from) return kLongestJump + 1;
  return to - from - 1;
}

Filter FilterWriter::Finish() {
  for (size_t i = 0; i < verdict_count_; ++i) {
    Place(verdicts_[i].second);
    Add(BPF_RET | BPF_K, verdicts_[i].first);
  }
  Filter filter;
  for (size_t i = 0; i < size_; ++i) {
    const Step& step = steps_[i];
    const size_t yes = Distance(i, step.yes), no = Distance(i, step.no);
    whole_ = whole_ && yes <= kLongestJump && no <= kLongestJump;
    filter.code[i] = {step.code, static_cast<uint8_t>(yes),
                      static_cast<uint8_t>(no), step.k};
  }
  filter.size = static_cast<unsigned short>(size_);
  if (whole_) return filter;
  filter.code[0] = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_KILL_PROCESS};
  filter.size = 1;
  return filter;
}

void FilterWriter::Add(int code, uint32_t k, Label yes, Label no) {
  if (size_ >= kMaxFilter) {
    whole_ = false;
    return;
  }
  steps_[size_++] = {static_cast<uint16_t>(code), yes, no, k};
}

}  // namespace gate::backends
