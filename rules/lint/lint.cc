#include "rules/lint.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "rules/lint/internal.h"
#include "rules/matchers/command_nodes.h"
#include "rules/names.h"
#include "rules/policy_impl.h"
#include "rules/relations.h"

namespace gate::rules {
namespace {

// Programs that run what they are given: an allow of them is an allow of
// everything.
// Text of shell syntax in a pattern; empty when there is none. What remains of
// operators in a command is quoted, so they never stand between blanks.
// A home directory as only the line writes it: gate matches what it stands for.
std::string_view UnexpandedText(std::string_view pattern) {
  for (const std::string_view text :
       {" ~/", "\\s+~/", "\\s*~/", "\\s~/", "$HOME", "${HOME", "$\\{HOME"})
    if (pattern.find(text) != std::string_view::npos) return text;
  return pattern.starts_with("~/") ? pattern.substr(0, 2) : std::string_view{};
}

std::string_view RawText(std::string_view pattern, bool regex) {
  for (const std::string_view text : {" && ", " || ", " ; ", "; ", " > ",
                                      " >> ", " < ", " 2>&1", " & ", "$(", "`"})
    if (!(regex && text == "$(") &&
        pattern.find(text) != std::string_view::npos)
      return text;
  if (!regex && pattern.find(" | ") != std::string_view::npos) return " | ";
  if (regex)
    for (const std::string_view text :
         {" \\| ", "\\s*\\|\\s*", "\\s*;\\s*", "\\s*&&\\s*", "\\s*>\\s*",
          "\\s+>\\s+", "\\$\\("})
      if (pattern.find(text) != std::string_view::npos) return text;
  return UnexpandedText(pattern);
}

class Linter {
 public:
  Linter(const Policy& policy, uint64_t now_ms)
      : policy_(policy.impl()), now_ms_(static_cast<int64_t>(now_ms)) {}

  std::vector<Finding> Run() {
    for (const auto& layer : policy_.layers) {
      layer_ = layer.get();
      for (rule_ = 0; rule_ < layer->view.rules.size(); ++rule_) One();
      Files();
      Unindexed();
    }
    LintPairs(policy_, &found_);
    LintOptions(policy_, &found_);
    return std::move(found_);
  }

 private:
  const RuleRecord& Record() const { return layer_->view.rules[rule_]; }

  std::string Text(FlatText text) const {
    return std::string(layer_->view.Text(text));
  }

  void Report(std::string_view code, std::string message, std::string help = {},
              Severity severity = Severity::kWarning) {
    found_.push_back(MakeFinding(*layer_, rule_, severity, code,
                                 std::move(message), std::move(help)));
  }

  void One() {
    const RuleView& view = layer_->view;
    const RuleRecord& rule = Record();
    const std::string id = Text(rule.id);
    const bool shipped = layer_->layer == Layer::kBuiltin;
    const auto [other, fresh] = ids_.emplace(id, layer_->layer);
    if (!fresh)
      Report("lint-duplicate-id",
             "the id `" + id + "` is also used in the " + Name(other->second) +
                 " layer",
             "give it another name, so that messages and exceptions are clear");
    const Action action = static_cast<Action>(rule.action);
    const auto examples = view.In(view.examples, rule.examples);
    const auto yes =
        std::count_if(examples.begin(), examples.end(),
                      [](const ExampleRecord& e) { return e.matches != 0; });
    const auto no = static_cast<std::ptrdiff_t>(examples.size()) - yes;
    const Severity hard = shipped ? Severity::kError : Severity::kNote;
    if (yes < (shipped ? 2 : 1) || no < (shipped ? 2 : 1))
      Report("lint-no-examples",
             "the rule `" + id + "` has " +
                 (examples.empty() ? "no examples"
                  : yes == 0       ? "no example of what it matches"
                  : no == 0        ? "no example of what it leaves alone"
                                   : "too few examples"),
             "", hard);
    if (shipped && rule.severity == 0 && action >= Action::kAsk)
      Report("lint-no-severity", "the rule `" + id + "` has no severity", "",
             hard);
    const auto tags = view.In(view.strings, rule.tags);
    const bool none = std::any_of(tags.begin(), tags.end(), [&](FlatText t) {
      return view.Text(t) == "no_alternative";
    });
    if (action >= Action::kAsk && rule.suggestion.size == 0 && !none)
      Report("lint-no-suggestion",
             "the rule `" + id + "` stops without saying what to do instead",
             "", hard);
    Dates(id);
    for (const FlatText& text : view.In(view.strings, rule.except))
      Exception(id, view.Text(text));
    if (const auto why = WhyNever({&view, rule.match}))
      Report("lint-never-matches",
             "the rule `" + id + "` never matches: " + *why, "",
             Severity::kError);
    Patterns(id, rule.match, 0);
    if (action == Action::kAllow) Allow(id);
  }

  void Dates(const std::string& id) {
    const RuleRecord& rule = Record();
    if (rule.expires_ms != 0 && rule.since_ms >= rule.expires_ms)
      Report("lint-never-matches",
             "the rule `" + id + "` never matches: it is over before it begins",
             "exchange `since` and `expires`", Severity::kError);
    else if (rule.expires_ms != 0 && now_ms_ != 0 && rule.expires_ms <= now_ms_)
      Report("lint-expired", "the rule `" + id + "` is over");
    else if (rule.since_ms != 0 && now_ms_ != 0 && rule.since_ms > now_ms_)
      Report("lint-expired", "the rule `" + id + "` has not begun", "",
             Severity::kNote);
  }

  void Exception(const std::string& id, std::string_view named) {
    bool found = false, locked = false, trusted = false;
    for (const auto& layer : policy_.layers)
      for (uint32_t i = 0; i < layer->view.rules.size(); ++i) {
        if (layer->view.Text(layer->view.rules[i].id) != named) continue;
        found = true;
        if (layer->Locked(i)) {
          locked = true;
        } else if (layer->layer > layer_->layer) {
          trusted = true;
        } else if (!Disjoint({&layer_->view, Record().match},
                             {&layer->view, layer->view.rules[i].match})) {
          return;
        }
      }
    const std::string name = "`" + std::string(named) + "`";
    if (!found) {
      Report("lint-unknown-exception",
             "the rule " + name + " that `" + id + "` excepts does not exist");
      return;
    }
    Report("lint-dead-exception",
           "the exception of " + name + " in `" + id + "` has no effect: " +
               (locked    ? "that rule is locked"
                : trusted ? "that rule is of a more trusted layer"
                          : "the two rules are about different programs"),
           locked    ? "only the system layer can unlock it"
           : trusted ? "take it back in its own layer"
                     : "");
    found_.back().other = named;
  }

  // What is odd in the text of globs and regexes.
  void Patterns(const std::string& id, uint32_t index, int depth) {
    const RuleView& view = layer_->view;
    if (depth > 32 || index >= view.nodes.size()) return;
    const Node& node = view.nodes[index];
    const auto raw = [&](std::string_view pattern, bool regex) {
      // A pattern of quoted code (python -c '…') may well speak of operators
      // and variables.
      const bool code = regex && (!pattern.starts_with('^') ||
                                  pattern.find('\'') != std::string_view::npos);
      std::string_view text = RawText(pattern, regex);
      if (code && text.find('~') == std::string_view::npos) text = {};
      if (!text.empty())
        Report("lint-raw-text", "the pattern `" + Visible(pattern) + "` of `" +
                                    id + "` speaks of shell syntax (`" +
                                    Visible(text) +
                                    "`), which gate has resolved before it "
                                    "matches");
    };
    switch (node.kind) {
      case NodeKind::kAll:
      case NodeKind::kAny:
      case NodeKind::kUnless:
        for (const uint32_t link : LinksOf(view, node))
          Patterns(id, link, depth + 1);
        break;
      case NodeKind::kGlob:
        for (const FlatText& text :
             view.In(view.strings, node.As<GlobNode>().globs))
          raw(view.Text(text), false);
        break;
      case NodeKind::kRegex:
        raw(PatternOf(view, node.As<RegexNode>().regex), true);
        break;
      case NodeKind::kPrefix:
        for (const Range& position :
             view.In(view.positions, node.As<PrefixNode>().positions))
          for (const FlatText& text : view.In(view.strings, position)) {
            const std::string_view word = view.Text(text);
            for (const std::string_view sign :
                 {"&&", "||", "|", ";", ">", ">>", "<", "&"})
              if (word == sign) raw(" " + std::string(sign) + " ", false);
            if (!UnexpandedText(word).empty()) raw(word, false);
            if (word.size() > 1 && (word[0] == '\'' || word[0] == '"') &&
                word.back() == word[0])
              Report("lint-raw-text",
                     "the word `" + Visible(word) + "` of `" + id +
                         "` is quoted; gate compares words without quotes");
          }
        break;
      default:
        break;
    }
  }

  // The names of programs that a node is about; "*" for any program.
  void Programs(uint32_t index, int depth, std::vector<std::string>* out) {
    const RuleView& view = layer_->view;
    if (depth > 32 || index >= view.nodes.size()) return;
    const Node& node = view.nodes[index];
    switch (node.kind) {
      case NodeKind::kAll:
      case NodeKind::kAny:
        for (const uint32_t link : LinksOf(view, node))
          Programs(link, depth + 1, out);
        break;
      case NodeKind::kPrefix: {
        const auto positions =
            view.In(view.positions, node.As<PrefixNode>().positions);
        if (positions.size() == 1)
          for (const FlatText& t : view.In(view.strings, positions[0]))
            out->push_back(Text(t));
        break;
      }
      case NodeKind::kGlob:
        for (const FlatText& t :
             view.In(view.strings, node.As<GlobNode>().globs)) {
          const std::string pattern = Text(t);
          const std::string word = pattern.substr(0, pattern.find(' '));
          if (word.find('*') != std::string::npos)
            out->push_back("*");
          else if (pattern == word || pattern == word + " *")
            out->push_back(word);
        }
        break;
      case NodeKind::kProgram:
        for (const FlatText& t :
             view.In(view.strings, node.As<ProgramNode>().names))
          out->push_back(Text(t));
        break;
      default:
        break;
    }
  }

  bool HasConditions(uint32_t match) {
    return HasKind({&layer_->view, match}, NodeKind::kOptions) ||
           HasKind({&layer_->view, match}, NodeKind::kOperands) ||
           HasKind({&layer_->view, match}, NodeKind::kOnlyDoes) ||
           HasKind({&layer_->view, match}, NodeKind::kAct) ||
           HasKind({&layer_->view, match}, NodeKind::kSubcommand) ||
           HasKind({&layer_->view, match}, NodeKind::kEffect) ||
           HasKind({&layer_->view, match}, NodeKind::kAnyEffect);
  }

  void Allow(const std::string& id) {
    const RuleRecord& rule = Record();
    std::vector<std::string> programs;
    Programs(rule.match, 0, &programs);
    for (const std::string& program : programs) {
      if (program == "*" || program.find('*') == 0) {
        Report("lint-broad-allow",
               "the rule `" + id + "` allows programs of any name", "",
               Severity::kError);
      } else if (RunsWhatItIsGiven(program) && !HasConditions(rule.match)) {
        Report("lint-allow-interpreter",
               "the rule `" + id + "` allows `" + program +
                   "`, which runs whatever it is given",
               "", Severity::kError);
      }
    }
    if (programs.empty() && rule.names_command == 0 && rule.effects == 0)
      Report("lint-broad-allow",
             "the rule `" + id + "` does not say which command it allows",
             "add `prefix` or `program`", Severity::kError);
  }

  // What loading noted of the files.
  void Files() {
    const RuleView& view = layer_->view;
    for (const FileNote& note : view.notes) {
      if (note.kind < kNoteUnusedList) continue;
      const std::string name = "`" + std::string(view.Text(note.id)) + "`";
      Finding finding;
      Diagnostic& d = finding.diagnostic;
      d.severity = Severity::kNote;
      d.file = Text(note.file);
      d.line = note.line;
      d.column = note.column;
      d.code = "lint-unused";
      switch (note.kind) {
        case kNoteUnusedList:
          d.message = "nothing refers to the list " + name;
          break;
        case kNoteUnusedMacro:
          d.message = "nothing refers to the macro " + name;
          break;
        case kNoteUnusedClass:
          d.message = "nothing refers to the class " + name;
          break;
        case kNoteHiddenText:
          d.severity = Severity::kWarning;
          d.code = "lint-hidden-text";
          d.message = "here stands text that a person does not see: " + name;
          break;
        default:
          d.severity = Severity::kWarning;
          d.code = "lint-project-network";
          d.message = "the rule " + name +
                      " gives network, which a project file cannot";
          finding.rule = view.Text(note.id);
      }
      for (const LintKind& kind : LintKinds())
        if (kind.code == d.code) d.help = kind.help;
      found_.push_back(std::move(finding));
    }
  }

  // Rules that no key finds and whose regexes need no word.
  void Unindexed() {
    const RuleView& view = layer_->view;
    if (view.buckets.size() <= kAlwaysBucket) return;
    for (const uint32_t rule :
         view.In(view.bucket_rules, view.buckets[kAlwaysBucket])) {
      if (rule >= view.rules.size()) continue;
      const NodeRef match{&view, view.rules[rule].match};
      const bool regex =
          HasKind(match, NodeKind::kRegex) || HasKind(match, NodeKind::kLine);
      bool atoms = regex;
      for (const Node& node : Parts(view, view.rules[rule].match))
        if (node.kind == NodeKind::kRegex || node.kind == NodeKind::kLine)
          if (const uint32_t number = node.As<RegexNode>().regex;
              number < view.regexes.size())
            atoms = atoms && view.regexes[number].atoms.count > 0;
      if (regex && atoms) continue;
      rule_ = rule;
      Report("lint-not-indexed",
             "the rule `" + Text(view.rules[rule].id) +
                 "` is tried on every command" +
                 (regex ? ", its regex too" : ""),
             "", Severity::kNote);
    }
  }

  static std::vector<Node> Parts(const RuleView& view, uint32_t match) {
    std::vector<Node> parts;
    std::vector<uint32_t> todo = {match};
    for (size_t steps = 0; !todo.empty() && steps < 10000; ++steps) {
      const uint32_t index = todo.back();
      todo.pop_back();
      if (index >= view.nodes.size()) continue;
      const Node& node = view.nodes[index];
      parts.push_back(node);
      if (node.kind == NodeKind::kAll || node.kind == NodeKind::kAny)
        for (const uint32_t link : LinksOf(view, node)) todo.push_back(link);
    }
    return parts;
  }

  const Policy::Impl& policy_;
  int64_t now_ms_;
  const LoadedLayer* layer_ = nullptr;
  uint32_t rule_ = 0;
  std::unordered_map<std::string, Layer> ids_;
  std::vector<Finding> found_;
};

}  // namespace

Finding MakeFinding(const LoadedLayer& layer, uint32_t rule, Severity severity,
                    std::string_view code, std::string message,
                    std::string help) {
  const RuleView& view = layer.view;
  const RuleRecord& record = view.rules[rule];
  Finding finding;
  finding.rule = view.Text(record.id);
  finding.diagnostic = {
      severity,       std::string(code), std::string(view.Text(record.file)),
      record.line,    record.column,     std::move(message),
      std::move(help)};
  if (finding.diagnostic.help.empty())
    for (const LintKind& kind : LintKinds())
      if (kind.code == code) finding.diagnostic.help = kind.help;
  const auto accepted = view.In(view.strings, record.lint);
  for (size_t i = 0; i + 1 < accepted.size(); i += 2)
    if (view.Text(accepted[i]) == code) {
      finding.accepted = view.Text(accepted[i + 1]);
      finding.diagnostic.severity = Severity::kNote;
    }
  return finding;
}

std::vector<Finding> Lint(const Policy& policy, uint64_t now_ms) {
  return Linter(policy, now_ms).Run();
}

}  // namespace gate::rules
