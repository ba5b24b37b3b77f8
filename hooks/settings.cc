#include "hooks/settings.h"

#include "base/json.h"

namespace gate::hooks {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr const char kEvent[] = "PreToolUse";
// Part of every guard line that gate wrote, and of nothing else.
constexpr std::string_view kMark = "gate: hook failed (status";

Result<Ordered> ParseSettings(std::string_view text) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return Ordered::object();
  }
  // ParseJson is the strict one: duplicate keys, NUL, ill-formed UTF-8. The
  // second parse keeps the order of the keys.
  if (const auto strict = ParseJson(text); !strict) {
    return Fail(ErrorCode::kInvalid, "not valid JSON (byte " +
                                         std::to_string(strict.error().offset) +
                                         ": " + strict.error().message +
                                         "); it is left alone");
  }
  Ordered settings = Ordered::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!settings.is_object()) {
    return Fail(ErrorCode::kInvalid, "not a JSON object; it is left alone");
  }
  return settings;
}

// The indentation of the first indented line, to write the file as it was.
std::string Write(const Ordered& settings, std::string_view before) {
  int width = 2;
  char fill = ' ';
  const size_t brace = before.find('\n');
  if (brace != std::string_view::npos) {
    const size_t begin = brace + 1;
    const size_t end = before.find_first_not_of(" \t", begin);
    if (end != std::string_view::npos && end > begin) {
      fill = before[begin];
      width = fill == '\t' ? 1 : static_cast<int>(end - begin);
    }
  }
  return settings.dump(width, fill, false, Ordered::error_handler_t::replace) +
         "\n";
}

bool IsOurs(const Ordered& handler, std::string_view client) {
  if (!handler.is_object()) return false;
  const auto command = handler.find("command");
  if (command == handler.end() || !command->is_string()) return false;
  const auto& line = command->get_ref<const std::string&>();
  return line.find(kMark) != std::string::npos &&
         line.find(" hook " + std::string(client) + " ") != std::string::npos;
}

std::unexpected<Error> Shape(const char* where) {
  return Fail(ErrorCode::kInvalid,
              std::string(where) +
                  " does not have the shape this client documents; it is left "
                  "alone");
}

// The groups of the event, or null when there are none.
Result<Ordered*> Groups(Ordered* settings) {
  const auto hooks = settings->find("hooks");
  if (hooks == settings->end()) return nullptr;
  if (!hooks->is_object()) return Shape("`hooks`");
  const auto groups = hooks->find(kEvent);
  if (groups == hooks->end()) return nullptr;
  if (!groups->is_array()) return Shape("`hooks.PreToolUse`");
  for (const Ordered& group : *groups) {
    if (!group.is_object()) return Shape("`hooks.PreToolUse`");
    const auto handlers = group.find("hooks");
    if (handlers != group.end() && !handlers->is_array()) {
      return Shape("`hooks.PreToolUse[].hooks`");
    }
  }
  return &*groups;
}

Ordered Group(const HookEntry& entry) {
  Ordered handler = Ordered::object();
  handler["type"] = "command";
  handler["command"] = entry.command;
  handler["timeout"] = entry.timeout_s;
  if (entry.block_on_failure) handler["onFailure"] = "block";
  Ordered group = Ordered::object();
  group["matcher"] = entry.matcher;
  group["hooks"] = Ordered::array({std::move(handler)});
  return group;
}

// Takes gate's handlers out of `groups`; a group that this empties goes too.
// Returns whether there were any.
bool RemoveOurs(Ordered* groups, std::string_view client) {
  bool removed = false;
  Ordered kept_groups = Ordered::array();
  for (Ordered& group : *groups) {
    const auto handlers = group.find("hooks");
    if (handlers == group.end()) {
      kept_groups.push_back(std::move(group));
      continue;
    }
    Ordered kept = Ordered::array();
    for (Ordered& handler : *handlers) {
      if (!IsOurs(handler, client)) kept.push_back(std::move(handler));
    }
    const bool touched = kept.size() != handlers->size();
    removed = removed || touched;
    *handlers = std::move(kept);
    if (!touched || !handlers->empty()) {
      kept_groups.push_back(std::move(group));
    }
  }
  *groups = std::move(kept_groups);
  return removed;
}

}  // namespace

Result<std::string> WithHook(std::string_view text, const HookEntry& entry) {
  GATE_TRY(Ordered settings, ParseSettings(text));
  const auto disabled = settings.find("disableAllHooks");
  if (disabled != settings.end() && *disabled != false) {
    return Fail(ErrorCode::kInvalid,
                "`disableAllHooks` is set, so that no hook would run; remove "
                "it first");
  }
  GATE_TRY(Ordered * groups, Groups(&settings));
  const Ordered wanted = Group(entry);
  if (groups != nullptr) {
    int ours = 0;
    bool exact = false;
    for (const Ordered& group : *groups) {
      const auto handlers = group.find("hooks");
      if (handlers == group.end()) continue;
      for (const Ordered& handler : *handlers) {
        ours += IsOurs(handler, entry.client) ? 1 : 0;
      }
      exact = exact || group == wanted;
    }
    if (ours == 1 && exact) return std::string(text);
    RemoveOurs(groups, entry.client);
    groups->push_back(wanted);
  } else {
    settings["hooks"][kEvent] = Ordered::array({wanted});
  }
  return Write(settings, text);
}

Result<std::string> WithoutHook(std::string_view text,
                                std::string_view client) {
  GATE_TRY(Ordered settings, ParseSettings(text));
  GATE_TRY(Ordered * groups, Groups(&settings));
  if (groups == nullptr || !RemoveOurs(groups, client)) {
    return std::string(text);
  }
  if (groups->empty()) {
    settings["hooks"].erase(kEvent);
    if (settings["hooks"].empty()) settings.erase("hooks");
  }
  return Write(settings, text);
}

}  // namespace gate::hooks
