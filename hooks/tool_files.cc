#include "hooks/tool_files.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/ascii.h"
#include "base/text.h"

namespace gate::hooks {
namespace {

using std::string_view;
using FileHow = ToolRead::How;

// What a member of an input names.
enum class Part : uint8_t {
  kNone,
  kPath,       // a file or a directory
  kDirectory,  // with all below it, where the tool's name does not say more
  kSource,     // what is copied or moved from
  kUri,        // a file where it begins with `file:`
  kGlob,       // names of files, below the directory of the input
};

struct PartName {
  string_view name;
  Part part;
};

// By lower case without `_` and `-`: `filePath`, `file_path`, `file-path`.
constexpr PartName kParts[] = {
    {"path", Part::kPath},
    {"paths", Part::kPath},
    {"file", Part::kPath},
    {"files", Part::kPath},
    {"filepath", Part::kPath},
    {"filepaths", Part::kPath},
    {"filename", Part::kPath},
    {"filenames", Part::kPath},
    {"absolutepath", Part::kPath},
    {"relativepath", Part::kPath},
    {"fullpath", Part::kPath},
    {"localpath", Part::kPath},
    {"inputpath", Part::kPath},
    {"outputpath", Part::kPath},
    {"notebookpath", Part::kPath},
    {"targetfile", Part::kPath},
    {"targetpath", Part::kPath},
    {"destination", Part::kPath},
    {"destinationpath", Part::kPath},
    {"newpath", Part::kPath},
    {"sourcepath", Part::kSource},
    {"sourcefile", Part::kSource},
    {"source", Part::kSource},
    {"src", Part::kSource},
    {"oldpath", Part::kSource},
    {"dir", Part::kDirectory},
    {"dirpath", Part::kDirectory},
    {"directory", Part::kDirectory},
    {"directories", Part::kDirectory},
    {"directorypath", Part::kDirectory},
    {"folder", Part::kDirectory},
    {"folderpath", Part::kDirectory},
    {"rootpath", Part::kDirectory},
    {"rootdir", Part::kDirectory},
    {"uri", Part::kUri},
    {"uris", Part::kUri},
    {"url", Part::kUri},
    {"urls", Part::kUri},
    {"glob", Part::kGlob},
    {"include", Part::kGlob},
    {"includepattern", Part::kGlob},
};

// What of these a client's own tool must have as text, or as a list of it.
constexpr auto kText =
    std::to_array<string_view>({"filepath", "notebookpath", "absolutepath",
                                "path", "dirpath", "directory"});

// Words of a tool's name.
constexpr auto kLists = std::to_array<string_view>(
    {"list", "ls", "tree", "glob", "info", "stat", "exists", "metadata"});
constexpr auto kSearches =
    std::to_array<string_view>({"search", "grep", "find", "pattern"});
constexpr auto kReads = std::to_array<string_view>({"read", "view", "cat"});
// What makes or takes away a file, and shows nothing of it.
constexpr auto kWrites =
    std::to_array<string_view>({"write", "create", "delete", "remove", "mkdir",
                                "save", "append", "touch", "rm"});
// What may show what it changes.
constexpr auto kChanges = std::to_array<string_view>(
    {"edit", "update", "replace", "insert", "patch", "modify", "move", "mv",
     "rename", "copy", "cp", "put", "set", "apply", "overwrite", "truncate",
     "chmod", "download"});
// Members that bring what is to be written.
constexpr auto kTexts =
    std::to_array<string_view>({"content", "contents", "edits", "newtext",
                                "newstring", "newcontent", "filetext"});

std::string PlainName(string_view name) {
  std::string plain;
  for (const char c : name)
    if (c != '_' && c != '-') plain += LowerAscii(c);
  return plain;
}

Part PartOf(string_view plain) {
  for (const PartName& known : kParts)
    if (known.name == plain) return known.part;
  return Part::kNone;
}

// What the words of a tool's name say: `read_many_files`, `readFile`.
struct Verbs {
  bool lists = false;
  bool searches = false;
  bool reads = false;
  bool writes = false;
  bool changes = false;

  void Take(string_view word) {
    lists |= Contains(kLists, word);
    searches |= Contains(kSearches, word);
    reads |= Contains(kReads, word);
    writes |= Contains(kWrites, word);
    changes |= Contains(kChanges, word);
  }
};

Verbs VerbsOf(string_view tool) {
  // Of `mcp__SERVER__TOOL` the last part.
  if (const size_t end = tool.rfind("__"); end != string_view::npos)
    tool.remove_prefix(end + 2);
  Verbs verbs;
  std::string word;
  for (const char c : tool) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool letter = upper || (c >= 'a' && c <= 'z');
    if (upper || !letter) {
      verbs.Take(word);
      word.clear();
    }
    if (letter) word += LowerAscii(c);
  }
  verbs.Take(word);
  return verbs;
}

bool IsFileUri(string_view text) {
  constexpr string_view kScheme = "file:";
  return text.size() > kScheme.size() &&
         std::ranges::equal(text.substr(0, kScheme.size()), kScheme, {},
                            [](char c) { return LowerAscii(c); });
}

class Reader {
 public:
  Reader(string_view tool, const Json& input)
      : mcp_(tool.starts_with("mcp__")), verbs_(VerbsOf(tool)) {
    for (const auto& member : input.items())
      brings_text_ |= Contains(kTexts, PlainName(member.key()));
  }

  Result<ToolFiles> Read(const Json& input) {
    // Values that are still to be looked at, with what their name says.
    std::vector<std::pair<const Json*, Part>> open = {{&input, Part::kNone}};
    size_t values = 0;
    while (!open.empty()) {
      const auto [value, part] = open.back();
      open.pop_back();
      if (++values > kMaxToolValues)
        return Fail(ErrorCode::kTooLarge, "the tool's input is too large");
      if (value->is_string()) {
        GATE_CHECK(Take(value->get_ref<const std::string&>(), part));
      } else if (value->is_array()) {
        for (const Json& item : *value) open.emplace_back(&item, part);
      } else if (value->is_object()) {
        for (const auto& member : value->items()) {
          const std::string plain = PlainName(member.key());
          const Json& inner = member.value();
          if (!mcp_ && value == &input && Contains(kText, plain) &&
              !IsText(inner))
            return Fail(ErrorCode::kInvalid, "`" + Visible(member.key()) +
                                                 "` is not text in the event");
          open.emplace_back(&inner, PartOf(plain));
        }
      }
    }
    AddGlobs(input);
    return std::move(files_);
  }

 private:
  static bool IsText(const Json& value) {
    return value.is_null() || value.is_string() ||
           (value.is_array() &&
            std::ranges::all_of(
                value, [](const Json& item) { return item.is_string(); }));
  }

  FileHow HowOf(Part part) const {
    if (verbs_.searches) return FileHow::kSearch;
    if (verbs_.reads) return FileHow::kFile;
    if (verbs_.lists) return FileHow::kList;
    if (verbs_.changes) return FileHow::kFile;
    return mcp_ && part != Part::kDirectory ? FileHow::kFile : FileHow::kSearch;
  }

  Status Take(const std::string& text, Part part) {
    if (part == Part::kNone || text.empty()) return {};
    if (part == Part::kUri && !IsFileUri(text)) return {};
    if (text.find('\0') != std::string::npos)
      return Fail(ErrorCode::kInvalid, "a file's name has a NUL");
    if (++count_ > kMaxToolFiles)
      return Fail(ErrorCode::kTooLarge, "the tool names too many files");
    if (part == Part::kGlob) {
      globs_.push_back(text);
      return {};
    }
    // `path` of a cookie or of a request.
    if (mcp_ && part == Part::kPath && text == "/" && !verbs_.searches &&
        !verbs_.reads && !verbs_.lists)
      return {};
    const bool writes = verbs_.writes || verbs_.changes || brings_text_;
    if (writes) files_.writes.push_back(text);
    if (writes && !verbs_.changes && !verbs_.reads && part != Part::kSource &&
        part != Part::kUri)
      return {};
    files_.reads.push_back({.how = HowOf(part), .path = text});
    directory_ = text;
    return {};
  }

  // Names of files: of a search those that it looks into, else the files.
  void AddGlobs(const Json& input) {
    if (verbs_.lists && !verbs_.reads && !verbs_.searches) {
      const auto pattern = input.find("pattern");
      if (pattern != input.end() && pattern->is_string() &&
          !pattern->get_ref<const std::string&>().empty())
        AddPattern(pattern->get<std::string>());
      return;
    }
    if (globs_.empty()) return;
    const std::string below = files_.reads.size() == 1 ? directory_ : "";
    if (verbs_.searches && files_.reads.size() == 1) files_.reads.clear();
    for (const std::string& glob : globs_) {
      ToolRead read{.how = FileHow::kSearch, .path = below, .glob = glob};
      const size_t wild = glob.find_first_of("*?[{");
      const size_t slash = glob.rfind('/', wild);
      if (glob.starts_with('/') || glob.starts_with('~') ||
          glob.starts_with("..")) {
        read.path = wild == std::string::npos ? glob
                    : slash == 0              ? "/"
                                              : glob.substr(0, slash);
        read.glob = wild == std::string::npos ? "" : glob.substr(slash + 1);
      }
      files_.reads.push_back(std::move(read));
    }
  }

  void AddPattern(std::string pattern) {
    ToolRead read{.how = FileHow::kList, .pattern = std::move(pattern)};
    if (files_.reads.size() == 1) {
      read.path = directory_;
      files_.reads.clear();
    }
    files_.reads.push_back(std::move(read));
  }

  const bool mcp_;
  const Verbs verbs_;
  bool brings_text_ = false;
  size_t count_ = 0;
  std::string directory_;  // of the last read
  std::vector<std::string> globs_;
  ToolFiles files_;
};

}  // namespace

Result<ToolFiles> FilesOfTool(string_view tool, const Json& input) {
  if (!input.is_object()) return ToolFiles{};
  return Reader(tool, input).Read(input);
}

Status TakeFiles(const Json& input, Event* event) {
  GATE_TRY(ToolFiles files, FilesOfTool(event->tool, input));
  if (files.reads.empty() && files.writes.empty()) return {};
  event->kind =
      files.writes.empty() ? EventKind::kFileRead : EventKind::kFileWrite;
  event->reads = std::move(files.reads);
  event->paths = std::move(files.writes);
  event->tool_input = Dump(input);
  return {};
}

}  // namespace gate::hooks
