#include "engine/tool_access.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/paths.h"
#include "rules/lending.h"

namespace gate::engine {
namespace {

using parser::Analysis;
using parser::Argument;
using parser::EffectKind;
using parser::Invocation;

constexpr const char* kLentAlone =
    "send the command alone, with no more than a filter such as `| head` or "
    "`| jq .` after it";

// Sub-commands are looked for among so many operands; values of options that
// stand before them count.
constexpr size_t kSubcommandWords = 4;

// What takes everything and keeps nothing, and the line's own streams.
constexpr auto kSinks = std::to_array<std::string_view>(
    {"/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/stdin",
     "/dev/stdout", "/dev/stderr"});

bool IsSink(std::string_view path) {
  return path.starts_with("/dev/fd/") ||
         std::ranges::find(kSinks, path) != kSinks.end();
}

// Whether it runs in a container that `tool` starts or enters: no program of
// this machine.
bool RunsInContainer(const Invocation& invocation, const rules::Lending& tool) {
  if (std::ranges::find(tool.runs, "containers") == tool.runs.end())
    return false;
  return std::ranges::any_of(invocation.via, [&](const parser::Via& via) {
    if (via.kind != parser::ViaKind::kProgram) return false;
    const auto entry = rules::FindLending(via.name);
    return entry && entry->program == tool.program;
  });
}

ToolAccess Refused(std::string why, std::string suggestion = kLentAlone) {
  ToolAccess access;
  access.why = std::move(why);
  access.suggestion = std::move(suggestion);
  return access;
}

// Whether `word` is what the program itself prints of a list of numbers or
// names that it gave (`docker stop $(docker ps -q)`): none begins with a dash.
bool IsNumbers(const Analysis& analysis, const Argument& word,
               const rules::Lending& lending) {
  if (!word.text.empty() || !word.suffix.empty()) return false;
  bool any = false;
  for (const Invocation& inner : analysis.invocations) {
    if (inner.span.begin < word.span.begin || inner.span.end > word.span.end)
      continue;
    const auto entry = rules::FindLending(inner.program);
    if (!entry || entry->program != lending.program) return false;
    bool listed = false;
    for (size_t i = 1; i < inner.argv.size(); ++i) {
      const Argument& option = inner.argv[i];
      if (!option.known || option.glob || option.text.starts_with("--format"))
        return false;
      listed |=
          std::ranges::find(lending.lists, option.text) != lending.lists.end();
    }
    if (!listed) return false;
    any = true;
  }
  return any;
}

// Whether nobody can tell of some word that it is no option.
bool HasDoubtfulWord(const Analysis& analysis, const Invocation& invocation,
                     const rules::Lending& lending) {
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const Argument& word = invocation.argv[i];
    if (word.known && word.text == "--") return false;
    const Argument& before = invocation.argv[i - 1];
    const bool value =
        !word.splits && before.known &&
        std::ranges::find(lending.values, before.text) != lending.values.end();
    if (!word.known && !value && !IsNumbers(analysis, word, lending) &&
        (word.splits || word.text.empty() || word.text[0] == '-'))
      return true;
  }
  return false;
}

// A region or an account becomes part of the name of a host: more than a name
// may make another host of it.
bool IsPlainName(const Argument& value) {
  return value.known && std::ranges::all_of(value.text, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

// Whether `name` is, or is a beginning of, an option that says part of a host.
// One that begins several counts.
bool SaysHost(std::string_view name, const rules::Lending& lending) {
  constexpr std::string_view kShortest = "--r";
  return name.size() >= kShortest.size() &&
         std::ranges::any_of(lending.hosts, [&](std::string_view option) {
           return option.starts_with(name);
         });
}

bool NamesStrangeHost(const Invocation& invocation,
                      const rules::Lending& lending) {
  for (const parser::EnvironmentSetting& setting : invocation.environment)
    if (setting.name.find("REGION") != std::string::npos &&
        !IsPlainName(setting.value))
      return true;
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    Argument word = invocation.argv[i];
    if (SaysHost(invocation.argv[i - 1].text, lending) && !IsPlainName(word))
      return true;
    const size_t equals = word.text.find('=');
    if (equals == std::string::npos ||
        !SaysHost(std::string_view(word.text).substr(0, equals), lending))
      continue;
    word.text.erase(0, equals + 1);
    if (!IsPlainName(word)) return true;
  }
  return false;
}

// Whether the words of `env` before its command take variables away of which
// `accepted` knows nothing. Without a home directory a program looks for its
// configuration below the working directory.
bool EnvTakesAway(const Invocation& env,
                  const std::vector<std::string_view>& accepted) {
  constexpr std::string_view kTakeValues = "uCS";
  for (size_t i = 1; i < env.argv.size(); ++i) {
    const Argument& word = env.argv[i];
    if (!word.known) return true;
    std::string_view text = word.text;
    if (!text.starts_with('-')) {
      if (text.find('=') == std::string_view::npos) return false;
      continue;
    }
    if (text == "--") return false;
    std::string_view name;
    bool takes = false;
    if (text.starts_with("--")) {
      const size_t equals = text.find('=');
      const std::string_view option = text.substr(0, equals);
      if (option == "--chdir" && equals == std::string_view::npos) ++i;
      takes = option.starts_with("--u");
      // What it splits holds options as well.
      if (option.starts_with("--s") || option.starts_with("--i")) return true;
      if (takes && equals != std::string_view::npos)
        name = text.substr(equals + 1);
    } else {
      const size_t at = text.find_first_of(kTakeValues, 1);
      if (text == "-" || text.substr(0, at).find('i') != std::string_view::npos)
        return true;
      if (at == std::string_view::npos) continue;
      if (text[at] == 'S') return true;
      takes = text[at] == 'u';
      name = text.substr(at + 1);
      if (!takes && name.empty()) ++i;
    }
    if (!takes) continue;
    if (name.empty()) {
      if (++i >= env.argv.size() || !env.argv[i].known) return true;
      name = env.argv[i].text;
    }
    if (!rules::AcceptsSetting(accepted, name, std::nullopt)) return true;
  }
  return false;
}

// Whether the line takes variables of the caller away from what it runs;
// `unset` is a setting to something unknown.
bool TakesAway(const Analysis& analysis, const rules::Lending& lending) {
  return std::ranges::any_of(
      analysis.invocations, [&](const Invocation& invocation) {
        const std::string& program = invocation.program;
        if (program == "env" || program == "genv")
          return EnvTakesAway(invocation, lending.line);
        if (program != "export" && program != "declare" &&
            program != "typeset" && program != "local")
          return false;
        const char sign = program == "export" ? '-' : '+';
        const char letter = program == "export" ? 'n' : 'x';
        return std::ranges::any_of(invocation.argv, [&](const Argument& word) {
          return !word.known || (word.text.starts_with(sign) &&
                                 word.text.find(letter) != std::string::npos);
        });
      });
}

// What the description of the program says that the words lead it to, in words;
// null when that is nothing that its credentials depend on. An account or
// context only selects among what the person has configured, and files are the
// sandbox's to keep.
const char* RedirectedBy(const Invocation& invocation) {
  using parser::RedirectTo;
  constexpr std::array<std::pair<RedirectTo, const char*>, 4> kNames = {{
      {RedirectTo::kEndpoint, "another server to talk to"},
      {RedirectTo::kConfiguration, "another configuration"},
      {RedirectTo::kPlugin, "code to load"},
      {RedirectTo::kCertificates, "other certificates, or no check of them"},
  }};
  if (!invocation.read) return nullptr;
  const parser::ActsRead& acts = invocation.read->acts;
  for (const auto& [redirect, name] : kNames)
    if ((acts.redirects & parser::Bit(redirect)) != 0) return name;
  if (acts.described && (acts.possible & parser::Bit(parser::Act::kCode)) != 0)
    return "code of the project to run";
  return nullptr;
}

// The first word that leads the program elsewhere; empty if none does.
std::string WordAway(const Invocation& invocation,
                     const rules::Lending& lending) {
  size_t operands = 0;
  bool options = true;
  for (size_t i = 1; i < invocation.argv.size(); ++i) {
    const Argument& word = invocation.argv[i];
    if (options && word.known && word.text == "--") {
      options = false;
      continue;
    }
    const Argument& before = invocation.argv[i - 1];
    if (options && before.known &&
        std::ranges::find(lending.values, before.text) != lending.values.end())
      continue;
    const bool operand = !word.text.starts_with('-');
    if (operand && ++operands > kSubcommandWords && !options) break;
    if ((options || operand) &&
        rules::LeadsAway(lending.away, word.text,
                         operand && operands <= kSubcommandWords))
      return word.text.substr(0, word.text.find('='));
  }
  return "";
}

// Why this run of the program cannot have its credentials; empty if it can.
ToolAccess JudgeRun(const Analysis& analysis, const Invocation& invocation,
                    const rules::Lending& lending) {
  const std::string name(lending.program);
  for (const parser::EnvironmentSetting& setting : invocation.environment) {
    const auto value = setting.value.known
                           ? std::optional<std::string_view>(setting.value.text)
                           : std::nullopt;
    const bool language =
        setting.name.starts_with("LANG") || setting.name.starts_with("LC_");
    // A language that is a path has the program take its messages from there.
    const bool led =
        language && (!value || value->find('/') != std::string_view::npos);
    if (led || !rules::AcceptsSetting(lending.line, setting.name, value))
      return Refused("the line sets " + setting.name + " for `" + name +
                         "`, which gate does not know to be harmless there",
                     "leave " + setting.name + " out");
  }
  if (NamesStrangeHost(invocation, lending))
    return Refused("the region or account for `" + name +
                       "` is no plain name, and may become part of a host name",
                   "name it plainly: `eu-west-1`");
  if (const char* what = RedirectedBy(invocation); what != nullptr)
    return Refused(
        "the line names " + std::string(what) + " for `" + name + "`",
        "leave it out; a profile or context of the person's own "
        "configuration may be named");
  if (const std::string word = WordAway(invocation, lending); !word.empty())
    return Refused("`" + word + "` says where `" + name +
                       "` connects, what it loads or what it runs",
                   "leave `" + word +
                       "` out; a profile or context of the "
                       "person's own configuration may be named");
  if (HasDoubtfulWord(analysis, invocation, lending))
    return Refused("a word of `" + name +
                       "` is computed when it runs and may be an option that "
                       "sends its credentials elsewhere",
                   "write the word out, or put `--` before it");
  ToolAccess given;
  given.given = true;
  return given;
}

// A redirection that reads or writes outside the workspace, in words.
std::string StrayRedirection(const Analysis& analysis,
                             const std::string& workspace) {
  for (const parser::Effect& effect : analysis.effects) {
    if (!effect.from_redirect) continue;
    if (effect.kind == EffectKind::kNetwork) return "a connection";
    for (const Argument* path : {&effect.path, &effect.target}) {
      if (!path->known) return "a file whose name is computed when it runs";
      const std::string& text = path->text;
      if (text.empty() || IsSink(text) || IsTemporaryPlace(text) ||
          (!workspace.empty() && IsWithin(text, workspace)))
        continue;
      return text;
    }
  }
  return "";
}

}  // namespace

ToolAccess JudgeToolAccess(const Analysis& analysis, const Decision& decision,
                           const ToolFacts& facts) {
  if (analysis.hides_commands || analysis.parse_error || !analysis.read_whole)
    return Refused("the line may run other programs beside it");
  if (decision.per_invocation.size() != analysis.invocations.size())
    return Refused("the line was not judged command by command");
  ToolAccess access;
  std::optional<rules::Lending> lending;
  for (uint32_t i = 0; i < analysis.invocations.size(); ++i) {
    const Invocation& invocation = analysis.invocations[i];
    if (decision.per_invocation[i] == Action::kAllow) continue;
    if (lending && RunsInContainer(invocation, *lending)) continue;
    const std::string name =
        invocation.program.empty() ? "a program" : invocation.program;
    const auto entry = rules::FindLending(invocation.program);
    if (!entry && access.invocations.empty() &&
        analysis.invocations.size() == 1)
      return Refused(
          "gate does not know what credentials `" + name +
              "` needs, or lends it none because it runs code of the "
              "project",
          "let the person run it");
    if (!entry)
      return Refused("`" + name +
                     "` runs beside a program that gets credentials");
    if (lending && entry->program != lending->program)
      return Refused("`" + std::string(lending->program) + "` and `" + name +
                         "` would see each other's credentials",
                     "send each as a line of its own");
    if (!lending) lending = entry;
    if (ToolAccess run = JudgeRun(analysis, invocation, *lending); !run.given)
      return run;
    access.invocations.push_back(i);
  }
  if (!lending) return Refused("no program of the line gets credentials");
  if (TakesAway(analysis, *lending))
    return Refused("the line takes variables away from `" +
                       std::string(lending->program) +
                       "`, which may then find another configuration",
                   "leave them as they are");
  if (const std::string path = StrayRedirection(analysis, facts.workspace);
      !path.empty())
    return Refused(
        "a redirection reads or writes " + path + ", outside the workspace",
        "redirect to a file of the workspace or below /tmp");
  if (!facts.names.verified)
    return Refused(facts.names.why.empty()
                       ? "a program may not be what its name says"
                       : facts.names.why);
  access.given = true;
  access.program = lending->program;
  return access;
}

void AskInsteadOfTool(const Analysis& analysis, const ToolAccess& access,
                      Decision* decision) {
  decision->profile = ProfileKind::kFullAccess;
  decision->yes = std::max(decision->yes, YesNeeds::kAsIs);
  if (decision->action > Action::kSandbox) return;
  decision->action = Action::kAsk;
  decision->contain = true;
  for (size_t i = 0; i < decision->per_invocation.size(); ++i)
    if (decision->per_invocation[i] == Action::kSandbox &&
        i < analysis.invocations.size() &&
        rules::FindLending(analysis.invocations[i].program))
      decision->per_invocation[i] = Action::kAsk;
  decision->code = ReasonCode::kNotAsItSeems;
  decision->reason =
      "needs credentials, which it gets only after a yes: " + access.why;
  decision->suggestion = access.suggestion;
  decision->rule = {};
}

}  // namespace gate::engine
