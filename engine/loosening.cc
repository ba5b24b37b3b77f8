#include "engine/loosening.h"

#include <algorithm>
#include <string_view>

#include "rules/lifting.h"

namespace gate::engine {
namespace {

using rules::LoadedLayer;
using rules::RuleRecord;
using rules::Subject;
using rules::Tri;

// Whether the exceptions of `by` count: its rule matches for certain, read as
// strictly as a rule that allows. What a rule of the other actions takes for a
// match (a program of that name anywhere, a sub-command that may be an option's
// value, an error) is good for tightening only.
bool MayExcept(rules::Matcher& matcher, const Hit& by, const Subject& subject) {
  const RuleRecord& record = by.record();
  if (record.except.count == 0 || !by.certain || by.error || record.observe)
    return false;
  if (record.action == static_cast<uint8_t>(Action::kAllow)) return true;
  const rules::Verdict strict =
      matcher.Match(*by.layer, by.rule, subject, true);
  return strict.tri == Tri::kYes && !strict.error;
}

// Whether the word is there as it is written, or becomes names of files that
// cannot look like options.
bool IsSettledWord(const parser::Argument& word) {
  if (!word.known) return false;
  if (!word.glob) return true;
  const char first = word.text.empty() ? '*' : word.text[0];
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') ||
         (first >= '0' && first <= '9') || first == '/' || first == '.' ||
         first == '_';
}

// Sure of what it matches, and not taken back itself.
bool Stands(const Hit& hit) {
  return hit.certain && !hit.error && !hit.excepted;
}

}  // namespace

void Except(rules::Matcher& matcher, const Subject& subject,
            std::vector<Hit>* all, const TakenBack& taken_back) {
  std::vector<Hit>& hits = *all;
  std::vector<size_t> by;
  for (size_t i = 0; i < hits.size(); ++i)
    if (MayExcept(matcher, hits[i], subject)) by.push_back(i);
  if (by.empty()) return;
  const auto names = [&](size_t from, size_t to) {
    const Hit& hit = hits[to];
    const LoadedLayer& layer = *hits[from].layer;
    if (from == to || hit.layer->layer > layer.layer ||
        hit.layer->Locked(hit.rule))
      return false;
    const std::string_view id = hit.layer->view.Text(hit.record().id);
    const auto ids =
        layer.view.In(layer.view.strings, hits[from].record().except);
    return std::any_of(ids.begin(), ids.end(), [&](FlatText text) {
      return layer.view.Text(text) == id;
    });
  };
  for (const size_t from : by) {
    if (std::any_of(by.begin(), by.end(),
                    [&](size_t other) { return names(other, from); }))
      continue;
    for (size_t to = 0; to < hits.size(); ++to) {
      if (!names(from, to)) continue;
      hits[to].excepted = true;
      hits[to].allowed |= hits[from].action == Action::kAllow;
      taken_back(hits[to], "excepted by ", hits[from]);
    }
  }
}

bool IsSettled(const Subject& subject) {
  return subject.invocation == nullptr ||
         std::ranges::all_of(subject.invocation->argv, IsSettledWord);
}

void Lift(const Subject& subject, std::vector<Hit>* hits,
          const TakenBack& taken_back) {
  if (subject.invocation == nullptr || subject.invocation->guessed) return;
  for (const Hit& by : *hits) {
    if (by.action != Action::kAllow || !Stands(by)) continue;
    for (Hit& hit : *hits) {
      // What may be more than a sandbox is not lifted with it.
      if (hit.lifted || hit.error || hit.excepted ||
          hit.action != Action::kSandbox ||
          !rules::Lifts(*by.layer, by.rule, *hit.layer, hit.rule))
        continue;
      hit.lifted = true;
      taken_back(hit, "lifted by ", by);
    }
  }
}

}  // namespace gate::engine
