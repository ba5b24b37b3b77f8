// Inside rules/ and engine/: what a Policy holds.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/regex.h"
#include "rules/files/source_identity.h"
#include "rules/policy.h"
#include "rules/rule.h"

namespace gate::rules {

// Regexes of one layer, compiled when first matched. Safe for several threads:
// the first to finish wins, the others drop theirs.
class RegexCache {
 public:
  explicit RegexCache(size_t size);
  ~RegexCache();
  // Null when the pattern does not compile.
  const Regex* Get(size_t index, std::string_view pattern) const;

 private:
  size_t size_;
  std::unique_ptr<std::atomic<Regex*>[]> items_;
};

struct LoadedLayer {
  enum State : uint8_t { kDisabled = 1, kUnlocked = 2 };

  Layer layer = Layer::kBuiltin;
  std::string bytes;  // owns the image, when it is not embedded
  RuleView view;
  std::vector<uint8_t> state;  // per rule; empty: all zero
  std::unique_ptr<RegexCache> regexes;

  uint8_t State(uint32_t rule) const {
    return rule < state.size() ? state[rule] : uint8_t{0};
  }
  bool Locked(uint32_t rule) const {
    return view.rules[rule].locked != 0 && (State(rule) & kUnlocked) == 0;
  }
};

// A file of the cache (rules/cache.h), mapped.
struct MappedFile {
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();
  std::string_view bytes;
};

struct Policy::Impl {
  // Before the layers, which may look into it.
  std::unique_ptr<MappedFile> mapped;
  // What LoadPolicy looked at, as it was before that.
  std::vector<Source> sources;
  // How many of `diagnostics` the compiler gave.
  size_t compile_diagnostics = 0;
  std::vector<std::unique_ptr<LoadedLayer>> layers;
  std::vector<Diagnostic> diagnostics;
  Action floor = Action::kDeny;  // until loading has finished
  Action default_action = Action::kDeny;
  std::string revision;
  // The layer that defines the shipped classes and lists; may be null.
  const LoadedLayer* builtin = nullptr;
};

// The embedded image of the shipped policy.
std::string_view EmbeddedRules();

// Adds a layer to `impl`; kCorrupt when `bytes` is no image. `bytes` is kept
// as a view when `embedded`.
Status AddLayer(Layer layer, std::string bytes, std::string_view embedded,
                Policy::Impl* impl);

// Adds the embedded layer; false, with a diagnostic, when it is damaged.
bool AddBuiltin(Policy::Impl* impl);

// Applies `unlock`, `disable` and `default_action` of all layers. Call once,
// after the last AddLayer.
void FinishPolicy(Policy::Impl* impl);

// Whether nobody else can exchange the directories of user and system.
bool PlacesAreTrusted(const PolicySources& sources);

}  // namespace gate::rules
