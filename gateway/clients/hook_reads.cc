#include "gateway/hook_reads.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"
#include "base/text.h"
#include "engine/read_tool.h"
#include "gateway/tool_write_paths.h"

namespace gate::app {
namespace {

using hooks::ToolRead;
using rules::Action;
using How = ToolRead::How;

// Alternatives of one glob. `{a,b}{c,d}` beyond it is asked about.
constexpr size_t kMaxAlternatives = 64;

constexpr std::string_view kGlobCharacters = "*?[{\\";

// The globs that `glob` stands for without braces. Empty when there are too
// many, or they do not close.
std::vector<std::string> WithoutBraces(const std::string& glob) {
  std::vector<std::string> open = {glob};
  std::vector<std::string> done;
  while (!open.empty()) {
    if (open.size() + done.size() > kMaxAlternatives) return {};
    const std::string text = std::move(open.back());
    open.pop_back();
    // The innermost pair, so that nothing nests.
    const size_t end = text.find('}');
    const size_t begin =
        end == std::string::npos ? text.rfind('{') : text.rfind('{', end);
    if (begin == std::string::npos && end == std::string::npos) {
      done.push_back(text);
      continue;
    }
    if (begin == std::string::npos || end == std::string::npos) return {};
    std::string_view inner =
        std::string_view(text).substr(begin + 1, end - begin - 1);
    while (true) {
      const size_t comma = inner.find(',');
      open.push_back(text.substr(0, begin) +
                     std::string(inner.substr(0, comma)) +
                     text.substr(end + 1));
      if (open.size() + done.size() > kMaxAlternatives) return {};
      if (comma == std::string_view::npos) break;
      inner.remove_prefix(comma + 1);
    }
  }
  return done;
}

// The pattern of a list as an absolute path.
std::string FullPattern(const ToolRead& read, const std::string& cwd,
                        const std::string& home) {
  if (read.pattern == "~" || read.pattern.starts_with("~/"))
    return home + read.pattern.substr(1);
  if (read.pattern.starts_with('/')) return read.pattern;
  const std::vector<std::string> places = WrittenPlaces(read.path, cwd, home);
  return (places.empty() ? cwd : places.back()) + "/" + read.pattern;
}

// The directory above the first component with a glob character.
std::string FixedPart(const std::string& pattern) {
  const size_t first = pattern.find_first_of(kGlobCharacters);
  if (first == std::string::npos) return pattern;
  const size_t slash = pattern.rfind('/', first);
  return slash == std::string::npos || slash == 0 ? "/"
                                                  : pattern.substr(0, slash);
}

// Whether `pattern`, absolute, names something in `directory` component by
// component. `**` aims at no place of its own.
bool AimsInto(const std::string& pattern, const std::string& directory) {
  const std::string lexical = Normalise(pattern, "/");
  std::string_view left = lexical;
  std::string_view right = directory;
  while (!right.empty()) {
    if (left.empty()) return false;
    left.remove_prefix(1);
    right.remove_prefix(1);
    const std::string mine(left.substr(0, left.find('/')));
    const std::string its(right.substr(0, right.find('/')));
    if (mine == "**") return false;
    // Of braces any alternative may fit.
    if (mine.find('{') == std::string::npos &&
        ::fnmatch(mine.c_str(), its.c_str(), 0) != 0)
      return false;
    left.remove_prefix(mine.size());
    right.remove_prefix(its.size());
  }
  return true;
}

// The directories that are gate's own, by their names and without links.
std::vector<std::string> GatesDirectories(const ProcessFacts& facts) {
  std::vector<std::string> directories;
  for (const std::string& directory :
       {facts.places.state, facts.places.config, facts.places.cache}) {
    if (directory.empty() || directory == "/") continue;
    directories.push_back(directory);
    std::string real = RealPath(directory);
    if (!real.empty() && real != directory)
      directories.push_back(std::move(real));
  }
  return directories;
}

// What of an event is looked at.
struct Looked {
  std::vector<std::string> places;    // absolute
  std::vector<std::string> patterns;  // absolute, of lists
  std::string line;
  // The same reads without a program: what a person's rules about what is read
  // say, and nothing else.
  std::string effects;
  bool unknown = false;  // a glob that is not understood
};

void AddCommand(const std::string& command,
                const std::vector<std::string>& places, std::string* line) {
  *line += (line->empty() ? "" : "; ") + command + " --";
  for (const std::string& place : places) *line += " " + ShellQuote(place);
}

bool AnyIsDirectory(const std::vector<std::string>& places) {
  return std::ranges::any_of(places, [](const std::string& place) {
    struct stat info;
    return ::stat(place.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
  });
}

Looked WhatIsLookedAt(const hooks::Event& event, const std::string& cwd,
                      const std::string& home) {
  Looked looked;
  for (const ToolRead& read : event.reads) {
    std::vector<std::string> places;
    if (!read.pattern.empty()) {
      looked.patterns.push_back(FullPattern(read, cwd, home));
      places = WrittenPlaces(FixedPart(looked.patterns.back()), cwd, home);
    } else {
      places = WrittenPlaces(read.path.empty() ? cwd : read.path, cwd, home);
    }
    std::string command = "cat";
    if (read.how == How::kFile && AnyIsDirectory(places)) {
      // Some tools take a directory for all that is below it.
      command = "grep -r -e x";
    } else if (read.how == How::kList) {
      command = "ls";
    } else if (read.how == How::kSearch && read.glob.empty()) {
      command = "grep -r -e x";
    } else if (read.how == How::kSearch) {
      command = read.names_only ? "rg --hidden -l -e x" : "rg --hidden -e x";
      const std::vector<std::string> globs = WithoutBraces(read.glob);
      looked.unknown |= globs.empty();
      for (const std::string& glob : globs)
        command += " -g " + ShellQuote(glob);
    }
    AddCommand(command, places, &looked.line);
    if (read.how != How::kList)
      for (const std::string& place : places)
        looked.effects +=
            (looked.effects.empty() ? "< " : " < ") + ShellQuote(place);
    looked.places.insert(looked.places.end(), places.begin(), places.end());
  }
  std::string tool = event.tool;
  std::erase_if(tool, [](unsigned char c) {
    return std::isalnum(c) == 0 && c != '_' && c != '-';
  });
  looked.line += " # " + tool;
  return looked;
}

std::string InGatesDirectory(const Looked& looked,
                             const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    for (const std::string& place : looked.places)
      if (IsWithin(place, directory)) return place;
    for (const std::string& pattern : looked.patterns)
      if (AimsInto(pattern, directory)) return pattern;
  }
  return "";
}

}  // namespace

Authorization JudgeReads(Gateway& gateway, const hooks::Event& event,
                         const Request& request) {
  const ProcessFacts& facts = gateway.facts();
  const Looked looked = WhatIsLookedAt(event, request.cwd, facts.home);
  Request asked = request;
  asked.command = looked.line;
  Authorization authorization = gateway.Authorize(asked, /*pin=*/true);
  engine::ReadToolFacts read;
  read.in_gates_directory = InGatesDirectory(looked, GatesDirectories(facts));
  read.unknown = looked.unknown;
  if (!looked.effects.empty())
    read.by_effects = [&] {
      Request bare = asked;
      bare.command = looked.effects;
      return gateway.Authorize(bare, /*pin=*/true).decision;
    };
  engine::ApplyReadTool(read, &authorization.decision);
  // A tool cannot be put into a sandbox: a yes lets it look.
  if (authorization.decision.action == Action::kAsk)
    authorization.grants = {engine::GrantKind::kAsIs, "", ""};
  return authorization;
}

}  // namespace gate::app
