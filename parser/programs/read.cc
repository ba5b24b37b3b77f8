// ReadArguments by an image: argument effect the program, reading its words
// once for every reading that is possible, and joining what they say.

#include <algorithm>
#include <array>

#include "parser/programs/pass.h"

namespace gate::parser {

std::string_view CanonicalName(std::string_view spellings) {
  return spellings.substr(0, spellings.find(' '));
}

bool IsSpelling(std::string_view spellings, std::string_view name) {
  for (size_t at = spellings.find(name); at != std::string_view::npos;
       at = spellings.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || spellings[at - 1] == ' ') &&
        (end == spellings.size() || spellings[end] == ' '))
      return !name.empty();
  }
  return false;
}

namespace programs {

bool OpenTables(std::string_view bytes, bool check, Tables* tables) {
  auto image = FlatFile::Open(bytes, kMagic);
  if (!image) return false;
  tables->image = *image;
  tables->names = image->Section<ProgramName>(kNames);
  tables->nodes = image->Section<Node>(kNodes);
  tables->option_names = image->Section<OptionName>(kOptionNames);
  tables->options = image->Section<Option>(kOptions);
  tables->children = image->Section<Child>(kChildren);
  tables->effects = image->Section<EffectRecord>(kEffects);
  tables->terms = image->Section<Term>(kTerms);
  tables->environment = image->Section<EnvironmentName>(kEnvironment);
  tables->languages = image->Section<LanguageName>(kLanguages);
  if (!check) return true;
  // Every index is checked once, so that readers need not.
  const auto within = [](uint64_t begin, uint64_t count, size_t size) {
    return begin + count <= size;
  };
  const auto option_ok = [&](uint32_t option) {
    return option == kNone || option < tables->options.size();
  };
  for (const ProgramName& name : tables->names) {
    if (name.node >= tables->nodes.size() || name.output >= kOutputKinds ||
        name.leaves >= kLeftFileKinds || name.runs >= kRunKinds) {
      return false;
    }
  }
  for (const LanguageName& name : tables->languages) {
    if (name.language >= kLanguageKinds) return false;
  }
  for (const Child& child : tables->children) {
    if (child.node >= tables->nodes.size()) return false;
  }
  for (const OptionName& name : tables->option_names) {
    if (name.option >= tables->options.size()) return false;
  }
  for (const Term& term : tables->terms) {
    if (!option_ok(term.option)) return false;
    if ((term.kind == Term::kOption || term.kind == Term::kOptionValue) &&
        term.option == kNone) {
      return false;
    }
  }
  for (const EffectRecord& e : tables->effects) {
    if (!option_ok(e.placeholder_option) || !option_ok(e.first_option) ||
        e.role >= kRoles) {
      return false;
    }
  }
  for (const Option& o : tables->options) {
    if (!within(o.effects, o.effects_count, tables->effects.size())) {
      return false;
    }
  }
  for (const Node& n : tables->nodes) {
    if (!within(n.option_names, n.option_names_count,
                tables->option_names.size()) ||
        !within(n.children, uint64_t{n.children_count} + n.patterns_count,
                tables->children.size()) ||
        !within(n.effects, n.effects_count, tables->effects.size()) ||
        !option_ok(n.number_option)) {
      return false;
    }
  }
  return true;
}

std::string_view BaseName(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  if (path.size() > 4 && path.ends_with(".exe")) path.remove_suffix(4);
  return path;
}

namespace {

const ProgramName* FindExact(const Tables& tables, std::string_view name) {
  auto it = std::lower_bound(tables.names.begin(), tables.names.end(), name,
                             [&](const ProgramName& a, std::string_view b) {
                               return tables.image.Text(a.name) < b;
                             });
  if (it == tables.names.end() || tables.image.Text(it->name) != name) {
    return nullptr;
  }
  return &*it;
}

}  // namespace

const Child* FindChild(const Tables& tables, const Node& node,
                       std::string_view name) {
  const auto exact = Slice(tables.children, node.children, node.children_count);
  const auto it = std::lower_bound(exact.begin(), exact.end(), name,
                                   [&](const Child& c, std::string_view b) {
                                     return tables.image.Text(c.name) < b;
                                   });
  if (it != exact.end() && tables.image.Text(it->name) == name) return &*it;
  for (const Child& child :
       Slice(tables.children, node.children + node.children_count,
             node.patterns_count)) {
    const std::string_view pattern = tables.image.Text(child.name);
    const size_t star = pattern.find('*');
    if (name.size() + 1 >= pattern.size() &&
        name.starts_with(pattern.substr(0, star)) &&
        name.ends_with(pattern.substr(star + 1)))
      return &child;
  }
  return nullptr;
}

const ProgramName* FindProgram(const Tables& tables, std::string_view program) {
  const ProgramName* exact = FindExact(tables, program);
  if (exact != nullptr || program.empty()) return exact;
  // mkfs.ext4 by mkfs.*
  const size_t dot = program.find('.');
  if (dot != std::string_view::npos && dot > 0) {
    const ProgramName* family =
        FindExact(tables, std::string(program.substr(0, dot + 1)) + "*");
    if (family != nullptr) return family;
  }
  // python3.11, gcc-12, php8.2
  size_t end = program.size();
  while (end > 0 && (program[end - 1] == '.' || program[end - 1] == '-' ||
                     (program[end - 1] >= '0' && program[end - 1] <= '9'))) {
    --end;
  }
  if (end == program.size() || end == 0) return nullptr;
  const ProgramName* versioned = FindExact(tables, program.substr(0, end));
  if (versioned == nullptr ||
      (tables.nodes[versioned->node].flags & Node::kVersions) == 0) {
    return nullptr;
  }
  return versioned;
}

namespace {

// Adds another reading of the same words: what only one of them says is not
// certain.
void Join(ArgumentAnalysis other, ArgumentAnalysis* arguments) {
  ArgumentEffectIndex theirs(&other.effects);
  for (ArgumentEffect& argument_effect : arguments->effects) {
    if (theirs.Find(argument_effect) == SIZE_MAX)
      argument_effect.certain = false;
  }
  ArgumentEffectIndex ours(&arguments->effects);
  for (ArgumentEffect& argument_effect : other.effects) {
    if (ours.Find(argument_effect) != SIZE_MAX) continue;
    argument_effect.certain = false;
    arguments->effects.push_back(std::move(argument_effect));
  }
  for (const std::string_view option : other.options) {
    if (std::find(arguments->options.begin(), arguments->options.end(),
                  option) == arguments->options.end()) {
      arguments->options.push_back(option);
    }
  }
  if (arguments->subcommand.empty()) arguments->subcommand = other.subcommand;
  arguments->unread |= other.unread;
  MayBe(other.acts, &arguments->acts);
  arguments->reads_stdin |= other.reads_stdin;
  arguments->prints_input |= other.prints_input;
  arguments->prints_network |= other.prints_network;
  arguments->decodes |= other.decodes;
}

void AddUnknownCommand(const Argument& name, ArgumentAnalysis* arguments) {
  ArgumentEffect argument_effect;
  argument_effect.role = Role::kCommand;
  argument_effect.certain = false;
  argument_effect.span = name.span;
  Argument word;
  word.known = false;
  word.splits = true;
  word.span = name.span;
  argument_effect.words.push_back(std::move(word));
  arguments->effects.push_back(std::move(argument_effect));
}

void ReadChoices(const Tables& tables, uint32_t node,
                 std::span<const Argument> argv, std::vector<uint8_t> choices,
                 Pass* pass, ArgumentAnalysis* arguments) {
  pass->words.reserve(argv.size() + 8);
  for (const Argument& argument : argv) pass->words.push_back(&argument);
  pass->choices = std::move(choices);
  ReadPass(tables, node, pass);
  CollectFindings(tables, *pass, arguments);
  arguments->unread = pass->unread;
}

// Reads the words again for the other choices. Every combination when there
// are few points; else each point by itself and all points alike, and where
// operands are commands an unknown command stands for the rest.
void ReadOthers(const Tables& tables, uint32_t node,
                std::span<const Argument> argv, const Pass& first,
                ArgumentAnalysis* arguments) {
  const size_t n = first.points.size();
  size_t words = 0;
  for (const Point& point : first.points) {
    words = std::max<size_t>(words, point.word + 1);
  }
  std::vector<std::vector<uint8_t>> all;
  size_t combinations = 1;
  for (const Point& point : first.points) {
    combinations *= static_cast<size_t>(__builtin_popcount(point.choices));
    if (combinations > kMaxReadings) break;
  }
  const bool whole = combinations <= kMaxReadings;
  if (whole) {
    all.push_back(std::vector<uint8_t>(words, 0));
    for (const Point& point : first.points) {
      std::vector<std::vector<uint8_t>> next;
      for (const auto& base : all) {
        for (int c = 0; c < kChoices; ++c) {
          if ((point.choices >> c & 1) == 0) continue;
          next.push_back(base);
          next.back()[point.word] = static_cast<uint8_t>(c + 1);
        }
      }
      all = std::move(next);
    }
  } else {
    for (int c = 0; c < kChoices; ++c) {
      all.push_back(std::vector<uint8_t>(words, 0));
      for (const Point& point : first.points) {
        all.back()[point.word] = static_cast<uint8_t>(c + 1);
      }
    }
    for (size_t k = 0; k < n && all.size() < kMaxReadings; ++k) {
      for (int c = 0; c < kChoices; ++c) {
        if ((first.points[k].choices >> c & 1) == 0) continue;
        all.push_back(std::vector<uint8_t>(words, 0));
        all.back()[first.points[k].word] = static_cast<uint8_t>(c + 1);
      }
    }
  }
  bool more = false;
  std::vector<uint8_t> decided(words, 0);  // by word
  for (const Point& point : first.points) decided[point.word] = point.choices;
  for (auto& choices : all) {
    Pass pass;
    ArgumentAnalysis other;
    ReadChoices(tables, node, argv, std::move(choices), &pass, &other);
    other.subcommand.assign(pass.subcommand.begin(), pass.subcommand.end());
    // A reading may meet words that the first did not have to decide.
    for (const Point& point : pass.points) {
      more |= point.word >= words || decided[point.word] != point.choices;
    }
    Join(std::move(other), arguments);
  }
  // What only a reading that was not tried would say is not known.
  if ((!whole || more) && arguments->acts.described)
    arguments->acts.possible |= Bit(Act::kUnknown);
  const Node& leaf = tables.nodes[first.chain.back()];
  if ((!whole || more) && (leaf.flags & Node::kWrapper) != 0) {
    AddUnknownCommand(argv[0], arguments);
  }
}

bool OnlyReadsOrRuns(const ArgumentAnalysis& arguments) {
  constexpr std::array kThese = {
      Role::kRead,      Role::kListRead,    Role::kDirectory,   Role::kCommand,
      Role::kShellCode, Role::kForeignCode, Role::kSplitCommand};
  return std::all_of(arguments.effects.begin(), arguments.effects.end(),
                     [&](const ArgumentEffect& argument_effect) {
                       return std::find(kThese.begin(), kThese.end(),
                                        argument_effect.role) != kThese.end();
                     });
}

}  // namespace

ArgumentAnalysis Read(const Tables& tables, std::span<const Argument> argv) {
  ArgumentAnalysis arguments;
  if (argv.empty() || !argv[0].known || argv[0].glob) return arguments;
  const ProgramName* name = FindProgram(tables, BaseName(argv[0].text));
  if (name == nullptr) return arguments;
  const uint32_t node = name->node;
  arguments.known = true;
  arguments.output = static_cast<OutputModel>(name->output);
  arguments.leaves = static_cast<LeftFiles>(name->leaves);
  arguments.runs = static_cast<RunModel>(name->runs);
  arguments.program = std::string(tables.image.Text(tables.nodes[node].name));
  Pass pass;
  ReadChoices(tables, node, argv, {}, &pass, &arguments);
  arguments.subcommand.assign(pass.subcommand.begin(), pass.subcommand.end());
  // What is seen to do more is judged by that.
  arguments.complete =
      !pass.incomplete && !(pass.hides_more && OnlyReadsOrRuns(arguments));
  if (!pass.points.empty()) ReadOthers(tables, node, argv, pass, &arguments);
  return arguments;
}

}  // namespace programs

ArgumentAnalysis ReadArgumentsWith(std::string_view bytes,
                                   std::span<const Argument> argv) {
  programs::Tables tables;
  if (!programs::OpenTables(bytes, /*check=*/true, &tables)) return {};
  return programs::Read(tables, argv);
}

namespace {

constexpr const char* kRoleNames[] = {
    "command",    "shell",     "foreign",   "split",      "script",
    "stdin-code", "set",       "directory", "read",       "write",
    "delete",     "move-from", "move-to",   "permission", "list",
    "url",        "listen",    "privilege", "signal",     "persistence",
    "system",     "remote",    "load",      "act",        "redirects"};
static_assert(std::size(kRoleNames) == kRoles);

}  // namespace

const char* Name(Role role) { return kRoleNames[static_cast<size_t>(role)]; }

std::vector<std::string> Describe(const ArgumentAnalysis& arguments) {
  std::vector<std::string> lines;
  for (const ArgumentEffect& argument_effect : arguments.effects) {
    std::string line;
    if (!argument_effect.certain) line += "possible ";
    line += Name(argument_effect.role);
    if (!argument_effect.detail.empty())
      line += "(" + argument_effect.detail + ")";
    if (argument_effect.recursive) line += " recursive";
    line += ":";
    for (const Argument& word : argument_effect.words) {
      line += ' ';
      line += word.text;
      if (!word.known) line += "?" + word.suffix;
    }
    if (argument_effect.appends_unknown) line += " +";
    if (argument_effect.from_stdin) line += " <";
    if (!argument_effect.placeholder.empty())
      line += " @" + argument_effect.placeholder;
    lines.push_back(std::move(line));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace gate::parser
