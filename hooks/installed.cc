#include "hooks/installed.h"

#include <unistd.h>

#include <algorithm>

#include "base/file.h"
#include "hooks/adapter.h"
#include "hooks/capabilities.h"
#include "hooks/settings.h"

namespace gate::hooks {
namespace {

// The text of a settings file; empty when there is none.
Result<std::string> ReadSettingsFile(const std::string& path) {
  auto text = ReadFile(path, kMaxSettingsBytes);
  if (text || text.error().code != ErrorCode::kNotFound) return text;
  return std::string();
}

// Takes the first word off a line as ShellQuote writes words. Empty at the end
// and where the line is written in another way.
std::string TakeQuotedWord(std::string_view* line) {
  std::string word;
  while (line->starts_with(' ')) line->remove_prefix(1);
  while (!line->empty() && line->front() != ' ') {
    if (line->starts_with("\\'")) {
      word += '\'';
      line->remove_prefix(2);
    } else if (line->front() == '\'') {
      const size_t end = line->find('\'', 1);
      if (end == std::string_view::npos) return "";
      word += line->substr(1, end - 1);
      line->remove_prefix(end + 1);
    } else {
      word += line->front();
      line->remove_prefix(1);
    }
  }
  return word;
}

// The gate of a guard line (GuardLine): TIMEOUT SECONDS GATE …
std::string ProgramOf(const std::string& line) {
  std::string inner;
  std::string_view rest = line;
  if (line.starts_with("/bin/sh -c ")) {
    TakeQuotedWord(&rest);
    TakeQuotedWord(&rest);
    inner = TakeQuotedWord(&rest);
    rest = inner;
  }
  TakeQuotedWord(&rest);
  TakeQuotedWord(&rest);
  return TakeQuotedWord(&rest);
}

bool IsAs(const HookEntry& found, const HookEntry& wanted) {
  return found.command == wanted.command && found.matcher == wanted.matcher &&
         found.timeout_s == wanted.timeout_s;
}

Entry Compare(const HookEntry& found, const HookEntry& wanted,
              const std::string& program, const std::string& gate) {
  if (IsAs(found, wanted)) return Entry::kThis;
  if (program.starts_with('/') && access(program.c_str(), X_OK) != 0)
    return Entry::kGone;
  const std::string real = RealPath(program);
  return !real.empty() && real == RealPath(gate) ? Entry::kChanged
                                                 : Entry::kOther;
}

// What an entry of this program lacks that the next install writes.
std::string WhyChanged(const HookEntry& found, const HookEntry& wanted) {
  if (found.command.find(" --framed") == std::string::npos)
    return "its line is of an older gate and believes whatever is at gate's "
           "path";
  if (found.matcher != wanted.matcher)
    return "its matcher `" + found.matcher +
           "` is old and leaves out tools that gate judges";
  return "its line or its time is another";
}

// From what does nothing to what does all.
size_t Rank(Entry entry) {
  constexpr Entry kOrder[] = {Entry::kNone, Entry::kGone, Entry::kOther,
                              Entry::kChanged, Entry::kThis};
  size_t at = 0;
  while (kOrder[at] != entry) ++at;
  return at;
}

// What does most of `found`, against what `options` would write.
Installed FindAs(const InstallOptions& options,
                 const std::vector<FoundHook>& found) {
  Installed installed;
  const std::vector<HookEntry> all = EntriesFor(options);
  const HookEntry& wanted = all.front();
  for (const FoundHook& hook : found) {
    if (hook.entry.event != wanted.event) continue;
    const std::string program = ProgramOf(hook.entry.command);
    const Entry entry = Compare(hook.entry, wanted, program, options.gate_path);
    if (Rank(entry) <= Rank(installed.entry)) continue;
    installed.entry = entry;
    installed.program = program;
    installed.intent =
        hook.entry.command.find(kIntentOption) != std::string::npos;
    installed.why_changed =
        entry == Entry::kChanged ? WhyChanged(hook.entry, wanted) : "";
    if (const Adapter* client = FindAdapter(options.client))
      client->MarkForReview(hook, &installed);
  }
  if (installed.entry != Entry::kThis) return installed;
  for (const HookEntry& entry : all) {
    if (std::ranges::any_of(found, [&](const FoundHook& hook) {
          return hook.entry.event == entry.event && IsAs(hook.entry, entry);
        }))
      continue;
    installed.entry = Entry::kChanged;
    installed.why_changed = "its entry for " + entry.event +
                            " is missing, by which gate learns that a client "
                            "has run a command as it was";
  }
  return installed;
}

}  // namespace

Result<Installed> FindInstalled(const InstallOptions& options) {
  GATE_TRY(std::string path, SettingsPath(options));
  GATE_TRY(const std::string text, ReadSettingsFile(path));
  const auto found = FindHooks(text, options.client);
  if (!found)
    return Fail(found.error().code, path + ": " + found.error().message);
  // Which of its two modes a person chose is what the entry says.
  InstallOptions as = options;
  as.intent = false;
  Installed installed = FindAs(as, *found);
  const Capabilities* can = CapabilitiesOf(options.client);
  as.intent = can != nullptr && can->has_own_sandbox;
  if (as.intent && installed.entry != Entry::kThis)
    if (Installed other = FindAs(as, *found);
        Rank(other.entry) > Rank(installed.entry))
      installed = std::move(other);
  installed.path = std::move(path);
  return installed;
}

Result<bool> DisablesHooks(const std::string& path) {
  GATE_TRY(const std::string text, ReadSettingsFile(path));
  return SwitchesHooksOff(text);
}

}  // namespace gate::hooks
