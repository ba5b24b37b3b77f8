#include "audit/secret_names.h"

#include "audit/redact.h"
#include "base/ascii.h"
#include "known/known.h"

namespace gate::audit {
namespace {

using known::List;

}  // namespace

bool IsSecret(std::string_view raw, bool value_name) {
  const PlainName plain(raw);
  const std::string_view name = plain.view();
  if (name.size() < 3 || known::EndsWithAny(List::kHarmlessEndings, name) ||
      known::BeginsWithAny(List::kHarmlessStarts, name))
    return false;
  if (known::HoldsAny(List::kRecordParts, name)) return true;
  if (known::EndsWithAny(List::kRecordEndings, name)) return name != "OLD_PWD";
  if (known::Contains(List::kRecordNames, name)) return true;
  if (!value_name || known::EndsWithAny(List::kHarmlessKeys, name))
    return false;
  return known::EndsWithAny(List::kRecordValueEndings, name) || raw == "KEY";
}

bool IsSecretName(std::string_view name) {
  return IsSecret(name, !name.starts_with("-"));
}

}  // namespace gate::audit
