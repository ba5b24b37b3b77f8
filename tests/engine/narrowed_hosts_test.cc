// What lines of everyday work reach where an open network is narrowed to the
// hosts that rules name.
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "engine/evaluate.h"
#include "engine/examples.h"
#include "known/known.h"
#include "rules/policy.h"

namespace gate::engine {
namespace {

using rules::Layer;
using Hosts = std::set<std::string>;

rules::Policy Policy(const std::string& rule, bool shipped = true) {
  rules::RuleFile file;
  file.name = "f.json";
  file.layer = Layer::kSystem;
  file.text = R"({"schema": 1, "pack": "p", "rules": [{"id": "p.r",
                   "action": "sandbox", "reason": "r", )" +
              rule + "}]}";
  rules::Policy policy = rules::MakePolicy({file}, shipped);
  for (const Diagnostic& diagnostic : policy.diagnostics())
    ADD_FAILURE() << Render(diagnostic);
  return policy;
}

Hosts Names(const std::vector<NamedHost>& named) {
  Hosts hosts;
  for (const NamedHost& one : named) hosts.insert(one.host);
  return hosts;
}

// A word without a dot is a list of rules.d/known/hosts.json.
Hosts Expected(const std::string& words) {
  Hosts hosts;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    if (word.find('.') != std::string::npos) {
      hosts.insert(word);
      continue;
    }
    const auto members = known::Members("hosts/" + word);
    EXPECT_FALSE(members.empty()) << word;
    hosts.insert(members.begin(), members.end());
  }
  return hosts;
}

TEST(NarrowedHosts, AreWhatTheProgramNeedsAndTheLineNames) {
  const rules::Policy shipped = rules::MakePolicy({}, true);
  const rules::Policy narrowed =
      Policy(R"("network_max": "domains", "match": {"program": "*"})");
  const struct {
    const char *line, *reached;
  } rows[] = {
      {"npm install", "npm node"},
      {"npm ci", "npm node"},
      {"npm install --save-dev left-pad", "npm node"},
      {"npm test", "npm node"},
      {"npm view left-pad", "npm node"},
      {"npx create-vite app", "npm node"},
      {"pnpm install", "npm node"},
      {"yarn install", "npm yarn node"},
      {"bun add left-pad", "npm"},
      {"corepack enable", "npm yarn"},
      {"npx playwright install", "npm node playwright google-storage"},
      {"pip install -r requirements.txt", "python"},
      {"pip download requests", "python"},
      {"python3 -m pip install -r requirements.txt", "python"},
      {".venv/bin/pip install requests", "python"},
      {"pip install -i https://download.pytorch.org/whl/cpu torch",
       "python download.pytorch.org"},
      {"uv pip install requests", "python uv"},
      {"uv sync", "python uv"},
      {"poetry install", "python"},
      {"conda install numpy", "conda"},
      {"cargo build", "cargo"},
      {"cargo fetch", "cargo"},
      {"cargo test --workspace", "cargo"},
      {"rustup update", "rustup"},
      {"go mod download", "go google-storage"},
      {"go build ./...", "go google-storage"},
      {"bundle install", "rubygems"},
      {"gem install rake", "rubygems"},
      {"composer install", "composer github"},
      {"mvn package", "maven"},
      {"./mvnw test", "maven"},
      {"gradle build", "gradle maven"},
      {"./gradlew build", "gradle maven"},
      {"sbt compile", "maven"},
      {"dotnet restore", "nuget"},
      {"mix deps.get", "hex"},
      {"deno cache https://example.org/mod.ts", "deno npm example.org"},
      {"flutter pub get", "dart google-storage"},
      {"terraform init", "terraform"},
      {"nvm install 20", "node github"},
      {"pre-commit run --all-files", "python github"},
      {"sudo apt-get install -y jq", "debian ubuntu"},
      {"apt-get update", "debian ubuntu"},
      {"brew install jq", "homebrew ghcr github"},
      {"git fetch", "github gitlab bitbucket codeberg"},
      {"git pull --rebase origin main", "github gitlab bitbucket codeberg"},
      {"git push", "github gitlab bitbucket codeberg"},
      {"git submodule update --init", "github gitlab bitbucket codeberg"},
      {"git clone https://git.example.org/a/b",
       "github gitlab bitbucket codeberg git.example.org"},
      {"gh pr list", "github"},
      {"glab mr list", "gitlab"},
      {"docker pull alpine", "docker-hub ghcr"},
      {"docker run --rm alpine true", "docker-hub ghcr"},
      {"podman pull quay.io/a/b", "docker-hub ghcr quay.io"},
      {"aws s3 ls", "aws"},
      {"gcloud projects list", "gcloud"},
      {"az vm list", "azure"},
      {"curl https://example.org/x", "example.org"},
      {"curl -fsSL http://example.org:8080/x", "example.org:8080"},
      {"curl https://example.org:443/x", "example.org"},
      {"curl -o a https://Example.ORG./a -o b https://b.example.net/b",
       "example.org b.example.net"},
      {"U=https://example.org/x; curl $U", "example.org"},
      {"curl -T a.txt https://example.org/a", "example.org"},
      {"wget -q https://example.org/x.tgz", "example.org"},
      // Only known when it runs, this machine, or over ssh: nothing.
      {"curl \"$URL\"", ""},
      {"curl https://\"$HOST\"/x", ""},
      {"curl localhost:3000/health", ""},
      {"ssh host.example.org", ""},
      {"kubectl get pods", ""},
      {"make", ""},
      {"python3 app.py", ""},
      // Of two commands both, whatever starts them.
      {"npm install && pip install requests", "npm node python"},
      {"npm run dev && curl https://example.org/x", "npm node example.org"},
      {"cd x && bash -c 'cargo build' | tee log", "cargo"},
      {"for i in a b; do curl https://example.org/$i; done", "example.org"},
      {"npm test; curl \"$URL\"", "npm node"},
  };
  for (const auto& row : rows) {
    const Decision open = DecideExample(shipped, row.line);
    EXPECT_EQ(Names(open.hosts_if_narrowed), Expected(row.reached)) << row.line;
    EXPECT_TRUE(open.hosts.empty()) << row.line;
    const Decision cut = DecideExample(narrowed, row.line);
    if (open.network == NetworkAccess::kOpen) {
      EXPECT_EQ(cut.network, NetworkAccess::kDomains) << row.line;
      EXPECT_EQ(Names(cut.hosts), Expected(row.reached)) << row.line;
    }
    EXPECT_TRUE(cut.hosts_if_narrowed.empty()) << row.line;
  }
}

// A remote or an index that a description calls by a word is no host.
TEST(NarrowedHosts, AreOnlyHostsThatReadAsOne) {
  const rules::Policy policy = Policy(
      R"("network": "open", "hosts": "@named", "match": {"program": "*"})",
      /*shipped=*/false);
  for (const char* line :
       {"git fetch origin", "pip install requests", "npm install",
        "docker pull a/b", "curl intranet", "curl 'http://a b/'",
        "curl 127.0.0.1:8080", "curl http://[::1]/", "nc -l 8080",
        "node -e 'fetch(\"https://maybe.example.org/\")'"})
    EXPECT_TRUE(DecideExample(policy, line).hosts_if_narrowed.empty()) << line;
  EXPECT_EQ(Names(DecideExample(policy, "curl http://intranet/ 192.0.2.7")
                      .hosts_if_narrowed),
            (Hosts{"192.0.2.7", "intranet"}));
}

// Whoever narrows a command and says which hosts means no others.
TEST(NarrowedHosts, AreExactlyThoseOfARuleThatNarrowsAndNames) {
  const rules::Policy policy = Policy(
      R"("network": "domains", "network_max": "domains",
         "hosts": ["npm.example.org"], "match": {"prefix": ["npm", "ci"]})");
  for (const char* line : {"npm ci", "npm ci && pip install requests"})
    EXPECT_EQ(Names(DecideExample(policy, line).hosts),
              Hosts{"npm.example.org"})
        << line;
}

TEST(NarrowedHosts, AProjectAddsNoneAndNarrowsAll) {
  const std::string names = R"("hosts": ["evil.example.org", "@named"], )";
  const std::string match = R"("match": {"program": ["npm", "curl"]})";
  for (const char* network : {"open", "domains"}) {
    rules::RuleFile file;
    file.name = "f.json";
    file.layer = Layer::kProject;
    file.trusted = true;
    file.text = R"({"schema": 1, "pack": "p", "rules": [{"id": "p.r",
                    "action": "sandbox", "reason": "r", "network": ")" +
                std::string(network) + "\", \"network_max\": \"domains\", " +
                names + match + "}]}";
    const rules::Policy policy = rules::MakePolicy({file}, true);
    const Decision decision = DecideExample(policy, "npm install");
    EXPECT_EQ(decision.network, NetworkAccess::kDomains);
    EXPECT_EQ(Names(decision.hosts), Expected("npm node"));
    EXPECT_EQ(Names(DecideExample(policy, "curl \"$URL\"").hosts), Hosts{});
  }
}

}  // namespace
}  // namespace gate::engine
