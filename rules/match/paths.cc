#include "rules/match/paths.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/paths.h"
#include "rules/glob.h"

namespace gate::rules {
namespace {

// `path` without a copy as base + rest, or false.
bool Rest(std::string_view path, std::string_view base,
          std::string_view* rest) {
  if (!path.starts_with(base)) return false;
  *rest = path.substr(base.size());
  return true;
}

// Whether the glob base + text may find something below `path`, a directory
// inside of what the glob begins with: /proc/*/environ lies below /proc/self.
bool MayLieBelow(std::string_view base, std::string_view text,
                 std::string_view path) {
  std::string_view rest;
  return Rest(path, base, &rest) &&
         MeetsUnknown(text, std::string(rest) + "/", "", false) != Tri::kNo;
}

// base + text is `path` or lies below it.
bool LiesBelow(std::string_view base, std::string_view text,
               std::string_view path) {
  if (path == "/") return true;
  const size_t size = base.size() + text.size();
  if (size < path.size()) return false;
  for (size_t i = 0; i < path.size(); ++i) {
    const char c = i < base.size() ? base[i] : text[i - base.size()];
    if (c != path[i]) return false;
  }
  if (size == path.size()) return true;
  const size_t i = path.size();
  return (i < base.size() ? base[i] : text[i - base.size()]) == '/';
}

// Whether a name, or any name that ends so, may be the last component of a
// shell pattern; nothing when the pattern has to be looked at as a whole.
std::optional<Tri> LastComponentMeets(std::string_view text, bool suffix,
                                      std::string_view shell) {
  const size_t slash = shell.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view last = shell.substr(slash + 1);
  if (last.empty() || shell.find_first_of("[]\\") != std::string_view::npos)
    return std::nullopt;
  if (suffix) {
    std::string pattern = "*";
    AppendEscaped(text, &pattern);
    return MeetsShell(pattern, last, false);
  }
  // A wildcard does not stand for a dot at the start.
  if (text.starts_with('.') && last[0] != '.') return Tri::kNo;
  return TextGlob(last, text);
}

// Whether all that the pattern `shell` finds is base + `text`, by its shape.
bool TakesOnly(std::string_view shell, PathShape shape, std::string_view base,
               std::string_view text) {
  constexpr std::string_view kSpecial = "*?[]{}()\\";
  const std::string_view last = shell.substr(shell.rfind('/') + 1);
  switch (shape) {
    case PathShape::kSubtree: {
      const std::string_view fixed = shell.substr(
          0, std::min(shell.find_first_of(kSpecial), shell.size()));
      std::string_view rest;
      return Rest(fixed, base, &rest) && rest.starts_with(text) &&
             rest.size() > text.size() && rest[text.size()] == '/' &&
             shell.find("/..") == std::string_view::npos;
    }
    case PathShape::kName:
      return last == text;
    case PathShape::kSuffix: {
      const size_t special = last.find_last_of(kSpecial);
      return last.substr(special == std::string_view::npos ? 0 : special + 1)
          .ends_with(text);
    }
    default:
      return false;
  }
}

// A pattern whose last component stands for every name, or every hidden one.
bool TakesAll(const parser::Argument& path) {
  if (!path.known || !path.glob) return false;
  const std::string_view text = path.text;
  const size_t slash = text.rfind('/');
  if (slash == std::string_view::npos) return false;
  const std::string_view last = text.substr(slash + 1);
  return last == "*" || last == ".*" || last == "**" || last == ".[!.]*" ||
         last == ".??*" || last == "{*,.*}" || last == ".[^.]*" || last == "?*";
}

}  // namespace

Tri PathMatcher::Match(const RuleView& view, const PathRecord& record,
                       const PathValue& value) {
  return MatchFrom(view, record, bases_[static_cast<size_t>(record.base)],
                   value);
}

Tri PathMatcher::MatchFrom(const RuleView& view, const PathRecord& record,
                           std::string_view base, const PathValue& value) {
  const parser::Argument& path = *value.path;
  if (path.known && path.text.empty()) return Tri::kNo;  // there is no path
  const auto match = [&](const PathValue& v) {
    return record.shape == PathShape::kClass
               ? MatchClass(view, record, v)
               : MatchPattern(view, record, base, v);
  };
  const Tri found = match(value);
  if (found == Tri::kYes || !value.spread || !TakesAll(path)) return found;
  // All that is in a directory, recursively: as good as the directory.
  parser::Argument directory = path;
  directory.text.resize(std::max<size_t>(directory.text.rfind('/'), 1));
  directory.glob = directory.text.find_first_of("*?[") != std::string::npos;
  return Or(found, match({&directory, true, UINT32_MAX}));
}

Tri PathMatcher::MatchAny(const RuleView& view, Range range,
                          const PathValue& value) {
  const std::span<const PathRecord> records = view.In(view.paths, range);
  // A first look costs about as much as a few patterns; one is kept per slot.
  constexpr size_t kWorthALook = 3;
  if (!first_looks_ ||
      (value.slot == UINT32_MAX && records.size() < kWorthALook)) {
    Tri best = Tri::kNo;
    for (const PathRecord& record : records)
      best = Or(best, Match(view, record, value));
    return best;
  }
  const parser::Argument& path = *value.path;
  PathFilter filter;
  if (value.slot == UINT32_MAX) {
    filter = PathFilter(path, value.spread, bases_);
  } else {
    Cached& cached = Slot(value.slot);
    if (!cached.looked[value.spread]) {
      cached.looked[value.spread] = true;
      cached.filters[value.spread] = PathFilter(path, value.spread, bases_);
    }
    filter = cached.filters[value.spread];  // the cache may grow below
  }
  Tri best = Tri::kNo;
  for (const PathRecord& record : records) {
    if (filter.Excludes(record)) continue;
    best = Or(best, Match(view, record, value));
    if (best == Tri::kYes) break;
  }
  return best;
}

PathMatcher::Cached& PathMatcher::Slot(uint32_t slot) {
  if (slot >= cache_.size()) cache_.resize(slot + 1);
  return cache_[slot];
}

Tri PathMatcher::MatchClass(const RuleView& view, const PathRecord& record,
                            const PathValue& value) {
  if (record.class_index == kClassWorkspace) return Workspace(value);
  if (record.class_index == kClassOutside) return Outside(value);
  if (record.class_index == kClassPrivateTemp) return PrivateTemp(value);
  if (record.class_index == kClassElsewhere)
    return Named(view.Text(record.text), value);
  if (policy_.builtin != nullptr && &view == &policy_.builtin->view)
    return BuiltinClass(record.class_index, value);
  if (record.class_index >= view.classes.size()) return Tri::kPossible;
  return MatchAny(view, view.classes[record.class_index].paths, value);
}

Tri PathMatcher::Named(std::string_view name, const PathValue& value) {
  if (policy_.builtin == nullptr) return Tri::kPossible;
  const RuleView& view = policy_.builtin->view;
  for (uint32_t i = 0; i < view.classes.size(); ++i)
    if (view.Text(view.classes[i].name) == name) return BuiltinClass(i, value);
  return Tri::kPossible;
}

Tri PathMatcher::BuiltinClass(uint32_t index, const PathValue& value) {
  const RuleView& view = policy_.builtin->view;
  if (index >= view.classes.size()) return Tri::kPossible;
  if (value.slot == UINT32_MAX || index >= 64)
    return ClassOf(view, index, value);
  const uint64_t bit = uint64_t{1} << index;
  if ((Slot(value.slot).known & bit) == 0) {
    // MatchAny may grow the cache: a class may name another.
    const Tri found = ClassOf(view, index, value);
    Cached& cached = Slot(value.slot);
    cached.known |= bit;
    if (found == Tri::kYes) cached.yes |= bit;
    if (found == Tri::kPossible) cached.possible |= bit;
  }
  const Cached& cached = cache_[value.slot];
  return cached.yes & bit        ? Tri::kYes
         : cached.possible & bit ? Tri::kPossible
                                 : Tri::kNo;
}

Tri PathMatcher::ClassOf(const RuleView& view, uint32_t index,
                         const PathValue& value) {
  Tri best = MatchAny(view, view.classes[index].paths, value);
  if (secrets_.empty() || view.Text(view.classes[index].name) != "secret")
    return best;
  PathRecord below;  // the base itself and what lies below it
  below.shape = PathShape::kSubtree;
  for (const std::string& secret : secrets_)
    best = Or(best, MatchFrom(view, below, secret, value));
  return best;
}

Tri PathMatcher::Workspace(const PathValue& value) {
  const parser::Argument& path = *value.path;
  const std::string_view workspace =
      bases_[static_cast<size_t>(PathBase::kWorkspace)];
  if (workspace.empty()) return path.known ? Tri::kNo : Tri::kPossible;
  if (path.known && !path.glob) return Of(IsWithin(path.text, workspace));
  // What is certain of the path: its directories before the unknown part.
  const size_t cut =
      path.glob ? path.text.find_first_of("*?[\\") : path.text.size();
  const std::string_view fixed =
      std::string_view(path.text).substr(0, std::min(cut, path.text.size()));
  if (fixed.empty() || fixed[0] != '/') return Tri::kPossible;
  if (fixed.size() > workspace.size() && fixed.starts_with(workspace) &&
      fixed[workspace.size()] == '/')
    return Tri::kYes;
  return workspace.starts_with(fixed) ? Tri::kPossible : Tri::kNo;
}

Tri PathMatcher::Outside(const PathValue& value) {
  // The place itself counts, not what lies below it.
  const PathValue here{value.path, false, UINT32_MAX};
  Tri inside = Workspace(here);
  if (inside != Tri::kYes) inside = Or(inside, Named("temp", here));
  if (inside != Tri::kYes) inside = Or(inside, Named("sink", here));
  return Not(inside);
}

// What a contained command has a place of its own for: below /tmp and the like,
// and not the workspace, which is the same inside.
Tri PathMatcher::PrivateTemp(const PathValue& value) {
  const Tri temporary = Named("temp", value);
  if (temporary == Tri::kNo) return temporary;
  return And(temporary, Not(Workspace(value)));
}

Tri PathMatcher::MatchPattern(const RuleView& view, const PathRecord& record,
                              std::string_view base, const PathValue& value) {
  const parser::Argument& path = *value.path;
  if (record.base != PathBase::kNone && base.empty())
    return path.known || MayBeAbsent(record.base) ? Tri::kNo : Tri::kPossible;
  if (!path.known || path.glob) return MatchPartial(view, record, base, value);
  const std::string_view text = view.Text(record.text);
  const std::string_view p = path.text;
  std::string_view rest;
  switch (record.shape) {
    case PathShape::kExact:
      if (Rest(p, base, &rest) && rest == text) return Tri::kYes;
      return Of(value.spread && LiesBelow(base, text, p));
    case PathShape::kSubtree:
      if (Rest(p, base, &rest) && rest.starts_with(text) &&
          (rest.size() == text.size() || rest[text.size()] == '/'))
        return Tri::kYes;
      return Of(value.spread && LiesBelow(base, text, p));
    case PathShape::kName:
      return Of(BaseName(p) == text);
    case PathShape::kSuffix:
      return Of(BaseName(p).ends_with(text));
    case PathShape::kGlob: {
      const std::string_view literal = view.Text(record.literal);
      if (value.spread && !(base.empty() && literal.empty()) &&
          (LiesBelow(base, literal, p) || MayLieBelow(base, text, p)))
        return Tri::kYes;
      if (!Rest(p, base, &rest)) return Tri::kNo;
      if (rest.find(view.Text(record.needs)) == std::string_view::npos)
        return Tri::kNo;
      // The literal directory decides most cases without the pattern.
      if (!literal.empty() && !rest.starts_with(literal)) return Tri::kNo;
      return PathGlob(text, rest);
    }
    case PathShape::kClass:
      break;
  }
  return Tri::kPossible;
}

// The path is a shell pattern, or only its ends are known.
Tri PathMatcher::MatchPartial(const RuleView& view, const PathRecord& record,
                              std::string_view base, const PathValue& value) {
  const parser::Argument& path = *value.path;
  const std::string_view text = view.Text(record.text);
  const bool ends = !path.known;
  if (ends && path.suffix.empty() && path.text.size() <= 1)
    return Tri::kPossible;
  const bool by_name =
      record.shape == PathShape::kName || record.shape == PathShape::kSuffix;
  const auto meets = [&](std::string_view against, bool below) {
    return ends ? MeetsUnknown(against, path.text, path.suffix, below)
                : MeetsShell(against, path.text, below);
  };
  std::optional<Tri> by_last;
  if (by_name && !ends)
    by_last =
        LastComponentMeets(text, record.shape == PathShape::kSuffix, path.text);
  Tri found = Tri::kNo;
  if (by_last) {
    found = *by_last;
  } else {
    std::string pattern;
    if (by_name) {
      pattern = record.shape == PathShape::kName ? "**/" : "**/*";
      AppendEscaped(text, &pattern);
    } else {
      AppendEscaped(base, &pattern);
      if (record.shape == PathShape::kGlob)
        pattern += text;
      else
        AppendEscaped(text, &pattern);
      if (record.shape == PathShape::kSubtree) pattern += "/**";
    }
    found = meets(pattern, false);
  }
  if (found == Tri::kNo && value.spread && !by_name) {
    std::string place;
    AppendEscaped(base, &place);
    AppendEscaped(
        record.shape == PathShape::kGlob ? view.Text(record.literal) : text,
        &place);
    if (!place.empty()) found = meets(place, true);
  }
  if (!ends && value.whole && found == Tri::kYes &&
      !TakesOnly(path.text, record.shape, base, text))
    return Tri::kPossible;
  if (!ends && found == Tri::kYes && record.base == PathBase::kNone &&
      TakesAll(path) && (by_name || text.starts_with("**")))
    return Tri::kPossible;  // all files of a directory: one may be called so
  if (!ends || found == Tri::kNo) return found;
  // A known beginning inside a subtree is inside it whatever follows.
  if (record.shape == PathShape::kSubtree) {
    std::string full(base);
    full += text;
    if (path.text.size() > full.size() && path.text.starts_with(full) &&
        path.text[full.size()] == '/')
      return Tri::kYes;
  }
  return Tri::kPossible;
}

}  // namespace gate::rules
