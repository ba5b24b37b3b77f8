// What programs print, and what they do to files.
#include <algorithm>

#include "base/paths.h"
#include "base/text.h"
#include "parser/eval/builtins/builtins.h"
#include "parser/filters/filters.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxPutIn = 16;  // texts of sed that are tried as commands
// Findings of a call of which each source is looked up in each target.
constexpr size_t kMaxNamesKept = 8;
// The most that a copy or a move of one file says of itself: what is read, what
// is written, and for `install -o` and `mv -b` the owner and the backup. One
// that says more has several sources, and which of them it is is not known.
constexpr size_t kEffectsOfOneCopy = 4;

// Programs that print one number and nothing else.
bool PrintsNumber(const std::vector<std::string>& words, bool has_input) {
  const std::string& base = words[0];
  if (base == "nproc") return true;
  if (words.size() != 2) return false;
  const std::string& option = words[1];
  if (base == "date") return option == "+%s" || option == "+%Y";
  if (base == "id") return option == "-u" || option == "-g";
  if (base == "wc") {
    return has_input && (option == "-l" || option == "-c" || option == "-w" ||
                         option == "-m");
  }
  return false;
}

bool PrintsDigits(const Values& text) {
  return text.size() == 1 && text[0].chunks.size() == 2 &&
         text[0].chunks[0].digits;
}

// Programs that leave out, put in and replace: who reads the line sees what
// they do. Decoders, and sed that moves text about, are none.
bool OnlyEdits(const ProgramCall& call, const ArgumentAnalysis& reading) {
  if (!KnownWords(call.argv) || !reading.complete) return false;
  if (reading.program == "tr") {
    return std::any_of(
        reading.options.begin(), reading.options.end(),
        [](std::string_view option) { return IsSpelling(option, "-d"); });
  }
  if (reading.program != "sed") return false;
  return std::all_of(
      reading.findings.begin(), reading.findings.end(),
      [](const ArgumentEffect& finding) {
        if (finding.role == Role::kScriptFile) return false;
        if (finding.role != Role::kForeignCode) return true;
        if (finding.words.empty() || !finding.words[0].known) return false;
        const EmbeddedCode code = ScanEmbedded("sed", finding.words[0].text);
        return !code.rewrites && !code.unclear && code.commands.empty();
      });
}

// What sed may have put into a script of which nothing is known: texts that
// are commands.
Values PutIn(const ArgumentAnalysis& reading) {
  Values texts;
  for (const ArgumentEffect& finding : reading.findings) {
    if (finding.role != Role::kForeignCode || finding.detail != "sed" ||
        finding.words.empty()) {
      continue;
    }
    for (const std::string& text :
         ScanEmbedded("sed", finding.words[0].text).puts) {
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

// What a copy of a program of the system, or a link to it, does when it runs:
// as a script that runs the program. Empty for other files.
std::string ScriptFor(const Argument& source) {
  constexpr std::string_view kDirectories[] = {
      "/bin",      "/sbin",          "/usr/bin",
      "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"};
  if (source.glob) return "";
  const std::string& path = source.known ? source.text : source.suffix;
  const std::string_view name = BaseName(path);
  if (path.find('/') == std::string::npos || !IsDescribed(name)) return "";
  const std::string directory = source.known ? Normalise(DirName(path), "/")
                                             : std::string(kDirectories[0]);
  if (std::find(std::begin(kDirectories), std::end(kDirectories), directory) ==
      std::end(kDirectories)) {
    return "";
  }
  return "#!/bin/sh\nexec " + ShellQuote(name) + " \"$@\"\n";
}

// Whether what is printed goes to a file, by its name.
bool PrintsToFile(const Shell& shell) {
  const auto out = shell.fds.find(1);
  return out != shell.fds.end() &&
         out->second.kind == Descriptor::Kind::kFile &&
         !IsProcessPath(out->second.path);
}

bool IsStandardInput(std::string_view path) {
  return path == "/dev/stdin" || path == "/dev/fd/0" ||
         path == "/proc/self/fd/0";
}

}  // namespace

Values Evaluator::FilterOutput(Shell& shell, const ProgramCall& call,
                               const Values& input, bool reads_stdin,
                               bool* seen) {
  bool ignored = false;
  if (seen == nullptr) seen = &ignored;
  *seen = false;
  std::optional<std::vector<std::string>> words = KnownWords(call.argv);
  if (!words) return {};
  (*words)[0] = BaseName((*words)[0]);
  const std::string& base = (*words)[0];
  Values out;
  if (base == "printf") {
    if (words->size() < 2) return {};
    std::optional<std::string> text =
        builtins::PrintfOutput({words->begin() + 1, words->end()});
    if (text) out.push_back(Value::Of(*text));
    return out;
  }
  if (base == "echo") {
    std::string text;
    size_t i = 1;
    bool newline = true, escapes = false;
    for (; i < words->size(); ++i) {
      const std::string& word = (*words)[i];
      if (word.size() < 2 || word[0] != '-' ||
          word.find_first_not_of("neE", 1) != std::string::npos) {
        break;
      }
      for (char c : word.substr(1)) {
        if (c == 'n') newline = false;
        if (c == 'e') escapes = true;
        if (c == 'E') escapes = false;
      }
    }
    for (size_t first = i; i < words->size(); ++i) {
      if (i > first) text += ' ';
      text += (*words)[i];
    }
    if (escapes) {
      bool stop = false;
      text = ExpandEchoEscapes(text, &stop);
      if (stop) newline = false;
    }
    if (newline) text += '\n';
    return {Value::Of(text)};
  }
  if (base == "tee") return input;
  if ((base == "basename" || base == "dirname") && words->size() > 1 &&
      words->size() <= 3 && !(*words)[1].starts_with("-")) {
    const std::string path((*words)[1]);
    if (path.empty() || path.find_last_not_of('/') == std::string::npos ||
        path.ends_with("/")) {
      return {};
    }
    const size_t slash = path.rfind('/');
    if (base == "dirname") {
      if (words->size() > 2) return {};
      std::string head =
          slash == std::string::npos ? "." : path.substr(0, slash);
      while (head.ends_with("/")) head.pop_back();
      return {Value::Of((head.empty() ? "/" : head) + "\n")};
    }
    std::string name =
        slash == std::string::npos ? path : path.substr(slash + 1);
    if (words->size() == 3 && name != (*words)[2] &&
        name.ends_with((*words)[2])) {
      name.resize(name.size() - (*words)[2].size());
    }
    return {Value::Of(name + "\n")};
  }
  if (PrintsNumber(*words, reads_stdin)) {
    Value number =
        Value::Unknown(UnknownCode::kDynamicArgument, call.span, true);
    number.Append("\n");
    return {number};
  }
  if (!IsFilter(base)) return {};
  // Operands that are files of which the text is known are read instead.
  Values text = input;
  std::vector<std::string> rest = {base};
  bool from_file = false;
  Values joined;
  for (size_t i = 1; i < words->size(); ++i) {
    const std::string& word = (*words)[i];
    std::string path = word;
    bool is_file = false;
    if (!word.starts_with("-") && word != "-") {
      if (!IsProcessPath(word)) {
        Argument argument;
        argument.text = word;
        std::vector<std::string> paths = KnownPaths(shell, argument);
        if (paths.size() == 1) path = paths[0];
      }
      is_file = shell.files.contains(path) || path == "/dev/stdin" ||
                path == "/dev/fd/0";
    }
    if (is_file || (word == "-" && base == "cat")) {
      bool known = false;
      Values content =
          word == "-" ? input : ContentOf(shell, path, call.span, &known);
      joined = joined.empty() ? content : Concatenate(joined, content);
      if (from_file && base != "cat") return {};
      from_file = true;
    } else {
      rest.push_back(word);
    }
  }
  if (from_file) text = joined;
  if (!from_file && !reads_stdin && rest.size() > 1 && text.empty()) {
    *seen = true;
    return {};
  }
  return FilteredText(rest, text, seen);
}

// What the filter makes of each text that is known. `seen`: of none that the
// line shows, in whole or in part, it is unknown what becomes of it.
Values Evaluator::FilteredText(const std::vector<std::string>& words,
                               const Values& text, bool* seen) {
  Values out;
  *seen = true;
  for (const Value& value : text) {
    if (!value.known()) {
      *seen = *seen && value.chunks.size() == 1;
      continue;
    }
    std::optional<std::string> result;
    if (Spend(1 + value.text().size() / 64)) {
      result = RunFilter(words, value.text());
    }
    *seen = *seen && result;
    if (result)
      out = Union(out.empty() ? Values{Value::Of(*result)} : out,
                  {Value::Of(*result)});
  }
  return out;
}

// What `sed -i` leaves of a file that holds `content`.
Values Evaluator::EditedInPlace(const ProgramCall& call,
                                const ArgumentAnalysis& reading,
                                const Values& content, bool* seen) {
  *seen = false;
  std::optional<std::vector<std::string>> words = KnownWords(call.argv);
  if (!words || reading.program != "sed") return {};
  // Its files stand last.
  size_t count = words->size();
  while (count > 1 &&
         std::any_of(reading.findings.begin(), reading.findings.end(),
                     [&](const ArgumentEffect& finding) {
                       return finding.role == Role::kWrite &&
                              !finding.words.empty() &&
                              finding.words[0].text == (*words)[count - 1];
                     })) {
    --count;
  }
  std::vector<std::string> script = {"sed"};
  for (size_t i = 1; i < count; ++i) {
    std::string word = (*words)[i];
    if (word.starts_with("-i") || word.starts_with("--i")) continue;
    if (word.size() > 2 && word[0] == '-' && word.back() == 'i' &&
        word.find_first_not_of("nEru", 1) == word.size() - 1) {
      word.pop_back();
    }
    script.push_back(word);
  }
  return FilteredText(script, content, seen);
}

void Evaluator::RunOutput(Shell& shell, const ProgramCall& call,
                          const ArgumentAnalysis& reading, uint32_t invocation,
                          bool wrapper) {
  bool captured = Captured(shell, 1);
  bool has_input = HasInput(shell, 0);
  bool connects = false, network = false, writes = false, foreign = false;
  for (const ArgumentEffect& finding : reading.findings) {
    connects = connects || finding.role == Role::kUrl;
    network = network || finding.role == Role::kUrl ||
              finding.role == Role::kRemoteState;
    writes =
        writes || finding.role == Role::kWrite || finding.role == Role::kMoveTo;
    foreign = foreign || finding.role == Role::kForeignCode ||
              finding.role == Role::kScriptFile;
  }
  std::string base(BaseName(call.argv[0].value.text()));
  bool reads = !reading.known || reading.reads_stdin || IsFilter(base);
  if (wrapper && !reading.reads_stdin) reads = false;
  Values input;
  if (has_input && reads) {
    bool looks = captured || writes || network || !reading.known;
    input = looks ? ReadRest(shell, 0, call.span) : Values{};
    if (network || !reading.known) AddUploadFlows(input, invocation, call.span);
    // Whatever it left unread.
    auto it = shell.fds.find(0);
    if (it != shell.fds.end() && it->second.kind == Descriptor::Kind::kStream &&
        base != "cat" && base != "tee") {
      shell.streams[it->second.stream] = UnknownValue(call.span);
    } else if (it != shell.fds.end() && !looks &&
               it->second.kind == Descriptor::Kind::kStream) {
      shell.streams[it->second.stream] = {Value::Of("")};
    }
  }
  if (network) fetchers_.insert(running_);
  Origin origin;
  if (reading.prints_network) origin.network.push_back(invocation);
  Values exact;
  // A file holds what it read, edited, for everybody to see. What the line
  // itself shows is to be seen through.
  const bool edits =
      (writes || PrintsToFile(shell)) && !wrapper && OnlyEdits(call, reading);
  const bool printed = edits && PrintsToFile(shell);
  bool edited = false;
  if (printed) {
    exact = FilterOutput(shell, call, input, has_input, &edited);
  }
  if (reading.decodes && !edited) origin.decoded.push_back(invocation);
  // Code in another language may print what it reads.
  const bool prints = reading.prints_input || !reading.known || foreign;
  // Most commands neither write nor send, and nobody reads what they print.
  const bool leaves = captured || writes || network || Captured(shell, 2);
  const bool follows = shell.made.size() != 0 || !shell.files.empty();
  Origin held = origin;  // by the files that it writes
  std::map<std::string, Values> in_place;
  bool sources = connects || (has_input && reads);
  if (connects && (writes || !reading.known))
    held.network.push_back(invocation);
  if (leaves && (prints || writes)) {
    Origin words = OriginOf(input);
    for (const Field& field : call.argv) {
      if (!field.value.known()) words.Add(OriginOf({field.value}));
    }
    if (prints) origin.Add(words);
    held.Add(words);
  }
  for (const ArgumentEffect& finding : reading.findings) {
    const bool lists = finding.role == Role::kListRead;
    const bool takes = finding.role == Role::kMoveFrom;
    if (!leaves) break;
    if ((finding.role != Role::kRead && !lists && !takes) ||
        finding.words.empty()) {
      continue;
    }
    // Standard input has its own flows.
    if (finding.words[0].known && finding.words[0].text == "-") continue;
    Argument path = Resolve(shell, finding.words[0]);
    Origin content;
    if (!lists && follows) {
      content = OriginOfFiles(shell, finding.words[0], call.argv,
                              finding.recursive || takes);
    }
    if (network && !lists) {
      AddFlow(FlowKind::kFileToNetwork, invocation, invocation, path,
              finding.span);
      for (const auto& [source, file] : content.files) {
        AddFlow(FlowKind::kFileToNetwork, source, invocation, file,
                finding.span);
      }
    }
    content.files.emplace_back(invocation, std::move(path));
    if (captured && (lists || prints)) origin.Add(content);
    if (writes) held.Add(content);
    sources = true;
  }
  for (const ArgumentEffect& finding : reading.findings) {
    if (!leaves && !follows) break;
    if (finding.role == Role::kForeignCode) {
      // What the code was seen to read.
      const Origin seen = OriginOf({Value::Unknown({}, finding.span)});
      origin.Add(seen);
      held.Add(seen);
    }
    if (finding.role == Role::kLoadCode && !finding.fixed &&
        !finding.words.empty()) {
      AddFileFlows(shell, finding.words[0], call.argv, false, invocation,
                   finding.span);
    }
    // Changed in place (sed -i): what was there is there still.
    if (sources || finding.role != Role::kWrite || finding.words.empty()) {
      continue;
    }
    if (follows) {
      held.Add(OriginOfFiles(shell, finding.words[0], call.argv, false));
    }
    if (!finding.fixed) {
      held.files.emplace_back(invocation, Resolve(shell, finding.words[0]));
    }
    for (const std::string& path : KnownPaths(shell, finding.words[0])) {
      const auto file = shell.files.find(path);
      const bool text = file != shell.files.end() && !file->second.empty() &&
                        file->second[0].Prefix() != "";
      if (!foreign || !text) continue;
      bool seen = false;
      Values left;
      if (edits) left = EditedInPlace(call, reading, file->second, &seen);
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
    if (!printed) exact = FilterOutput(shell, call, input, has_input);
    if (!edited && !exact.empty() && !exact[0].chunks.empty() &&
        !exact[0].chunks[0].digits && (IsFilter(base) || reading.decodes) &&
        base != "cat" && base != "tee") {
      // Text that a program computed: seen through, and told.
      origin.decoded.push_back(invocation);
    }
  }
  if (writes) origin.Add(held);
  SetOrigin(call.span, origin);
  Values text = exact;
  if (base == "mktemp" && call.argv.size() == 2 && !wrapper &&
      call.argv[1].value.known() && call.argv[1].value.text() == "-d") {
    // The name of a new directory in a temporary place, or nothing at all.
    Value made = Value::Of("/tmp/tmp.");
    made.Append(Value::Unknown(UnknownCode::kDynamicArgument, call.span));
    text = {made};
  } else if (!PrintsDigits(exact)) {
    text = exact.empty() ? UnknownValue(call.span)
                         : Union(exact, UnknownValue(call.span));
  }
  if (const size_t last = call.argv.size() - 1;
      reading.program == "which" && last >= 1 && !wrapper) {
    const std::optional<std::string> name = Known(call.argv[last]);
    const std::optional<std::string> option =
        last == 2 ? Known(call.argv[1]) : std::nullopt;
    if (name && (last == 1 || (option && option->starts_with("-"))))
      text = builtins::FoundFile(*name, call.span);
  }
  if (edited && exact.empty()) text = Union(text, PutIn(reading));
  if (captured && !wrapper) Write(shell, 1, text);
  // Messages, if there are any.
  if (Captured(shell, 2))
    Write(shell, 2, Union({Value::Of("")}, UnknownValue(call.span)));
  // Files that it writes.
  const auto built = static_cast<size_t>(std::count_if(
      reading.findings.begin(), reading.findings.end(),
      [](const ArgumentEffect& finding) { return finding.detail == "built"; }));
  // dd without `if=`.
  const bool takes_input =
      base == "dd" && has_input &&
      std::none_of(reading.findings.begin(), reading.findings.end(),
                   [](const ArgumentEffect& finding) {
                     return finding.role == Role::kRead;
                   });
  const bool appends =
      base == "tee" &&
      std::any_of(
          reading.options.begin(), reading.options.end(),
          [](std::string_view option) { return IsSpelling(option, "-a"); });
  const bool words_known = built != 0 && KnownWords(call.argv);
  for (const ArgumentEffect& finding : reading.findings) {
    if (finding.words.empty()) continue;
    const Argument& word = finding.words[0];
    if (finding.role == Role::kDelete) {
      for (const std::string& path : KnownPaths(shell, word)) {
        shell.files.erase(path);
      }
      continue;
    }
    if (finding.role != Role::kWrite && finding.role != Role::kMoveTo) {
      continue;
    }
    Values content = UnknownValue(call.span);
    if (base == "tee" && !input.empty()) {
      content = input;
    } else if (base == "tee" || takes_input) {
      content = input.empty() ? UnknownValue(call.span)
                              : Union(input, UnknownValue(call.span));
    } else if (finding.detail == "built") {
      // No copy of what it read. An unknown word may say otherwise.
      if (!words_known) continue;
    } else if (reading.findings.size() <= kEffectsOfOneCopy + built) {
      // cp, mv, ln, install: the text of the one file that is known.
      for (const ArgumentEffect& other : reading.findings) {
        if ((other.role != Role::kRead && other.role != Role::kMoveFrom) ||
            other.words.empty()) {
          continue;
        }
        if (const std::string script = ScriptFor(other.words[0]);
            !script.empty()) {
          content = {Value::Of(script)};
        }
        for (const std::string& path : KnownPaths(shell, other.words[0])) {
          auto it = shell.files.find(path);
          if (it != shell.files.end()) {
            content = Union(it->second, UnknownValue(call.span));
          } else if (has_input && IsStandardInput(path)) {
            content =
                Union(ReadRest(shell, 0, call.span), UnknownValue(call.span));
          }
        }
      }
    }
    std::vector<std::string> paths;
    Field field = ToField(word, call.argv);
    std::optional<std::string> known = Known(field);
    if (known && IsProcessPath(*known)) {
      paths.push_back(*known);
    } else {
      paths = KnownPaths(shell, word);
    }
    if ((base == "split" || base == "csplit") && word.known) {
      maybe_written_paths_.emplace_back(BaseName(word.text));
    }
    for (const std::string& path : paths) {
      if (base == "mkfifo" || base == "mknod") pipes_.insert(path);
      if (base == "ln" || base == "mount")
        maybe_written_paths_.push_back(path + "/");
      const auto left = in_place.find(path);
      StoreFile(shell, path,
                left == in_place.end()
                    ? content
                    : Union(left->second, UnknownValue(call.span)),
                appends);
      // Into a directory it keeps its name.
      if (reading.findings.size() > kMaxNamesKept) continue;
      for (const ArgumentEffect& other : reading.findings) {
        if ((other.role == Role::kRead || other.role == Role::kMoveFrom) &&
            !other.words.empty() && other.words[0].known) {
          std::string below =
              path + "/" + std::string(BaseName(other.words[0].text));
          for (const std::string& from : KnownPaths(shell, other.words[0])) {
            auto it = shell.files.find(from);
            if (it != shell.files.end()) {
              Values copy = Union(it->second, UnknownValue(call.span));
              StoreFile(shell, below, copy, false);
            }
          }
        }
      }
    }
  }
  NoteFilesMade(shell, call, reading, held);
  if (!reading.known && !shell.files.empty()) {
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
      if (Known(field) == pending.path && base != "tee") {
        shell.files[pending.path] = UnknownValue(call.span);
      }
    }
  }
}

}  // namespace gate::parser
