#include "hooks/adapter.h"

#include "base/text.h"
#include "hooks/client_sign.h"
#include "hooks/clients/list.h"
#include "hooks/installed.h"
#include "hooks/own_sandbox.h"
#include "hooks/settings.h"

namespace gate::hooks {

const Adapter* FindAdapter(std::string_view client) {
  for (const Adapter* (*get)() : AllAdapters())
    if (const Adapter* adapter = get(); client == adapter->Name())
      return adapter;
  return nullptr;
}

std::vector<std::string> AdapterNames() {
  std::vector<std::string> names;
  for (const Adapter* (*get)() : AllAdapters()) names.push_back(get()->Name());
  return names;
}

ClientSign Adapter::Recognise(const Event&, const std::vector<std::string>&,
                              const std::vector<ProcessView>&) const {
  return {true, Name(), "unknown", ""};
}

OwnSandbox Adapter::ReadSandbox(const SandboxPlaces&) const { return {}; }

HookReview Adapter::Review(const InstallOptions&, const Installed&) const {
  return {true, ""};
}

void Adapter::MarkForReview(const FoundHook&, Installed*) const {}

std::string Framed(const Output& output) {
  std::string_view text;
  if (output.exit_code == 0) text = output.out;
  while (text.ends_with('\n')) text.remove_suffix(1);
  return "gate:" + std::string(text) + ":gate\n";
}

Output Refuse(std::string_view reason) {
  // An exit of 2 with nothing on stderr counts as a broken hook, and the
  // command runs: there is always a reason.
  std::string text = Visible(ToUtf8(reason), /*keep_layout=*/true);
  if (text.find_first_not_of(" \t\n") == std::string::npos) text = "refused";
  if (!text.starts_with("gate: ")) text.insert(0, "gate: ");
  if (text.back() != '\n') text += '\n';
  return Output{"", std::move(text), 2};
}

}  // namespace gate::hooks
