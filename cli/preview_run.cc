#include "cli/preview_run.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "approvals/prompt_text.h"
#include "approvals/terminal.h"
#include "base/json_writer.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/output/decision_json.h"
#include "cli/output/report.h"

namespace gate::app {
namespace {

using backends::PreviewChange;
using backends::PreviewEntry;

constexpr size_t kShownLines = 40;

std::string Octal(uint32_t mode) {
  char text[16];
  std::snprintf(text, sizeof text, "%04o", mode);
  return text;
}

// The mode, where saying yes to it without seeing it would be a mistake: one
// that changes, or a new one with what no plain umask gives. Empty otherwise.
std::string ShownMode(const PreviewEntry& entry) {
  constexpr uint32_t kUnusual = 07002;
  if (entry.change == PreviewChange::kDeleted ||
      entry.type == backends::PreviewType::kLink)
    return "";
  if (entry.lower.exists && entry.lower.type == entry.type)
    return entry.mode == entry.lower.mode
               ? ""
               : " " + Octal(entry.lower.mode) + " -> " + Octal(entry.mode);
  return (entry.mode & kUnusual) == 0 ? "" : " mode " + Octal(entry.mode);
}

void WriteBytes(JsonWriter* json, const char* name, const std::string& bytes) {
  json->Field(name, bytes);
  if (!IsUtf8(bytes)) json->Field(std::string(name) + "_b64", Base64(bytes));
}

enum class Standing : uint8_t { kRefused, kOpen, kCommitted };

Standing StandingOf(const KeptPreview& preview, size_t index) {
  if (preview.committed.contains(index)) return Standing::kCommitted;
  return preview.manifest.entries[index].refused.empty() ? Standing::kOpen
                                                         : Standing::kRefused;
}

// What the person at the terminal wants. False: nothing at all; `*keep`:
// later.
bool AskCommit(const KeptPreview& preview, std::vector<std::string>* paths,
               bool* keep) {
  const auto answer = AskChoice(RenderPreview(preview, kShownLines) +
                                    "Commit? [a]ll, [s]ome, [k]eep for a day, "
                                    "[N]othing: ",
                                {"all", "some", "keep"});
  if (!answer) {
    *keep = true;
    return false;
  }
  if (*answer == 'a') return true;
  *keep = *answer == 'k';
  if (*answer != 's') return false;
  *keep = true;
  while (const auto line = AskLine("Path (an empty line ends): ")) {
    if (line->empty()) break;
    const std::string path = Normalise(*line, preview.workspace);
    if (NotInPreview(preview, {path}).empty()) {
      paths->push_back(path);
      std::fputs(RenderChoice(preview, {path}).c_str(), stderr);
    } else
      Complain(Visible(path) + " is not in the preview");
  }
  return !paths->empty();
}

}  // namespace

std::string CountChanges(const KeptPreview& preview) {
  std::string text =
      std::to_string(preview.manifest.entries.size()) + " changes";
  if (!preview.committed.empty())
    text += ", " + std::to_string(preview.committed.size()) + " committed";
  return text;
}

std::string RenderChoice(const KeptPreview& preview,
                         const std::vector<std::string>& paths) {
  const auto& entries = preview.manifest.entries;
  std::string text;
  std::set<size_t> counted = preview.committed;
  for (const std::string& path : paths) {
    // New directories above what is chosen come with it.
    size_t above = 0;
    for (size_t i = 0; i < entries.size(); ++i) {
      const std::string full = FullPath(preview.manifest, entries[i]);
      if (entries[i].change == PreviewChange::kAdded && full != path &&
          IsWithin(path, full) && counted.insert(i).second)
        ++above;
    }
    text += "only " + Visible(path);
    if (above > 0)
      text += " (and " + std::to_string(above) +
              (above == 1 ? " new directory" : " new directories") + " above)";
    text += "\n";
  }
  return text;
}

std::string RenderPreview(const KeptPreview& preview, size_t most) {
  return RenderChosen(preview, {}, most);
}

std::string RenderChosen(const KeptPreview& preview,
                         const std::vector<std::string>& paths, size_t most) {
  const auto& entries = preview.manifest.entries;
  std::string text = "preview " + preview.id + ": " + CountChanges(preview) +
                     " by\n" +
                     ShownCommand(preview.command, PersonsScreen().columns);
  size_t shown = 0, others = 0;
  const auto is_chosen = [&](const PreviewEntry& entry) {
    const std::string full = FullPath(preview.manifest, entry);
    const bool made = entry.change == PreviewChange::kAdded &&
                      entry.type == backends::PreviewType::kDirectory;
    return paths.empty() || std::any_of(paths.begin(), paths.end(),
                                        [&](const std::string& path) {
                                          return IsWithin(full, path) ||
                                                 (made && IsWithin(path, full));
                                        });
  };
  // What will not be committed first, so that no length hides it; last what is.
  for (const Standing standing :
       {Standing::kRefused, Standing::kOpen, Standing::kCommitted}) {
    for (size_t i = 0; i < entries.size(); ++i) {
      const PreviewEntry& entry = entries[i];
      if (StandingOf(preview, i) != standing) continue;
      if (!is_chosen(entry)) {
        ++others;
        continue;
      }
      if (++shown > most) continue;
      const bool refused = standing == Standing::kRefused;
      std::string line = "  ";
      line += refused ? "REFUSED " : "";
      line += Name(entry.change);
      line += std::string(" ") + Name(entry.type) + " ";
      line += Visible(FullPath(preview.manifest, entry));
      if (!entry.target.empty()) line += " -> " + Visible(entry.target);
      if (entry.change != PreviewChange::kMode &&
          entry.type == backends::PreviewType::kFile)
        line += " (" + std::to_string(entry.size) + " bytes)";
      line += ShownMode(entry);
      if (refused) line += ": " + Visible(entry.refused);
      if (standing == Standing::kCommitted) line += ": committed already";
      text += line + "\n";
    }
  }
  if (shown > most)
    text += "  … and " + std::to_string(shown - most) +
            " more: gate pending show " + preview.id + "\n";
  if (others > 0)
    text += "  not chosen: " + std::to_string(others) + " others\n";
  return text;
}

std::string PreviewToJson(const KeptPreview& preview,
                          const std::string& state) {
  JsonWriter json;
  json.BeginObject().Field("schema", "gate.preview/1");
  json.Field("id", preview.id).Field("manifest", preview.hash);
  json.Field("state", state);
  json.Field("expires_ms",
             static_cast<int64_t>(preview.made_ms + kPreviewLifetimeMs));
  WriteBytes(&json, "command", preview.command);
  json.Field("action", preview.action);
  json.Key("changes").BeginArray();
  for (size_t i = 0; i < preview.manifest.entries.size(); ++i) {
    const PreviewEntry& entry = preview.manifest.entries[i];
    json.BeginObject();
    WriteBytes(&json, "path", FullPath(preview.manifest, entry));
    json.Field("change", Name(entry.change)).Field("type", Name(entry.type));
    json.Field("size", static_cast<int64_t>(entry.size));
    json.Field("mode", int64_t{entry.mode});
    if (!entry.sha256.empty()) json.Field("sha256", entry.sha256);
    if (!entry.target.empty()) WriteBytes(&json, "target", entry.target);
    if (entry.names > 1 && entry.type == backends::PreviewType::kFile)
      json.Field("hard_links", static_cast<int64_t>(entry.names));
    if (entry.lower.exists) {
      json.Key("replaces").BeginObject();
      json.Field("type", Name(entry.lower.type));
      json.Field("size", static_cast<int64_t>(entry.lower.size));
      json.Field("mode", int64_t{entry.lower.mode});
      json.Field("mtime_ns", entry.lower.mtime_ns);
      if (!entry.lower.sha256.empty()) json.Field("sha256", entry.lower.sha256);
      json.EndObject();
    }
    if (!entry.refused.empty()) json.Field("refused", entry.refused);
    if (preview.committed.contains(i)) json.Flag("committed", true);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

bool CommitAndTell(Gateway& gateway, const KeptPreview& preview,
                   const std::vector<std::string>& paths,
                   const std::string& who) {
  const PreviewCommit commit =
      CommitKept(gateway, preview, paths, who, TellKept);
  for (const std::string& trouble : commit.troubles) Complain(trouble);
  if (!commit.refused.empty()) {
    Complain("not committed: " + commit.refused);
    return false;
  }
  Complain("committed " + std::to_string(commit.committed) + " of " +
           std::to_string(preview.manifest.entries.size()) + " changes" +
           (commit.before == 0
                ? ""
                : "; " + std::to_string(commit.before) + " were before"));
  for (size_t i = 0; i < commit.left.size(); ++i) {
    if (i == kShownLines) {
      Complain("and " + std::to_string(commit.left.size() - i) + " more");
      break;
    }
    Complain("left out " + Visible(commit.left[i].first) + ": " +
             Visible(commit.left[i].second));
  }
  return commit.complete;
}

int PreviewAndTell(Gateway& gateway, Authorization* authorization,
                   const std::string& parent, const PreviewOptions& options) {
  const PreviewRun run = RunPreview(gateway, authorization, parent, TellKept);
  const KeptPreview& preview = run.preview;
  if (!run.outcome) {
    Complain(run.problem);
    return run.end == PreviewEnd::kRefused ? kExitRefused : kExitGateFailed;
  }
  if (options.json)
    std::fprintf(stderr, "%s\n", DecisionToJson(*authorization).c_str());
  const int code = Report(*run.outcome, parent);
  if (run.end == PreviewEnd::kNotStarted) return code;
  if (run.end == PreviewEnd::kThrownAway) {
    Complain(run.problem);
    return kExitGateFailed;
  }
  if (run.end == PreviewEnd::kUnchanged) {
    Complain("preview: nothing was changed");
    if (options.json)
      std::fprintf(stderr, "%s\n", PreviewToJson(preview, "empty").c_str());
    return code;
  }

  std::vector<std::string> paths;
  bool keep = !options.person, commit = false;
  const bool automatic = options.automatic && run.outcome->EndedByItself();
  if (options.automatic && !automatic)
    Complain(
        "the command did not end by itself, so --preview=auto commits "
        "nothing of what it left");
  if (automatic && RefusedEntries(preview.manifest) == 0)
    commit = true;
  else if (options.person)
    commit = AskCommit(preview, &paths, &keep);
  std::string outcome_of_it = "kept";
  int result = code;
  if (commit) {
    const bool done = CommitAndTell(gateway, preview, paths,
                                    options.person ? "a person" : "the policy");
    outcome_of_it = done ? "committed" : "kept";
    if (!done) result = kExitGateFailed;
  } else if (!keep) {
    DropPreview(gateway.facts().places.state, preview, TellKept);
    outcome_of_it = "discarded";
  }
  if (options.json)
    std::fprintf(stderr, "%s\n", PreviewToJson(preview, outcome_of_it).c_str());
  if (outcome_of_it == "kept") {
    if (!options.person && !options.json)
      std::fputs(RenderPreview(preview, kShownLines).c_str(), stderr);
    Complain(
        "nothing more is committed; a person can, within a day, with: "
        "gate pending commit " +
        preview.id);
  } else if (outcome_of_it == "discarded") {
    Complain("nothing was committed; the changes are thrown away");
  }
  return result;
}

void TellKept(const std::string& path, const std::string& of) {
  Complain("somebody changed " + (of.empty() ? "a file" : Visible(of)) +
           " in the moment in which a commit exchanged it; what they wrote is "
           "in " +
           Visible(path));
}

}  // namespace gate::app
