#include "cli/candidates.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"

namespace gate::cli {
namespace {

using backends::Feature;
using router::Candidate;

constexpr size_t kMaxStoreBytes = 64 * 1024;

// What the answer depends on. A namespace is named by its link's text; the
// times of such links are those of the look.
std::string StoreKey(const ProcessFacts& facts) {
  auto boot = ReadFile("/proc/sys/kernel/random/boot_id", 64);
  char ns[64];
  const ssize_t size = ::readlink("/proc/self/ns/user", ns, sizeof ns);
  return (boot ? *boot : "?") + "|" + std::to_string(facts.uid) + "|" +
         FileIdentity("/proc/self/exe") + "|" + FileIdentity("/usr/bin/bwrap") +
         "|" + std::string(ns, size > 0 ? static_cast<size_t>(size) : 0);
}

bool ReadStore(const std::string& path, const std::string& key,
               const std::vector<std::unique_ptr<backends::Backend>>& backends,
               std::vector<Candidate>* out) {
  auto text = ReadFile(path, kMaxStoreBytes, /*follow=*/false);
  if (!text) return false;
  auto json = ParseJson(*text);
  if (!json || !json->is_object() || json->value("key", "") != key)
    return false;
  const Json& rows = (*json)["backends"];
  if (!rows.is_object()) return false;
  for (const auto& backend : backends) {
    const auto row = rows.find(backend->Name());
    if (row == rows.end() || !row->is_object()) return false;
    Candidate candidate;
    candidate.name = backend->Name();
    candidate.strength = backend->GetStrength();
    candidate.priority = backend->Priority();
    candidate.availability.available = row->value("available", false);
    candidate.availability.why = row->value("why", "");
    const auto features = row->value("features", std::vector<int>());
    for (const int feature : features)
      if (feature >= 0 && feature < backends::kFeatures)
        candidate.availability.features.Add(static_cast<Feature>(feature));
    candidate.availability.lost =
        row->value("lost", std::vector<std::string>());
    out->push_back(std::move(candidate));
  }
  return true;
}

void WriteStore(const std::string& state_dir, const std::string& key,
                const std::vector<Candidate>& candidates) {
  Json rows = Json::object();
  for (const Candidate& candidate : candidates) {
    std::vector<int> features;
    for (int i = 0; i < backends::kFeatures; ++i)
      if (candidate.availability.features.Has(static_cast<Feature>(i)))
        features.push_back(i);
    rows[candidate.name] = {{"available", candidate.availability.available},
                            {"why", candidate.availability.why},
                            {"features", features},
                            {"lost", candidate.availability.lost}};
  }
  const Json store = {{"key", key}, {"backends", rows}};
  // Only a saving: when it cannot be stored, the next process probes again.
  if (MakeDirectories(state_dir, 0700))
    (void)WriteFileAtomically(state_dir + "/backends.json", Dump(store), 0600);
}

}  // namespace

std::vector<Candidate> FindCandidates(
    const ProcessFacts& facts,
    const std::vector<std::unique_ptr<backends::Backend>>& backends,
    bool refresh) {
  const std::string path = facts.places.state + "/backends.json";
  const std::string key = StoreKey(facts);
  std::vector<Candidate> candidates;
  if (!refresh && ReadStore(path, key, backends, &candidates))
    return candidates;
  candidates.clear();
  for (const auto& backend : backends) {
    Candidate candidate;
    candidate.name = backend->Name();
    candidate.strength = backend->GetStrength();
    candidate.priority = backend->Priority();
    candidate.availability = backend->Probe();
    candidates.push_back(std::move(candidate));
  }
  WriteStore(facts.places.state, key, candidates);
  return candidates;
}

void StoreCandidates(const ProcessFacts& facts,
                     const std::vector<Candidate>& candidates) {
  WriteStore(facts.places.state, StoreKey(facts), candidates);
}

}  // namespace gate::cli
