// Effects: paths against directories, and hosts.
#include <glob.h>

#include <set>

#include "base/host.h"
#include "base/paths.h"
#include "base/real_paths.h"
#include "base/url_globs.h"
#include "parser/eval/evaluate.h"
#include "parser/proc_paths.h"

namespace gate::parser {
namespace {

// What the globs of one URL cost at most.
constexpr size_t kStepsPerGlobs = 8 * kMaxGlobbedHosts;
constexpr int kMaxLooks = 256;  // at the file system, for one line

uint64_t HashText(uint64_t hash, std::string_view text) {
  for (char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return (hash ^ 0x1F) * 1099511628211ULL;
}

// /dev/fd/N: what the shell has opened, which its redirections say.
bool IsOwnDescriptor(std::string_view path) {
  constexpr std::string_view kPlace = "/dev/fd/";
  return path.starts_with(kPlace) &&
         path.find_first_not_of("0123456789", kPlace.size()) ==
             std::string_view::npos;
}

// A known prefix of a path, made absolute where what is known allows it.
std::string NormalisePrefix(std::string_view prefix, std::string_view cwd) {
  size_t slash = prefix.rfind('/');
  std::string_view directory =
      slash == std::string_view::npos ? "" : prefix.substr(0, slash + 1);
  std::string_view rest =
      slash == std::string_view::npos ? prefix : prefix.substr(slash + 1);
  if (rest == "." || rest == "..") rest = "";  // it may go on as "../x"
  const Argument place = PathFrom(directory.empty() ? "." : directory, cwd);
  if (!place.known) return "";
  std::string out = place.text;
  if (out.empty() || out.back() != '/') out += '/';
  out += rest;
  return out;
}

// What the kernel would find for `path`: symbolic links of its longest
// existing part are followed. Empty when nothing changes.
std::string RealPath(const std::string& path, RealPaths* paths) {
  std::string head = path;
  std::string tail;
  for (int i = 0; i < 64 && !head.empty(); ++i) {
    if (std::string out = paths->Of(head); !out.empty()) {
      if (!tail.empty()) out = Normalise(out + "/" + tail, "/");
      return out == path ? "" : out;
    }
    size_t slash = head.rfind('/');
    if (slash == std::string::npos) return "";
    tail = head.substr(slash + 1) + (tail.empty() ? "" : "/" + tail);
    head.resize(slash == 0 ? 1 : slash);
    if (head == "/" && slash == 0) {
      return "";
    }
  }
  return "";
}

// Whether `*` found a hidden name: for glob(3) is asked to, which no shell does
// without dotglob.
bool FoundHidden(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    if (path.starts_with('.') && !pattern.starts_with('.')) return true;
    const size_t next = pattern.find('/');
    const size_t size = path.find('/');
    if (next == std::string_view::npos || size == std::string_view::npos) break;
    pattern.remove_prefix(next + 1);
    path.remove_prefix(size + 1);
  }
  return false;
}

// Whether glob(3) found `path` only because GLOB_PERIOD lets `*` stand for "."
// and "..", which no shell does. Older shells do let ".*" stand for them.
bool FoundByDots(std::string_view pattern, std::string_view path) {
  while (!pattern.empty() && !path.empty()) {
    const std::string_view part = path.substr(0, path.find('/'));
    if ((part == "." || part == "..") && !pattern.starts_with('.')) return true;
    const size_t next = pattern.find('/');
    if (next == std::string_view::npos || part.size() == path.size()) break;
    pattern.remove_prefix(next + 1);
    path.remove_prefix(part.size() + 1);
  }
  return false;
}

}  // namespace

Argument Evaluator::Resolve(const Shell& shell, const Argument& path) const {
  Argument out = path;
  std::string cwd;
  if (!shell.cwd.empty() && shell.cwd.front().known()) {
    cwd = shell.cwd.front().text();
  }
  bool absolute = path.text.starts_with("/");
  if (!absolute && cwd.empty()) {
    if (path.known) out.suffix = "/" + path.text;
    out.known = false;
    out.text.clear();
    return out;
  }
  if (path.known) {
    Argument place = PathFrom(path.text, cwd);
    out.known = place.known;
    out.text = std::move(place.text);
    if (!place.known) out.suffix = std::move(place.suffix);
    return out;
  }
  // An unknown word without a known beginning may be an absolute path.
  if (path.text.empty()) return out;
  out.text = NormalisePrefix(path.text, cwd);
  return out;
}

Values Evaluator::DirectoriesFrom(const Shell& shell, const Argument& word,
                                  Span span) const {
  const Values unknown = {Value::Unknown(UnknownCode::kDynamicArgument, span)};
  if (!word.known || word.glob) return unknown;
  const bool absolute = word.text.starts_with('/');
  Values out;
  for (const Value& cwd : shell.cwd) {
    const std::string from(cwd.known() ? cwd.text() : "");
    Argument place;
    place.known = absolute || !from.empty();
    if (place.known) place = PathFrom(word.text, from);
    place.known = place.known && place.text.size() <= kMaxDirectoryBytes;
    // `..` behind a link is not the directory before it.
    if (place.known && context_.look_at_files &&
        word.text.find("..") != std::string::npos &&
        place.text == Normalise(word.text, from)) {
      const std::string real =
          RealPath(absolute ? word.text : from + "/" + word.text, &real_paths_);
      if (!real.empty()) place.text = real;
    }
    place.known = place.known &&
                  !(context_.look_at_files && LeadsThroughProc(place.text));
    const Values one = place.known && !IsDescriptor(place.text)
                           ? Values{Value::Of(place.text)}
                           : unknown;
    out = out.empty() ? one : Union(out, one);
  }
  return out.empty() ? unknown : out;
}

std::vector<std::string> Evaluator::KnownPaths(const Shell& shell,
                                               const Argument& path) const {
  std::vector<std::string> out;
  if (!path.known || path.glob || path.text.empty()) return out;
  if (IsProcessPath(path.text)) return {path.text};
  const auto add = [&](std::string_view cwd) {
    if (Argument place = PathFrom(path.text, cwd); place.known)
      out.push_back(std::move(place.text));
  };
  const bool absolute = path.text.starts_with("/");
  for (const Value& cwd : shell.cwd) {
    if (cwd.known()) add(cwd.text());
    if (absolute) break;
  }
  if (absolute && out.empty()) add("");
  return out;
}

void Evaluator::AddEffect(Effect effect) {
  uint64_t hash = 14695981039346656037ULL;
  hash = HashText(hash, effect.path.text);
  hash = HashText(hash, effect.path.suffix);
  hash = HashText(hash, effect.target.text);
  hash = HashText(hash, effect.host);
  hash = HashText(hash, effect.scheme);
  uint64_t bits =
      static_cast<uint64_t>(effect.kind) | (effect.path.known ? 1ULL << 8 : 0) |
      (effect.recursive ? 1ULL << 9 : 0) | (effect.listens ? 1ULL << 10 : 0) |
      (effect.from_redirect ? 1ULL << 11 : 0) |
      (effect.certain ? 1ULL << 12 : 0) |
      (static_cast<uint64_t>(effect.port) << 16) |
      (static_cast<uint64_t>(effect.invocation) << 32);
  hash = (hash ^ bits) * 1099511628211ULL;
  hash ^= static_cast<uint64_t>(effect.span.begin) << 32 | effect.span.end;
  if (!effect_index_.insert(hash).second) return;
  // Rules look at every byte; a short directory may make ten thousand words
  // long.
  if (!Spend((effect.path.text.size() + effect.target.text.size()) /
             kPathBytesPerStep)) {
    return;
  }
  if (analysis_.effects.size() >= kMaxEffects) {
    NoteLimit("too many effects");
    exhausted_ = true;
    return;
  }
  analysis_.effects.push_back(std::move(effect));
}

void Evaluator::AddPathEffect(const Shell& shell, EffectKind kind,
                              const Argument& path, Span span,
                              uint32_t invocation, bool redirect) {
  if (path.known && kind != EffectKind::kRead) {
    const Values files = OpenedAt(shell, path.text);
    Scoped<bool> certain(certain_, certain_ && files.size() == 1);
    for (const Value& file : files) {
      Argument opened;
      opened.known = file.known();
      opened.text = file.Prefix();
      opened.span = path.span;
      AddPathEffect(shell, kind, opened, span, invocation, redirect);
    }
  }
  if (path.known && (IsProcessPath(path.text) || path.text == "/dev/null" ||
                     path.text == "/dev/stdin" || path.text == "-" ||
                     path.text == "/dev/stdout" || path.text == "/dev/stderr" ||
                     IsOwnDescriptor(path.text))) {
    return;
  }
  Effect effect;
  effect.kind = kind;
  effect.certain = certain_ && !shell.exited;
  effect.path = Resolve(shell, path);
  effect.from_redirect = redirect;
  effect.span = span;
  effect.invocation = invocation;
  std::vector<std::string> paths = KnownPaths(shell, path);
  if (paths.empty() && shell.cwd.size() > 1 && !path.text.empty() &&
      !path.text.starts_with("/")) {
    // A pattern, or a known beginning, in each of the directories.
    bool likely = true;
    for (const Value& cwd : shell.cwd) {
      if (!Spend(CopyCost(shell))) return;
      Shell there = shell;
      there.cwd = {cwd};
      Scoped<bool> certain(certain_, certain_ && likely);
      likely = false;
      AddPathEffect(there, kind, path, span, invocation, redirect);
    }
    return;
  }
  const auto add = [&](const std::string& place, bool glob, bool certain) {
    Effect copy = effect;
    copy.path.text = place;
    copy.path.known = true;
    copy.path.glob = glob;
    copy.path.suffix.clear();
    copy.certain = copy.certain && certain;
    AddEffect(std::move(copy));
  };
  if (context_.look_at_files && path.known) {
    // As the kernel walks it: `..` behind a symbolic link is not the directory
    // before it, so what is looked at has not been normalised.
    std::vector<std::string> places;
    if (path.text.starts_with("/")) {
      places.push_back(path.text);
    } else {
      for (const Value& cwd : shell.cwd) {
        if (!cwd.known()) continue;
        places.push_back(std::string(cwd.text()));
        if (!path.text.empty()) places.back() += "/" + path.text;
      }
    }
    for (const std::string& place : places) {
      const size_t glob = path.glob ? place.find_first_of("*?[") : place.size();
      const size_t slash = place.rfind('/', glob);
      if (LeadsThroughProc(std::string_view(place).substr(
              0, path.glob && slash != std::string::npos ? slash : glob))) {
        Effect copy = effect;
        copy.path = Argument{};
        copy.path.known = false;
        AddEffect(std::move(copy));
      }
      if (path.glob) {
        for (const std::string& link : LinksAmong(place, shell.dotglob)) {
          add(link, false, paths.size() <= 1);
        }
        continue;
      }
      if (++looked_ > kMaxLooks) NoteUnseenLinks("too many paths to look at");
      const std::string real =
          looked_ > kMaxLooks ? "" : RealPath(place, &real_paths_);
      if (!real.empty() && real != effect.path.text) {
        add(real, false, paths.size() <= 1);
      }
    }
  }
  if (paths.size() > 1) {
    for (const std::string& other : paths) add(other, false, false);
    return;
  }
  AddEffect(std::move(effect));
}

// What runs is known, and so are the names: only where their links lead is not.
// A sandbox holds that, so that `wc -l *.txt` among 2,000 files is no kLimit.
void Evaluator::NoteUnseenLinks(std::string text) {
  NoteAt(UnknownCode::kUnmodelled,
         Span{0, static_cast<uint32_t>(source_.size())}, std::move(text));
}

// Where the symbolic links lead that `pattern` finds now; and what it finds by
// dotglob, since that is not seen in it.
std::vector<std::string> Evaluator::LinksAmong(const std::string& pattern,
                                               bool dotglob) {
  constexpr size_t kMaxFound = 1024;
  std::vector<std::string> out;
  if (++looked_ > kMaxLooks) {
    NoteUnseenLinks("too many paths to look at");
    return out;
  }
  glob_t found = {};
  if (::glob(pattern.c_str(), GLOB_NOSORT | GLOB_PERIOD, nullptr, &found) ==
      0) {
    if (found.gl_pathc > kMaxFound)
      NoteUnseenLinks("too many files to look at");
    for (size_t i = 0; i < found.gl_pathc && i < kMaxFound; ++i) {
      if (FoundByDots(pattern, found.gl_pathv[i])) continue;
      std::string real = RealPath(found.gl_pathv[i], &real_paths_);
      const std::string plain = Normalise(found.gl_pathv[i], "/");
      if (FoundHidden(pattern, found.gl_pathv[i])) {
        if (dotglob && real.empty()) real = plain;
        if (!dotglob && real == plain) continue;
      }
      if (!real.empty()) out.push_back(std::move(real));
    }
  }
  ::globfree(&found);
  return out;
}

void Evaluator::AddNetwork(const std::string& host, int port,
                           const std::string& scheme, Span span,
                           uint32_t invocation, bool listens) {
  HostForms forms = NormaliseHost(host);
  Effect effect;
  effect.kind = EffectKind::kNetwork;
  effect.certain = certain_;
  effect.host = std::move(forms.normal);
  effect.port = port < 0 || port > 65535 ? 0 : port;
  effect.scheme = scheme;
  effect.span = span;
  effect.invocation = invocation;
  effect.listens = listens;
  AddEffect(effect);
  effect.certain = false;
  for (std::string& other : forms.also) {
    effect.host = std::move(other);
    AddEffect(effect);
  }
}

void Evaluator::AddGlobbedUrl(const Argument& url, Span span,
                              uint32_t invocation) {
  const std::vector<std::string> urls = HostGlobs(url.text);
  // That it names too many was as dear to find out.
  if (!Spend(urls.empty() ? kStepsPerGlobs : 8 * urls.size())) return;
  if (urls.empty()) NoteLimit("a URL that names too many hosts");
  Scoped<bool> certain(certain_, certain_ && urls.size() == 1);
  std::set<std::string> seen;  // of the hosts
  for (const std::string& each : urls) {
    Argument one = url;
    one.text = each;
    const std::string host = HostsOfUrl(each)[0].host;
    if (!seen.insert(host).second) continue;
    AddUrl(one, span, invocation);
  }
}

void Evaluator::AddUrl(const Argument& url, Span span, uint32_t invocation) {
  const std::vector<UrlHost> hosts = HostsOfUrl(url.text, url.known);
  for (const UrlHost& each : hosts) {
    const bool first = &each == hosts.data();
    // What only some read so must not make another host look like this one.
    if (!first && IsLoopback(NormaliseHost(each.host).normal)) continue;
    int port = each.port;
    if (port == 0 && each.scheme == "https") port = 443;
    if (port == 0 && each.scheme == "http") port = 80;
    if (port == 0 && each.scheme == "ssh") port = 22;
    if (port == 0 && each.scheme == "ftp") port = 21;
    Scoped<bool> certain(certain_, certain_ && first);
    AddNetwork(each.host, port, each.scheme, span, invocation, false);
  }
  // `https://$TOKEN@host/`: what is not known stands before the host, most
  // likely.
  const size_t at = url.suffix.rfind('@', url.suffix.find('/'));
  if (url.known || at == std::string::npos ||
      url.text.find("://") == std::string::npos) {
    return;
  }
  Scoped<bool> possible(certain_, false);
  const UrlHost likely =
      HostsOfUrl(hosts[0].scheme + "://" + url.suffix.substr(at + 1))[0];
  if (!IsLoopback(NormaliseHost(likely.host).normal)) {
    AddNetwork(likely.host, likely.port, likely.scheme, span, invocation,
               false);
  }
}

}  // namespace gate::parser
