#include "rules/policy_impl.h"

namespace gate::rules {

RegexCache::RegexCache(size_t size)
    : size_(size), items_(new std::atomic<Regex*>[size]) {
  for (size_t i = 0; i < size_; ++i) items_[i] = nullptr;
}

RegexCache::~RegexCache() {
  for (size_t i = 0; i < size_; ++i) delete items_[i].load();
}

const Regex* RegexCache::Get(size_t index, std::string_view pattern) const {
  if (index >= size_) return nullptr;
  if (Regex* made = items_[index].load(std::memory_order_acquire)) return made;
  auto compiled = Regex::Compile(pattern);
  if (!compiled) return nullptr;
  auto fresh = std::make_unique<Regex>(std::move(*compiled));
  Regex* expected = nullptr;
  if (items_[index].compare_exchange_strong(expected, fresh.get()))
    return fresh.release();
  return expected;
}

}  // namespace gate::rules
