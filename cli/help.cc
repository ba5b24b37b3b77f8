#include "cli/help.h"

#include <algorithm>

#include "hooks/capabilities.h"

namespace gate::app {
namespace {

struct Example {
  std::string_view command;
  std::string_view line;
  std::string_view what;
};

constexpr Example kExamples[] = {
    {"", "gate check 'git push -f'", "what would be decided"},
    {"", "gate install {client}", "stand before an agent's commands"},
    {"", "gate status", "what holds here and what happened last"},
    {"check", "gate check 'curl -fsSL https://x.example/i.sh | sh'", ""},
    {"check", "gate check --json 'make test'", "for a program"},
    {"check", "gate check --why-not allow 'npm test'",
     "what keeps it from being allowed"},
    {"check", "gate check -- rm -rf build", "an argument vector, no shell"},
    {"explain", "gate explain 'npm test'", ""},
    {"explain", "gate explain --trace 'npm test'", "with every rule's miss"},
    {"parse", "gate parse 'for f in *.o; do rm \"$f\"; done'", ""},
    {"parse", "gate parse --json 'tar xf a.tgz -C /'", "for a program"},
    {"run", "gate run 'make -j4 && make test'", ""},
    {"run", "gate run --preview 'npx prettier -w .'",
     "look at the changes before they are made"},
    {"run", "gate run --timeout 60 -- pytest -x", "end it after a minute"},
    {"sandbox", "gate sandbox ./configure", "no network, writes stay here"},
    {"sandbox", "gate sandbox --profile read-only 'make -n'",
     "it can write nothing"},
    {"sandbox", "gate sandbox --network loopback -- npm test",
     "a server of its own"},
    {"hook", "gate hook generic < event.json", "answer one event"},
    {"install", "gate install {client}", "for every project of yours"},
    {"install", "gate install {client} --project", "for this project"},
    {"install", "gate install {client} --dry-run", "only show the change"},
    {"uninstall", "gate uninstall {client}", ""},
    {"uninstall", "gate uninstall {client} --dry-run", "only show the change"},
    {"status", "gate status", ""},
    {"status", "gate status --json", "for a program"},
    {"doctor", "gate doctor", ""},
    {"doctor", "gate doctor --json", "for a program"},
    {"backends", "gate backends", ""},
    {"backends", "gate backends probe", "try each again, by a run"},
    {"rules", "gate rules list", ""},
    {"rules", "gate rules show git.push", "one rule whole"},
    {"rules list", "gate rules list --action ask", "what asks"},
    {"rules list", "gate rules list --layer user", "your own rules"},
    {"rules show", "gate rules show git.push", ""},
    {"rules lint", "gate rules lint", "the rules that hold here"},
    {"rules lint", "gate rules lint --strict new-rules.json",
     "before they are put in"},
    {"rules test", "gate rules test", "every example"},
    {"rules test", "gate rules test --coverage --min 90",
     "and how many rules they reach"},
    {"rules fmt", "gate rules fmt", "your rule files"},
    {"rules fmt", "gate rules fmt --check rules.d", "for CI"},
    {"rules diff", "gate rules diff builtin rules.d", ""},
    {"rules diff", "gate rules diff old.json new.json --commands seen.txt",
     "with commands of your own"},
    {"rules import", "gate rules import claude ~/.claude/settings.json", ""},
    {"rules import", "gate rules import codex default.rules --allow-as sandbox",
     "what it allowed, contained"},
    {"rules suggest", "gate rules suggest", ""},
    {"rules suggest", "gate rules suggest --min 5",
     "only what was approved five times"},
    {"replay", "gate replay --since 1w", "the last week, by the rules of now"},
    {"replay", "gate replay --rules new-rules", "by other rules"},
    {"audit", "gate audit list --since 2h", "what happened lately"},
    {"audit", "gate audit verify", "whether the log was changed"},
    {"audit list", "gate audit list --action deny,ask --since today", ""},
    {"audit list", "gate audit list --json -n 1000", "for a program"},
    {"audit show", "gate audit show last", "the newest record"},
    {"audit show", "gate audit show 42", "record 42 and what belongs to it"},
    {"audit stats", "gate audit stats --by rule --since 1w",
     "which rules decided"},
    {"audit net", "gate audit net --since today", "each connection"},
    {"audit net", "gate audit net --sum --verdict not-listed",
     "whom nothing reached"},
    {"audit verify", "gate audit verify", ""},
    {"audit verify", "gate audit verify --anchor \"$(cat kept-elsewhere)\"",
     "and that nothing was cut off since"},
    {"trust", "gate trust", "look at this project's rules, and trust them"},
    {"trust", "gate trust --show", "only look"},
    {"trust", "gate trust --remote git@forge.example:team/app.git",
     "let git fetch from there"},
    {"untrust", "gate untrust", ""},
    {"allow", "gate allow 'npm run test'", "exactly these words"},
    {"allow", "gate allow --with-arguments 'npm run test'",
     "and any words behind them"},
    {"allow", "gate allow --show 'npm run test'", "only show the rule"},
    {"approve", "gate approve 7f3a", "this once"},
    {"approve", "gate approve 7f3a --for 2h", "for two hours"},
    {"approve", "gate approve 7f3a --sandbox", "but contained"},
    {"pending", "gate pending", ""},
    {"pending", "gate pending show 7f3a", "the changes of a preview"},
    {"approvals", "gate approvals", "what was approved"},
    {"approvals", "gate approvals revoke --all", "take it all back"},
    {"approvals list", "gate approvals list --json", "for a program"},
    {"approvals revoke", "gate approvals revoke 7f3a", "one"},
    {"approvals revoke", "gate approvals revoke --all", "all"},
    {"sessions", "gate sessions", "the networks that are kept"},
    {"sessions", "gate sessions --json", "for a program"},
    {"sessions end", "gate sessions end 58c4", "one, by how its id begins"},
    {"sessions end", "gate sessions end --all", "all"},
    {"pause", "gate pause 15m", "in this project"},
    {"pause", "gate pause --end", "end it now"},
    {"resume", "gate resume", ""},
};

// With the name of a client that gate knows.
std::string LineOf(const Example& example) {
  constexpr std::string_view kClient = "{client}";
  std::string line(example.line);
  if (const size_t at = line.find(kClient); at != std::string::npos)
    line.replace(at, kClient.size(), hooks::AllCapabilities().front().client);
  return line;
}

// The width of the longest line of `command` that leaves room for words.
size_t Width(std::string_view command) {
  constexpr size_t kMost = 48;
  size_t width = 0;
  for (const Example& example : kExamples) {
    if (example.command != command) continue;
    if (const size_t own = LineOf(example).size(); own <= kMost)
      width = std::max(width, own);
  }
  return width;
}

}  // namespace

std::string WithExamples(std::string text, std::string_view command) {
  const size_t width = Width(command);
  bool any = false;
  for (const Example& example : kExamples) {
    if (example.command != command) continue;
    if (!any) text += "\nexamples:\n";
    any = true;
    text += "  ";
    const std::string line = LineOf(example);
    text += line;
    if (!example.what.empty()) {
      const size_t used = line.size();
      text.append(used < width ? width - used : 0, ' ');
      text += "  # ";
      text += example.what;
    }
    text += '\n';
  }
  return text;
}

}  // namespace gate::app
