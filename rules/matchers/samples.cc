#include "rules/matchers/samples.h"

namespace gate::rules {

std::string Instance(std::string_view glob) {
  std::string out;
  for (size_t i = 0; i < glob.size(); ++i) {
    if (glob[i] == '\\' && i + 1 < glob.size())
      out += glob[++i];
    else
      out += glob[i] == '*' || glob[i] == '?' ? 'x' : glob[i];
  }
  return out;
}

std::string PathInstance(const RuleView& view, const PathRecord& path) {
  const std::string text(view.Text(path.text));
  std::string base;
  if (path.base == PathBase::kHome) base = "~";
  if (path.base == PathBase::kWorkspace) base = ".";
  switch (path.shape) {
    case PathShape::kClass:
      if (path.class_index < view.classes.size()) {
        const auto paths =
            view.In(view.paths, view.classes[path.class_index].paths);
        if (!paths.empty() && paths[0].shape != PathShape::kClass)
          return PathInstance(view, paths[0]);
      }
      return text == "workspace"      ? "x"
             : text == "outside"      ? "~/x"
             : text == "private-temp" ? "/tmp/x"
                                      : "";
    case PathShape::kExact:
      return base + text;
    case PathShape::kSubtree:
      return base + text + "/x";
    case PathShape::kName:
      return text;
    case PathShape::kSuffix:
      return "x" + text;
    case PathShape::kGlob:
      return base + Instance(text);
  }
  return "";
}

void AddWord(std::string* to, std::string_view word) {
  *to += ' ';
  *to += word;
}

}  // namespace gate::rules
