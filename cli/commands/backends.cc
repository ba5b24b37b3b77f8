// gate backends: what isolation works on this machine, in which order.
#include <unistd.h>

#include <cstdio>

#include "approvals/terminal.h"
#include "backends/escape_probe.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "gateway/candidates.h"
#include "gateway/settings.h"

namespace gate::app {
namespace {

std::string BackendsToJson(const std::vector<router::Candidate>& candidates) {
  JsonWriter json;
  json.BeginObject().Field("schema", "gate.backends/1");
  json.Key("backends").BeginArray();
  for (const router::Candidate& candidate : candidates) {
    json.BeginObject().Field("name", candidate.name);
    json.Field("strength", backends::Name(candidate.strength));
    json.Field("priority", int64_t{candidate.priority});
    json.Flag("available", candidate.availability.available);
    json.Field("why", candidate.availability.why);
    json.Key("features").BeginArray();
    for (int i = 0; i < backends::kFeatures; ++i) {
      const auto feature = static_cast<backends::Feature>(i);
      if (candidate.availability.features.Has(feature))
        json.String(backends::Name(feature));
    }
    json.EndArray().Key("lost").BeginArray();
    for (const std::string& lost : candidate.availability.lost)
      json.String(lost);
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace

int BackendsCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app(
      "Lists the sandboxes that work here, in the order they are "
      "taken; `probe` tries them again.",
      "gate backends");
  bool json = false;
  std::string action;
  app.Flag("--json", json, "print one JSON object");
  app.Add("action", action, "`probe`: try each, by a run").OneOf({"probe"});
  if (auto code = ParseWith(app, arguments)) return *code;

  const ProcessFacts facts = ReadProcessFacts(globals);
  const auto backends = backends::MakeBackends();
  auto candidates = FindCandidates(facts, backends, action == "probe");
  if (action == "probe") {
    const std::string image = LoadSettings(facts).router.image;
    for (size_t i = 0; i < candidates.size(); ++i) {
      backends::Availability& found = candidates[i].availability;
      if (!found.available ||
          candidates[i].strength == backends::Strength::kNone)
        continue;
      std::string trouble =
          backends::ProveContainment(backends[i].get(), facts.places.cache);
      const bool runs_image =
          trouble.empty() && !image.empty() &&
          candidates[i].strength == backends::Strength::kContainer;
      if (runs_image)
        trouble =
            backends::ProveImage(backends[i].get(), image, facts.places.cache);
      found.available = trouble.empty();
      found.why = trouble.empty()
                      ? found.why + "; tried" +
                            (runs_image ? ", the image too" : "") + ": held"
                      : trouble;
    }
    StoreCandidates(facts, candidates);
  }
  if (json) {
    std::puts(BackendsToJson(candidates).c_str());
    return 0;
  }
  const bool colour = WantsColour(STDOUT_FILENO);
  int place = 0;
  for (const router::Candidate& candidate : candidates) {
    const bool available = candidate.availability.available;
    char head[96];
    std::snprintf(head, sizeof head, "%s  %-8s %-10s ",
                  available ? std::to_string(++place).c_str() : "-",
                  candidate.name.c_str(), backends::Name(candidate.strength));
    std::printf("%s%s", head,
                Paint(available ? Colour::kGreen : Colour::kRed,
                      available ? "available" : "not available", colour)
                    .c_str());
    if (!candidate.availability.why.empty())
      std::printf("  %s", Visible(candidate.availability.why).c_str());
    std::puts("");
    for (const std::string& lost : candidate.availability.lost)
      std::printf("   but %s\n", Visible(lost).c_str());
  }
  return 0;
}

}  // namespace gate::app
