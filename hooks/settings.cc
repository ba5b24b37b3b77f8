#include "hooks/settings.h"

#include <algorithm>

#include "base/json.h"
#include "hooks/json_text.h"

namespace gate::hooks {
namespace {

// The events that gate has entries for, in the order in which they are written;
// they are taken out the other way round, so that every byte comes back.
constexpr const char* kEvents[] = {"PreToolUse", "PostToolUse",
                                   "PostToolUseFailure"};
constexpr const char kHooks[] = "hooks";
constexpr const char kOnFailure[] = "onFailure";
constexpr const char kBlock[] = "block";
// Part of every guard line that gate wrote, and of nothing else.
constexpr std::string_view kMark = "gate: hook failed (status";
constexpr std::string_view kBlanks = " \t\r\n";

bool IsBlankText(std::string_view text) {
  return text.find_first_not_of(kBlanks) == std::string_view::npos;
}

// The settings, to look at: numbers may be others than in the text.
Result<Json> ParseSettings(std::string_view text) {
  if (IsBlankText(text)) return Json::object();
  // The strict parser: duplicate keys, NUL, ill-formed UTF-8.
  auto settings = ParseJson(WithPlainNumbers(text));
  if (!settings)
    return Fail(ErrorCode::kInvalid,
                "not valid JSON (byte " +
                    std::to_string(settings.error().offset) + ": " +
                    settings.error().message + "); it is left alone");
  if (!settings->is_object())
    return Fail(ErrorCode::kInvalid, "not a JSON object; it is left alone");
  return std::move(*settings);
}

bool IsSwitchedOff(const Json& settings) {
  const auto disabled = settings.find("disableAllHooks");
  return disabled != settings.end() && *disabled != false;
}

bool IsOurs(const Json& handler, std::string_view client) {
  if (!handler.is_object()) return false;
  const auto command = handler.find("command");
  if (command == handler.end() || !command->is_string()) return false;
  const auto& line = command->get_ref<const std::string&>();
  return line.find(kMark) != std::string::npos &&
         line.find(" hook " + std::string(client) + " ") != std::string::npos;
}

std::unexpected<Error> Shape(const std::string& where) {
  return Fail(ErrorCode::kInvalid,
              where +
                  " does not have the shape this client documents; it is left "
                  "alone");
}

// The groups of `event`; none when it is not there.
Result<std::vector<Json>> Groups(const Json& settings, const char* event) {
  const auto hooks = settings.find(kHooks);
  if (hooks == settings.end()) return std::vector<Json>{};
  if (!hooks->is_object()) return Shape("`hooks`");
  const auto groups = hooks->find(event);
  if (groups == hooks->end()) return std::vector<Json>{};
  const std::string name = "`hooks." + std::string(event);
  if (!groups->is_array()) return Shape(name + "`");
  for (const Json& group : *groups) {
    if (!group.is_object()) return Shape(name + "`");
    const auto handlers = group.find(kHooks);
    if (handlers != group.end() && !handlers->is_array())
      return Shape(name + "[].hooks`");
  }
  return groups->get<std::vector<Json>>();
}

// How many handlers of a group there are, and how many are gate's.
struct Handlers {
  size_t all = 0, ours = 0;
  size_t first = 0;  // of gate's
};

Handlers CountHandlers(const Json& group, std::string_view client) {
  Handlers count;
  const auto handlers = group.find(kHooks);
  if (handlers == group.end()) return count;
  for (const Json& handler : *handlers) {
    if (IsOurs(handler, client) && count.ours++ == 0) count.first = count.all;
    ++count.all;
  }
  return count;
}

// Whether a handler of gate's in a group makes the client block when it fails.
bool Blocks(const Json& group, std::string_view client) {
  const auto handlers = group.find(kHooks);
  if (handlers == group.end()) return false;
  return std::any_of(
      handlers->begin(), handlers->end(), [&](const Json& handler) {
        return IsOurs(handler, client) && handler.contains(kOnFailure) &&
               handler[kOnFailure] == kBlock;
      });
}

Json Group(const HookEntry& entry) {
  Json handler = {{"type", "command"},
                  {"command", entry.command},
                  {"timeout", entry.timeout_s}};
  if (entry.block_on_failure) handler[kOnFailure] = kBlock;
  return {{"matcher", entry.matcher}, {kHooks, Json::array({handler})}};
}

// How the text breaks its lines: the indentation of its first indented line.
struct Layout {
  std::string newline = "\n";
  std::string unit = "  ";

  explicit Layout(std::string_view text) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return;
    if (end > 0 && text[end - 1] == '\r') newline = "\r\n";
    const size_t from = end + 1;
    const size_t to = text.find_first_not_of(" \t", from);
    if (to != std::string_view::npos && to > from)
      unit = text[from] == '\t' ? "\t" : std::string(to - from, ' ');
  }
  std::string Indent(int depth) const {
    std::string indent;
    for (int i = 0; i < depth; ++i) indent += unit;
    return indent;
  }
};

// The group in the lines that only gate breaks so, `depth` deep.
std::string GroupText(const HookEntry& entry, const Layout& layout, int depth) {
  const auto line = [&](int deeper) {
    return layout.newline + layout.Indent(depth + deeper);
  };
  std::string text = "{" + line(1) + "\"matcher\": " + Dump(entry.matcher);
  text += "," + line(1) + "\"hooks\": [{" + line(2) + "\"type\": \"command\"";
  text += "," + line(2) + "\"command\": " + Dump(entry.command);
  text += "," + line(2) + "\"timeout\": " + std::to_string(entry.timeout_s);
  if (entry.block_on_failure)
    text += "," + line(2) + "\"onFailure\": \"block\"";
  return text + line(1) + "}]" + line(0) + "}";
}

// Whether a group has its lines as GroupText breaks them: then it stands, with
// what is around it, as gate wrote it, and not as some other program laid the
// file out since.
bool IsAsWritten(std::string_view group) {
  std::string lines;
  for (size_t at = 0; at < group.size();) {
    const size_t end = std::min(group.find('\n', at), group.size());
    std::string_view line = group.substr(at, end - at);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    lines += line.substr(0, line.find(':'));
    lines += '|';
    at = end + 1;
  }
  std::erase(lines, '\r');
  return lines.starts_with("{|\"matcher\"|\"hooks\"|\"type\"|\"command\"|");
}

// The item called `name` of the object at `begin`; items.size() without one.
size_t Find(const std::vector<JsonItem>& items, std::string_view name) {
  const auto found =
      std::find_if(items.begin(), items.end(),
                   [&](const JsonItem& item) { return item.name == name; });
  return static_cast<size_t>(found - items.begin());
}

// Whether nothing but the one item stands between the brackets. gate writes so
// what it makes itself around a group, and puts blanks into what was there.
bool Hugs(std::string_view text, size_t begin, const JsonItem& item) {
  return item.key == begin + 1 && item.end + 1 == JsonValueEnd(text, begin);
}

// Takes one of gate's handlers out, with what gate made around it. Nothing:
// that was the whole of a file that was not there before.
std::optional<std::string> WithoutGroup(std::string_view text,
                                        const char* event, size_t index,
                                        const Handlers& handlers) {
  const size_t root = LocatePointer(text, "");
  const std::vector<JsonItem> members = JsonItems(text, root);
  const size_t in_root = Find(members, kHooks);
  const size_t hooks = members[in_root].begin;
  const std::vector<JsonItem> events = JsonItems(text, hooks);
  const size_t in_hooks = Find(events, event);
  const size_t array = events[in_hooks].begin;
  const std::vector<JsonItem> groups = JsonItems(text, array);
  const JsonItem& group = groups[index];
  if (handlers.ours < handlers.all) {
    const std::vector<JsonItem> in_group = JsonItems(text, group.begin);
    return RemoveItem(text, in_group[Find(in_group, kHooks)].begin,
                      handlers.first);
  }
  const bool ours =
      IsAsWritten(text.substr(group.begin, group.end - group.begin));
  if (groups.size() > 1 || (ours && !Hugs(text, array, group)))
    return RemoveItem(text, array, index);
  if (events.size() > 1 || (ours && !Hugs(text, hooks, events[0])))
    return RemoveItem(text, hooks, in_hooks);
  if (members.size() > 1 || !ours || !Hugs(text, root, members[0]))
    return RemoveItem(text, root, in_root);
  const std::string_view behind = text.substr(JsonValueEnd(text, root));
  if (root == 0 && behind == "\n") return std::nullopt;
  return std::string(text.substr(0, root)) + std::string(behind);
}

}  // namespace

namespace {

// `file`, which has none of gate's for this event, with `entry`.
Result<std::string> Append(std::optional<std::string_view> file,
                           const HookEntry& entry) {
  const std::string text(file.value_or(""));
  const Layout layout(text);
  const std::string list = "\"" + entry.event + "\": [";
  if (IsBlankText(text))
    return text + "{\"hooks\": {" + list + GroupText(entry, layout, 0) + "]}}" +
           (file ? "" : "\n");
  const size_t root = LocatePointer(text, "");
  const auto append = [&](size_t begin, int depth, const std::string& before,
                          const std::string& after) {
    return AppendItem(
        text, begin, before + GroupText(entry, layout, depth) + after,
        layout.newline, layout.Indent(depth), layout.Indent(depth - 1));
  };
  const std::vector<JsonItem> members = JsonItems(text, root);
  const size_t in_root = Find(members, kHooks);
  if (in_root == members.size())
    return append(root, 1, "\"hooks\": {" + list, "]}");
  const size_t hooks = members[in_root].begin;
  const std::vector<JsonItem> events = JsonItems(text, hooks);
  const size_t in_hooks = Find(events, entry.event);
  if (in_hooks == events.size()) return append(hooks, 2, list, "]");
  return append(events[in_hooks].begin, 3, "", "");
}

}  // namespace

Result<std::string> WithHooks(std::optional<std::string_view> file,
                              std::vector<HookEntry> entries) {
  GATE_TRY(const Json settings, ParseSettings(file.value_or("")));
  if (IsSwitchedOff(settings)) {
    return Fail(ErrorCode::kInvalid,
                "`disableAllHooks` is set, so that no hook would run; remove "
                "it first");
  }
  size_t ours = 0;
  bool same = true;
  for (const char* event : kEvents) {
    GATE_TRY(const std::vector<Json> groups, Groups(settings, event));
    for (const Json& group : groups)
      ours += CountHandlers(group, entries.front().client).ours;
    for (HookEntry& entry : entries) {
      if (entry.event != event) continue;
      for (const Json& group : groups)
        entry.block_on_failure |= Blocks(group, entry.client);
      same = same && std::find(groups.begin(), groups.end(), Group(entry)) !=
                         groups.end();
    }
  }
  if (same && ours == entries.size()) return std::string(*file);
  std::optional<std::string> text;
  if (file) text = std::string(*file);
  if (ours > 0) {
    GATE_TRY(text, WithoutHook(*file, entries.front().client));
  }
  for (const HookEntry& entry : entries) {
    GATE_TRY(text, Append(text, entry));
  }
  return *text;
}

Result<std::string> WithHook(std::optional<std::string_view> file,
                             const HookEntry& entry) {
  return WithHooks(file, {entry});
}

Result<std::optional<std::string>> WithoutHook(std::string_view file,
                                               std::string_view client) {
  std::string text(file);
  for (size_t last = std::size(kEvents); last-- > 0;) {
    while (true) {
      GATE_TRY(const Json settings, ParseSettings(text));
      GATE_TRY(const std::vector<Json> groups, Groups(settings, kEvents[last]));
      size_t index = 0;
      Handlers handlers;
      for (; index < groups.size(); ++index) {
        handlers = CountHandlers(groups[index], client);
        if (handlers.ours > 0) break;
      }
      if (index == groups.size()) break;
      auto without = WithoutGroup(text, kEvents[last], index, handlers);
      if (!without) return std::nullopt;
      text = std::move(*without);
    }
  }
  return text;
}

Result<std::vector<FoundHook>> FindHooks(std::string_view file,
                                         std::string_view client) {
  GATE_TRY(const Json settings, ParseSettings(file));
  const auto text = [](const Json& of, const char* name) {
    const auto value = of.find(name);
    return value == of.end() || !value->is_string() ? ""
                                                    : value->get<std::string>();
  };
  std::vector<FoundHook> found;
  for (const char* event : kEvents) {
    GATE_TRY(const std::vector<Json> groups, Groups(settings, event));
    for (size_t i = 0; i < groups.size(); ++i) {
      const auto handlers = groups[i].find(kHooks);
      if (handlers == groups[i].end()) continue;
      for (size_t j = 0; j < handlers->size(); ++j) {
        const Json& handler = (*handlers)[j];
        if (!IsOurs(handler, client)) continue;
        FoundHook hook;
        hook.group = i;
        hook.handler = j;
        hook.entry.event = event;
        hook.entry.client = client;
        hook.entry.matcher = text(groups[i], "matcher");
        hook.entry.command = text(handler, "command");
        const auto timeout = handler.find("timeout");
        hook.entry.timeout_s =
            timeout != handler.end() && timeout->is_number_integer()
                ? timeout->get<int>()
                : 0;
        hook.entry.block_on_failure = Blocks(groups[i], client);
        found.push_back(std::move(hook));
      }
    }
  }
  return found;
}

Result<bool> SwitchesHooksOff(std::string_view file) {
  GATE_TRY(const Json settings, ParseSettings(file));
  return IsSwitchedOff(settings);
}

}  // namespace gate::hooks
