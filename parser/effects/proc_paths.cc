#include "parser/proc_paths.h"

#include <algorithm>
#include <string>

#include "base/file.h"
#include "base/paths.h"

namespace gate::parser {
namespace {

std::string_view TakeComponent(std::string_view* path) {
  const size_t slash = std::min(path->find('/'), path->size());
  const std::string_view component = path->substr(0, slash);
  path->remove_prefix(std::min(slash + 1, path->size()));
  return component;
}

bool IsNumber(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789*?[]!-") == std::string_view::npos;
}

enum class Link { kNone, kRoot, kOwnDirectory, kOther };

// What the last component of the directory `path` is a link to.
Link LinkOf(std::string_view path) {
  if (!path.starts_with("/proc/")) return Link::kNone;
  path.remove_prefix(6);
  const std::string_view process = TakeComponent(&path);
  const bool own = process == "self" || process == "thread-self";
  if (!own && !IsNumber(process)) return Link::kNone;
  std::string_view name = TakeComponent(&path);
  if (name == "task") {
    TakeComponent(&path);
    name = TakeComponent(&path);
  }
  if (name == "root" && path.empty()) return Link::kRoot;
  if (name == "cwd" && path.empty())
    return own ? Link::kOwnDirectory : Link::kOther;
  if ((name == "fd" || name == "map_files") && !path.empty() &&
      path.find('/') == std::string_view::npos)
    return Link::kOther;
  return Link::kNone;
}

bool MayGoThroughProc(std::string_view path, std::string_view cwd) {
  return path.find("proc/") != std::string_view::npos ||
         path.find("dev/fd") != std::string_view::npos ||
         path.find("dev/std") != std::string_view::npos ||
         cwd.starts_with("/proc") || cwd.starts_with("/dev/fd");
}

}  // namespace

bool IsDescriptor(std::string_view path) {
  constexpr std::string_view kPlaces[] = {"/dev/fd/", "/proc/self/fd/"};
  for (const std::string_view place : kPlaces)
    if (path.starts_with(place)) return true;
  return path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr";
}

Argument PathFrom(std::string_view path, std::string_view cwd) {
  Argument out;
  if (!MayGoThroughProc(path, cwd)) {
    out.text = Normalise(path, cwd);
    return out;
  }
  const std::string whole = path.starts_with('/')
                                ? std::string(path)
                                : std::string(cwd) + '/' + std::string(path);
  std::string_view rest = whole;
  while (!rest.empty()) {
    const std::string_view component = TakeComponent(&rest);
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      const size_t last = out.text.rfind('/');
      out.text.resize(last == std::string::npos ? 0 : last);
      continue;
    }
    out.text += '/';
    out.text += component;
    const bool last = rest.find_first_not_of('/') == std::string_view::npos;
    if (out.text == "/dev/fd" && !last) out.text = "/proc/self/fd";
    // A descriptor too, which may be a directory.
    if (!last && out.text.starts_with("/dev/std") && IsDescriptor(out.text)) {
      out.known = false;
      out.text.clear();
      return out;
    }
    switch (LinkOf(out.text)) {
      case Link::kNone:
        break;
      case Link::kRoot:
        out.text.clear();
        break;
      case Link::kOwnDirectory:
        if (!cwd.empty() && !cwd.starts_with("/proc")) {
          out.text = cwd == "/" ? "" : cwd;
          break;
        }
        [[fallthrough]];
      case Link::kOther: {
        const bool own = out.text.starts_with("/proc/self/fd/");
        if (last && own) break;
        out.known = false;
        out.text.clear();
        if (!last && rest.find("..") == std::string_view::npos)
          out.suffix = Normalise(rest, "/");
        return out;
      }
    }
  }
  if (out.text.empty()) out.text = "/";
  return out;
}

bool LeadsThroughProc(std::string_view path) {
  if (IsWithin(path, "/proc")) return false;  // PathFrom reads it
  bool leads = false;
  FollowLinks(
      std::string(path), [&](const std::string& at, const std::string& rest) {
        if (at != "/proc") return true;
        // Files like /proc/mounts are the same for all.
        const std::string there = Normalise(rest, at);
        const Argument seen = PathFrom(at + "/" + rest, "/");
        leads = !seen.known || seen.text != there || IsDescriptor(there);
        return false;
      });
  return leads;
}

}  // namespace gate::parser
