#include "known/compile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <string_view>

#include "base/ascii.h"
#include "base/json.h"
#include "base/paths.h"
#include "known/known.h"

namespace gate::known {
namespace {

struct Name {
  std::string text;
  std::string value;  // what stands beside it, in lists that have that
};
// By FILE/LIST, in the order of the files.
using Lists = std::map<std::string, std::vector<Name>>;
// By program: the lists of hosts that it needs.
using ProgramLists = std::map<std::string, std::set<std::string>>;

// Of rules.d/lending/programs.json.
constexpr std::string_view kLending = "programs";
constexpr std::string_view kShape = "secrets/shape";
constexpr std::string_view kRelocated = "environment/relocated-";
// Of hosts.json.
constexpr std::string_view kHosts = "hosts";

bool HasValues(std::string_view list) {
  return list == kShape || list.starts_with(kRelocated);
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::unexpected<Error> Wrong(const std::string& file, const std::string& what) {
  return Fail(ErrorCode::kInvalid, file + ".json: " + what);
}

bool IsText(const Json& value) {
  return value.is_string() && !value.get_ref<const std::string&>().empty();
}

// What a name is for C++: git's keys in lower case without what stands for
// anything, directories without their slash.
std::string Plain(std::string_view file, std::string text) {
  if (file == "git") {
    text = LowerAscii(text);
    if (text.ends_with(".*")) text.resize(text.size() - 2);
    if (text.starts_with('*')) text.erase(0, 1);
  } else if (text.size() > 1 && text.ends_with('/') && file != "secrets") {
    text.pop_back();
  }
  return text;
}

class Reader {
 public:
  Reader(std::string file, Lists* lists, ProgramLists* programs = nullptr)
      : file_(std::move(file)), lists_(lists), programs_(programs) {}

  Status Read(const std::string& text) {
    const auto json = ParseJson(text, /*comments=*/true);
    if (!json) return Wrong(file_, json.error().message);
    const auto has = [&](const char* key) {
      return json->is_object() && json->contains(key);
    };
    if (!has("schema") || (*json)["schema"] != 1 || !has("lists") ||
        !(*json)["lists"].is_object() || !has("entries") ||
        !(*json)["entries"].is_array() || json->size() != 3)
      return Wrong(file_, "expected `schema` 1, `lists` and `entries`");
    for (const auto& [name, meaning] : (*json)["lists"].items()) {
      if (meaning.is_object() && programs_ != nullptr)
        GATE_CHECK(ReadPrograms(name, meaning));
      else if (!IsText(meaning))
        return Wrong(file_, "the list `" + name + "` does not say what it is");
      (*lists_)[file_ + "/" + name];
    }
    for (const Json& entry : (*json)["entries"]) GATE_CHECK(ReadEntry(entry));
    for (const auto& [name, meaning] : (*json)["lists"].items())
      if ((*lists_)[file_ + "/" + name].empty())
        return Wrong(file_, "nothing is in the list `" + name + "`");
    return {};
  }

  // What a client's file adds to the lists of this file, which has been read.
  Status ReadClient(const Json& client) {
    const auto names = client.find(file_);
    if (names == client.end()) return {};
    for (const auto& [key, added] : names->items())
      GATE_CHECK(ReadNames(key, added));
    return {};
  }

 private:
  // Of a list of hosts: what it is, and the programs that need it.
  Status ReadPrograms(const std::string& name, const Json& list) {
    if (!list.contains("meaning") || !IsText(list["meaning"]) ||
        !list.contains("programs") || !list["programs"].is_array() ||
        list["programs"].empty() || list.size() != 2)
      return Wrong(file_, "the list `" + name +
                              "` has not just `meaning` and `programs`");
    for (const Json& program : list["programs"])
      if (!IsText(program) ||
          !(*programs_)[program.get<std::string>()].insert(name).second)
        return Wrong(file_, "a program of the list `" + name +
                                "` is no text, or stands there twice");
    return {};
  }

  Status ReadEntry(const Json& entry) {
    const auto says = [&](const char* key) {
      return entry.is_object() && entry.contains(key) && IsText(entry[key]);
    };
    if (!says("why") || !says("source") || entry.size() != 3 ||
        !entry.contains("names") || !entry["names"].is_object())
      return Wrong(file_, "an entry has `why`, `source` and `names`: " +
                              entry.dump().substr(0, 80));
    for (const auto& [key, names] : entry["names"].items())
      GATE_CHECK(ReadNames(key, names));
    return {};
  }

  Status ReadNames(const std::string& key, const Json& names) {
    std::vector<std::vector<Name>*> into;
    bool values = false;
    for (const std::string& word : Words(key)) {
      const auto list = lists_->find(file_ + "/" + word);
      if (list == lists_->end())
        return Wrong(file_, "there is no list `" + word + "`");
      values |= HasValues(list->first);
      into.push_back(&list->second);
    }
    if (into.empty() || !(values ? names.is_object() : names.is_array()))
      return Wrong(file_, "`" + key + "` holds " +
                              (values ? "names with values" : "names"));
    for (const auto& [name, value] : names.items()) {
      if (!IsText(value))
        return Wrong(file_, "`" + key + "` holds what is no text");
      Name one{values ? name : value.get<std::string>(),
               values ? value.get<std::string>() : ""};
      if (!seen_.insert(one.text).second)
        return Wrong(file_, "`" + one.text + "` stands there twice");
      for (std::vector<Name>* list : into) list->push_back(one);
    }
    return {};
  }

  std::string file_;
  Lists* lists_;
  ProgramLists* programs_;
  std::set<std::string> seen_;
};

// Caches stand once with the programs that fill them (rules/lending.h); rules
// name those that everybody shares "lending/cache".
Status ReadCaches(const std::string& text, Lists* lists) {
  const auto json = ParseJson(text, /*comments=*/true);
  if (!json) return Wrong("lending/programs", json.error().message);
  std::vector<Name>& caches = (*lists)["lending/cache"];
  for (const Json& cache : json->value("caches", Json::array()))
    if (cache.value("shared", false))
      caches.push_back({cache.value("directory", "") + "/", ""});
  if (caches.empty()) return Wrong("lending/programs", "it has no `caches`");
  return {};
}

// What lies in one directory stands together.
bool Before(const std::string& a, const std::string& b) {
  const std::string_view in_a = DirName(a), in_b = DirName(b);
  return in_a != in_b ? in_a < in_b : a < b;
}

std::string Quoted(const std::string& text) { return Json(text).dump(); }

Result<std::string> NamesOf(const Lists& lists) {
  std::string out;
  for (size_t k = 0; k < kListNames.size(); ++k) {
    const std::string name(kListNames[k]);
    const auto list = lists.find(name);
    if (list == lists.end())
      return Fail(ErrorCode::kInvalid, "there is no list `" + name + "`");
    std::vector<std::string> names;
    for (const Name& one : list->second)
      names.push_back(Plain(name.substr(0, name.find('/')), one.text));
    std::sort(names.begin(), names.end(), Before);
    out += "// " + name + "\nconstexpr std::string_view kList" +
           std::to_string(k) + "[] = {\n";
    for (const std::string& text : names) out += "    " + Quoted(text) + ",\n";
    out += "};\n";
  }
  out += "constexpr std::span<const std::string_view> kLists[] = {\n";
  for (size_t k = 0; k < kListNames.size(); ++k)
    out += "    kList" + std::to_string(k) + ",\n";
  return out + "};\n";
}

// One text, since a pointer a name would cost each start: ":NAME\n" begins a
// list, "MEMBER\n" follow.
std::string MembersOf(const Lists& lists) {
  std::string out = "constexpr std::string_view kMembers =\n";
  for (const auto& [name, members] : lists) {
    out += "    " + Quoted(":" + name + "\n") + "\n";
    for (const Name& one : members) {
      out += "    " + Quoted(one.text + "\n") + "\n";
      const std::string lower = LowerAscii(one.text);
      if (name.starts_with("git/") && lower != one.text)
        out += "    " + Quoted(lower + "\n") + "\n";
    }
  }
  return out + "    ;\n";
}

// One text as well: "\n:PROGRAM\n" begins a program's, "HOST\n" follow.
std::string ProgramHostsOf(const Lists& lists, const ProgramLists& programs) {
  std::string out = "constexpr std::string_view kProgramHosts =\n    \"\\n\"\n";
  for (const auto& [program, names] : programs) {
    std::set<std::string> hosts;
    for (const std::string& name : names)
      for (const Name& host : lists.at(std::string(kHosts) + "/" + name))
        hosts.insert(host.text);
    out += "    " + Quoted(":" + program + "\n") + "\n";
    for (const std::string& host : hosts)
      out += "    " + Quoted(host + "\n") + "\n";
  }
  return out + "    ;\n";
}

std::string RelocationsOf(const Lists& lists) {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> kKinds = {
      {{"dir", "kDirectory"}, {"file", "kFile"}, {"files", "kFiles"}}};
  std::map<std::string, std::string> lines;
  for (const auto& [kind, constant] : kKinds) {
    const auto list = lists.find(std::string(kRelocated).append(kind));
    if (list == lists.end()) continue;
    for (const Name& one : list->second)
      lines[one.text] = "    {" + Quoted(one.text) + ", " + Quoted(one.value) +
                        ", Relocation::Kind::" + constant + "},\n";
  }
  std::string out = "constexpr Relocation kRelocations[] = {\n";
  for (const auto& [variable, line] : lines) out += line;
  return out + "};\n";
}

// "KIND CHARACTERS LEAST [digit] [keep]".
Result<std::string> ShapeOf(const Name& shape) {
  constexpr std::array<std::pair<std::string_view, const char*>, 8> kClasses = {
      {{"upper", "kUpper"},
       {"hex", "kHex"},
       {"alnum", "kAlnum"},
       {"word", "kWord"},
       {"dash", "kDash"},
       {"dotted", "kDotted"},
       {"path", "kPath"},
       {"base64", "kBase64"}}};
  const auto wrong = [&] {
    return Fail(ErrorCode::kInvalid,
                "the shape of `" + shape.text + "` is `" + shape.value + "`");
  };
  std::vector<std::string> words = Words(shape.value);
  const auto take = [&](std::string_view word) {
    const bool last = words.size() > 3 && words.back() == word;
    if (last) words.pop_back();
    return last;
  };
  const bool keep = take("keep"), digit = take("digit");
  if (words.size() != 3) return wrong();
  unsigned char least = 0;
  const char* end = words[2].data() + words[2].size();
  const auto [rest, error] = std::from_chars(words[2].data(), end, least);
  const auto* kind = std::ranges::find(
      kClasses, words[1], &std::pair<std::string_view, const char*>::first);
  if (error != std::errc() || rest != end || kind == kClasses.end())
    return wrong();
  return "    {" + Quoted(shape.text) + ", SecretClass::" + kind->second +
         ", " + words[2] + ", " + (digit ? "true" : "false") + ", " +
         Quoted(words[0]) + ", " + (keep ? "true" : "false") + "},\n";
}

Result<std::string> ShapesOf(const Lists& lists) {
  std::string out = "constexpr SecretPrefix kShapes[] = {\n";
  if (const auto list = lists.find(std::string(kShape)); list != lists.end())
    for (const Name& shape : list->second) {
      GATE_TRY(const std::string line, ShapeOf(shape));
      out += line;
    }
  return out +
         "};\n"
         "constexpr std::array<bool, 256> kStarts = [] {\n"
         "  std::array<bool, 256> starts{};\n"
         "  for (const SecretPrefix& shape : kShapes)\n"
         "    starts[static_cast<unsigned char>(shape.prefix.front())] = "
         "true;\n"
         "  for (const std::string_view value :\n"
         "       kLists[static_cast<size_t>(List::kValueStarts)])\n"
         "    starts[static_cast<unsigned char>(value.front())] = true;\n"
         "  return starts;\n"
         "}();\n";
}

constexpr std::string_view kBegin = R"(// Made by gate_compile_known.
#include <string>

#include "known/known.h"

namespace gate::known {
namespace {

)";
constexpr std::string_view kEnd = R"(
}  // namespace

std::span<const std::string_view> Names(List list) {
  return kLists[static_cast<size_t>(list)];
}

std::vector<std::string_view> Members(std::string_view list) {
  std::vector<std::string_view> members;
  bool in = false;
  for (std::string_view rest = kMembers; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    if (line.starts_with(':'))
      in = line.substr(1) == list;
    else if (in)
      members.push_back(line);
  }
  return members;
}

std::vector<std::string_view> HostsOfProgram(std::string_view program) {
  std::vector<std::string_view> hosts;
  if (program.empty() || program.find('\n') != program.npos) return hosts;
  std::string heading = "\n:";
  heading.append(program) += '\n';
  const size_t at = kProgramHosts.find(heading);
  if (at == kProgramHosts.npos) return hosts;
  for (std::string_view rest = kProgramHosts.substr(at + heading.size());
       !rest.empty() && rest.front() != ':';) {
    hosts.push_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(hosts.back().size() + 1);
  }
  return hosts;
}

std::span<const Relocation> Relocations() { return kRelocations; }

std::span<const SecretPrefix> SecretPrefixes() { return kShapes; }

const std::array<bool, 256>& SecretStarts() { return kStarts; }

}  // namespace gate::known
)";

}  // namespace

Result<std::string> Compile(
    const std::vector<std::pair<std::string, std::string>>& files,
    const std::vector<clients::ClientFile>& clients) {
  Lists lists;
  ProgramLists programs;
  for (const auto& [file, text] : files) {
    if (file == kLending)
      GATE_CHECK(ReadCaches(text, &lists));
    else
      GATE_CHECK(Reader(file, &lists, file == kHosts ? &programs : nullptr)
                     .Read(text));
  }
  Reader home("home", &lists);
  for (const clients::ClientFile& client : clients) {
    GATE_CHECK(home.ReadClient(client.json));
    if (client.json.contains("variable"))
      lists[std::string(kRelocated) + "dir"].push_back(
          {client.json.at("variable"), client.json.at("directory")});
  }
  GATE_TRY(const std::string names, NamesOf(lists));
  GATE_TRY(const std::string shapes, ShapesOf(lists));
  std::string out(kBegin);
  out += names + MembersOf(lists) + ProgramHostsOf(lists, programs) +
         RelocationsOf(lists) + shapes;
  return out.append(kEnd);
}

}  // namespace gate::known
