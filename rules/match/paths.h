// Whether a path of the line belongs to a path pattern or class of the rules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parser/analysis.h"
#include "rules/match/path_filter.h"
#include "rules/match/tri.h"
#include "rules/policy_impl.h"
#include "rules/rule.h"

namespace gate::rules {

// One path of the line. `spread`: what is done reaches what lies below it, so
// a pattern is also met when it lies below the path (rm -r of an ancestor).
// `slot`: a number that is the same for the same path, for the cache, or none.
struct PathValue {
  const parser::Argument* path = nullptr;
  bool spread = false;
  uint32_t slot = UINT32_MAX;
  // A shell pattern matches for certain only where all that it finds does; else
  // where some of it may. For what takes paths out of a rule.
  bool whole = false;
};

class PathMatcher {
 public:
  // `first_looks`: whether PathFilter may rule patterns out. `secrets`:
  // absolute paths that are of the builtin class `secret`, with what lies below
  // them.
  PathMatcher(const Policy::Impl& policy, const PathBases& bases,
              bool first_looks, std::span<const std::string> secrets = {})
      : policy_(policy),
        bases_(bases),
        secrets_(secrets),
        first_looks_(first_looks) {}

  Tri Match(const RuleView& view, const PathRecord& record,
            const PathValue& value);
  // kYes when any of `range` matches, kNo for an empty range.
  Tri MatchAny(const RuleView& view, Range range, const PathValue& value);

 private:
  Tri MatchClass(const RuleView& view, const PathRecord& record,
                 const PathValue& value);
  Tri BuiltinClass(uint32_t index, const PathValue& value);
  Tri ClassOf(const RuleView& view, uint32_t index, const PathValue& value);
  Tri Named(std::string_view name, const PathValue& value);
  Tri Workspace(const PathValue& value);
  Tri Outside(const PathValue& value);
  Tri PrivateTemp(const PathValue& value);
  Tri MatchFrom(const RuleView& view, const PathRecord& record,
                std::string_view base, const PathValue& value);
  Tri MatchPattern(const RuleView& view, const PathRecord& record,
                   std::string_view base, const PathValue& value);
  Tri MatchPartial(const RuleView& view, const PathRecord& record,
                   std::string_view base, const PathValue& value);

  // What is kept of the path in a slot. Bit i: class i of the builtin layer.
  struct Cached {
    uint64_t known = 0, yes = 0, possible = 0;
    // The first look, as a path that is spread [1] and as one that is not.
    bool looked[2] = {false, false};
    PathFilter filters[2];
  };
  Cached& Slot(uint32_t slot);

  const Policy::Impl& policy_;
  PathBases bases_;
  std::span<const std::string> secrets_;
  bool first_looks_;
  std::vector<Cached> cache_;
};

}  // namespace gate::rules
