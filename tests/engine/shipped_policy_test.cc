// The shipped policy: every example of every rule, and its lints.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "engine/evaluate.h"
#include "engine/examples.h"
#include "engine/lint.h"
#include "parser/analysis.h"
#include "rules/policy.h"

namespace gate::engine {
namespace {

TEST(ShippedPolicy, Loads) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  EXPECT_EQ(policy.floor(), Action::kAllow);
  EXPECT_TRUE(policy.diagnostics().empty());
  EXPECT_EQ(policy.default_action(), Action::kSandbox);
}

TEST(ShippedPolicy, EveryExampleHolds) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  const std::vector<ExampleResult> results = RunExamples(policy);
  EXPECT_GT(results.size(), 400u);
  for (const Diagnostic& diagnostic : ExampleDiagnostics(results))
    ADD_FAILURE() << Render(diagnostic);
}

// The first example of docs/rules.md does what it says.
TEST(ShippedPolicy, TheExampleOfTheManualHolds) {
  std::ifstream in(GATE_SOURCE_DIR "/docs/rules.md");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const size_t begin = text.find("```json\n") + 8;
  rules::RuleFile file;
  file.name = "mine.json";
  file.layer = rules::Layer::kUser;
  file.text = text.substr(begin, text.find("```", begin) - begin);
  const rules::Policy policy = rules::MakePolicy({file}, true);
  for (const Diagnostic& diagnostic :
       ExampleDiagnostics(RunExamples(policy, {}, /*shipped=*/false)))
    ADD_FAILURE() << Render(diagnostic);
  EXPECT_EQ(DecideExample(policy, "npm run lint").action, Action::kAllow);
  for (const char* line :
       {"kubectl --context=prod get pods", "kubectl --context prod get pods",
        "kubectl get pods --context=production",
        "kubectl get pods --context prod"})
    EXPECT_EQ(DecideExample(policy, line).action, Action::kDeny) << line;
}

TEST(ShippedPolicy, HasNoLints) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  for (const rules::Finding& finding : LintPolicy(policy, {}))
    if (finding.accepted.empty())
      ADD_FAILURE() << Render(finding.diagnostic) << finding.witness;
}

TEST(ShippedPolicy, LendsOnlyToProgramsOfTheSystem) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  for (const char* command :
       {"docker ps", "/usr/bin/docker ps", "docker exec web npm test",
        "kubectl get pods", "aws s3 ls"})
    EXPECT_EQ(DecideExample(policy, command).profile, ProfileKind::kTool)
        << command;
  for (const char* command :
       {"./docker ps", "/tmp/kubectl get pods", "bin/aws s3 ls", "~/docker ps",
        "docker ps && ./x.sh", "cdk synth", "pulumi preview", "heroku local"})
    EXPECT_EQ(DecideExample(policy, command).profile,
              ProfileKind::kWorkspaceWrite)
        << command;
}

// What runs the project's code is contained because nothing allows it, not
// because a rule lists its name; what only says its version, and a shell whose
// code is judged by itself, runs as it is.
TEST(ShippedPolicy, ProgramsThatRunTheProjectsCodeAreContainedUnlisted) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  for (const char* command :
       {"node --version", "python3 --version", "python3 -V", "python -VV",
        "cmake --version", "make --version", "psql -V",
        "/usr/bin/node --version", "cd sub && python3 -V", "bash -c 'echo /x'",
        "sh -c 'cat a.sh'", "bash -c 'ls src/*.sh | head -1'",
        "bash -c 'node --version'"})
    EXPECT_EQ(DecideExample(policy, command).action, Action::kAllow) << command;
  for (const char* command :
       {// Not an option that only prints.
        "cmake -V", "make -V", "perl -V", "perl -V --version", "node -V",
        "sqlite3 -V", "java -V", "ruby -V", "php -V", "ninja -V",
        "perl -V:osname", "node --version x.js", "node -v -e 1",
        "python3 --version -c 'import os'", "python3 -VVx",
        // A program of the project's, or one found by another way.
        "./node --version", "../bin/python3 --version", "./bash -c 'ls /'",
        "PYTHONPATH=. python3 --version", "PERL5LIB=. perl -V",
        "JAVA_TOOL_OPTIONS=-javaagent:x.jar java --version",
        "xargs -a l node --version",
        // Code that is judged by itself, and says more than it prints.
        "bash -c './x'", "bash -c 'make /x'", "bash -c 'python3 app.py /'",
        "bash -c '. \"$1\"' x ./x.sh", "bash -c '$0' ./x.sh",
        "bash --rcfile ./x -c 'ls /'", "bash -ic 'ls /'", "zsh -c 'ls /'",
        "BASH_ENV=./x bash -c 'ls /'", "ENV=./x sh -c 'ls /'", "bash x.sh",
        "bash ./x.sh", "sh scripts/serve.sh", "./run-tests.sh",
        // What a project is built, tested and served with.
        "pytest -q", "npm test", "npm run build", "yarn test", "make",
        "make test", "ninja", "cmake -B build", "ctest", "python3 app.py",
        "node server.js", "ruby a.rb", "perl a.pl", "php -S localhost:8000",
        "java -jar a.jar", "Rscript a.R", "flask run", "uvicorn app:app",
        "rails server", "rake", "hugo serve", "redis-server", "redis-cli ping",
        "sqlite3 a.db .tables", "psql -c 'select 1'", "mongosh",
        "uv run pytest", "poetry run x", "pnpm run x", "bun test"})
    EXPECT_GE(DecideExample(policy, command).action, Action::kSandbox)
        << command;
}

// An unknown word may be the --dry-run that a rule lets pass; the rule's
// question is not dropped for that.
TEST(ShippedPolicy, UnknownWordsDoNotTakeAQuestionBack) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  for (const char* command :
       {"git push --force origin main $x",
        "git push $x --force origin main",
        "git $x push -f",
        "git push -f \"${a[@]}\"",
        "git push -f $(date)",
        "git push origin +main $x",
        "git push origin --delete main $x",
        "git push --mirror $x",
        "git push --mirror `cat f`",
        "ls | xargs git push --force origin",
        "fd -x git push --force origin main",
        "find . -exec git push -f {} +",
        "for i in $(ls); do git push -f origin $i; done",
        "git $x clean -fdx",
        "git remote set-url origin https://evil.example/x $x",
        "git filter-branch --all $x",
        "dd if=/dev/zero of=/dev/sda $x",
        "dd $x if=/dev/zero of=/dev/sda",
        "dd if=/dev/zero of=/dev/sda \"${a[@]}\"",
        "ls | xargs dd if=/dev/zero of=/dev/sda",
        "iptables -F $x",
        "iptables $x -F",
        "useradd $(cat f)",
        "ls | xargs iptables -F"})
    EXPECT_GE(DecideExample(policy, command).action, Action::kAsk) << command;
  for (const char* command :
       {"git push origin $x",
        "git push -u origin \"$(git branch --show-current)\"",
        "git push --dry-run --force origin main $x",
        "git push --force-with-lease origin topic", "git pull $x",
        "ifconfig $(cat f)", "ls | xargs ifconfig", "iptables -L $x",
        "find . -name $x", "find \"$d\" -type f -mtime +7 -exec rm {} \\;",
        "dd if=a of=b bs=$n", "git clean -n $x", "ip addr show $x",
        "for b in $(cat f); do git log $b; done", "ls | xargs git add"})
    EXPECT_LE(DecideExample(policy, command).action, Action::kSandbox)
        << command;
}

// The indexes that vendors and registries keep beside the usual ones, and what
// only looks like one of them.
TEST(ShippedPolicy, AKnownSecondIndexIsNoQuestionAndALookAlikeIs) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  for (const char* command :
       {"pip install torch --index-url https://download.pytorch.org/whl/cu121",
        "pip install --extra-index-url=https://download.pytorch.org/whl/cpu x",
        "pip3 install -i https://pypi.nvidia.com x",
        "python3 -m pip install --extra-index-url https://pypi.nvidia.com x",
        "pip install -f https://data.pyg.org/whl/torch-2.3.0+cu121.html x",
        "pip install -f "
        "https://storage.googleapis.com/jax-releases/jax_cuda_releases.html x",
        "uv pip install --index-url https://download.pytorch.org/whl/cpu x",
        "uv add torch --index https://download.pytorch.org/whl/cpu",
        "uv add torch --index torch=https://download.pytorch.org/whl/cpu",
        "npm install --registry https://npm.jsr.io @jsr/std__path",
        "npm i --registry=https://npm.pkg.github.com/ @o/x",
        "pnpm add --registry https://npm.jsr.io @jsr/std__path",
        "yarn add @o/x --registry https://npm.pkg.github.com"})
    EXPECT_EQ(DecideExample(policy, command).action, Action::kSandbox)
        << command;
  for (const char* command :
       {"pip install --index-url http://download.pytorch.org/whl x",
        "pip install --index-url https://download.pytorch.org:8443/whl x",
        "pip install --index-url https://download-pytorch.org/whl x",
        "pip install --index-url https://downloadxpytorch.org/whl x",
        "pip install --index-url https://download.pytorch.org.example.org/w x",
        "pip install --index-url https://download.pytorch.org@example.org/w x",
        "pip install --index-url https://download.pytorch.org./whl x",
        "pip install --index-url 'https://download.pytorch.org/whl?x=1' y",
        "pip install --index-url https://download.pytorch.org/whl/../x y",
        "pip install --index-url https://download.pytorch.org/whl/%2e%2e/x y",
        "pip install --index-url https://download.pytorch.org/whlx y",
        "pip install -i https://storage.googleapis.com/example/simple x",
        "pip install -i https://pypi.nvidia.com "
        "--extra-index-url https://example.org x",
        "pip install --index-url https://u:p@pypi.nvidia.com x",
        "pip install --index-url https://pypi.nvidia.com git+https://a.org/x",
        "pip install --proxy http://example.org -i https://pypi.nvidia.com x",
        "pip install -i https://pypi.nvidia.com --trusted-host a.org x",
        "pip install https://pypi.nvidia.com/x.whl",
        "uv add x --index torch=https://example.org/whl",
        "npm install --registry https://npm.pkg.github.com.example.org x",
        "npm install --registry http://npm.jsr.io x",
        "npm install https://npm.pkg.github.com/x.tgz",
        // To npm these take no value, so that the address is what it installs.
        "npm install -f https://npm.pkg.github.com/x.tgz",
        "npm install --find-links https://npm.pkg.github.com/x.tgz",
        "yarn add -f https://npm.jsr.io/x.tgz"})
    EXPECT_EQ(DecideExample(policy, command).action, Action::kAsk) << command;
}

TEST(ShippedPolicy, AHomeBelowSrvIsNotTheSystems) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  const auto decide = [&](const std::string& home, const char* command) {
    Request request = ExampleRequest();
    request.home = home;
    request.cwd = request.workspace = home + "/project";
    request.command = command;
    parser::Context context;
    context.cwd = request.cwd;
    context.home = home;
    return Evaluate(policy, parser::Analyze(command, context), request, {})
        .action;
  };
  for (const char* home : {"/srv/people/dev", "/opt/dev", "/var/lib/ci"}) {
    for (const char* command : {"touch ~/x", "cp -r . ../c", "mv ~/x ~/y"})
      EXPECT_EQ(decide(home, command), Action::kSandbox) << home << command;
    for (const char* command :
         {"touch /srv/x", "cp a /etc/x", "mv /opt/a /opt/b", "rm ~/x",
          "rm -rf ~", "echo x >> ~/.bashrc", "mv ~ /tmp/x"})
      EXPECT_GE(decide(home, command), Action::kAsk) << home << command;
  }
  // Homes that services have.
  for (const char* home : {"", "/usr/sbin", "/etc", "/bin"})
    EXPECT_GE(decide(home, "touch /etc/x"), Action::kAsk) << home;
}

// What bounds the loosest parts of the policy: one step further and it asks.
TEST(ShippedPolicy, ContainsOnlyWhatTheSandboxBounds) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  const struct {
    const char* command;
    Action least, most;
  } kCases[] = {
      {"rm -rf \"$TMPDIR/x\"", Action::kSandbox, Action::kSandbox},
      {"rm -rf \"$TMPDIR\"", Action::kAsk, Action::kDeny},
      {"rm -rf / \"$TMPDIR/x\"", Action::kDeny, Action::kDeny},
      {"rm -rf \"$TMPDIR/../x\"", Action::kAsk, Action::kDeny},
      {"TMPDIR=/srv rm -rf $TMPDIR/x", Action::kAsk, Action::kDeny},
      {"rm -rf \"${OUT:-build}\"", Action::kSandbox, Action::kSandbox},
      {"rm -rf \"${OUT:-/etc}\"", Action::kDeny, Action::kDeny},
      {"rm -rf \"$OUT\"/*", Action::kAsk, Action::kDeny},
      {"d=$(mktemp -d) && rm -rf \"$d\"", Action::kSandbox, Action::kSandbox},
      {"docker compose down", Action::kSandbox, Action::kSandbox},
      {"docker compose down -v", Action::kAsk, Action::kDeny},
      {"docker run --rm alpine ls", Action::kSandbox, Action::kSandbox},
      {"docker run --rm -v /etc:/e alpine ls", Action::kAsk, Action::kDeny},
      {"gh pr create --title x --body y", Action::kSandbox, Action::kSandbox},
      {"gh repo delete a/b", Action::kAsk, Action::kDeny},
      {"sudo ls /srv", Action::kSandbox, Action::kSandbox},
      {"sudo -i", Action::kAsk, Action::kDeny},
      {"sudo bash", Action::kAsk, Action::kDeny},
      {"sudo find . -iname x", Action::kSandbox, Action::kSandbox},
      {"sudo rm -rf /", Action::kDeny, Action::kDeny},
      {"git push origin main", Action::kSandbox, Action::kSandbox},
      {"git push --force origin main", Action::kAsk, Action::kDeny},
      {"apt-get install -y jq", Action::kSandbox, Action::kSandbox},
      {"apt-get remove -y jq", Action::kAsk, Action::kDeny},
      {"systemctl start nginx", Action::kSandbox, Action::kSandbox},
      {"systemctl stop nginx", Action::kAsk, Action::kDeny},
      {"echo 'open quote", Action::kSandbox, Action::kSandbox},
      {"rm -r 'open quote", Action::kAsk, Action::kDeny},
      {"echo 'while true; do work & done'", Action::kAllow, Action::kAllow},
      {"while true; do work & done", Action::kDeny, Action::kDeny},
      {"test -n \"$(id)\"", Action::kSandbox, Action::kSandbox},
      {"env -S \"sh -c id\"", Action::kSandbox, Action::kSandbox},
  };
  for (const auto& one : kCases) {
    const Action action = DecideExample(policy, one.command).action;
    EXPECT_GE(action, one.least) << one.command;
    EXPECT_LE(action, one.most) << one.command;
  }
}

}  // namespace
}  // namespace gate::engine
