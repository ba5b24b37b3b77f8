#include "engine/grants.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/ascii.h"
#include "parser/programs.h"

namespace gate::engine {
namespace {

using parser::Analysis;
using parser::EffectKind;
using parser::Invocation;

constexpr std::array<const char*, 4> kGrantNames = {"by-hand", "sandbox",
                                                    "places", "as-is"};

constexpr const char* kAskedAlone =
    "send the command that needs approval alone";

std::string Called(const Invocation& invocation) {
  return invocation.program.empty() ? "a program"
                                    : "`" + invocation.program + "`";
}

Grants ByHand(std::string why, std::string instead = "") {
  return {GrantKind::kByHand, std::move(why), std::move(instead)};
}

bool RunsFiles(const Analysis& analysis, uint32_t invocation) {
  return std::ranges::any_of(analysis.effects,
                             [&](const parser::Effect& effect) {
                               return effect.invocation == invocation &&
                                      effect.kind == EffectKind::kExecuteFile;
                             });
}

// Why the command may run code of the project, or code that it downloads; empty
// if it does not. What a rule asks about by its name is known to do no more
// than the rule says.
std::string RunsCode(const Analysis& analysis, uint32_t number, bool asked) {
  const Invocation& invocation = analysis.invocations[number];
  const std::string runs =
      Called(invocation) +
      " runs code of the project, or code that it downloads";
  if (RunsFiles(analysis, number)) return runs;
  if (invocation.builtin) return "";
  if (!parser::IsDescribed(invocation.program))
    return asked ? ""
                 : "gate does not know what " + Called(invocation) + " runs";
  const parser::OptionsRead read =
      invocation.read
          ? *invocation.read
          : parser::OptionsOf(parser::ReadArguments(invocation.argv));
  const bool code = read.acts.described &&
                    (read.acts.possible & parser::Bit(parser::Act::kCode)) != 0;
  return code ? runs : "";
}

bool Starts(const Invocation& outer, const Invocation& inner) {
  return outer.span.begin <= inner.span.begin &&
         inner.span.end <= outer.span.end &&
         std::ranges::any_of(inner.via, [&](const parser::Via& via) {
           return parser::StarterOf(via) == outer.program;
         });
}

// What a command that is asked about starts (`ssh host rm x`), and what starts
// it (`sudo systemctl stop x`), are a part of it.
bool IsPartOfAsked(const Analysis& analysis, const Decision& decision,
                   const Invocation& invocation) {
  for (uint32_t i = 0; i < analysis.invocations.size(); ++i) {
    const Invocation& asked = analysis.invocations[i];
    if (decision.per_invocation[i] == Action::kAsk && !asked.guessed &&
        (Starts(asked, invocation) || Starts(invocation, asked)))
      return true;
  }
  return false;
}

// Runs on the machine that ssh(1) reaches, with nothing of this one.
bool RunsOverSsh(const Invocation& invocation) {
  return std::ranges::any_of(invocation.via, [](const parser::Via& via) {
    return parser::StarterOf(via) == "ssh";
  });
}

// Code that only a database runs is what the person is asked about, in full,
// but for what its client does itself.
bool IsDatabaseCode(const Analysis& analysis, const Decision& decision,
                    const parser::Unknown& unknown) {
  constexpr auto kLanguages =
      std::to_array<std::string_view>({"sql", "cql", "redis"});
  // Words by which a client or its server runs or reads something else
  // (mysql(1), "MYSQL CLIENT COMMANDS"; COPY of PostgreSQL; SCRIPT of Redis).
  constexpr auto kElsewhere = std::to_array<std::string_view>(
      {"\\", "system", "source", "pager", "edit", "tee", "plugin", "program",
       "load", "outfile", "dumpfile", "module", "eval", "script", "config"});
  const std::string text = LowerAscii(unknown.text);
  if (unknown.code != parser::UnknownCode::kForeignCode ||
      std::ranges::any_of(kElsewhere, [&](std::string_view word) {
        return text.find(word) != std::string::npos;
      }))
    return false;
  for (uint32_t i = 0; i < analysis.invocations.size(); ++i) {
    const Invocation& invocation = analysis.invocations[i];
    if (decision.per_invocation[i] != Action::kAsk || invocation.guessed ||
        unknown.span.begin < invocation.span.begin ||
        unknown.span.end > invocation.span.end)
      continue;
    const parser::ArgumentAnalysis arguments =
        parser::ReadArguments(invocation.argv);
    return std::ranges::all_of(
        arguments.effects, [&](const parser::ArgumentEffect& argument_effect) {
          return argument_effect.role != parser::Role::kForeignCode ||
                 std::ranges::find(kLanguages, argument_effect.detail) !=
                     kLanguages.end();
        });
  }
  return false;
}

bool IsKnown(const Invocation& invocation) {
  return !invocation.argv.empty() &&
         std::ranges::all_of(invocation.argv, [](const parser::Argument& word) {
           return word.known;
         });
}

// Why what is named may be other than it looks, whatever runs.
std::optional<Grants> DoubtOf(const Decision& decision,
                              const GrantFacts& facts) {
  if (!decision.harmless_variables)
    return ByHand(
        "the line sets variables that gate does not know to be "
        "harmless",
        "leave them out");
  if (!facts.names.verified)
    return ByHand(facts.names.why.empty()
                      ? "a program may not be what its name says"
                      : facts.names.why);
  return std::nullopt;
}

Grants JudgeAsIs(const Analysis& analysis, const Decision& decision,
                 const GrantFacts& facts) {
  if (analysis.hides_commands || analysis.parse_error || !analysis.read_whole)
    return ByHand("the line may run commands that cannot be seen in it",
                  kAskedAlone);
  bool others = false;
  for (uint32_t i = 0; i < analysis.invocations.size(); ++i)
    others |= decision.per_invocation[i] != Action::kAsk &&
              !analysis.invocations[i].guessed;
  const std::string alone = others ? kAskedAlone : "";
  for (uint32_t i = 0; i < analysis.invocations.size(); ++i) {
    const Invocation& invocation = analysis.invocations[i];
    const Action action = decision.per_invocation[i];
    if (invocation.guessed || action == Action::kAllow) continue;
    const bool part = IsPartOfAsked(analysis, decision, invocation);
    if (action != Action::kAsk && !part)
      return ByHand(
          Called(invocation) + " beside it would run without a sandbox, too",
          kAskedAlone);
    if (part && RunsOverSsh(invocation)) continue;
    if (!IsKnown(invocation))
      return ByHand(
          "a word of " + Called(invocation) + " is only known when it runs",
          "write it out");
    if (std::string why = RunsCode(analysis, i, action == Action::kAsk);
        !why.empty())
      return ByHand(std::move(why), alone);
  }
  if (!std::ranges::all_of(analysis.unknowns, [&](const auto& unknown) {
        return IsDatabaseCode(analysis, decision, unknown);
      }))
    return ByHand("a part of the line is only known when it runs",
                  "write it out");
  if (auto why = DoubtOf(decision, facts)) return *std::move(why);
  if (!facts.hooks.empty()) return ByHand(facts.hooks);
  return {GrantKind::kAsIs, "", ""};
}

// Code of the project runs in the sandbox all the same. But what programs run
// or obey later is opened for the asked command alone, with what that starts:
// nothing else of the line is to write there.
Grants JudgePlaces(const Analysis& analysis, const Decision& decision,
                   const GrantFacts& facts) {
  if (decision.opens.empty() && decision.opens_written.empty())
    return ByHand("where it writes is only known when it runs", "write it out");
  if (decision.opens.empty()) return {GrantKind::kPlaces, "", ""};
  if (analysis.hides_commands || analysis.parse_error || !analysis.read_whole)
    return ByHand("the line may run commands that cannot be seen in it",
                  kAskedAlone);
  for (uint32_t i = 0; i < analysis.invocations.size(); ++i) {
    const Invocation& invocation = analysis.invocations[i];
    const Action action = decision.per_invocation[i];
    const auto& asked = decision.opened_by;
    if (invocation.guessed || action == Action::kAllow ||
        std::ranges::find(asked, i) != asked.end() ||
        (action != Action::kAsk &&
         IsPartOfAsked(analysis, decision, invocation)))
      continue;
    return ByHand(Called(invocation) +
                      " beside it could write where programs are found, too",
                  kAskedAlone);
  }
  if (auto why = DoubtOf(decision, facts)) return *std::move(why);
  return {GrantKind::kPlaces, "", ""};
}

}  // namespace

const char* Name(GrantKind kind) {
  return kGrantNames[static_cast<size_t>(kind)];
}

GrantKind GrantKindOf(std::string_view name) {
  for (const GrantKind kind :
       {GrantKind::kSandbox, GrantKind::kPlaces, GrantKind::kAsIs})
    if (name == Name(kind)) return kind;
  return GrantKind::kByHand;
}

bool NeedsGrantFacts(const Decision& decision) {
  return decision.action == Action::kAsk &&
         (decision.yes == YesNeeds::kAsIs ||
          (decision.yes == YesNeeds::kPlaces && !decision.opens.empty()));
}

Grants JudgeGrants(const Analysis& analysis, const Decision& decision,
                   const GrantFacts& facts) {
  if (decision.action != Action::kAsk) return ByHand("nothing is asked");
  switch (decision.yes) {
    case YesNeeds::kSandbox:
      return {GrantKind::kSandbox, "", ""};
    case YesNeeds::kPlaces:
      if (decision.per_invocation.size() != analysis.invocations.size())
        return ByHand("the line was not judged command by command");
      return JudgePlaces(analysis, decision, facts);
    case YesNeeds::kAsIs:
      if (decision.per_invocation.size() != analysis.invocations.size())
        return ByHand("the line was not judged command by command");
      return JudgeAsIs(analysis, decision, facts);
    case YesNeeds::kByHand:
      break;
  }
  return ByHand(decision.by_hand, decision.by_hand_instead);
}

}  // namespace gate::engine
