// What becomes of what a program reads: flows, its output, its files.
#include <algorithm>

#include "parser/eval/builtins/builtins.h"
#include "parser/filters/filters.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxPutIn = 16;  // texts of sed that are tried as commands
bool PrintsDigits(const Values& text) {
  return text.size() == 1 && text[0].chunks.size() == 2 &&
         text[0].chunks[0].digits;
}

// Programs that leave out, put in and replace: who reads the line sees what
// they do. Decoders, and sed that moves text about, are none.
bool OnlyEdits(const ProgramCall& call, const ArgumentAnalysis& arguments) {
  if (!KnownWords(call.argv) || !arguments.complete) return false;
  if (arguments.output == OutputModel::kReplacedCharacters) {
    return std::any_of(
        arguments.options.begin(), arguments.options.end(),
        [](std::string_view option) { return IsSpelling(option, "-d"); });
  }
  if (arguments.output != OutputModel::kSedScript) return false;
  return std::all_of(arguments.effects.begin(), arguments.effects.end(),
                     [](const ArgumentEffect& effect) {
                       if (effect.role == Role::kScriptFile) return false;
                       if (effect.role != Role::kForeignCode) return true;
                       if (effect.words.empty() || !effect.words[0].known)
                         return false;
                       const EmbeddedCode code =
                           ScanEmbedded(Language::kSed, effect.words[0].text);
                       return !code.rewrites && !code.unclear &&
                              code.commands.empty();
                     });
}

// What sed may have put into a script of which nothing is known: texts that
// are commands.
Values PutIn(const ArgumentAnalysis& arguments) {
  Values texts;
  for (const ArgumentEffect& effect : arguments.effects) {
    if (effect.role != Role::kForeignCode ||
        LanguageNamed(effect.detail) != Language::kSed ||
        effect.words.empty()) {
      continue;
    }
    for (const std::string& text :
         ScanEmbedded(Language::kSed, effect.words[0].text).puts) {
      const size_t begin = text.find_first_not_of(" \t\n");
      if (texts.size() >= kMaxPutIn || begin == std::string::npos ||
          text.find_first_of(" \t", begin) == std::string::npos ||
          Read(text).status != ReadStatus::kOk) {
        continue;
      }
      texts.push_back(Value::Of(text));
    }
  }
  return texts;
}

// Whether what is printed goes to a file, by its name.
bool PrintsToFile(const Shell& shell) {
  const auto out = shell.fds.find(1);
  return out != shell.fds.end() &&
         out->second.kind == Descriptor::Kind::kFile &&
         !IsProcessPath(out->second.path);
}

}  // namespace

void Evaluator::RunOutput(Shell& shell, const ProgramCall& call,
                          const ArgumentAnalysis& arguments,
                          uint32_t invocation, bool wrapper) {
  bool captured = Captured(shell, 1);
  bool has_input = HasInput(shell, 0);
  bool connects = false, network = false, writes = false, foreign = false;
  for (const ArgumentEffect& effect : arguments.effects) {
    connects = connects || effect.role == Role::kUrl;
    network = network || effect.role == Role::kUrl ||
              effect.role == Role::kRemoteState;
    writes =
        writes || effect.role == Role::kWrite || effect.role == Role::kMoveTo;
    foreign = foreign || effect.role == Role::kForeignCode ||
              effect.role == Role::kScriptFile;
  }
  const OutputModel model = arguments.output;
  const bool copies =
      model == OutputModel::kCopy || model == OutputModel::kInput;
  bool reads = !arguments.known || arguments.reads_stdin || IsFilter(model);
  if (wrapper && !arguments.reads_stdin) reads = false;
  Values input;
  if (has_input && reads) {
    bool looks = captured || writes || network || !arguments.known;
    input = looks ? ReadRest(shell, 0, call.span) : Values{};
    if (network || !arguments.known)
      AddUploadFlows(input, invocation, call.span);
    // Whatever it left unread.
    auto it = shell.fds.find(0);
    if (it != shell.fds.end() && it->second.kind == Descriptor::Kind::kStream &&
        !copies) {
      shell.streams[it->second.stream] = UnknownValue(call.span);
    } else if (it != shell.fds.end() && !looks &&
               it->second.kind == Descriptor::Kind::kStream) {
      shell.streams[it->second.stream] = {Value::Of("")};
    }
  }
  if (network) fetchers_.insert(running_);
  Origin origin;
  if (arguments.prints_network) origin.network.push_back(invocation);
  Values exact;
  // A file holds what it read, edited, for everybody to see. What the line
  // itself shows is to be seen through.
  const bool edits =
      (writes || PrintsToFile(shell)) && !wrapper && OnlyEdits(call, arguments);
  const bool printed = edits && PrintsToFile(shell);
  bool edited = false;
  if (printed) {
    exact = FilterOutput(shell, call, model, input, has_input, &edited);
  }
  if (arguments.decodes && !edited) origin.decoded.push_back(invocation);
  // Code in another language may print what it reads.
  const bool prints = arguments.prints_input || !arguments.known || foreign;
  // Most commands neither write nor send, and nobody reads what they print.
  const bool leaves = captured || writes || network || Captured(shell, 2);
  const bool follows = shell.made.size() != 0 || !shell.files.empty();
  Origin held = origin;  // by the files that it writes
  std::map<std::string, Values> in_place;
  bool sources = connects || (has_input && reads);
  if (connects && (writes || !arguments.known))
    held.network.push_back(invocation);
  if (leaves && (prints || writes)) {
    Origin words = OriginOf(input);
    for (const Field& field : call.argv) {
      if (!field.value.known()) words.Add(OriginOf({field.value}));
    }
    if (prints) origin.Add(words);
    held.Add(words);
  }
  for (const ArgumentEffect& effect : arguments.effects) {
    const bool lists = effect.role == Role::kListRead;
    const bool takes = effect.role == Role::kMoveFrom;
    if (!leaves) break;
    if ((effect.role != Role::kRead && !lists && !takes) ||
        effect.words.empty()) {
      continue;
    }
    // Standard input has its own flows.
    if (effect.words[0].known && effect.words[0].text == "-") continue;
    Argument path = Resolve(shell, effect.words[0]);
    Origin content;
    if (!lists && follows) {
      content = OriginOfFiles(shell, effect.words[0], call.argv,
                              effect.recursive || takes);
    }
    if (network && !lists) {
      AddFlow(FlowKind::kFileToNetwork, invocation, invocation, path,
              effect.span);
      for (const auto& [source, file] : content.files) {
        AddFlow(FlowKind::kFileToNetwork, source, invocation, file,
                effect.span);
      }
    }
    content.files.emplace_back(invocation, std::move(path));
    if (captured && (lists || prints)) origin.Add(content);
    if (writes) held.Add(content);
    sources = true;
  }
  for (const ArgumentEffect& effect : arguments.effects) {
    if (!leaves && !follows) break;
    if (effect.role == Role::kForeignCode) {
      // What the code was seen to read.
      const Origin seen = OriginOf({Value::Unknown({}, effect.span)});
      origin.Add(seen);
      held.Add(seen);
    }
    if (effect.role == Role::kLoadCode && !effect.fixed &&
        !effect.words.empty()) {
      AddFileFlows(shell, effect.words[0], call.argv, false, invocation,
                   effect.span);
    }
    // Changed in place (sed -i): what was there is there still.
    if (sources || effect.role != Role::kWrite || effect.words.empty()) {
      continue;
    }
    if (follows) {
      held.Add(OriginOfFiles(shell, effect.words[0], call.argv, false));
    }
    if (!effect.fixed) {
      held.files.emplace_back(invocation, Resolve(shell, effect.words[0]));
    }
    for (const std::string& path : KnownPaths(shell, effect.words[0])) {
      const auto file = shell.files.find(path);
      const bool text = file != shell.files.end() && !file->second.empty() &&
                        file->second[0].Prefix() != "";
      if (!foreign || !text) continue;
      bool seen = false;
      Values left;
      if (edits) left = EditedInPlace(call, arguments, file->second, &seen);
      if (!seen) held.decoded.push_back(invocation);
      if (!left.empty()) in_place[path] = std::move(left);
    }
  }
  if (network) {
    for (const Field& field : call.argv) {
      if (!field.value.known()) {
        AddUploadFlows({field.value}, invocation, call.span);
      }
    }
  }
  if ((captured || writes) && !wrapper) {
    if (!printed)
      exact = FilterOutput(shell, call, model, input, has_input, nullptr);
    if (!edited && !exact.empty() && !exact[0].chunks.empty() &&
        !exact[0].chunks[0].digits && (IsFilter(model) || arguments.decodes) &&
        !copies) {
      // Text that a program computed: seen through, and told.
      origin.decoded.push_back(invocation);
    }
  }
  if (writes) origin.Add(held);
  SetOrigin(call.span, origin);
  Values text = exact;
  if (model == OutputModel::kTemporaryName && call.argv.size() == 2 &&
      !wrapper && call.argv[1].value.known() &&
      call.argv[1].value.text() == "-d") {
    // The name of a new directory in a temporary place, or nothing at all.
    Value made = Value::Of("/tmp/tmp.");
    made.Append(Value::Unknown(UnknownCode::kDynamicArgument, call.span));
    text = {made};
  } else if (!PrintsDigits(exact)) {
    text = exact.empty() ? UnknownValue(call.span)
                         : Union(exact, UnknownValue(call.span));
  }
  if (const size_t last = call.argv.size() - 1;
      model == OutputModel::kProgramPath && last >= 1 && !wrapper) {
    const std::optional<std::string> name = Known(call.argv[last]);
    const std::optional<std::string> option =
        last == 2 ? Known(call.argv[1]) : std::nullopt;
    if (name && (last == 1 || (option && option->starts_with("-"))))
      text = builtins::FoundFile(*name, call.span);
  }
  if (edited && exact.empty()) text = Union(text, PutIn(arguments));
  if (captured && !wrapper) Write(shell, 1, text);
  // Messages, if there are any.
  if (Captured(shell, 2))
    Write(shell, 2, Union({Value::Of("")}, UnknownValue(call.span)));
  LeaveFiles(shell, call, arguments, input, in_place);
  NoteFilesMade(shell, call, arguments, held);
  if (!arguments.known && !shell.files.empty()) {
    // A program that nothing is known of may change the files it names.
    for (size_t i = 1; i < call.argv.size(); ++i) {
      std::optional<std::string> word = Known(call.argv[i]);
      if (!word) continue;
      Argument argument;
      argument.text = *word;
      std::vector<std::string> paths = KnownPaths(shell, argument);
      if (IsProcessPath(*word)) paths = {*word};
      for (const std::string& path : paths) {
        auto it = shell.files.find(path);
        if (it != shell.files.end()) {
          it->second = Union(it->second, UnknownValue(call.span));
        }
      }
    }
  }
  // A pipe that is named on the command line of any other program is written
  // by it.
  for (Pending& pending : pending_) {
    for (const Field& field : call.argv) {
      if (Known(field) == pending.path &&
          arguments.leaves != LeftFiles::kInput) {
        shell.files[pending.path] = UnknownValue(call.span);
      }
    }
  }
}

}  // namespace gate::parser
