#include "settings/copy.h"

#include "base/text.h"
#include "settings/values.h"

namespace gate::settings {

Copy CopyOf(const rules::SettingsFile& file, std::string_view text,
            const MayInclude& may_include) {
  Copy copy;
  if (text.size() > kMaxCopyBytes) return copy;
  if (const size_t nul = text.find('\0'); nul != Text::npos || !IsUtf8(text)) {
    const auto [line, column] = Locate(text, std::min(nul, Utf8Prefix(text)));
    copy.line = line;
    copy.column = column;
    return copy;
  }
  if (file.format == "aws") CopyAws(file, text, &copy);
  if (file.format == "git") CopyGit(file, text, may_include, &copy);
  if (file.format == "ini") CopyIni(file, text, &copy);
  if (file.format == "json" || file.format == "toml" || file.format == "yaml")
    CopyTree(file, text, &copy);
  if (file.format == "known-hosts") CopyKeys(text, true, &copy);
  if (file.format == "npmrc") CopyNpmrc(file, text, &copy);
  if (file.format == "properties") CopyProperties(file, text, &copy);
  if (file.format == "public-keys") CopyKeys(text, false, &copy);
  if (file.format == "signers") CopySigners(text, &copy);
  if (file.format == "ssh") CopySsh(file, text, &copy);
  if (file.format == "xml") CopyXml(file, text, &copy);
  if (!copy.parsed) copy.text.clear();
  return copy;
}

}  // namespace gate::settings
