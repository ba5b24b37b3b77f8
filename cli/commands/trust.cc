// gate trust, gate untrust: what counts of a project's own files.
#include <unistd.h>

#include <cstdio>

#include "approvals/terminal.h"
#include "approvals/trust.h"
#include "approvals/user_action.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/paths.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/options.h"
#include "credentials/ssh_target.h"
#include "gateway/git_transport.h"
#include "gateway/workspace.h"

namespace gate::app {
namespace {

// Of a longer file the start is shown and its size is told.
constexpr size_t kShownBytes = 16 * 1024;

const char* StateOf(const TrustItem& item, const TrustRecord& record) {
  if (!item.problem.empty()) return "cannot be trusted";
  const auto known = record.files.find(item.path);
  if (known == record.files.end()) return "new";
  return known->second == item.hash ? "trusted" : "changed";
}

std::string ShownPath(const std::string& path, const std::string& workspace) {
  return Visible(IsWithin(path, workspace) && path.size() > workspace.size()
                     ? path.substr(workspace.size() + 1)
                     : path);
}

std::string Content(const TrustItem& item) {
  std::string text = item.text.substr(0, kShownBytes);
  if (item.text.size() > kShownBytes)
    text += "\n(and " + std::to_string(item.text.size() - kShownBytes) +
            " bytes more: look at the file)";
  std::string out = "      | ";
  for (const char c : Visible(text, /*keep_layout=*/true)) {
    out += c;
    if (c == '\n') out += "      | ";
  }
  return out + "\n";
}

std::string TrustText(const std::vector<TrustItem>& items,
                      const TrustRecord& record, const std::string& workspace,
                      bool contents, bool colour) {
  std::string out = "in " + Visible(workspace) + "\n";
  for (const TrustItem& item : items) {
    const std::string state = StateOf(item, record);
    const Colour hue = state == "trusted" ? Colour::kGreen : Colour::kYellow;
    out +=
        "  " + Paint(hue, state, colour) + "  " + Name(item.kind) + "  " +
        Paint(Colour::kBold, ShownPath(item.path, workspace), colour) + "  " +
        (item.problem.empty() ? "sha256 " + item.hash : Visible(item.problem)) +
        "\n";
    if (contents && item.problem.empty() && state != "trusted")
      out += Content(item);
    if (!FindHidden(item.text).empty() && state != "trusted")
      out += "      note: it holds invisible or control characters\n";
  }
  if (items.empty()) out += "  nothing that could be trusted\n";
  return out;
}

void PrintJson(const std::vector<TrustItem>& items, const TrustRecord& record) {
  for (const TrustItem& item : items) {
    JsonWriter line;
    line.BeginObject().Field("schema", "gate.trust/1");
    line.Field("path", item.path).Field("kind", Name(item.kind));
    line.Field("state", StateOf(item, record)).Field("sha256", item.hash);
    line.Field("problem", item.problem).EndObject();
    std::puts(line.text().c_str());
  }
}

// The workspace, or nothing after saying why there is none.
std::optional<std::string> WorkspaceHere(const ProcessFacts& facts) {
  std::string workspace = FindWorkspace(facts, facts.cwd);
  if (!workspace.empty()) return workspace;
  Complain("`" + Visible(facts.cwd) + "` cannot be a project");
  return std::nullopt;
}

std::string FilesDetail(const std::vector<TrustItem>& items) {
  JsonWriter json;
  json.BeginObject().Key("files").BeginArray();
  for (const TrustItem& item : items)
    json.BeginObject()
        .Field("path", item.path)
        .Field("sha256", item.hash)
        .EndObject();
  json.EndArray().EndObject();
  return json.Take();
}

int TrustRemote(const ProcessFacts& facts, const std::string& workspace,
                const std::string& url, bool show) {
  const auto target = credentials::ParseSshUrl(url);
  if (!target || show) {
    Complain(show ? "`--remote` adds a URL and shows nothing"
                  : "`" + Visible(url) + "` is no plain URL of ssh");
    return kExitUsage;
  }
  const std::string shown = credentials::Describe(*target);
  if (!ConfirmByPerson("Let git in " + Visible(workspace) +
                       " fetch from, and push to, " + shown +
                       " with your ssh login?")) {
    Complain("nothing was trusted");
    return kExitRefused;
  }
  UserAction act;
  act.mode = "trust";
  act.cwd = workspace;
  act.reason =
      "a person let git of this project fetch from, and push to, " + shown;
  JsonWriter detail;
  detail.BeginObject().Field("remote", url).EndObject();
  act.detail = detail.Take();
  Status stored = RecordUserAction(facts, act);
  if (stored) stored = PinRemote(facts, workspace, url);
  if (!stored) {
    Complain("nothing was trusted: " + stored.error().message);
    return kExitInternal;
  }
  std::puts("trusted; `gate untrust --remote` takes it back");
  return 0;
}

}  // namespace

int TrustCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app(
      "Shows the rules, agent settings and git hooks of the project here, and\n"
      "trusts exactly these bytes when a person says yes. Any change of a "
      "file\n"
      "un-trusts it.",
      "gate trust");
  bool show = false, json = false;
  std::string remote;
  app.Flag("--show", show, "only show what is trusted and what is not");
  app.Flag("--json", json, "show it as a JSON object a line");
  app.Add(
      "--remote", remote,
      "let git of this project fetch from URL, and push to it, with your ssh "
      "login");
  if (auto code = ParseWith(app, arguments)) return *code;
  show |= json;
  if (!show)
    if (auto code = RequirePerson("trusting")) return *code;
  const ProcessFacts facts = ReadProcessFacts(globals);
  const auto workspace = WorkspaceHere(facts);
  if (!workspace) return kExitInternal;
  if (!remote.empty()) return TrustRemote(facts, *workspace, remote, show);
  const std::string directory = IsWithin(Normalise(facts.cwd, "/"), *workspace)
                                    ? Normalise(facts.cwd, "/")
                                    : *workspace;
  auto record = LoadTrust(facts.places.state, *workspace);
  if (!record) {
    // Nothing is trusted by a damaged record; trusting anew replaces it.
    Complain(record.error().message);
    record = TrustRecord{};
  }
  const auto items = FindTrustItems(*workspace, directory);
  if (json) {
    PrintJson(items, *record);
    return 0;
  }
  std::fputs(TrustText(items, *record, *workspace, /*contents=*/!show,
                       WantsColour(STDOUT_FILENO))
                 .c_str(),
             stdout);
  if (show) return 0;
  std::fflush(stdout);

  std::vector<TrustItem> fresh;
  for (const TrustItem& item : items) {
    const std::string_view state = StateOf(item, *record);
    if (state == "new" || state == "changed") fresh.push_back(item);
  }
  if (fresh.empty()) {
    std::puts("nothing new to trust");
    return 0;
  }
  if (!ConfirmByPerson("Trust these " + std::to_string(fresh.size()) +
                       " files as shown?")) {
    Complain("nothing was trusted");
    return kExitRefused;
  }
  UserAction act;
  act.mode = "trust";
  act.cwd = *workspace;
  act.reason = "a person trusted files of this project";
  act.detail = FilesDetail(fresh);
  // What is gone is not trusted when it comes back.
  TrustRecord next;
  next.trusted_ms = NowMs();
  for (const TrustItem& item : items)
    if (item.problem.empty()) next.files[item.path] = item.hash;
  Status stored = RecordUserAction(facts, act);
  if (stored) stored = SaveTrust(facts.places.state, *workspace, next);
  if (!stored) {
    Complain("nothing was trusted: " + stored.error().message);
    return kExitInternal;
  }
  std::puts("trusted; a change of any of them takes it back");
  return 0;
}

int UntrustCommand(const GlobalOptions& globals, const Arguments& arguments) {
  Options app("Trusts nothing of the project here any more.", "gate untrust");
  std::vector<std::string> paths;
  std::string remote;
  app.Add("path", paths, "only these files");
  app.Add("--remote", remote, "only this URL of a remote");
  if (auto code = ParseWith(app, arguments)) return *code;
  if (auto code = RequirePerson("untrusting")) return *code;
  const ProcessFacts facts = ReadProcessFacts(globals);
  const auto workspace = WorkspaceHere(facts);
  if (!workspace) return kExitInternal;
  UserAction act;
  act.mode = "untrust";
  act.cwd = *workspace;
  act.reason = "a person took trust back";
  if (!remote.empty()) {
    act.reason += " from the remote " + Visible(remote);
    Status stored = RecordUserAction(facts, act);
    if (stored) stored = UnpinRemote(facts, *workspace, remote);
    if (!stored) {
      Complain("nothing was changed: " + stored.error().message);
      return kExitInternal;
    }
    std::puts("untrusted");
    return 0;
  }
  auto record = LoadTrust(facts.places.state, *workspace);
  TrustRecord next = record ? *record : TrustRecord{};
  if (paths.empty()) next.files.clear();
  for (const std::string& path : paths) {
    if (next.files.erase(Normalise(path, facts.cwd)) != 0) continue;
    Complain("`" + Visible(path) + "` is not trusted");
    return kExitInternal;
  }
  Status stored = RecordUserAction(facts, act);
  if (stored) stored = SaveTrust(facts.places.state, *workspace, next);
  if (!stored) {
    Complain("nothing was changed: " + stored.error().message);
    return kExitInternal;
  }
  std::puts(next.files.empty() ? "nothing of it is trusted now" : "untrusted");
  return 0;
}

}  // namespace gate::app
