#include "parser/embedded/files.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/host.h"
#include "parser/embedded/calls.h"
#include "parser/embedded/characters.h"

namespace gate::parser {
namespace {

constexpr size_t kMaxEmbeddedEffects = 64;
constexpr size_t kMaxPathLiterals = 16;
// Longer code has computed names; so does a call that goes on for longer.
constexpr size_t kMaxCalls = 2000;
constexpr size_t kMaxCallText = 4096;

const FileCall* FindCall(std::string_view name) {
  for (const FileCall& call : kCalls) {
    if (call.name == name) return &call;
  }
  return nullptr;
}

// First letters of the names above, so that most names cost one look.
constexpr bool MayBeCall(char c) {
  return std::string_view("FHILPTUWabcefghilmnoprstuw").find(c) !=
         std::string_view::npos;
}

bool LooksLikePath(std::string_view text) {
  return text.size() > 1 && text.size() < 4096 &&
         text.find('\n') == std::string_view::npos &&
         (text[0] == '/' || text.starts_with("~/") || text.starts_with("../") ||
          text.starts_with("./") ||
          (text[0] == '.' && text.size() > 3 && IsName(text[1]) &&
           text.find(' ') == std::string_view::npos));
}

class Scanner {
 public:
  Scanner(Language language, std::string_view code, EmbeddedCode* out)
      : code_(code), out_(*out) {
    interpolated_ = language == Language::kPerl   ? "$@"
                    : language == Language::kPhp  ? "$"
                    : language == Language::kRuby ? "#"
                                                  : "";
    bare_ = language == Language::kPerl || language == Language::kRuby;
  }

  void Run() {
    for (size_t i = 0; i < code_.size();) {
      const char c = code_[i];
      if (c == '"' || c == '\'' || c == '`') {
        size_t end = 0;
        std::optional<std::string> text = Literal(i, &end);
        if (!text) {
          ++i;
          continue;
        }
        NoteModule(*text, i);
        NoteLiteral(*text, end);
        i = end;
        continue;
      }
      if (!IsName(c)) {
        ++i;
        continue;
      }
      const size_t begin = i;
      while (i < code_.size() && IsName(code_[i])) ++i;
      const std::string_view name = code_.substr(begin, i - begin);
      if (!MayBeCall(name[0]) || name.size() > 24) continue;
      const FileCall* call = FindCall(name);
      if (call == nullptr) continue;
      if (++calls_ > kMaxCalls) {
        out_.unclear = true;
        break;
      }
      See(*call, begin, i);
    }
    Finish();
  }

 private:
  // Also with a prefix (r"", b"") and between backquotes without `${`.
  std::optional<std::string> Literal(size_t at, size_t* end) const {
    size_t quote = at;
    while (quote < code_.size() && quote < at + 2 &&
           std::string_view("rRbBuU").find(code_[quote]) !=
               std::string_view::npos) {
      ++quote;
    }
    if (quote >= code_.size()) return std::nullopt;
    if (code_[quote] == '`') {
      const size_t close = code_.find('`', quote + 1);
      if (close == std::string_view::npos) return std::nullopt;
      std::string text(code_.substr(quote + 1, close - quote - 1));
      if (text.find("${") != std::string::npos) return std::nullopt;
      *end = close + 1;
      return text;
    }
    return EmbeddedLiteral(code_, quote, interpolated_, end);
  }

  // require("http"), import … from "node:net".
  void NoteModule(std::string_view text, size_t at) {
    if (text.starts_with("node:")) text.remove_prefix(5);
    if (text.size() > 24 || at < 5) return;
    const std::string_view before =
        code_.substr(at < 12 ? 0 : at - 12, at < 12 ? at : 12);
    if (before.find("require") == std::string_view::npos &&
        before.find("from") == std::string_view::npos &&
        before.find("import") == std::string_view::npos) {
      return;
    }
    for (std::string_view name : kNetworkModules) {
      if (text == name) network_ = true;
    }
  }

  void NoteLiteral(const std::string& text, size_t end) {
    if (LooksLikePath(text)) {
      if (paths_.size() < kMaxPathLiterals) paths_.push_back(text);
      return;
    }
    const size_t scheme = text.find("://");
    if (scheme != std::string::npos && scheme > 0 && scheme < 8) {
      if (hosts_.size() < kMaxPathLiterals) hosts_.push_back(text);
      return;
    }
    NoteMachine(text);
    // ("host", 443): a name with a dot, or an address, before a number.
    size_t next = SkipBlanks(code_, end);
    if (text.empty() || next >= code_.size() || code_[next] != ',') return;
    next = SkipBlanks(code_, next + 1);
    if (next >= code_.size() || code_[next] < '0' || code_[next] > '9') return;
    if (text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTU"
                               "VWXYZ0123456789.-:") != std::string::npos) {
      return;
    }
    const int port = std::atoi(std::string(code_.substr(next, 6)).c_str());
    if (hosts_.size() < kMaxPathLiterals) {
      hosts_.push_back("tcp://" + text + ":" + std::to_string(port));
    }
  }

  // An address by itself, of whatever machine but this one, or the name of one
  // inside a cloud: an object of options, or a call with other arguments.
  void NoteMachine(const std::string& text) {
    if (text.size() < 7 || text.size() > kMaxHostBytes) return;
    const HostForms forms = NormaliseHost(text);
    const bool dotted = std::count(text.begin(), text.end(), '.') == 3 ||
                        std::count(text.begin(), text.end(), ':') > 1;
    const bool address = forms.is_address && !IsLoopback(forms.normal) &&
                         (dotted || forms.normal.starts_with("169.254."));
    const bool name = forms.normal.ends_with(".internal") &&
                      text.find_first_of(" /") == std::string::npos;
    if ((address || name) && machines_.size() < kMaxPathLiterals) {
      machines_.push_back(text);
    }
  }

  // The literals among the arguments at `at`, up to three; a missing one is
  // one that is computed.
  std::vector<std::optional<std::string>> Arguments(size_t at) const {
    std::vector<std::optional<std::string>> out;
    for (int i = 0; i < 3; ++i) {
      at = SkipBlanks(code_, at);
      if (at >= code_.size() || code_[at] == ')') break;
      // mode="w"
      size_t name = at;
      while (name < code_.size() && IsName(code_[name])) ++name;
      const size_t equals = SkipBlanks(code_, name);
      if (name > at && equals + 1 < code_.size() && code_[equals] == '=' &&
          code_[equals + 1] != '=') {
        at = SkipBlanks(code_, equals + 1);
      }
      size_t end = at;
      std::optional<std::string> text = Literal(at, &end);
      size_t next = SkipBlanks(code_, end);
      const bool whole = text && (next >= code_.size() ||
                                  std::string_view(",);}]|").find(
                                      code_[next]) != std::string_view::npos);
      if (!whole) {
        text.reset();
        int depth = 0;
        next = end;
        const size_t last = std::min(code_.size(), end + kMaxCallText);
        for (; next < last; ++next) {
          const char c = code_[next];
          if (c == '"' || c == '\'') {
            size_t after = 0;
            if (Literal(next, &after)) next = after - 1;
            continue;
          }
          if (c == '(' || c == '[' || c == '{') ++depth;
          if (c == ')' || c == ']' || c == '}') {
            if (depth-- == 0) break;
          }
          if (depth == 0 && (c == ',' || c == ';' || c == '\n')) break;
        }
      }
      out.push_back(std::move(text));
      if (next >= code_.size() || code_[next] != ',') break;
      at = next + 1;
    }
    return out;
  }

  void Add(EffectKind kind, const std::optional<std::string>& path,
           bool recursive = false) {
    if (!path) {
      computed_.push_back({kind, recursive});
      return;
    }
    if (out_.effects.size() >= kMaxEmbeddedEffects) return;
    if (path->find("://") != std::string::npos && !path->starts_with("file:")) {
      network_ = network_ || !path->starts_with("php:");
      return;
    }
    EmbeddedEffect effect;
    effect.kind = kind;
    effect.text = path->starts_with("file://") ? path->substr(7) : *path;
    effect.recursive = recursive;
    out_.effects.push_back(std::move(effect));
  }

  void See(const FileCall& call, size_t begin, size_t end) {
    if (call.does == Does::kNetwork || call.does == Does::kListen) {
      // `import http.server`, `socket.bind`: what listens says so.
      const std::string_view rest = code_.substr(end, 64);
      network_ = true;
      listens_ = listens_ || call.does == Does::kListen ||
                 rest.starts_with(".server") ||
                 rest.starts_with(".createServer");
      return;
    }
    size_t open = SkipBlanks(code_, end);
    if (call.does == Does::kPath) {
      SeePath(open);
      return;
    }
    if (begin == handled_) return;
    if (call.does == Does::kReadsSelf || call.does == Does::kWritesSelf) {
      Add(call.does == Does::kReadsSelf ? EffectKind::kRead
                                        : EffectKind::kWrite,
          std::nullopt);
      return;
    }
    const bool parens = open < code_.size() && code_[open] == '(';
    if (!parens && !bare_) {
      // Under another name: {readFileSync: r}, f = shutil.rmtree.
      if (call.name.find("File") != std::string_view::npos ||
          call.name.find("Sync") != std::string_view::npos ||
          call.name.find("tree") != std::string_view::npos ||
          call.name.find('_') != std::string_view::npos) {
        Alias(call.does);
      }
      return;
    }
    // Methods of objects that are no files: list.remove(x), text.copy().
    const bool method = begin > 0 && code_[begin - 1] == '.';
    const std::vector<std::optional<std::string>> words =
        Arguments(parens ? open + 1 : open);
    if (words.empty() || !parens) {
      if (words.empty() || (!words[0] && call.does != Does::kOpen)) return;
    }
    if (method && !OfFiles(begin) && !words[0]) return;
    switch (call.does) {
      case Does::kRead:
        Add(EffectKind::kRead, words[0]);
        break;
      case Does::kWrite:
        Add(EffectKind::kWrite, words[0]);
        break;
      case Does::kOpen:
        Open(words);
        break;
      case Does::kDelete:
      case Does::kDeleteAll:
        Add(EffectKind::kDelete, words[0], call.does == Does::kDeleteAll);
        break;
      case Does::kMove:
        Add(EffectKind::kDelete, words[0], true);
        if (words.size() > 1) Add(EffectKind::kWrite, words[1]);
        break;
      case Does::kCopy:
        if (words.size() < 2) return;
        Add(EffectKind::kRead, words[0]);
        Add(EffectKind::kWrite, words[1]);
        break;
      case Does::kPermission:
        // perl and ruby put the mode first.
        Add(EffectKind::kPermission,
            words[0] ? words[0] : (words.size() > 1 ? words[1] : std::nullopt));
        break;
      default:
        break;
    }
  }

  void Alias(Does does) {
    switch (does) {
      case Does::kRead:
        Add(EffectKind::kRead, std::nullopt);
        break;
      case Does::kWrite:
        Add(EffectKind::kWrite, std::nullopt);
        break;
      case Does::kDelete:
      case Does::kDeleteAll:
        Add(EffectKind::kDelete, std::nullopt, does == Does::kDeleteAll);
        break;
      default:
        Add(EffectKind::kRead, std::nullopt);
        Add(EffectKind::kWrite, std::nullopt);
        break;
    }
  }

  // True when the call at `begin` is one of a module that works on files.
  bool OfFiles(size_t begin) const {
    size_t from = begin - 1;
    while (from > 0 && IsName(code_[from - 1])) --from;
    const std::string_view object = code_.substr(from, begin - 1 - from);
    for (std::string_view name : kFileObjects) {
      if (object == name) return true;
    }
    return object.empty();  // require("fs").readFile(…)
  }

  void Open(const std::vector<std::optional<std::string>>& words) {
    // perl: open(F, ">f"), open(F, ">", "f").
    std::vector<std::optional<std::string>> rest = words;
    std::string mode;
    if (bare_ && rest.size() > 1 && !rest[0]) rest.erase(rest.begin());
    if (rest.empty()) return;
    if (bare_ && rest[0] && !rest[0]->empty() &&
        std::string_view("<>+|-").find((*rest[0])[0]) !=
            std::string_view::npos) {
      const size_t at = rest[0]->find_first_not_of("<>+|-& ");
      mode = (*rest[0])[0] == '<' && rest[0]->find('>') == std::string::npos
                 ? "r"
                 : "w";
      if (rest[0]->find('|') != std::string::npos) return;
      if (at == std::string::npos || (*rest[0])[at] == ':') {
        rest.erase(rest.begin());
        if (rest.empty()) return;
      } else {
        rest[0] = rest[0]->substr(at);
      }
    } else if (rest.size() > 1) {
      mode = rest[1] ? *rest[1] : "?";
    } else {
      mode = "r";
    }
    const bool writes = mode.find_first_of("wax+?") != std::string::npos;
    if (mode.find_first_of("r+?") != std::string::npos || !writes) {
      if (rest[0] && rest[0]->find("://") != std::string::npos) {
        network_ = true;
      } else {
        Add(EffectKind::kRead, rest[0]);
      }
    }
    if (writes) Add(EffectKind::kWrite, rest[0]);
  }

  // Path("f").write_text(…), File.write("f", …), io.open("f", "w").
  void SeePath(size_t open) {
    size_t at = open;
    std::optional<std::string> path;
    bool named = false;
    if (at < code_.size() && code_[at] == '(') {
      named = true;
      const std::vector<std::optional<std::string>> words = Arguments(at + 1);
      if (!words.empty()) path = words[0];
      int depth = 0;
      const size_t last = std::min(code_.size(), at + kMaxCallText);
      for (; at < last; ++at) {
        if (code_[at] == '(') ++depth;
        if (code_[at] == ')' && --depth == 0) break;
      }
      ++at;
    }
    at = SkipBlanks(code_, std::min(at, code_.size()));
    if (at >= code_.size() || code_[at] != '.') return;
    const size_t begin = SkipBlanks(code_, at + 1);
    size_t end = begin;
    while (end < code_.size() && (IsName(code_[end]) || code_[end] == '!')) {
      ++end;
    }
    const std::string_view method = code_.substr(begin, end - begin);
    if (named && path) handled_ = begin;
    if (!named) {
      size_t next = SkipBlanks(code_, end);
      const bool parens = next < code_.size() && code_[next] == '(';
      if (!parens && !bare_) return;
      const std::vector<std::optional<std::string>> words =
          Arguments(parens ? next + 1 : next);
      if (!words.empty()) path = words[0];
      if (method == kOpenMethod || method == kNewMethod) {
        Open(words);
        return;
      }
    }
    for (std::string_view name : kReadingMethods) {
      if (method == name) Add(EffectKind::kRead, path);
    }
    for (std::string_view name : kWritingMethods) {
      if (method == name) Add(EffectKind::kWrite, path);
    }
    for (std::string_view name : kDeletingMethods) {
      if (method == name) Add(EffectKind::kDelete, path);
    }
    if (method == kPermissionMethod) Add(EffectKind::kPermission, path);
    if (method == kOpenMethod && named) {
      size_t next = SkipBlanks(code_, end);
      if (next < code_.size() && code_[next] == '(') {
        std::vector<std::optional<std::string>> words = Arguments(next + 1);
        words.insert(words.begin(), path);
        Open(words);
      }
    }
  }

  void Finish() {
    const bool home = code_.find("home") != std::string_view::npos ||
                      code_.find("HOME") != std::string_view::npos ||
                      code_.find("expanduser") != std::string_view::npos;
    for (const Computed& item : computed_) {
      if (paths_.empty()) {
        out_.computed = true;
        continue;
      }
      out_.computed = true;
      for (const std::string& path : paths_) {
        Add(item.kind, path, item.recursive);
        // Path.home() / ".bashrc"
        if (home && path[0] == '.' && path[1] != '.' && path[1] != '/') {
          Add(item.kind, "~/" + path, item.recursive);
        }
      }
    }
    if (!network_) return;
    listens_ = listens_ || code_.find(".bind(") != std::string_view::npos ||
               code_.find(".listen(") != std::string_view::npos;
    if (hosts_.empty() || listens_) {
      EmbeddedEffect effect;
      effect.kind = EffectKind::kNetwork;
      effect.listens = listens_;
      out_.effects.push_back(std::move(effect));
    }
    // Beside what is known of the calls, never in its place.
    for (const std::string& machine : machines_) {
      if (listens_) break;
      EmbeddedEffect effect;
      effect.kind = EffectKind::kNetwork;
      effect.text = "tcp://" + machine;
      out_.effects.push_back(std::move(effect));
    }
    for (const std::string& host : hosts_) {
      if (listens_) break;
      EmbeddedEffect effect;
      effect.kind = EffectKind::kNetwork;
      effect.text = host;
      out_.effects.push_back(std::move(effect));
    }
  }

  struct Computed {
    EffectKind kind;
    bool recursive;
  };

  std::string_view code_;
  EmbeddedCode& out_;
  std::string_view interpolated_;
  bool bare_ = false;  // calls need no parentheses
  size_t calls_ = 0;
  size_t handled_ = std::string_view::npos;  // a method that was seen to
  bool network_ = false;
  bool listens_ = false;
  std::vector<std::string> paths_;
  std::vector<std::string> hosts_;
  std::vector<std::string> machines_;
  std::vector<Computed> computed_;
};

}  // namespace

void ScanEmbeddedFiles(Language language, std::string_view code,
                       EmbeddedCode* out) {
  switch (language) {
    case Language::kPython:
    case Language::kPerl:
    case Language::kRuby:
    case Language::kJavaScript:
    case Language::kPhp:
    case Language::kLua:
    case Language::kAnyCalls:
      return Scanner(language, code, out).Run();
    default:
      return;
  }
}

}  // namespace gate::parser
