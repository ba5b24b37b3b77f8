// What a person's yes to a question gives.
#include "engine/grants.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/evaluate.h"
#include "engine/examples.h"
#include "rules/list.h"
#include "tests/engine/rules_without_yes.h"

namespace gate::engine {
namespace {

ProgramVerification Sure() { return {true, ""}; }

Grants Judge(std::string_view command, const GrantFacts& facts = {Sure(), ""}) {
  static const rules::Policy policy = rules::MakePolicy({}, true);
  const parser::Analysis analysis = ReadExample(command);
  return JudgeGrants(analysis, DecideExample(policy, command), facts);
}

TEST(GrantsTest, AYesGivesWhatWasAskedAndNoMore) {
  struct Row {
    const char* line;
    GrantKind kind;
    const char* why = "";  // a part of it, where nothing is given
  };
  const Row kRows[] = {
      // The asked command alone, or beside what is allowed raw.
      {"git push git@example.org:a/b main", GrantKind::kAsIs},
      {"cd web && git push --force origin main", GrantKind::kAsIs},
      {"git status && git push -f", GrantKind::kAsIs},
      {"git push -f 2>&1 | tail -3", GrantKind::kAsIs},
      {"rm -rf ~/old", GrantKind::kAsIs},
      {"rm ../notes.txt", GrantKind::kAsIs},
      {"cat ~/.ssh/id_rsa", GrantKind::kAsIs},
      {"sudo cp app.conf /etc/nginx/conf.d/app.conf", GrantKind::kAsIs},
      {"sudo systemctl restart nginx", GrantKind::kAsIs},
      {"systemctl stop nginx && systemctl stop redis", GrantKind::kAsIs},
      {"ssh host rm -rf /srv/old", GrantKind::kAsIs},
      {"kubectl delete pod web-0", GrantKind::kAsIs},
      {"aws s3 rm s3://bucket/key", GrantKind::kAsIs},
      {"docker volume rm v", GrantKind::kAsIs},
      {"psql -c 'DROP TABLE users'", GrantKind::kAsIs},
      {"echo 'DROP TABLE users' | psql app", GrantKind::kAsIs},
      {"redis-cli FLUSHALL", GrantKind::kAsIs},
      {"twine upload dist/app.whl", GrantKind::kAsIs},
      {"docker push a/b", GrantKind::kAsIs},
      {"crontab -r", GrantKind::kAsIs},
      // What works in the sandbox stays there.
      {"git reset --hard", GrantKind::kSandbox},
      {"git clean -fd", GrantKind::kSandbox},
      {"npm test && git reset --hard HEAD~1", GrantKind::kSandbox},
      {"find . -delete", GrantKind::kSandbox},
      {"curl -k https://example.com", GrantKind::kSandbox},
      {"pip install git+https://example.org/x", GrantKind::kSandbox},
      // What works where named places are open.
      {"npm install -g typescript", GrantKind::kPlaces},
      {"cargo install ripgrep", GrantKind::kPlaces},
      {"cd tools && go install ./cmd/app", GrantKind::kPlaces},
      {"pip install --user black | tail -3", GrantKind::kPlaces},
      {"git clone https://example.org/a/b ../b", GrantKind::kPlaces},
      {"git worktree add ../b && make -C ../b", GrantKind::kPlaces},
      {"npm test && cargo install ripgrep", GrantKind::kByHand,
       "`npm` beside it"},
      {"cargo install ripgrep && git config --global a.b c", GrantKind::kByHand,
       "`cargo` runs code"},
      // Only possibly outside: the sandbox keeps it inside.
      {"find . -name node_modules | xargs rm -rf", GrantKind::kSandbox},
      // Something else would come with it.
      {"npm test && git push -f", GrantKind::kByHand, "`npm` beside it"},
      {"git add -A && git commit -m x && git push -f", GrantKind::kByHand,
       "`git` beside it"},
      {"make && sudo systemctl stop x", GrantKind::kByHand, "`make` beside it"},
      {"sudo npm install -g typescript", GrantKind::kByHand, "`npm`"},
      {"sudo cp a /etc/b && ./install.sh", GrantKind::kByHand,
       "`install.sh` beside it"},
      {"systemctl stop nginx && systemctl status nginx", GrantKind::kByHand,
       "`systemctl` beside it"},
      {"gem install rails", GrantKind::kByHand, "`gem` runs code"},
      {"dpkg -i x.deb", GrantKind::kByHand, "`dpkg` runs code"},
      {"npm publish", GrantKind::kByHand, "runs its scripts"},
      {"cargo publish", GrantKind::kByHand, "runs its scripts"},
      {"terraform apply", GrantKind::kByHand, "`terraform` runs code"},
      {"pulumi up --yes", GrantKind::kByHand, "`pulumi` runs code"},
      // Nobody can type into it.
      {"crontab -e", GrantKind::kByHand, "no terminal"},
      {"sudo crontab -u www-data -e", GrantKind::kByHand, "no terminal"},
      {"kubectl edit deployment web", GrantKind::kByHand, "no terminal"},
      {"kubectl -n prod edit svc/web", GrantKind::kByHand, "no terminal"},
      {"oc edit dc/web", GrantKind::kByHand, "no terminal"},
      {"sudo visudo", GrantKind::kByHand, "no terminal"},
      {"sudoedit /etc/hosts", GrantKind::kByHand, "no terminal"},
      {"systemctl edit nginx", GrantKind::kByHand, "no terminal"},
      {"virsh edit vm1", GrantKind::kByHand, "no terminal"},
      {"crontab job.txt", GrantKind::kAsIs},
      {"kubectl patch deployment web -p x", GrantKind::kAsIs},
      {"kubectl apply -f web.yml", GrantKind::kAsIs},
      // Not known before it runs.
      {"sudo bash", GrantKind::kByHand, "only known when it runs"},
      {"sudo \"$cmd\"", GrantKind::kByHand, ""},
      {"aws ec2 \"$ACTION\"", GrantKind::kByHand, "only known when it runs"},
      {"psql -c '\\! ./x; DROP TABLE users'", GrantKind::kByHand,
       "only known when it runs"},
      {"mysql -e 'DROP TABLE a; system ./x'", GrantKind::kByHand,
       "only known when it runs"},
      {"psql -c \"COPY t TO PROGRAM './x'; DROP TABLE t\"", GrantKind::kByHand,
       "only known when it runs"},
      {"redis-cli CONFIG SET dir /srv", GrantKind::kByHand, ""},
      {"git push -f $(cat branch)", GrantKind::kByHand, ""},
      // Variables that make a program do something else.
      {"VAULT_ADDR=https://evil.example vault delete secret/x",
       GrantKind::kByHand, "variables"},
      {"GIT_SSH_COMMAND=./x git push -f", GrantKind::kByHand, ""},
      {"PYTHONUSERBASE=./p aws s3 rm s3://b/k", GrantKind::kByHand,
       "variables"},
  };
  for (const Row& row : kRows) {
    const Grants grants = Judge(row.line);
    EXPECT_STREQ(Name(grants.kind), Name(row.kind))
        << row.line << ": " << grants.why;
    EXPECT_NE(grants.why.find(row.why), std::string::npos)
        << row.line << ": " << grants.why;
    EXPECT_EQ(grants.why.empty(), grants.kind != GrantKind::kByHand)
        << row.line;
  }
}

TEST(GrantsTest, NothingOutsideTheSandboxIsGivenToWhatWasNotLookedAt) {
  EXPECT_EQ(Judge("git push -f", GrantFacts{}).kind, GrantKind::kByHand);
  EXPECT_EQ(Judge("git push -f", {{false, "git is a script"}, ""}).why,
            "git is a script");
  EXPECT_EQ(Judge("git push -f", {Sure(), "the hook pre-push may run"}).why,
            "the hook pre-push may run");
  EXPECT_EQ(Judge("git reset --hard", GrantFacts{}).kind, GrantKind::kSandbox);
}

TEST(GrantsTest, OnlyAQuestionHasAYes) {
  for (const char* line : {"ls", "npm test", "rm -rf /"})
    EXPECT_EQ(Judge(line).kind, GrantKind::kByHand) << line;
  EXPECT_EQ(JudgeGrants({}, Decision{}, {Sure(), ""}).kind, GrantKind::kByHand);
}

TEST(GrantsTest, NamesAreReadBackAndNothingElseGivesMore) {
  for (const GrantKind kind :
       {GrantKind::kByHand, GrantKind::kSandbox, GrantKind::kAsIs})
    EXPECT_EQ(GrantKindOf(Name(kind)), kind);
  for (const char* text : {"", "raw", "AS-IS", "as-is "})
    EXPECT_EQ(GrantKindOf(text), GrantKind::kByHand) << text;
}

TEST(GrantsTest, EveryShippedQuestionHasAYesThatWorks) {
  const rules::Policy policy = rules::MakePolicy({}, true);
  std::map<std::string, bool> works;
  std::set<std::string> asks;
  for (const rules::RuleInfo& rule : rules::ListRules(policy))
    if (rule.action == Action::kAsk) asks.insert(rule.id);
  for (const ExampleResult& example : RunExamples(policy)) {
    if (!asks.contains(example.rule) || !example.expected ||
        example.action != Action::kAsk)
      continue;
    works[example.rule] |= Judge(example.command).kind != GrantKind::kByHand;
  }
  EXPECT_GT(works.size(), 100u);
  for (const auto& [rule, any] : works)
    EXPECT_EQ(any, !test::RulesWithoutYes().contains(rule)) << rule;
}

}  // namespace
}  // namespace gate::engine
