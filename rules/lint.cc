#include "rules/lint.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "rules/list.h"
#include "rules/policy_impl.h"

namespace gate::rules {
namespace {

// Programs that run what they are given: an allow of them is an allow of
// everything.
constexpr std::array<std::string_view, 46> kRunners = {
    "bash",     "sh",      "dash",    "zsh",     "ksh",    "fish",   "python",
    "python3",  "perl",    "ruby",    "node",    "deno",   "bun",    "php",
    "lua",      "awk",     "gawk",    "sudo",    "doas",   "su",     "env",
    "xargs",    "nohup",   "setsid",  "timeout", "nice",   "ionice", "stdbuf",
    "time",     "command", "exec",    "eval",    "source", "find",   "ssh",
    "parallel", "watch",   "strace",  "script",  "make",   "npx",    "uvx",
    "docker",   "kubectl", "busybox", "gdb"};

bool IsRunner(std::string_view name) {
  return std::find(kRunners.begin(), kRunners.end(), name) != kRunners.end();
}

class Linter {
 public:
  Linter(const Policy& policy, uint64_t now_ms)
      : policy_(policy.impl()), now_ms_(static_cast<int64_t>(now_ms)) {}

  std::vector<Diagnostic> Run() {
    for (const auto& layer : policy_.layers) {
      for (uint32_t i = 0; i < layer->view.rules.size(); ++i) {
        layer_ = layer.get();
        rule_ = &layer->view.rules[i];
        One();
      }
    }
    return std::move(found_);
  }

 private:
  std::string Text(ImageText text) const {
    return std::string(layer_->view.Text(text));
  }

  void Report(const char* code, std::string message, std::string help,
              Severity severity = Severity::kWarning) {
    found_.push_back({severity, code, Text(rule_->file), rule_->line,
                      rule_->column, std::move(message), std::move(help)});
  }

  void One() {
    const RuleView& view = layer_->view;
    const std::string id = Text(rule_->id);
    const bool shipped = layer_->layer == Layer::kBuiltin;
    const auto [other, fresh] = ids_.emplace(id, layer_->layer);
    if (!fresh)
      Report("lint-duplicate-id",
             "the id `" + id + "` is also used in the " + Name(other->second) +
                 " layer",
             "give it another name, so that messages and exceptions are clear");
    const Action action = static_cast<Action>(rule_->action);
    const auto examples = view.In(view.examples, rule_->examples);
    const auto yes =
        std::count_if(examples.begin(), examples.end(),
                      [](const ExampleRecord& e) { return e.matches != 0; });
    const auto no = static_cast<std::ptrdiff_t>(examples.size()) - yes;
    const Severity hard = shipped ? Severity::kError : Severity::kNote;
    if (yes < (shipped ? 2 : 1) || no < (shipped ? 2 : 1))
      Report("lint-no-examples", "the rule `" + id + "` has too few examples",
             "give commands it must match and commands it must not", hard);
    if (shipped && rule_->severity == 0 && action >= Action::kAsk)
      Report("lint-no-severity", "the rule `" + id + "` has no severity",
             "low, medium, high or critical", hard);
    const auto tags = view.In(view.strings, rule_->tags);
    const bool none = std::any_of(tags.begin(), tags.end(), [&](ImageText t) {
      return view.Text(t) == "no_alternative";
    });
    if (action >= Action::kAsk && rule_->suggestion.size == 0 && !none)
      Report("lint-no-suggestion",
             "the rule `" + id + "` stops without saying what to do instead",
             "add a `suggestion`, or the tag `no_alternative`", hard);
    if (rule_->expires_ms != 0 && now_ms_ != 0 && rule_->expires_ms <= now_ms_)
      Report("lint-expired", "the rule `" + id + "` is over",
             "take it out or give it a new date");
    for (const ImageText& text : view.In(view.strings, rule_->except))
      Exception(id, view.Text(text));
    if (action == Action::kAllow) Allow(id);
  }

  void Exception(const std::string& id, std::string_view named) {
    for (const auto& layer : policy_.layers)
      for (uint32_t i = 0; i < layer->view.rules.size(); ++i) {
        if (layer->view.Text(layer->view.rules[i].id) != named) continue;
        if (layer->Locked(i))
          Report("lint-unknown-exception",
                 "the rule `" + std::string(named) +
                     "` is locked, so the exception in `" + id +
                     "` has no effect",
                 "only the system layer can unlock it");
        return;
      }
    Report("lint-unknown-exception",
           "the rule `" + std::string(named) + "` that `" + id +
               "` excepts does not exist",
           "see `gate rules list`");
  }

  // The names of programs that a node is about; "" for any program.
  void Programs(uint32_t index, int depth, std::vector<std::string>* out) {
    const RuleView& view = layer_->view;
    if (depth > 32 || index >= view.nodes.size()) return;
    const Node& node = view.nodes[index];
    switch (node.kind) {
      case NodeKind::kAll:
      case NodeKind::kAny:
        for (const uint32_t link : view.In(view.links, node.a))
          Programs(link, depth + 1, out);
        break;
      case NodeKind::kPrefix: {
        const auto positions = view.In(view.positions, node.a);
        if (positions.size() == 1)
          for (const ImageText& t : view.In(view.strings, positions[0]))
            out->push_back(Text(t));
        break;
      }
      case NodeKind::kGlob:
        for (const ImageText& t : view.In(view.strings, node.a)) {
          const std::string pattern = Text(t);
          const std::string word = pattern.substr(0, pattern.find(' '));
          if (word.find('*') != std::string::npos)
            out->push_back("*");
          else if (pattern == word || pattern == word + " *")
            out->push_back(word);
        }
        break;
      case NodeKind::kProgram:
        for (const ImageText& t : view.In(view.strings, node.a))
          out->push_back(Text(t));
        break;
      default:
        break;
    }
  }

  bool HasConditions(uint32_t index, int depth) {
    const RuleView& view = layer_->view;
    if (depth > 32 || index >= view.nodes.size()) return false;
    const Node& node = view.nodes[index];
    if (node.kind == NodeKind::kAll || node.kind == NodeKind::kAny) {
      for (const uint32_t link : view.In(view.links, node.a))
        if (HasConditions(link, depth + 1)) return true;
      return false;
    }
    return node.kind == NodeKind::kOptions ||
           node.kind == NodeKind::kOperands ||
           node.kind == NodeKind::kOnlyDoes ||
           node.kind == NodeKind::kSubcommand || node.kind == NodeKind::kEffect;
  }

  void Allow(const std::string& id) {
    std::vector<std::string> programs;
    Programs(rule_->match, 0, &programs);
    for (const std::string& program : programs) {
      if (program == "*" || program.find('*') == 0) {
        Report("lint-broad-allow",
               "the rule `" + id + "` allows programs of any name",
               "name the programs", Severity::kError);
      } else if (IsRunner(program) && !HasConditions(rule_->match, 0)) {
        Report("lint-allow-interpreter",
               "the rule `" + id + "` allows `" + program +
                   "`, which runs whatever it is given",
               "name the sub-command or the script, or let it run in the "
               "sandbox",
               Severity::kError);
      }
    }
    if (programs.empty() && rule_->names_command == 0 && rule_->effects == 0)
      Report("lint-broad-allow",
             "the rule `" + id + "` does not say which command it allows",
             "add `prefix` or `program`", Severity::kError);
  }

  const Policy::Impl& policy_;
  int64_t now_ms_;
  const LoadedLayer* layer_ = nullptr;
  const RuleRecord* rule_ = nullptr;
  std::unordered_map<std::string, Layer> ids_;
  std::vector<Diagnostic> found_;
};

}  // namespace

bool RunsWhatItIsGiven(std::string_view program) {
  return IsRunner(program.substr(program.rfind('/') + 1));
}

std::vector<Diagnostic> Lint(const Policy& policy, uint64_t now_ms) {
  return Linter(policy, now_ms).Run();
}

}  // namespace gate::rules
