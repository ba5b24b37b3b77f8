// Rules that another rule makes pointless.
//
// A rule is compared with those that share a program with it, so that ten
// thousand rules about different programs cost ten thousand comparisons. All
// rules of one program are compared with each other; kMaxPairs bounds that.
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "rules/lifting.h"
#include "rules/lint/internal.h"
#include "rules/relations.h"

namespace gate::rules {
namespace {

constexpr size_t kMaxPairs = 20'000'000;

struct Entry {
  const LoadedLayer* layer = nullptr;
  uint32_t rule = 0;
  const RuleRecord& record() const { return layer->view.rules[rule]; }
  Action action() const { return static_cast<Action>(record().action); }
  std::string_view id() const { return layer->view.Text(record().id); }
  NodeRef match() const { return {&layer->view, record().match}; }
  std::string Source() const {
    return std::string(layer->view.Text(record().file)) + ":" +
           std::to_string(record().line);
  }
};

// What the rule says where a word of the command is not known.
Action WhenUnknown(const Entry& rule) {
  return rule.record().when_unknown != RuleRecord::kUnset
             ? static_cast<Action>(rule.record().when_unknown)
             : std::min(rule.action(), Action::kAsk);
}

class Pairs {
 public:
  Pairs(const Policy::Impl& policy, std::vector<Finding>* found)
      : policy_(policy), found_(found) {}

  void Run() {
    Collect();
    for (const Entry& entry : all_) {
      compared_.clear();
      const auto programs = ProgramsOf(entry.match());
      bool reported = false;
      if (programs)
        for (const std::string_view program : *programs)
          if (const auto of = by_program_.find(program);
              of != by_program_.end())
            reported = reported || Against(entry, of->second);
      if (!reported) Against(entry, any_);
    }
  }

 private:
  void Collect() {
    for (const auto& layer : policy_.layers)
      for (uint32_t i = 0; i < layer->view.rules.size(); ++i) {
        const RuleRecord& record = layer->view.rules[i];
        for (const FlatText& text :
             layer->view.In(layer->view.strings, record.except))
          excepted_.insert(layer->view.Text(text));
        // A rule that does not always hold makes no other pointless.
        if ((layer->State(i) & LoadedLayer::kDisabled) != 0 ||
            record.observe != 0 || record.since_ms != 0 ||
            record.expires_ms != 0)
          continue;
        all_.push_back({layer.get(), i});
      }
    for (uint32_t i = 0; i < all_.size(); ++i) {
      const auto programs = ProgramsOf(all_[i].match());
      if (!programs) {
        any_.push_back(i);
        continue;
      }
      for (const std::string_view program : *programs)
        by_program_[program].push_back(i);
    }
  }

  bool Against(const Entry& rule, const std::vector<uint32_t>& others) {
    for (const uint32_t number : others) {
      const Entry& other = all_[number];
      if (&other == &rule || ++pairs_ > kMaxPairs) continue;
      if (!compared_.insert(number).second) continue;
      if (One(rule, other)) return true;
    }
    return false;
  }

  // Reports that `other` makes `rule` pointless.
  bool One(const Entry& rule, const Entry& other) {
    const RuleRecord& record = rule.record();
    if (other.action() < rule.action() || excepted_.contains(other.id()) ||
        excepted_.contains(rule.id()))
      return false;
    // An allow that lifts the other decides.
    if (Lifts(*rule.layer, rule.rule, *other.layer, other.rule)) return false;
    // It says more than its action.
    const bool says_more = record.except.count > 0 ||
                           record.profile != ProfileKind::kUnsaid ||
                           record.network != NetworkAccess::kUnsaid ||
                           record.network_max != NetworkAccess::kUnsaid ||
                           record.hosts_deny.count > 0 || record.yes != 0;
    const bool same_action = other.action() == rule.action();
    if (says_more && same_action) return false;
    if (other.record().except.count > 0) return false;
    // What is locked stays when somebody disables the other.
    if (rule.layer->Locked(rule.rule) && !other.layer->Locked(other.rule))
      return false;
    if (rule.action() != Action::kAllow &&
        WhenUnknown(other) < WhenUnknown(rule))
      return false;
    if (!Within(rule.match(), other.match())) return false;
    const bool both = Within(other.match(), rule.match());
    const Layer mine = rule.layer->layer, its = other.layer->layer;
    // What a user makes stricter is no fault of the shipped rules.
    if (mine == Layer::kBuiltin && its > mine) return false;
    // Of two that are the same, the later one is named.
    if (both && same_action &&
        (mine > its || (mine == its && rule.rule < other.rule)))
      return false;
    // A profile or network of a weaker rule still counts.
    if (says_more && !both) return false;
    const std::string name = "`" + std::string(rule.id()) + "`",
                      its_name = "`" + std::string(other.id()) + "` (" +
                                 other.Source() + ")";
    Finding finding;
    if (both && !same_action)
      finding = MakeFinding(
          *rule.layer, rule.rule, Severity::kWarning, "lint-conflict",
          "the rule " + name + " says " + Name(rule.action()) +
              " to exactly what " + its_name + " says " + Name(other.action()) +
              " to",
          "the stricter one wins; keep one of them");
    else if (its > mine)
      finding = MakeFinding(
          *rule.layer, rule.rule,
          same_action ? Severity::kNote : Severity::kWarning, "lint-weaker",
          "whatever " + name + " matches, " + its_name + " of the " +
              Name(its) + " layer answers with " + Name(other.action()),
          "");
    else if (same_action)
      finding =
          MakeFinding(*rule.layer, rule.rule, Severity::kNote, "lint-shadowed",
                      "whatever " + name + " matches, " + its_name +
                          " matches with the same action",
                      "drop it, unless its reason is the better one");
    else
      finding = MakeFinding(*rule.layer, rule.rule, Severity::kWarning,
                            "lint-shadowed",
                            "the rule " + name + " never decides: " + its_name +
                                " is stricter and matches all that it matches",
                            "");
    finding.other = other.id();
    found_->push_back(std::move(finding));
    return true;
  }

  const Policy::Impl& policy_;
  std::vector<Finding>* found_;
  std::vector<Entry> all_;
  std::unordered_map<std::string_view, std::vector<uint32_t>> by_program_;
  std::vector<uint32_t> any_;
  std::unordered_set<std::string_view> excepted_;
  std::unordered_set<uint32_t> compared_;
  size_t pairs_ = 0;
};

}  // namespace

void LintPairs(const Policy::Impl& policy, std::vector<Finding>* found) {
  Pairs(policy, found).Run();
}

}  // namespace gate::rules
