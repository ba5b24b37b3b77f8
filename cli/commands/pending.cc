// gate pending: questions and previews that wait for a person.
#include <unistd.h>

#include <cstdio>

#include "approvals/approvals.h"
#include "approvals/prompt_text.h"
#include "approvals/terminal.h"
#include "base/json_writer.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "cli/preview_run.h"
#include "preview/kept.h"

namespace gate::app {
namespace {

constexpr size_t kAllLines = SIZE_MAX;
constexpr size_t kShownLines = 200;

int ListAll(const std::string& state, bool json) {
  auto questions = ListQuestions(state, NowMs());
  if (!questions) return FailedInternally(questions.error());
  auto previews = ListPreviews(state, NowMs());
  if (!previews) return FailedInternally(previews.error());
  const size_t columns = PersonsScreen().columns;
  for (const PendingQuestion& question : *questions) {
    if (!json) {
      std::fputs(
          RenderQuestion(question, WantsColour(STDOUT_FILENO), columns).c_str(),
          stdout);
      std::printf("  a yes gives: %s\n", engine::Name(question.grant));
      continue;
    }
    JsonWriter line;
    line.BeginObject().Field("schema", "gate.pending/1");
    line.Field("id", question.id).Field("command", question.command);
    line.Field("cwd", question.cwd).Field("agent", question.agent);
    line.Field("reason", question.reason);
    line.Field("grant", engine::Name(question.grant));
    line.Field("runs", question.runs);
    line.Field("asked_ms", static_cast<int64_t>(question.asked_ms));
    line.Flag("approved", question.approved_ms != 0).EndObject();
    std::puts(line.text().c_str());
  }
  for (const KeptPreview& preview : *previews) {
    const char* status = preview.interrupted ? "interrupted" : "kept";
    if (json) {
      std::puts(PreviewToJson(preview, status).c_str());
      continue;
    }
    std::printf("%s  preview, %s, manifest %.16s%s\n%s  in %s\n",
                preview.id.c_str(), CountChanges(preview).c_str(),
                preview.hash.c_str(),
                preview.interrupted ? "; a commit of it was interrupted" : "",
                ShownCommand(preview.command, columns).c_str(),
                ShownField(preview.cwd, 5, columns).c_str());
  }
  if (questions->empty() && previews->empty() && !json)
    std::puts("nothing waits");
  return 0;
}

int ShowPreview(const std::string& state, const std::string& id, bool json) {
  auto preview = FindPreview(state, id, NowMs());
  if (!preview) return FailedInternally(preview.error());
  const char* status = preview->interrupted ? "interrupted" : "kept";
  if (json) {
    std::puts(PreviewToJson(*preview, status).c_str());
    return 0;
  }
  std::fputs(RenderPreview(*preview, kAllLines).c_str(), stdout);
  std::printf("manifest %s\n", preview->hash.c_str());
  for (const backends::PreviewRoot& root : preview->manifest.roots)
    if (root.keep)
      std::printf("content for %s: %s/upper\n", Visible(root.root).c_str(),
                  Visible(root.place).c_str());
  return 0;
}

int Commit(const GlobalOptions& globals, const std::string& id,
           const std::vector<std::string>& words) {
  // As a path it would be the directory this is called in: all of it.
  for (const std::string& word : words) {
    if (!word.empty()) continue;
    Complain("an empty path names nothing; without paths all is committed");
    return kExitUsage;
  }
  if (auto code = RequirePerson("committing a preview")) return *code;
  Gateway gateway(ReadProcessFacts(globals));
  const std::string& state = gateway.facts().places.state;
  auto preview = FindPreview(state, id, NowMs());
  if (!preview) return FailedInternally(preview.error());
  const auto lock = LockPreview(state, preview->id);
  if (!lock) return FailedInternally(lock.error());
  // Once more, under the lock: what is shown is what is committed.
  preview = FindPreview(state, preview->id, NowMs());
  if (!preview) return FailedInternally(preview.error());
  std::vector<std::string> paths;
  for (const std::string& word : words)
    paths.push_back(Normalise(word, gateway.facts().cwd));
  if (const std::string path = NotInPreview(*preview, paths); !path.empty()) {
    Complain(Visible(path) + " is not in the preview");
    return kExitUsage;
  }
  std::string text = RenderChosen(*preview, paths, kShownLines);
  text += RenderChoice(*preview, paths);
  if (!ConfirmByPerson(text + "Commit it?")) {
    Complain("nothing was committed");
    return kExitRefused;
  }
  return CommitAndTell(gateway, *preview, paths, "a person") ? 0
                                                             : kExitGateFailed;
}

int Discard(const std::string& state, const std::string& id) {
  if (auto code = RequirePerson("discarding a preview")) return *code;
  auto preview = FindPreview(state, id, NowMs());
  if (!preview) return FailedInternally(preview.error());
  const auto lock = LockPreview(state, preview->id);
  if (!lock) return FailedInternally(lock.error());
  DropPreview(state, *preview, TellKept);
  std::puts("discarded");
  return 0;
}

}  // namespace

int PendingCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app("Questions and previews that wait for a person.", "gate pending");
  bool json = false;
  std::string id;
  std::vector<std::string> paths;
  app.Flag("--json", json, "print a JSON object a line");
  app.Command("list", "both (the default)");
  Options& show = app.Command("show", "the changes of a preview");
  Options& commit = app.Command("commit", "apply a preview (a person's act)");
  Options& discard =
      app.Command("discard", "throw a preview away (a person's act)");
  for (Options* command : {&show, &commit, &discard})
    command->Add("id", id, "of the preview").Required();
  commit.Add("paths", paths, "only these and what is below them");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (commit.parsed()) return Commit(globals, id, paths);
  const std::string state = ReadProcessFacts(globals).places.state;
  if (discard.parsed()) return Discard(state, id);
  return show.parsed() ? ShowPreview(state, id, json) : ListAll(state, json);
}

}  // namespace gate::app
