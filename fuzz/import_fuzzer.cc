// Feeds bytes to the readers of other tools' rules: the first byte chooses the
// format, and what an allow becomes. Besides not crashing:
//   - what is imported is a rule file that loads;
//   - where allows become sandboxes, no rule allows.
#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "fuzz/require.h"
#include "rules/import.h"
#include "rules/list.h"
#include "rules/policy.h"

namespace {

using namespace gate;  // NOLINT(google-build-using-namespace)

// A rule more would only cost time.
constexpr size_t kLoadedRules = 32;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const std::vector<std::string> formats = rules::ImportFormatNames();
  const rules::ImportFormat* format =
      rules::ParseImportFormat(formats[data[0] % formats.size()]);
  const bool contain = (data[0] & 0x80) != 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1,
                              size - 1);
  const rules::Imported imported = rules::ImportRules(
      *format, "file", text,
      contain ? rules::Action::kSandbox : rules::Action::kAllow);
  if (contain)
    for (const Json& rule : imported.rules)
      Require(rule.value("action", "") != "allow");
  if (imported.rules.size() > kLoadedRules) return 0;
  rules::RuleFile file;
  file.name = "imported";
  file.layer = rules::Layer::kUser;
  file.text = rules::ImportedFile("imported", imported);
  const rules::Policy policy = rules::MakePolicy({file}, /*builtin=*/false);
  Require(!HasErrors(policy.diagnostics()));
  return 0;
}
