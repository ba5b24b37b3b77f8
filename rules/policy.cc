// Layers are independent images; what one layer says about another (unlock,
// disable) is resolved here, once, into a byte per rule.
#include "rules/policy.h"

#include <algorithm>

#include "base/hash.h"
#include "rules/compile/compile.h"
#include "rules/policy_impl.h"

namespace gate::rules {

Result<RuleView> RuleView::Open(std::string_view bytes) {
  RuleView view;
  GATE_TRY(view.image, FlatFile::Open(bytes, kRuleMagic));
  const FlatFile& image = view.image;
  const auto header = image.Section<Header>(kHeader);
  if (header.size() != 1) return Fail(ErrorCode::kCorrupt, "no header");
  view.header = header[0];
  view.rules = image.Section<RuleRecord>(kRules);
  view.nodes = image.Section<Node>(kNodes);
  view.links = image.Section<uint32_t>(kLinks);
  view.strings = image.Section<FlatText>(kStrings);
  view.positions = image.Section<Range>(kPositions);
  view.paths = image.Section<PathRecord>(kPaths);
  view.classes = image.Section<ClassRecord>(kClasses);
  view.lists = image.Section<ListRecord>(kLists);
  view.regexes = image.Section<RegexRecord>(kRegexes);
  view.programs = image.Section<KeyRecord>(kPrograms);
  view.buckets = image.Section<Range>(kBuckets);
  view.bucket_rules = image.Section<uint32_t>(kBucketRules);
  view.examples = image.Section<ExampleRecord>(kExamples);
  view.notes = image.Section<FileNote>(kFileNotes);
  view.link_prefilters = image.Section<Prefilter>(kLinkPrefilters);
  view.prefilters = image.Section<Prefilter>(kPrefilters);
  if (view.buckets.size() != kBucketCount ||
      view.link_prefilters.size() != view.links.size() ||
      view.prefilters.size() != view.rules.size())
    return Fail(ErrorCode::kCorrupt, "wrong index");
  for (const RuleRecord& rule : view.rules)
    if (rule.match >= view.nodes.size() || rule.action > 3)
      return Fail(ErrorCode::kCorrupt, "a rule is damaged");
  return view;
}

Status AddLayer(Layer layer, std::string bytes, std::string_view embedded,
                Policy::Impl* impl) {
  auto loaded = std::make_unique<LoadedLayer>();
  loaded->layer = layer;
  loaded->bytes = std::move(bytes);
  const std::string_view image =
      embedded.empty() ? std::string_view(loaded->bytes) : embedded;
  GATE_TRY(loaded->view, RuleView::Open(image));
  loaded->regexes = std::make_unique<RegexCache>(loaded->view.regexes.size());
  if (layer == Layer::kBuiltin) impl->builtin = loaded.get();
  impl->layers.push_back(std::move(loaded));
  return {};
}

void FinishPolicy(Policy::Impl* impl) {
  const auto each = [impl](std::string_view id, Layer at_most, auto&& apply) {
    bool found = false;
    for (const auto& layer : impl->layers) {
      for (uint32_t i = 0; i < layer->view.rules.size(); ++i) {
        if (layer->view.Text(layer->view.rules[i].id) != id) continue;
        found = true;
        if (layer->layer > at_most) continue;
        if (layer->state.empty()) layer->state.resize(layer->view.rules.size());
        apply(*layer, i);
      }
    }
    return found;
  };
  // Unlock first, so that the system layer can disable what it unlocked.
  for (const uint32_t kind : {uint32_t{kNoteUnlock}, uint32_t{kNoteDisable}}) {
    for (const auto& layer : impl->layers) {
      for (const FileNote& note : layer->view.notes) {
        if (note.kind != kind) continue;
        const std::string id(layer->view.Text(note.id));
        bool locked = false, done = false;
        const bool found =
            each(id, layer->layer, [&](LoadedLayer& of, uint32_t rule) {
              if (kind == kNoteUnlock) {
                of.state[rule] |= LoadedLayer::kUnlocked;
                done = true;
              } else if (of.Locked(rule)) {
                locked = true;
              } else {
                of.state[rule] |= LoadedLayer::kDisabled;
                done = true;
              }
            });
        if (done && !locked) continue;
        impl->diagnostics.push_back(
            {Severity::kWarning,
             !found   ? "rule-unknown-id"
             : locked ? "rule-locked"
                      : "rule-more-trusted",
             std::string(layer->view.Text(note.file)), note.line, note.column,
             !found   ? "there is no rule `" + id + "`"
             : locked ? "the rule `" + id + "` is locked and stays"
                      : "the rule `" + id + "` is of a more trusted layer",
             locked ? "only /etc/gate/rules.d can unlock it" : ""});
      }
    }
  }

  // The builtin default may be lowered by the user, and the user's by the
  // system; a less trusted layer than the one that set it can only raise it.
  const auto stated = [impl](Layer layer) {
    int value = -1;
    for (const auto& loaded : impl->layers)
      if (loaded->layer == layer &&
          loaded->view.header.default_action != RuleRecord::kUnset)
        value = std::max(value,
                         static_cast<int>(loaded->view.header.default_action));
    return value;
  };
  int value = stated(Layer::kBuiltin);
  if (value < 0) value = static_cast<int>(Action::kSandbox);
  const int user = stated(Layer::kUser), system = stated(Layer::kSystem);
  if (user >= 0) value = user;
  if (system >= 0) value = user >= 0 ? std::max(user, system) : system;
  value = std::max(value, stated(Layer::kProject));
  value = std::max(value, stated(Layer::kSession));
  impl->default_action = static_cast<Action>(std::min(value, 3));
}

Policy::Policy() : impl_(std::make_unique<Impl>()) {}
Policy::Policy(Policy&&) noexcept = default;
Policy& Policy::operator=(Policy&&) noexcept = default;
Policy::~Policy() = default;

const std::vector<Diagnostic>& Policy::diagnostics() const {
  return impl_->diagnostics;
}
Action Policy::floor() const { return impl_->floor; }
Action Policy::default_action() const { return impl_->default_action; }
bool Policy::asks_branch() const {
  for (const auto& layer : impl_->layers)
    if (layer->view.header.asks_branch != 0) return true;
  return false;
}
const std::string& Policy::revision() const { return impl_->revision; }

std::string FileHash(std::string_view text) { return gate::Hex(Sha256(text)); }

bool AddBuiltin(Policy::Impl* impl) {
  const auto added = AddLayer(Layer::kBuiltin, {}, EmbeddedRules(), impl);
  if (added) return true;
  impl->diagnostics.push_back(
      {Severity::kError, "rule-builtin", "builtin", 0, 0,
       "the shipped policy is damaged: " + added.error().message,
       "install gate again"});
  return false;
}

Policy MakePolicy(const std::vector<RuleFile>& files, bool builtin) {
  Policy policy;
  Policy::Impl& impl = policy.impl();
  Action floor = Action::kAllow;
  std::string identity;
  if (builtin) {
    if (AddBuiltin(&impl)) {
      const RuleView& view = impl.builtin->view;
      identity += view.Text(view.header.source_hash);
    } else {
      floor = Action::kDeny;
    }
  }
  for (const Layer layer : {Layer::kBuiltin, Layer::kSystem, Layer::kUser,
                            Layer::kProject, Layer::kSession}) {
    std::vector<SourceFile> sources;
    for (const RuleFile& file : files)
      if (file.layer == layer)
        sources.push_back({file.name, file.text, file.trusted});
    if (sources.empty()) continue;
    std::sort(sources.begin(), sources.end(),
              [](const SourceFile& a, const SourceFile& b) {
                return a.name < b.name;
              });
    CompileOptions options;
    options.layer = layer;
    options.known = impl.builtin != nullptr ? &impl.builtin->view : nullptr;
    CompiledRules compiled = CompileRules(sources, options);
    for (Diagnostic& diagnostic : compiled.diagnostics)
      impl.diagnostics.push_back(std::move(diagnostic));
    const Action broken =
        layer == Layer::kProject ? Action::kAsk : Action::kDeny;
    if (compiled.broken) floor = Strictest(floor, broken);
    if (const auto added =
            AddLayer(layer, std::move(compiled.image), {}, &impl);
        !added) {
      floor = Strictest(floor, broken);
      impl.diagnostics.push_back(
          {Severity::kError, "rule-internal", sources[0].name, 0, 0,
           "the compiled rules do not open: " + added.error().message, ""});
      continue;
    }
    const RuleView& view = impl.layers.back()->view;
    identity += Name(layer);
    identity += view.Text(view.header.source_hash);
  }
  impl.compile_diagnostics = impl.diagnostics.size();
  FinishPolicy(&impl);
  impl.floor = floor;
  impl.revision = files.empty() && builtin && impl.builtin != nullptr
                      ? identity
                      : gate::Hex(Sha256(identity));
  return policy;
}

}  // namespace gate::rules
