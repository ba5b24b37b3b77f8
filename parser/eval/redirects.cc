// Redirections, and the text that moves through descriptors.
#include <cstdlib>

#include "base/host.h"
#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxFiles = 512;  // of which the content is followed

std::optional<int> DescriptorNumber(std::string_view text) {
  if (text.empty() || text.size() > 6) return std::nullopt;
  int number = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

// N of /dev/fd/N, /dev/stdin and their kin.
std::optional<int> DevicePath(std::string_view path) {
  if (IsProcessPath(path)) return std::nullopt;
  if (path == "/dev/stdin") return 0;
  if (path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  for (std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (path.starts_with(prefix)) {
      return DescriptorNumber(path.substr(prefix.size()));
    }
  }
  return std::nullopt;
}

}  // namespace

int Evaluator::NewStream(Shell& shell, Values text) {
  int id = next_stream_++;
  shell.streams[id] = std::move(text);
  return id;
}

Values Evaluator::OpenedAt(const Shell& shell, std::string_view path) const {
  const std::optional<int> fd = DevicePath(path);
  const auto it = fd ? shell.fds.find(*fd) : shell.fds.end();
  return it == shell.fds.end() ? Values{} : it->second.opened;
}

bool Evaluator::Captured(const Shell& shell, int fd) const {
  auto it = shell.fds.find(fd);
  if (it == shell.fds.end()) return false;
  switch (it->second.kind) {
    case Descriptor::Kind::kStream:
    case Descriptor::Kind::kFile:
      return true;
    case Descriptor::Kind::kUnknown:
      return !it->second.path.empty();
    default:
      return false;
  }
}

namespace {

// `text` after `into`; in place where there is one of each.
void AppendText(Values& into, const Values& text) {
  size_t size = 0;
  if (!into.empty()) {
    for (const Chunk& chunk : into[0].chunks) size += chunk.text.size();
  }
  if (size > kMaxValueBytes || (!into.empty() && into[0].chunks.size() > 256)) {
    into = {Value::Unknown(UnknownCode::kDynamicArgument, Span{})};
    return;
  }
  if (into.size() == 1 && text.size() == 1) {
    into[0].Append(text[0]);
    return;
  }
  into = Concatenate(into, text);
}

}  // namespace

bool Evaluator::RedirectMayFail(
    const Script& script, const std::vector<RedirectId>& redirects) const {
  for (const RedirectId id : redirects) {
    const parser::Redirect& redirect = script.ast.redirects[id];
    switch (redirect.kind) {
      case RedirectKind::kHereDocument:
      case RedirectKind::kHereString:
        continue;
      default:
        break;
    }
    if (redirect.target == kNone) return true;
    const Word& word = script.ast.words[redirect.target];
    if (word.parts.size() != 1) return true;
    const Part& part = script.ast.parts[word.parts[0]];
    if (part.kind == PartKind::kProcess) continue;
    if (part.kind != PartKind::kLiteral) return true;
    const bool duplicates = redirect.kind == RedirectKind::kDuplicateIn ||
                            redirect.kind == RedirectKind::kDuplicateOut;
    if (duplicates ? (part.text != "0" && part.text != "1" &&
                      part.text != "2" && part.text != "-")
                   : part.text != "/dev/null")
      return true;
  }
  return false;
}

void Evaluator::Write(Shell& shell, int fd, const Values& text) {
  auto it = shell.fds.find(fd);
  if (it == shell.fds.end()) return;
  size_t size = 0;
  for (const Value& value : text) size += value.text().size();
  if (!Spend(size / 256)) return;
  const Descriptor& descriptor = it->second;
  if (descriptor.kind == Descriptor::Kind::kStream) {
    auto stream = shell.streams.find(descriptor.stream);
    if (stream != shell.streams.end()) AppendText(stream->second, text);
    if (descriptor.path == "network") {
      AddUploadFlows(text, last_invocation_, Span{});
    }
  } else if (descriptor.kind == Descriptor::Kind::kFile) {
    auto file = shell.files.find(descriptor.path);
    if (file != shell.files.end()) AppendText(file->second, text);
  } else if (!descriptor.path.empty()) {
    AddUploadFlows(text, last_invocation_, Span{});
  }
}

bool Evaluator::HasInput(const Shell& shell, int fd) const {
  auto it = shell.fds.find(fd);
  return it != shell.fds.end() && it->second.kind != Descriptor::Kind::kOutside;
}

Values Evaluator::ReadRest(Shell& shell, int fd, Span span) {
  auto it = shell.fds.find(fd);
  if (it == shell.fds.end()) return UnknownValue(span);
  switch (it->second.kind) {
    case Descriptor::Kind::kStream: {
      auto stream = shell.streams.find(it->second.stream);
      if (stream == shell.streams.end()) return UnknownValue(span);
      Values text = std::move(stream->second);
      stream->second = {Value::Of("")};
      if (text.empty()) text = {Value::Of("")};
      return text;
    }
    case Descriptor::Kind::kNull:
      return {Value::Of("")};
    default:
      return UnknownValue(span);
  }
}

Values Evaluator::ContentOf(Shell& shell, const std::string& path, Span span,
                            bool* known_file) {
  *known_file = true;
  if (IsProcessPath(path)) {
    auto it = shell.files.find(path);
    if (it != shell.files.end()) return it->second;
    return UnknownValue(span);
  }
  if (std::optional<int> fd = DevicePath(path)) {
    return ReadRest(shell, *fd, span);
  }
  if (path == "/dev/null") return {Value::Of("")};
  auto it = shell.files.find(path);
  if (it != shell.files.end()) return it->second;
  *known_file = false;
  Argument file;
  file.text = path;
  Origin origin = OriginOfFiles(shell, file, {}, false);
  origin.files.emplace_back(UINT32_MAX, file);
  SetOrigin(span, origin);
  return UnknownValue(span);
}

void Evaluator::StoreFile(Shell& shell, const std::string& path,
                          const Values& text, bool append) {
  if (path.empty()) return;
  paths_written_.insert(path);
  if (!append) ForgetMade(shell, path, false);
  auto it = shell.files.find(path);
  if (it == shell.files.end()) {
    if (shell.files.size() >= kMaxFiles) {
      scripts_run_.insert(path);  // not followed: as if it were run already
      return;
    }
    // What it appends to may be nothing.
    Values before = {Value::Of("")};
    if (append) {
      before.push_back(Value::Unknown(UnknownCode::kDynamicArgument, Span{}));
    }
    it = shell.files.emplace(path, std::move(before)).first;
  } else if (!append) {
    it->second = {Value::Of("")};
  }
  AppendText(it->second, text);
}

void Evaluator::OpenForWriting(Shell& shell, int fd, const Field& target,
                               Span span, bool append, bool also_read) {
  Argument word = ToArgument(target, shell);
  std::optional<std::string> text = Known(target);
  if (text && !word.glob) {
    if (IsProcessPath(*text)) {
      shell.fds[fd] = Descriptor{Descriptor::Kind::kFile, -1, *text};
      return;
    }
    if (*text == "/dev/null") {
      shell.fds[fd] = Descriptor{Descriptor::Kind::kNull, -1, ""};
      return;
    }
    if (std::optional<int> other = DevicePath(*text)) {
      auto it = shell.fds.find(*other);
      Descriptor copy = it == shell.fds.end() ? Descriptor{} : it->second;
      shell.fds[fd] = copy;
      // Linux opens the file anew, also for writing (proc(5), /proc/pid/fd).
      Scoped<bool> certain(certain_, certain_ && copy.opened.size() == 1);
      for (const Value& path : copy.opened) {
        Field file;
        file.value = path;
        file.span = target.span;
        OpenForWriting(shell, fd, file, span, append, also_read);
      }
      return;
    }
    for (std::string_view prefix : {"/dev/tcp/", "/dev/udp/"}) {
      if (!text->starts_with(prefix)) continue;
      std::string rest = text->substr(prefix.size());
      size_t slash = rest.find('/');
      std::string host = rest.substr(0, slash);
      int port =
          slash == std::string::npos ? 0 : std::atoi(rest.c_str() + slash + 1);
      HostForms forms = NormaliseHost(host);
      Effect effect;
      effect.kind = EffectKind::kNetwork;
      effect.certain = certain_;
      effect.from_redirect = true;
      effect.host = std::move(forms.normal);
      effect.port = port < 0 || port > 65535 ? 0 : port;
      effect.scheme = prefix.substr(5, 3);
      effect.span = span;
      AddEffect(effect);
      effect.certain = false;
      for (std::string& other : forms.also) {
        effect.host = std::move(other);
        AddEffect(effect);
      }
      Origin origin;
      origin.network.push_back(UINT32_MAX);
      SetOrigin(span, origin);
      shell.fds[fd] = Descriptor{Descriptor::Kind::kUnknown, -1, "network"};
      if (also_read) {
        int stream = NewStream(shell, UnknownValue(span));
        shell.fds[fd] =
            Descriptor{Descriptor::Kind::kStream, stream, "network"};
      }
      return;
    }
  }
  analysis_.shell_writes.push_back(word);
  if (!word.known) {
    NoteAt(UnknownCode::kDynamicTarget, span, TextAt(span));
  }
  if (also_read) {
    AddPathEffect(shell, EffectKind::kRead, word, span, UINT32_MAX, true);
  }
  AddPathEffect(shell, EffectKind::kWrite, word, span, UINT32_MAX, true);
  std::vector<std::string> paths = KnownPaths(shell, word);
  redirected_.insert(paths.begin(), paths.end());
  if (paths.empty()) {
    shell.fds[fd] = Descriptor{Descriptor::Kind::kUnknown, -1, ""};
    // Two words made of the same unknown parts name the same file.
    const std::vector<std::string> places = PlacesOf(shell, word, {target});
    if (places.empty() || also_read) return;
    StoreFile(shell, places[0], {Value::Of("")}, append);
    if (shell.files.contains(places[0])) {
      shell.fds[fd] = Descriptor{Descriptor::Kind::kFile, -1, places[0]};
    }
    return;
  }
  for (size_t i = 1; i < paths.size(); ++i) {
    StoreFile(shell, paths[i], UnknownValue(span), append);
  }
  if (also_read) {
    bool known = false;
    Values content = ContentOf(shell, paths[0], span, &known);
    StoreFile(shell, paths[0], UnknownValue(span), append);
    int stream = NewStream(shell, std::move(content));
    shell.fds[fd] = Descriptor{Descriptor::Kind::kStream, stream, ""};
    return;
  }
  StoreFile(shell, paths[0], {Value::Of("")}, append);
  shell.fds[fd] = Descriptor{Descriptor::Kind::kFile, -1, paths[0]};
}

void Evaluator::OpenForReading(Shell& shell, int fd, const Field& target,
                               Span span) {
  Argument word = ToArgument(target, shell);
  std::optional<std::string> text = Known(target);
  Values content;
  if (text && !word.glob &&
      (text->starts_with("/dev/tcp/") || text->starts_with("/dev/udp/"))) {
    OpenForWriting(shell, fd, target, span, true, true);
    return;
  }
  if (text && !word.glob) {
    if (std::optional<int> other = DevicePath(*text)) {
      auto it = shell.fds.find(*other);
      Descriptor copy = it == shell.fds.end() ? Descriptor{} : it->second;
      shell.fds[fd] = copy;
      return;
    }
    if (IsProcessPath(*text)) {
      bool known = false;
      content = ContentOf(shell, *text, span, &known);
      int stream = NewStream(shell, std::move(content));
      shell.fds[fd] = Descriptor{Descriptor::Kind::kStream, stream, ""};
      return;
    }
  }
  AddPathEffect(shell, EffectKind::kRead, word, span, UINT32_MAX, true);
  Values opened;
  for (const std::string& path : KnownPaths(shell, word)) {
    opened.push_back(DevicePath(path) ? UnknownValue(span).front()
                                      : Value::Of(path));
    bool known = false;
    Values more = ContentOf(shell, path, span, &known);
    content = content.empty() ? more : Union(content, more);
  }
  if (content.empty()) {
    content = UnknownValue(span);
    SetOrigin(span, OriginOfFiles(shell, word, {target}, false));
    if (!word.known) NoteAt(UnknownCode::kDynamicTarget, span, TextAt(span));
  }
  if (opened.empty()) opened = UnknownValue(span);
  int stream = NewStream(shell, std::move(content));
  shell.fds[fd] =
      Descriptor{Descriptor::Kind::kStream, stream, "", Union(opened, {})};
}

void Evaluator::Redirect(Shell& shell, const Script& script,
                         const std::vector<RedirectId>& redirects) {
  for (RedirectId id : redirects) {
    if (!Spend(1)) return;
    RedirectOne(shell, script, script.ast.redirects[id]);
  }
}

void Evaluator::RedirectOne(Shell& shell, const Script& script,
                            const parser::Redirect& redirect) {
  Expander x{shell, script, *this};
  Span span = Map(script, redirect.span);
  bool input = redirect.kind == RedirectKind::kRead ||
               redirect.kind == RedirectKind::kReadWrite ||
               redirect.kind == RedirectKind::kDuplicateIn ||
               redirect.kind == RedirectKind::kHereDocument ||
               redirect.kind == RedirectKind::kHereString;
  int fd = redirect.descriptor >= 0 ? redirect.descriptor : (input ? 0 : 1);
  bool duplicate = redirect.kind == RedirectKind::kDuplicateIn ||
                   redirect.kind == RedirectKind::kDuplicateOut;
  if (redirect.kind == RedirectKind::kHereDocument) {
    Values text = {Value::Of("")};
    if (redirect.body != kNone) {
      text = redirect.quoted_delimiter ? ExpandToValue(x, redirect.body)
                                       : ExpandQuoted(x, redirect.body);
    }
    int stream = NewStream(shell, std::move(text));
    shell.fds[fd] = Descriptor{Descriptor::Kind::kStream, stream, ""};
    return;
  }
  if (redirect.kind == RedirectKind::kHereString) {
    Values text = redirect.target != kNone
                      ? ExpandToValue(x, redirect.target, true)
                      : Values{Value::Of("")};
    for (Value& value : text) value.Append("\n");
    int stream = NewStream(shell, std::move(text));
    shell.fds[fd] = Descriptor{Descriptor::Kind::kStream, stream, ""};
    return;
  }
  std::vector<Fields> alternatives;
  if (redirect.target != kNone) {
    alternatives = ExpandWords(x, {redirect.target});
  }
  if (!redirect.variable.empty()) {
    bool closes = duplicate && alternatives.size() == 1 &&
                  alternatives[0].size() == 1 &&
                  Known(alternatives[0][0]) == "-";
    if (closes) return;
    if (shell.posix) RecordForeign(shell, '{' + redirect.variable + '}', span);
    fd = 10;
    while (shell.fds.contains(fd)) ++fd;
    SetVariable(x, redirect.variable, {Value::Of(std::to_string(fd))});
  }
  bool one = alternatives.size() == 1 && alternatives[0].size() == 1;
  if (duplicate) {
    std::string word;
    if (one) word = Known(alternatives[0][0]).value_or("?");
    if (word.size() > 1 && word.back() == '-') word.pop_back();
    if (word == "-") {
      shell.fds[fd] = Descriptor{Descriptor::Kind::kNull, -1, ""};
      shell.fds[fd].closed = true;
    } else if (std::optional<int> from = DescriptorNumber(word)) {
      auto it = shell.fds.find(*from);
      Descriptor copy = it == shell.fds.end() ? Descriptor{} : it->second;
      shell.fds[fd] = copy;
    } else if (redirect.kind == RedirectKind::kDuplicateOut && one &&
               Known(alternatives[0][0])) {
      OpenForWriting(shell, 1, alternatives[0][0], span, false, false);
      shell.fds[2] = shell.fds[1];
    } else {
      // A descriptor or a file: not known which.
      bool digits = one && !alternatives[0][0].value.chunks.empty();
      if (one) {
        for (const Chunk& chunk : alternatives[0][0].value.chunks) {
          digits = digits && chunk.unknown && chunk.digits;
        }
      }
      shell.fds[fd] = Descriptor{Descriptor::Kind::kUnknown, -1, ""};
      if (redirect.kind == RedirectKind::kDuplicateOut && digits &&
          !coprocess_.empty()) {
        shell.fds[fd] =
            Descriptor{Descriptor::Kind::kFile, -1, coprocess_};  // or another
      }
      if (redirect.kind == RedirectKind::kDuplicateOut && !digits) {
        Argument unknown;
        unknown.known = false;
        unknown.span = span;
        analysis_.shell_writes.push_back(unknown);
        NoteAt(UnknownCode::kDynamicTarget, span, TextAt(span));
        AddPathEffect(shell, EffectKind::kWrite, unknown, span, UINT32_MAX,
                      true);
      }
    }
    return;
  }
  for (size_t i = 0; i < alternatives.size() && i < kMaxAlternatives; ++i) {
    // More words than one are an error of the shell ("ambiguous redirect");
    // each is taken as possible.
    for (const Field& field : alternatives[i]) {
      switch (redirect.kind) {
        case RedirectKind::kRead:
          OpenForReading(shell, fd, field, span);
          break;
        case RedirectKind::kReadWrite:
          OpenForWriting(shell, fd, field, span, true, true);
          break;
        case RedirectKind::kAppend:
          OpenForWriting(shell, fd, field, span, true, false);
          break;
        case RedirectKind::kBothWrite:
        case RedirectKind::kBothAppend:
          OpenForWriting(shell, 1, field, span,
                         redirect.kind == RedirectKind::kBothAppend, false);
          shell.fds[2] = shell.fds[1];
          break;
        default:
          OpenForWriting(shell, fd, field, span, false, false);
          break;
      }
    }
  }
  if (alternatives.size() != 1) {
    shell.fds[fd] = Descriptor{Descriptor::Kind::kUnknown, -1, ""};
  }
}

}  // namespace gate::parser
