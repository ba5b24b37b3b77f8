#include "gateway/git_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "approvals/signed_store.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/paths.h"
#include "base/text.h"
#include "credentials/ssh_stub.h"
#include "gateway/grants/asked_remotes.h"
#include "gateway/grants/git_push_scope.h"
#include "gateway/grants/lending.h"
#include "gateway/grants/persons_environment.h"
#include "gateway/line.h"
#include "gateway/programs/program_verification.h"
#include "git/config.h"

namespace gate::app {
namespace {

using credentials::PinnedRemotes;
using credentials::SshBroker;

constexpr std::string_view kNowhere = "-";  // no URL of ssh
constexpr int kMaxIncludes = 10;            // git's own limit
constexpr std::string_view kDomain = "remotes";

// A record by the name of a directory: its remotes, and that a contained run
// could write there since.
std::string RecordOf(const ProcessFacts& facts, const std::string& directory) {
  return facts.places.state + "/remotes/" + Hex(Sha256("at " + directory));
}

bool Exists(const std::string& path) {
  struct stat info = {};
  return ::lstat(path.c_str(), &info) == 0 || errno != ENOENT;
}

Result<PinnedRemotes> ReadRecord(const ProcessFacts& facts,
                                 const std::string& directory) {
  GATE_TRY(const std::string body,
           ReadSigned(facts.places.state, kDomain, RecordOf(facts, directory)));
  // Bound to its name, so that none can stand in for another.
  const size_t end = body.find('\0');
  if (body.substr(0, end) != directory || end == body.npos)
    return Fail(ErrorCode::kCorrupt, "the pinned remotes cannot be read");
  return credentials::ParsePinned(std::string_view(body).substr(end + 1));
}

std::string BodyOf(const std::string& directory, const PinnedRemotes& remotes) {
  return directory + '\0' + credentials::Serialise(remotes);
}

// Never replaces a record: of two runs that begin at once the first counts.
Status AddRecord(const ProcessFacts& facts, const std::string& directory,
                 const PinnedRemotes& remotes) {
  const std::string path = RecordOf(facts, directory);
  const std::string fresh = path + "-" + Hex(RandomBytes(8));
  GATE_CHECK(WriteSigned(facts.places.state, kDomain, fresh,
                         BodyOf(directory, remotes)));
  const bool linked = ::link(fresh.c_str(), path.c_str()) == 0;
  const int error = errno;
  ::unlink(fresh.c_str());
  errno = error;
  if (!linked && error != EEXIST) return FailErrno("cannot make " + path);
  return {};
}

// Of two runs that begin at once in nested directories one must have noted what
// it can write before the other reads. Held for some file reads; a killed
// holder holds nothing.
Result<Fd> TakeTurn(const ProcessFacts& facts) {
  const std::string directory = facts.places.state + "/remotes";
  GATE_CHECK(MakeDirectories(directory, 0700));
  Fd turn(::open((directory + "/turn").c_str(),
                 O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  while (turn && ::flock(turn.get(), LOCK_EX) != 0)
    if (errno != EINTR) turn.reset();
  if (!turn) return FailErrno("cannot wait for other runs");
  return turn;
}

bool CouldBeWritten(const ProcessFacts& facts, std::string directory) {
  for (;;) {
    if (Exists(RecordOf(facts, directory))) return true;
    if (directory.size() <= 1) return false;
    directory = DirName(directory);
  }
}

// Whether `git` is the repository of its work tree: its `.git` is a directory
// there, or the repository's own list of worktrees has it. A `.git` file or a
// bare layout that somebody wrote could name any other, or be made of files
// that look like nothing.
bool IsItsOwn(const GitDirectories& git, const std::string& own,
              const std::string& common) {
  const std::string dot_git = git.worktree + "/.git";
  struct stat info = {};
  if (::lstat(dot_git.c_str(), &info) != 0) return false;
  if (S_ISDIR(info.st_mode)) return own == RealPath(dot_git) && own == common;
  if (!S_ISREG(info.st_mode) || DirName(own) != common + "/worktrees")
    return false;
  const auto back = ReadFile(own + "/gitdir", kMaxGitConfigBytes, false);
  return back && std::string(GitPathIn(*back)) == dot_git;
}

// The remotes of the repository around `directory`, and `*common`, the git
// directory that it shares with other worktrees; empty where it has none of its
// own.
PinnedRemotes FirstSightOf(const ProcessFacts& facts,
                           const std::string& directory, std::string* common) {
  const GitDirectories git = FindGitDirectories(directory);
  *common = RealPath(git.common);
  const std::string own = RealPath(git.own);
  if (common->empty() || own.empty() || !IsItsOwn(git, own, *common)) {
    common->clear();
    return {};
  }
  if (CouldBeWritten(facts, directory)) return {};
  if (auto known = ReadRecord(facts, *common)) return std::move(*known);
  if (CouldBeWritten(facts, *common) || CouldBeWritten(facts, own)) return {};
  PinnedRemotes remotes;
  std::vector<GitEntry> all;
  for (const std::string& file :
       {*common + "/config", own + "/config.worktree"}) {
    const auto text = ReadFile(file, kMaxGitConfigBytes, /*follow=*/false);
    std::vector<GitEntry> entries;
    if (text && ParseGitConfig(*text, &entries))
      std::ranges::move(entries, std::back_inserter(all));
  }
  credentials::AddRemotes(all, &remotes);
  return remotes;
}

class RewriteReader {
 public:
  RewriteReader(const ProcessFacts& facts,
                const std::vector<std::string>& writable)
      : facts_(facts), writable_(writable) {}

  PinnedRemotes Read() {
    std::string config = facts_.home + "/.config";
    for (const std::string& entry : facts_.environment)
      if (entry.starts_with("XDG_CONFIG_HOME=/"))
        config = entry.substr(entry.find('=') + 1);
    for (const std::string& file :
         {std::string("/etc/gitconfig"), config + "/git/config",
          facts_.home + "/.gitconfig"})
      ReadFrom(file, 0);
    return std::move(remotes_);
  }

 private:
  void ReadFrom(const std::string& file, int depth) {
    const std::string real = RealPath(file);
    if (real.empty() || depth > kMaxIncludes ||
        IsWritablePlace(file, writable_) || IsWritablePlace(real, writable_))
      return;
    const auto text = ReadFile(file, kMaxGitConfigBytes);
    std::vector<GitEntry> entries;
    if (!text || !ParseGitConfig(*text, &entries)) return;
    std::vector<GitEntry> before;
    for (GitEntry& entry : entries) {
      if (entry.key != "include.path" &&
          !(entry.key.starts_with("includeif.") &&
            entry.key.ends_with(".path"))) {
        before.push_back(std::move(entry));
        continue;
      }
      credentials::AddRemotes(before, &remotes_);
      before.clear();
      std::string path = entry.value;
      if (path.starts_with("~/")) path = facts_.home + path.substr(1);
      if (!path.starts_with('/'))
        path = std::string(DirName(file)) + "/" + path;
      ReadFrom(path, depth + 1);
    }
    credentials::AddRemotes(before, &remotes_);
  }

  const ProcessFacts& facts_;
  const std::vector<std::string>& writable_;
  PinnedRemotes remotes_;
};

// Whether the line itself runs a command of git that goes to another machine.
bool Fetches(const parser::Analysis& analysis) {
  constexpr auto kFetching = std::to_array<std::string_view>(
      {"clone", "fetch", "ls-remote", "pull", "push", "remote", "submodule"});
  return std::ranges::any_of(
      analysis.invocations, [&](const parser::Invocation& invocation) {
        return invocation.program == "git" && !invocation.guessed &&
               !invocation.subcommand.empty() &&
               std::ranges::find(kFetching, invocation.subcommand.front()) !=
                   kFetching.end();
      });
}

}  // namespace

Status NoteRemotes(const ProcessFacts& facts, const std::string& workspace,
                   const backends::Profile& profile) {
  std::vector<std::string> roots = profile.write;
  if (!workspace.empty() && std::ranges::find(roots, workspace) == roots.end())
    roots.push_back(workspace);
  if (roots.empty()) return {};
  std::string all;
  for (const std::string& root : roots)
    all += std::to_string(root.size()) + ":" + root;
  const std::string noted =
      facts.places.state + "/remotes/" + Hex(Sha256("all of " + all));
  if (Exists(noted)) return {};
  GATE_TRY(const Fd turn, TakeTurn(facts));
  // All are read before any is noted: a root may lie in another.
  std::vector<std::pair<std::string, PinnedRemotes>> fresh;
  for (const std::string& root : roots) {
    if (Exists(RecordOf(facts, root))) continue;
    std::string common;
    PinnedRemotes remotes = FirstSightOf(facts, root, &common);
    if (!common.empty() && !Exists(RecordOf(facts, common)))
      fresh.emplace_back(common, remotes);
    fresh.emplace_back(root, std::move(remotes));
  }
  for (const auto& [directory, remotes] : fresh)
    GATE_CHECK(AddRecord(facts, directory, remotes));
  return WriteSigned(facts.places.state, kDomain, noted, "");
}

Result<PinnedRemotes> PinnedRemotesOf(const ProcessFacts& facts,
                                      const std::string& workspace) {
  return ReadRecord(facts, workspace);
}

PinnedRemotes WouldBePinned(const ProcessFacts& facts,
                            const std::string& workspace) {
  if (workspace.empty()) return {};
  if (Exists(RecordOf(facts, workspace)))
    return ReadRecord(facts, workspace).value_or(PinnedRemotes{});
  std::string common;
  return FirstSightOf(facts, workspace, &common);
}

PinnedRemotes PersonsRewrites(const ProcessFacts& facts,
                              const std::vector<std::string>& writable) {
  return RewriteReader(facts, writable).Read();
}

Status UnpinRemote(const ProcessFacts& facts, const std::string& workspace,
                   const std::string& url) {
  GATE_TRY(const Fd turn, TakeTurn(facts));
  GATE_TRY(PinnedRemotes remotes, ReadRecord(facts, workspace));
  const auto target = credentials::ParseSshUrl(url);
  const auto is_it = [&](const std::string& each) {
    return each == url || (target && credentials::ParseSshUrl(each) == target);
  };
  std::erase_if(remotes.fetch, is_it);
  // Without any the URLs for fetching would be for pushing as well: what is
  // left there goes nowhere, and keeps it so.
  if (std::erase_if(remotes.push, is_it) > 0 && remotes.push.empty())
    remotes.push.emplace_back(kNowhere);
  for (const auto service :
       {credentials::SshService::kFetch, credentials::SshService::kPush})
    if (target &&
        credentials::TargetsOf(remotes, {}, service).contains(*target))
      return Fail(ErrorCode::kInvalid,
                  "a rewrite of URLs that the repository has leads there");
  return WriteSigned(facts.places.state, kDomain, RecordOf(facts, workspace),
                     BodyOf(workspace, remotes));
}

Status PinRemote(const ProcessFacts& facts, const std::string& workspace,
                 const std::string& url) {
  if (!credentials::ParseSshUrl(url))
    return Fail(ErrorCode::kInvalid,
                "`" + Visible(url) + "` is no plain URL of ssh");
  backends::Profile none;
  GATE_CHECK(NoteRemotes(facts, workspace, none));
  GATE_TRY(const Fd turn, TakeTurn(facts));
  GATE_TRY(PinnedRemotes remotes, ReadRecord(facts, workspace));
  const auto add = [&](std::vector<std::string>* urls) {
    if (std::ranges::find(*urls, url) == urls->end()) urls->push_back(url);
  };
  add(&remotes.fetch);
  if (!remotes.push.empty()) add(&remotes.push);
  return WriteSigned(facts.places.state, kDomain, RecordOf(facts, workspace),
                     BodyOf(workspace, remotes));
}

Result<std::optional<SshBroker>> OfferGitTransport(
    Gateway& gateway, Authorization* authorization) {
  const ProcessFacts& facts = gateway.facts();
  backends::Profile& profile = authorization->plan.profile;
  // The login goes to pinned remotes alone, whatever else the line reaches.
  if (profile.network < backends::Network::kDomains) return std::nullopt;
  std::optional<parser::Analysis> again;
  // A ticket's line without the word runs no git.
  const bool may_run_git =
      !authorization->analysis.invocations.empty() ||
      LineOf(authorization->request).find("git") != std::string::npos;
  const parser::Analysis& analysis =
      may_run_git ? AnalysisOf(facts, *authorization, &again)
                  : authorization->analysis;
  if (!Fetches(analysis)) return std::nullopt;
  const auto& candidates = gateway.candidates();
  const auto candidate = std::ranges::find(
      candidates, authorization->plan.backend, &router::Candidate::name);
  if (candidate == candidates.end() ||
      !candidate->availability.features.Has(backends::Feature::kLending))
    return std::nullopt;
  const std::string& workspace = authorization->session.workspace;
  const std::vector<std::string> writable =
      gateway.WritablePlaces(authorization->session);
  const PinnedRemotes person = PersonsRewrites(facts, writable);
  credentials::BrokerSetup setup;
  setup.directory = RealPath(facts.places.state) + "/transports";
  if (!workspace.empty()) {
    // Of a repository that cannot be read nothing is pinned.
    const auto pinned = PinnedRemotesOf(facts, workspace);
    if (pinned) {
      setup.fetch = credentials::TargetsOf(*pinned, person,
                                           credentials::SshService::kFetch);
      setup.push = credentials::TargetsOf(*pinned, person,
                                          credentials::SshService::kPush);
    }
  }
  // A person said yes to these, for this run; a yes to a fetch is none to a
  // push that a hook redirects there.
  if (!authorization->remotes.empty()) {
    for (const auto service :
         {credentials::SshService::kFetch, credentials::SshService::kPush}) {
      auto& lent =
          service == credentials::SshService::kPush ? setup.push : setup.fetch;
      for (const credentials::SshTarget& target :
           UnpinnedRemotes(facts, workspace, writable, analysis, service))
        if (authorization->remotes.contains(target)) lent.insert(target);
    }
  }
  setup.scope = PushScopeOf(analysis, LineOf(authorization->request));
  const std::string path = SafePath(facts.path, writable);
  const ProgramFile ssh = ResolveProgram("ssh", path, "/");
  if (!ssh.real.empty() && !IsWritablePlace(ssh.real, writable))
    setup.program = ssh.found;
  setup.environment = PersonsEnvironment(facts, path, writable);
  GATE_TRY(SshBroker broker, SshBroker::Start(setup));
  profile.lend.push_back(
      {credentials::kTransportSocket, broker.socket(), false, {}});
  profile.environment_set["GIT_SSH_COMMAND"] =
      ShellQuote(facts.executable) + " " + credentials::kGitSshCommand;
  profile.environment_set["GIT_SSH_VARIANT"] = "ssh";
  return broker;
}

}  // namespace gate::app
