// The values inside rules, each with a diagnostic at its place when it is not
// what it should be.
#include <algorithm>
#include <chrono>

#include "base/ascii.h"
#include "base/host.h"
#include "known/known.h"
#include "rules/compile/compiler.h"
#include "rules/glob.h"
#include "rules/match/path_filter.h"
#include "rules/names.h"

namespace gate::rules {
namespace {

constexpr size_t kMaxDiagnostics = 200;

int64_t DaysFromCivil(int64_t y, unsigned m, unsigned d) {
  y -= m <= 2;
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const unsigned yoe = static_cast<unsigned>(y - era * 400);
  const unsigned doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
  const unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + static_cast<int64_t>(doe) - 719468;
}

// The longest part of a path glob that stands in every path it matches. A
// slash beside a wildcard may be left out with it.
std::string_view LongestPart(std::string_view glob) {
  std::string_view best;
  if (glob.find('\\') != std::string_view::npos) return best;
  for (size_t at = 0; at < glob.size();) {
    const size_t end = std::min(glob.find_first_of("*?", at), glob.size());
    std::string_view part = glob.substr(at, end - at);
    while (part.starts_with('/')) part.remove_prefix(1);
    while (part.ends_with('/')) part.remove_suffix(1);
    if (part.size() > best.size()) best = part;
    at = end + 1;
  }
  return best;
}

}  // namespace

std::pair<uint32_t, uint32_t> Compiler::Place(File& file, uint32_t offset) {
  if (file.lines.empty()) {
    file.lines.push_back(0);
    const std::string_view text = file.source->text;
    for (size_t at = text.find('\n'); at != std::string_view::npos;
         at = text.find('\n', at + 1))
      file.lines.push_back(static_cast<uint32_t>(at) + 1);
  }
  const auto after =
      std::upper_bound(file.lines.begin(), file.lines.end(), offset);
  const auto line = static_cast<uint32_t>(after - file.lines.begin());
  return {line, offset - file.lines[line - 1] + 1};
}

void Compiler::Problem(File& file, uint32_t offset, const char* code,
                       std::string message, std::string help,
                       Severity severity) {
  if (help.empty())
    help =
        "docs/rules.md says what each key takes; rules/schema.json lets an "
        "editor check it";
  if (severity == Severity::kError) file.broken = true;
  if (result_.diagnostics.size() >= kMaxDiagnostics) return;
  const auto [line, column] = Place(file, offset);
  result_.diagnostics.push_back({severity, code, file.source->name, line,
                                 column, std::move(message), std::move(help)});
}

bool Compiler::Is(File& file, const TreeNode& node, Type type,
                  const char* what) {
  if (node.type == type) return true;
  static constexpr const char* kTypes[] = {
      "null", "true or false", "a number", "a string", "an array", "an object"};
  Problem(file, node.begin, "rule-bad-type",
          std::string("`") + what + "` must be " +
              kTypes[static_cast<size_t>(type)]);
  return false;
}

bool Compiler::Flag(File& file, const TreeNode& node) {
  return Is(file, node, Type::kBool, std::string(node.key).c_str()) &&
         node.truth;
}

std::string_view Compiler::String(File& file, const TreeNode& node,
                                  const char* what, size_t limit) {
  if (!Is(file, node, Type::kString, what)) return {};
  if (node.text.empty()) {
    Problem(file, node.begin, "rule-empty-pattern",
            std::string("`") + what + "` is empty");
  } else if (node.text.size() > limit) {
    Problem(file, node.begin, "rule-too-long",
            std::string("`") + what + "` is too long");
    return {};
  }
  return node.text;
}

bool Compiler::AddMembers(File& file, uint32_t offset,
                          const std::vector<std::string_view>& members,
                          std::vector<std::string_view>* values) {
  members_ += members.size();
  if (members_ > most_members_) {
    Problem(file, offset, "rule-too-large",
            "with their lists written out, the rules have too many members",
            "use fewer lists inside lists");
    return false;
  }
  values->insert(values->end(), members.begin(), members.end());
  return true;
}

bool Compiler::AddKnown(File& file, const TreeNode& item,
                        std::vector<std::string_view>* values) {
  constexpr std::string_view kMark = "@known/";
  const size_t at = item.text.find(kMark);
  if (at == std::string_view::npos || (at > 0 && item.text[at - 1] != '/'))
    return false;
  const std::string_view before = item.text.substr(0, at);
  std::string_view list = item.text.substr(at + kMark.size());
  std::string below;  // of the members only those in this directory
  if (const size_t end = list.find('/', list.find('/') + 1);
      end != std::string_view::npos && list.find('/') < end) {
    below = std::string(list.substr(end + 1)) + "/";
    list = list.substr(0, end);
  }
  std::vector<std::string_view> members;
  for (std::string_view member : known::Members(list)) {
    if (!member.starts_with(below)) continue;
    member.remove_prefix(below.size());
    if (member.empty()) continue;
    std::string text = std::string(before).append(member);
    if (text.ends_with('/')) text += "**";
    members.push_back(written_out_.emplace_back(std::move(text)));
  }
  if (members.empty())
    Problem(file, item.begin, "rule-unknown-list",
            "nothing is in `" + std::string(item.text.substr(at)) + "`",
            "the lists that gate ships stand in rules.d/known");
  AddMembers(file, item.begin, members, values);
  return true;
}

std::vector<std::string_view> Compiler::StringList(File& file,
                                                   const TreeNode& node,
                                                   const char* what) {
  std::vector<std::string_view> values;
  const auto add = [&](const TreeNode& item) {
    const std::string_view text = String(file, item, what);
    if (text.empty() || AddKnown(file, item, &values)) return;
    if (text[0] != '@' || text.size() == 1) {
      values.push_back(text);
      return;
    }
    const std::string name(text.substr(1));
    if (const auto own = list_values_.find(name); own != list_values_.end()) {
      Use(Kind::kList, name);
      AddMembers(file, item.begin, own->second, &values);
      return;
    }
    if (options_.known)
      for (const ListRecord& list : options_.known->lists)
        if (options_.known->Text(list.name) == name) {
          for (const FlatText& value :
               options_.known->In(options_.known->strings, list.strings))
            values.push_back(options_.known->Text(value));
          return;
        }
    Problem(file, item.begin, "rule-unknown-list",
            "there is no list `" + name + "`",
            std::string_view(what) == "hosts"
                ? "define it under \"lists\"; \"@named\" stands for the hosts "
                  "that the command names, \"@program\" for those that its "
                  "program needs"
                : "define it under \"lists\"; a literal `@` at the start of a "
                  "pattern is written `\\\\@`");
  };
  if (node.type == Type::kString) {
    add(node);
  } else if (Is(file, node, Type::kArray, what)) {
    if (node.count == 0)
      Problem(file, node.begin, "rule-empty-pattern",
              std::string("`") + what + "` is empty");
    for (const TreeNode& item : file.tree.children(node)) add(item);
  }
  return values;
}

uint8_t Compiler::Choice(File& file, const TreeNode& node,
                         std::span<const std::string_view> names,
                         const char* what) {
  const std::string_view text = String(file, node, what);
  if (text.empty()) return 0;
  const auto found = FindName(names, text);
  if (found) return static_cast<uint8_t>(*found);
  std::string help = "one of";
  for (const std::string_view name : names)
    if (!name.empty()) help += " " + std::string(name);
  Problem(file, node.begin, "rule-bad-value",
          "`" + std::string(text) + "` is no " + what, std::move(help));
  return 0;
}

Range Compiler::AddStrings(const std::vector<std::string_view>& strings) {
  const Range range{static_cast<uint32_t>(strings_.size()),
                    static_cast<uint32_t>(strings.size())};
  for (const std::string_view text : strings)
    strings_.push_back(writer_.Text(text));
  return range;
}

Range Compiler::AddHosts(const std::vector<std::string_view>& hosts) {
  std::vector<std::string> forms;
  for (const std::string_view host : hosts) {
    std::string form;
    if (!HasWildcard(host)) form = NormaliseHost(host).normal;
    if (form.empty()) form = LowerAscii(host);
    forms.push_back(std::move(form));
  }
  return AddStrings({forms.begin(), forms.end()});
}

void Compiler::UnknownKey(File& file, const TreeNode& node, const char* where,
                          std::string_view known) {
  // The nearest known key by shared letters at the start, then by length.
  std::string_view best;
  size_t best_shared = 1;
  for (size_t at = 0; at < known.size();) {
    const size_t end = std::min(known.find(' ', at), known.size());
    const std::string_view word = known.substr(at, end - at);
    const size_t shared =
        static_cast<size_t>(std::mismatch(word.begin(), word.end(),
                                          node.key.begin(), node.key.end())
                                .first -
                            word.begin());
    if (shared > best_shared) {
      best_shared = shared;
      best = word;
    }
    at = end + 1;
  }
  Problem(file, node.key_begin, "rule-unknown-key",
          "`" + std::string(node.key) + "` is not a key of " + where,
          best.empty() ? "known keys: " + std::string(known)
                       : "did you mean `" + std::string(best) + "`?");
}

bool Compiler::ReadTime(File& file, const TreeNode& node, int64_t* out) {
  const std::string_view text = String(file, node, "a time");
  const auto digits = [&](size_t at, size_t count, unsigned* value) {
    *value = 0;
    for (size_t i = at; i < at + count; ++i) {
      if (i >= text.size() || text[i] < '0' || text[i] > '9') return false;
      *value = *value * 10 + static_cast<unsigned>(text[i] - '0');
    }
    return true;
  };
  unsigned year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  bool ok = digits(0, 4, &year) && digits(5, 2, &month) && digits(8, 2, &day) &&
            text[4] == '-' && text[7] == '-' && month >= 1 && month <= 12 &&
            std::chrono::year_month_day{
                std::chrono::year(static_cast<int>(year)),
                std::chrono::month(month), std::chrono::day(day)}
                .ok();
  if (ok && text.size() != 10)
    ok = text.size() == 20 && text[10] == 'T' && text[13] == ':' &&
         text[16] == ':' && text[19] == 'Z' && digits(11, 2, &hour) &&
         digits(14, 2, &minute) && digits(17, 2, &second) && hour < 24 &&
         minute < 60 && second < 61;
  if (!ok) {
    Problem(file, node.begin, "rule-bad-value", "this is not a date",
            "2026-01-31 or 2026-01-31T12:00:00Z, in UTC");
    return false;
  }
  *out = (DaysFromCivil(year, month, day) * 86400 + hour * 3600 + minute * 60 +
          second) *
         1000;
  if (*out == 0) *out = 1;  // 0 stands for "not said"
  return true;
}

Range Compiler::AddPaths(File& file, const TreeNode& node, const char* what) {
  std::vector<PathRecord> records;
  for (const std::string_view text : StringList(file, node, what)) {
    PathRecord record;
    if (ReadPath(file, node, text, &record)) records.push_back(record);
  }
  const Range range{static_cast<uint32_t>(paths_.size()),
                    static_cast<uint32_t>(records.size())};
  paths_.insert(paths_.end(), records.begin(), records.end());
  return range;
}

bool Compiler::ReadPath(File& file, const TreeNode& node, std::string_view text,
                        PathRecord* out) {
  struct Variable {
    std::string_view name;
    PathBase base;
  };
  static constexpr Variable kVariables[] = {
      {"$HOME", PathBase::kHome},
      {"~", PathBase::kHome},
      {"$WORKSPACE", PathBase::kWorkspace},
      {"$GATE_CONFIG", PathBase::kGateConfig},
      {"$GATE_STATE", PathBase::kGateState},
      {"$GATE_CACHE", PathBase::kGateCache},
      {"$GATE_BINARY", PathBase::kGateBinary}};
  const auto bad = [&](std::string help) {
    Problem(file, node.begin, "rule-bad-path",
            "`" + std::string(text) + "` is neither a path pattern nor a class",
            std::move(help));
    return false;
  };
  if (text.size() > kMaxGlobBytes) return bad("it is too long");
  std::string_view rest = text;
  for (const Variable& variable : kVariables) {
    if (!rest.starts_with(variable.name)) continue;
    const std::string_view after = rest.substr(variable.name.size());
    if (!after.empty() && after[0] != '/') continue;
    out->base = variable.base;
    rest = after;
    break;
  }
  const auto directories = clients::Directories();
  for (size_t i = 0; i < directories.size(); ++i) {
    if (out->base != PathBase::kNone || !rest.starts_with('$') ||
        !rest.substr(1).starts_with(directories[i].variable))
      continue;
    const std::string_view after =
        rest.substr(1 + directories[i].variable.size());
    if (!after.empty() && after[0] != '/') continue;
    out->base = BaseOfClient(i);
    rest = after;
  }
  if (out->base == PathBase::kNone) {
    if (rest.starts_with('$')) return bad("there is no such variable");
    const bool path = rest.starts_with('/') || rest.starts_with("**/");
    if (!path) {
      bool known = rest == "workspace" || rest == "outside" ||
                   rest == "private-temp" ||
                   class_names_.contains(std::string(rest));
      if (options_.known)
        for (const ClassRecord& record : options_.known->classes)
          known = known || options_.known->Text(record.name) == rest;
      if (!known)
        return bad(
            "a path starts with `/`, `~`, `$HOME`, `$WORKSPACE` or "
            "`**/`; a class must be one that is defined");
      Use(Kind::kClass, rest);
      out->shape = PathShape::kClass;
      out->text = writer_.Text(rest);
      const auto own = class_names_.find(std::string(rest));
      out->class_index = rest == "workspace"      ? kClassWorkspace
                         : rest == "outside"      ? kClassOutside
                         : rest == "private-temp" ? kClassPrivateTemp
                         : own == class_names_.end()
                             ? kClassElsewhere
                             : static_cast<uint16_t>(own->second);
      return true;
    }
    if (rest.starts_with("**/") &&
        rest.find('/', 3) == std::string_view::npos) {
      const std::string_view name = rest.substr(3);
      if (!HasWildcard(name)) {
        out->shape = PathShape::kName;
        out->text = writer_.Text(name);
        FillFilter(name, {}, out);
        return true;
      }
      if (name.starts_with('*') && name.size() > 1 &&
          !HasWildcard(name.substr(1))) {
        out->shape = PathShape::kSuffix;
        out->text = writer_.Text(name.substr(1));
        FillFilter(name.substr(1), {}, out);
        return true;
      }
    }
    if (rest.starts_with("**/")) {
      // Written as a glob from the root: "/**/x" with the slash shared.
      out->shape = PathShape::kGlob;
      out->text = writer_.Text("**" + std::string(rest.substr(2)));
      out->needs = writer_.Text(LongestPart(rest));
      FillFilter("**", LongestPart(rest), out);
      return true;
    }
  }
  if (!HasWildcard(rest)) {
    out->shape = PathShape::kExact;
    if (rest.size() > 1 && rest.ends_with('/')) rest.remove_suffix(1);
    out->text = writer_.Text(rest);
    FillFilter(rest, {}, out);
    return true;
  }
  if (rest.ends_with("/**") && !HasWildcard(rest.substr(0, rest.size() - 3))) {
    out->shape = PathShape::kSubtree;
    out->text = writer_.Text(rest.substr(0, rest.size() - 3));
    FillFilter(rest.substr(0, rest.size() - 3), {}, out);
    return true;
  }
  out->shape = PathShape::kGlob;
  out->needs = writer_.Text(LongestPart(rest));
  out->text = writer_.Text(rest);
  FillFilter(rest, LongestPart(rest), out);
  const std::string_view fixed = rest.substr(0, rest.find_first_of("*?\\"));
  out->literal = writer_.Text(fixed.substr(
      0, fixed.rfind('/') == std::string_view::npos ? 0 : fixed.rfind('/')));
  return true;
}

}  // namespace gate::rules
