// gate_compile_rules OUT.cc FILE… --clients FILE…: compiles the shipped rule
// files, with what clients' files add to them, into a C++ source that holds
// their image. Part of the build; any diagnostic fails it.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/flat_file.h"
#include "base/paths.h"
#include "clients/extend.h"
#include "rules/compile/compile.h"
#include "rules/policy.h"

namespace gate {
namespace {

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: gate_compile_rules OUT.cc FILE… --clients FILE…\n",
               stderr);
    return 64;
  }
  std::vector<clients::SourceText> texts;
  int next = 2;
  for (; next < argc && std::string_view(argv[next]) != "--clients"; ++next) {
    auto text = ReadFile(argv[next], rules::kMaxRuleFileBytes);
    if (!text) {
      std::fprintf(stderr, "%s: %s\n", argv[next],
                   text.error().message.c_str());
      return 1;
    }
    texts.push_back(
        {"rules.d/" + std::string(BaseName(argv[next])), std::move(*text)});
  }
  const auto read =
      clients::ReadClients({argv + std::min(next + 1, argc), argv + argc});
  const Status extended = read ? clients::ExtendRules(*read, &texts)
                               : Status(std::unexpected(read.error()));
  if (!extended) {
    std::fprintf(stderr, "%s\n", extended.error().message.c_str());
    return 1;
  }
  std::vector<rules::SourceFile> files;
  for (const clients::SourceText& text : texts)
    files.push_back({text.path, text.text, true});
  rules::CompileOptions options;
  options.layer = rules::Layer::kBuiltin;
  const rules::CompiledRules compiled = rules::CompileRules(files, options);
  for (const Diagnostic& diagnostic : compiled.diagnostics)
    std::fputs(Render(diagnostic).c_str(), stderr);
  if (!compiled.diagnostics.empty()) return 1;

  if (const auto written = WriteFileAtomically(
          argv[1],
          SourceOfImage(compiled.image, "gate::rules", "EmbeddedRules"), 0644);
      !written) {
    std::fprintf(stderr, "%s: %s\n", argv[1], written.error().message.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gate

int main(int argc, char** argv) { return gate::Main(argc, argv); }
