// The manual page and the completions say what the program takes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/machine.h"

namespace gate::app {
namespace {

using test::Done;
using test::Machine;

std::string ReadAll(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Every --option that stands in `text`.
std::set<std::string> LongOptions(const std::string& text) {
  static const std::regex kOption("(^|[^-a-z])(--[a-z][a-z-]*)");
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), kOption), end;
       at != end; ++at)
    found.insert((*at)[2]);
  found.erase("--help");
  return found;
}

// The commands that `gate --help` lists.
std::vector<std::string> Commands(const Machine& machine) {
  Done help = machine.Gate({"--help"});
  help.out.resize(help.out.find("\nexamples:\n") + 1);
  static const std::regex kRow("\n  ([a-z]+) +[^\n]+");
  std::vector<std::string> names;
  for (std::sregex_iterator at(help.out.begin(), help.out.end(), kRow), end;
       at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

// What stands for an option's help: that of `words`.
std::string Help(const Machine& machine, std::vector<std::string> words) {
  words.push_back("--help");
  return machine.Gate(words).out;
}

// What is offered behind `gate WORDS`.
std::set<std::string> Offered(const Machine& machine,
                              const std::vector<std::string>& words) {
  std::string line =
      "source '" GATE_SOURCE_DIR "/docs/completions.bash'; COMP_WORDS=(gate";
  for (const std::string& word : words) line += " " + word;
  line += " ''); COMP_CWORD=" + std::to_string(words.size() + 1) +
          "; _gate; printf '%s\\n' \"${COMPREPLY[@]}\"";
  std::istringstream out(machine.Run({"/bin/bash", "-c", line}).out);
  std::set<std::string> offered;
  for (std::string word; std::getline(out, word);) offered.insert(word);
  return offered;
}

const std::vector<std::vector<std::string>> kBelow = {
    {"rules", "list"},   {"rules", "show"},     {"rules", "lint"},
    {"rules", "test"},   {"rules", "fmt"},      {"rules", "diff"},
    {"rules", "import"}, {"rules", "suggest"},  {"audit", "list"},
    {"audit", "net"},    {"audit", "show"},     {"audit", "stats"},
    {"audit", "verify"}, {"approvals", "list"}, {"approvals", "revoke"},
};

// Everything that has a help of its own, by its words.
std::vector<std::vector<std::string>> EveryCommand(const Machine& machine) {
  auto all = kBelow;
  all.emplace_back();
  for (const std::string& command : Commands(machine)) all.push_back({command});
  return all;
}

TEST(Manual, HelpHasOneLayout) {
  const Machine machine;
  for (const auto& words : EveryCommand(machine)) {
    std::string name = "gate";
    for (const std::string& word : words) name += " " + word;
    const std::string help = Help(machine, words);
    EXPECT_TRUE(help.starts_with("usage: " + name + " ")) << help;
    EXPECT_NE(help.find("\nexamples:\n  gate "), std::string::npos) << help;
    EXPECT_TRUE(help.ends_with("\n")) << help;
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_FALSE(line.ends_with(" ")) << name << ": " << line;
      EXPECT_LE(line.size(), 125u) << name << ": " << line;
    }
  }
}

// An example is understood up to the place where it would begin to act: its
// command has the option, which the help of that command therefore lists.
TEST(Manual, ExamplesUseWhatTheirCommandTakes) {
  const Machine machine;
  for (const auto& words : EveryCommand(machine)) {
    const std::string help = Help(machine, words);
    const size_t at = help.find("\nexamples:\n");
    ASSERT_NE(at, std::string::npos);
    const std::set<std::string> known = LongOptions(help.substr(0, at));
    std::istringstream lines(help.substr(at + 11));
    for (std::string line; std::getline(lines, line);) {
      std::string example = line.substr(0, line.find("  # "));
      // What is in quotes, or behind `--`, is another program's.
      example = std::regex_replace(example, std::regex("'[^']*'"), "X");
      example = example.substr(0, example.find(" -- "));
      EXPECT_TRUE(example.starts_with("  gate ")) << line;
      // A command of commands shows examples of those.
      if (words.empty() || words[0] == "rules" || words[0] == "audit" ||
          words[0] == "approvals")
        if (words.size() < 2) continue;
      for (const std::string& option : LongOptions(example))
        EXPECT_TRUE(known.contains(option)) << line;
    }
  }
}

TEST(Manual, CompletionsOfferEveryCommand) {
  const Machine machine;
  const auto commands = Commands(machine);
  EXPECT_GE(commands.size(), 20u);
  std::set<std::string> offered = Offered(machine, {});
  for (const std::string& command : commands)
    EXPECT_EQ(offered.erase(command), 1u) << command;
  for (const std::string& rest : offered)
    EXPECT_TRUE(rest.starts_with("--")) << rest;
}

TEST(Manual, CompletionsOfferTheOptionsThatHelpNamesAndNoOthers) {
  const Machine machine;
  auto all = kBelow;
  for (const std::string& command : Commands(machine))
    if (command != "rules" && command != "audit" && command != "approvals" &&
        command != "hook")
      all.push_back({command});
  for (const auto& words : all) {
    const std::string help = Help(machine, words);
    ASSERT_FALSE(help.empty()) << words[0];
    std::string offered;
    for (const std::string& word : Offered(machine, words))
      offered += word + "\n";
    EXPECT_EQ(LongOptions(offered), LongOptions(help))
        << testing::PrintToString(words);
  }
}

TEST(Manual, CompletionsOfferAnOptionsValues) {
  using Words = std::vector<std::string>;
  const Machine machine;
  const std::pair<Words, std::set<std::string>> cases[] = {
      {{"run", "--network"}, {"none", "loopback", "domains", "open"}},
      {{"run", "--json", "--network"}, {"none", "loopback", "domains", "open"}},
      {{"sandbox", "--network"}, {"none", "loopback"}},
      {{"check", "--why-not"}, {"allow", "sandbox", "ask", "deny"}},
      {{"explain", "--why-not"}, {"allow", "sandbox", "ask", "deny"}},
      {{"rules", "list", "--action"}, {"allow", "sandbox", "ask", "deny"}},
      {{"rules", "list", "--layer"},
       {"builtin", "user", "system", "project", "session"}},
      {{"rules", "import", "codex", "--allow-as"}, {"allow", "sandbox"}},
      {{"audit", "stats", "--by"},
       {"action", "rule", "agent", "backend", "mode", "status"}},
      {{"audit", "list", "--mode"}, {"hook", "check", "run", "sandbox"}},
      {{"install", "codex", "--mode"}, {"contain", "intent"}},
  };
  for (const auto& [words, values] : cases)
    EXPECT_EQ(Offered(machine, words), values) << testing::PrintToString(words);
}

// What is offered behind `gate WORDS`, with the program that was built.
std::set<std::string> OfferedByTheProgram(const Machine& machine,
                                          const std::vector<std::string>& words,
                                          const std::string& last = "") {
  std::string line = "source '" GATE_SOURCE_DIR
                     "/docs/completions.bash'; COMP_WORDS=('" +
                     test::GateBinary() + "'";
  for (const std::string& word : words) line += " '" + word + "'";
  line += " '" + last + "'); COMP_CWORD=" + std::to_string(words.size() + 1) +
          "; _gate; printf '%s\\n' \"${COMPREPLY[@]}\"";
  std::istringstream out(machine.Run({"/bin/bash", "-c", line}).out);
  std::set<std::string> offered;
  for (std::string word; std::getline(out, word);) offered.insert(word);
  return offered;
}

TEST(Manual, CompletionsOfferIdsOfWhatWaitsOrIsKept) {
  using Words = std::vector<std::string>;
  const Machine machine;
  const Words state = {"--state-dir", machine.state()};
  const auto with = [&state](const Words& words) {
    Words all = state;
    all.insert(all.end(), words.begin(), words.end());
    return all;
  };
  // Nothing waits, nothing is recorded: nothing is made up.
  EXPECT_FALSE(machine.Exists(machine.state() + "/audit.db"));
  for (const std::string& word :
       OfferedByTheProgram(machine, with({"approve"})))
    EXPECT_TRUE(word.empty() || word.starts_with("--")) << word;
  const Done asked =
      machine.Gate({"run", "-c", "git push --force origin main"});
  const size_t at = asked.err.find("gate approve ");
  ASSERT_NE(at, std::string::npos) << asked.err;
  const std::string id = asked.err.substr(at + 13, 36);
  const Words takers[] = {{"approve"},
                          {"approve", "--session"},
                          {"approve", "--sandbox"},
                          {"audit", "show"}};
  for (const Words& words : takers) {
    const auto offered = OfferedByTheProgram(machine, with(words));
    EXPECT_TRUE(offered.contains(id)) << testing::PrintToString(words);
    EXPECT_EQ(OfferedByTheProgram(machine, with(words), id.substr(0, 20)),
              std::set<std::string>{id})
        << testing::PrintToString(words);
  }
  // An option, or a question's id where a preview's is wanted: none.
  const Words others[] = {{"pending", "show"},
                          {"pending", "commit"},
                          {"pending", "discard"},
                          {"approvals", "revoke"},
                          {"rules", "show"},
                          {"pending"},
                          {"approvals"},
                          {"pause"},
                          {"check"},
                          {"trust"}};
  for (const Words& words : others)
    EXPECT_FALSE(OfferedByTheProgram(machine, with(words)).contains(id))
        << testing::PrintToString(words);
  for (const std::string& word :
       OfferedByTheProgram(machine, with({"approve"}), "--"))
    EXPECT_TRUE(word.starts_with("--")) << word;
  EXPECT_TRUE(OfferedByTheProgram(machine, with({"rules", "show"}))
                  .contains("core.read"));
  // A program that is not there, or that fails, offers nothing more.
  EXPECT_FALSE(
      Offered(machine, {"--state-dir", "/not/there", "approve"}).contains(id));
}

TEST(Manual, CompletionsOfferTheCommandsBelowACommand) {
  const Machine machine;
  for (const auto& words : kBelow) {
    EXPECT_TRUE(Offered(machine, {words[0]}).contains(words[1]))
        << words[0] << " " << words[1];
    // They are all: the usage names each.
    EXPECT_NE(Help(machine, {words[0]}).find(words[1]), std::string::npos)
        << words[0] << " " << words[1];
  }
}

TEST(Manual, ThePageNamesEveryCommandAndOption) {
  const Machine machine;
  std::string page = ReadAll(GATE_SOURCE_DIR "/docs/man/gate.1");
  for (size_t at = 0; (at = page.find("\\-", at)) != std::string::npos; ++at)
    page.replace(at, 2, "-");
  const std::set<std::string> said = LongOptions(page);
  std::set<std::string> known = LongOptions(machine.Gate({"--help"}).out);
  known.insert("--verbose");
  const auto add = [&](const std::vector<std::string>& words) {
    for (const std::string& option : LongOptions(Help(machine, words)))
      known.insert(option);
  };
  for (const std::string& command : Commands(machine)) {
    EXPECT_TRUE(std::regex_search(
                    page, std::regex("\n\\.(BR?|BI|RB|BR \"?[a-z\", ]*) ?\"?" +
                                     command + "\\b")) ||
                page.find(", " + command + " \"") != std::string::npos ||
                page.find("\", " + command) != std::string::npos ||
                page.find(", \" " + command) != std::string::npos ||
                page.find(", " + command) != std::string::npos)
        << command;
    add({command});
  }
  for (const auto& words : kBelow) {
    add(words);
    EXPECT_NE(page.find(words[1]), std::string::npos) << words[1];
  }
  for (const std::string& option : known)
    EXPECT_TRUE(said.contains(option)) << "not in the page: " << option;
  for (const std::string& option : said)
    EXPECT_TRUE(known.contains(option)) << "only in the page: " << option;
}

// zsh's and fish's ask bash's, from where they are or are installed.
TEST(Manual, OtherShellsOfferTheSame) {
  const std::string docs = GATE_SOURCE_DIR "/docs/";
  const struct {
    const char* shell;
    const char* file;
    const char* installed;
    std::string line;  // after FILE was read
  } shells[] = {
      {"zsh", "completions.zsh", "zsh/site-functions/_gate",
       "compadd() { shift; print -rl -- \"$@\" }; words=(gate audit show l); "
       "CURRENT=4; source \"$FILE\"; words=(gate rules ''); CURRENT=3; _gate"},
      {"fish", "completions.fish", "fish/vendor_completions.d/gate.fish",
       "source $FILE; cd /; complete -C 'gate audit show l'; "
       "complete -C 'gate rules '"},
  };
  for (const auto& c : shells) {
    const Machine machine;
    if (machine.Run({"/bin/sh", "-c", std::string("command -v ") + c.shell})
            .exit_code != 0)
      GATE_SKIP_WITHOUT(c.shell) << "no " << c.shell;
    const std::string share = machine.project() + "/share/";
    const std::string moved = share + c.installed;
    const std::string bash = share + "bash-completion/completions/gate";
    ASSERT_EQ(machine
                  .Run({"/bin/sh", "-c",
                        "mkdir -p \"${1%/*}\" \"${3%/*}\" && cp \"$0\" \"$1\" "
                        "&& cp \"$2\" \"$3\"",
                        docs + c.file, moved, docs + "completions.bash", bash})
                  .exit_code,
              0);
    for (const std::string& file : {docs + c.file, moved}) {
      const Done done =
          machine.Run({"/usr/bin/env", "FILE=" + file, c.shell, "-c", c.line});
      std::istringstream out(done.out);
      std::set<std::string> offered;
      for (std::string word; std::getline(out, word);) offered.insert(word);
      std::set<std::string> expected = Offered(machine, {"rules"});
      expected.insert("last");
      EXPECT_EQ(offered, expected) << file << done.err;
    }
  }
}

TEST(Manual, AQuestionEndedByAKeyIsRecorded) {
  const Machine machine;
  const auto [code, text] =
      machine.OnTerminal({"run", "-c", "git push --force origin main"}, "\x03");
  // Root's terminal is a person's whoever runs this (process.h).
  if (geteuid() != 0 && text.find("[N]o") == std::string::npos)
    GATE_SKIP_WITHOUT("person") << "an agent runs this test: " << text;
  // A process that is the first of its namespace is not ended by a signal.
  EXPECT_TRUE(code == 130 || code == 126) << code << text;
  const Done list = machine.Gate({"audit", "list", "--json"});
  EXPECT_NE(list.out.find("git push --force origin main"), std::string::npos)
      << list.out << list.err;
  EXPECT_EQ(machine.Gate({"audit", "verify"}).exit_code, 0);
}

}  // namespace
}  // namespace gate::app
