#include "gateway/candidates.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "backends/landlock.h"
#include "base/file.h"

namespace gate::app {
namespace {

using backends::Feature;
using router::Candidate;

constexpr size_t kMaxStoreBytes = 64 * 1024;

std::string OnOneLine(std::string text) {
  for (char& c : text)
    if (c == '\t' || c == '\n') c = ' ';
  return text;
}

// What the answers about engines depend on.
std::string EngineKey() {
  const char* host = ::getenv("DOCKER_HOST");
  std::string key = OnOneLine(host == nullptr ? "" : host);
  for (const char* client :
       {"/usr/bin/docker", "/usr/bin/podman", "/usr/bin/runsc"})
    key += ::access(client, X_OK) == 0 ? "+" : "-";
  return key;
}

// What the answer depends on. A namespace is named by its link's text; the
// times of such links are those of the look.
std::string StoreKey(const ProcessFacts& facts) {
  auto boot = ReadFile("/proc/sys/kernel/random/boot_id", 64);
  char ns[64];
  const ssize_t size = ::readlink("/proc/self/ns/user", ns, sizeof ns);
  // A container's filter, and one without Landlock, change what the kernel can.
  const std::string kernel =
      std::to_string(backends::LandlockAbi()) + "," +
      std::to_string(::prctl(PR_GET_SECCOMP, 0, 0, 0, 0));
  return OnOneLine(boot ? *boot : "?") + "|" + std::to_string(facts.uid) + "|" +
         kernel + "|" + FileIdentity("/proc/self/exe") + "|" +
         FileIdentity("/usr/bin/bwrap") + "|" + EngineKey() + "|" +
         std::string(ns, size > 0 ? static_cast<size_t>(size) : 0);
}

// The store is lines of fields with a tab between them: the key, then one line
// per backend with its name, `1` or `0`, the features' numbers, why, and
// what is lost. It is read by every process that plans a sandbox, and as JSON
// that would cost it more than the policy does.
std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<Candidate> ReadRow(const backends::Backend& backend,
                                 std::string_view line) {
  constexpr size_t kName = 0, kAvailable = 1, kFeatureList = 2, kWhy = 3,
                   kLost = 4;
  const std::vector<std::string_view> fields = Split(line, '\t');
  if (fields.size() < kLost || fields[kName] != backend.Name())
    return std::nullopt;
  Candidate candidate;
  candidate.name = backend.Name();
  candidate.strength = backend.GetStrength();
  candidate.priority = backend.Priority();
  candidate.availability.available = fields[kAvailable] == "1";
  candidate.availability.why = fields[kWhy];
  if (!fields[kFeatureList].empty()) {
    for (const std::string_view text : Split(fields[kFeatureList], ',')) {
      int feature = 0;
      const char* end = text.data() + text.size();
      if (std::from_chars(text.data(), end, feature).ptr != end ||
          feature < 0 || feature >= backends::kFeatures)
        return std::nullopt;
      candidate.availability.features.Add(static_cast<Feature>(feature));
    }
  }
  for (size_t i = kLost; i < fields.size(); ++i)
    candidate.availability.lost.emplace_back(fields[i]);
  return candidate;
}

bool ReadStore(const std::string& path, const std::string& key,
               const std::vector<std::unique_ptr<backends::Backend>>& backends,
               std::vector<Candidate>* out) {
  auto text = ReadFile(path, kMaxStoreBytes, /*follow=*/false);
  if (!text) return false;
  const std::vector<std::string_view> lines = Split(*text, '\n');
  // The empty last field says that the last line is whole.
  if (lines.size() != backends.size() + 2 || lines[0] != key ||
      !lines.back().empty())
    return false;
  for (size_t i = 0; i < backends.size(); ++i) {
    std::optional<Candidate> candidate = ReadRow(*backends[i], lines[i + 1]);
    if (!candidate) return false;
    out->push_back(std::move(*candidate));
  }
  return true;
}

void WriteStore(const std::string& state_dir, const std::string& key,
                const std::vector<Candidate>& candidates) {
  std::string text = key + "\n";
  for (const Candidate& candidate : candidates) {
    const backends::Availability& found = candidate.availability;
    text += candidate.name + "\t" + (found.available ? "1" : "0") + "\t";
    const char* separator = "";
    for (int i = 0; i < backends::kFeatures; ++i) {
      if (!found.features.Has(static_cast<Feature>(i))) continue;
      text += separator + std::to_string(i);
      separator = ",";
    }
    text += "\t" + OnOneLine(found.why);
    for (const std::string& lost : found.lost) text += "\t" + OnOneLine(lost);
    text += "\n";
  }
  // Only a saving: when it cannot be stored, the next process probes again.
  if (MakeDirectories(state_dir, 0700))
    (void)WriteFileAtomically(state_dir + "/backends", text, 0600);
}

}  // namespace

std::vector<Candidate> FindCandidates(
    const ProcessFacts& facts,
    const std::vector<std::unique_ptr<backends::Backend>>& backends,
    bool refresh) {
  const std::string path = facts.places.state + "/backends";
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

const router::Candidate* ContainsHere(
    const std::vector<router::Candidate>& candidates,
    const router::Settings& settings) {
  const router::Candidate* used = nullptr;
  for (const router::Candidate& candidate : candidates) {
    if (candidate.strength == backends::Strength::kNone ||
        !candidate.availability.available ||
        candidate.strength < settings.required)
      continue;
    if (used == nullptr || candidate.priority < used->priority)
      used = &candidate;
  }
  return used;
}

}  // namespace gate::app
