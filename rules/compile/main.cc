// gate_compile_rules OUT.cc FILE…: compiles the shipped rule files into a C++
// source that holds their image. Part of the build; any diagnostic fails it.
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/paths.h"
#include "rules/compile/compile.h"
#include "rules/policy.h"

namespace gate {
namespace {

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: gate_compile_rules OUT.cc FILE…\n", stderr);
    return 64;
  }
  std::vector<std::string> texts;
  std::vector<rules::SourceFile> files;
  texts.reserve(static_cast<size_t>(argc));
  for (int i = 2; i < argc; ++i) {
    auto text = ReadFile(argv[i], rules::kMaxRuleFileBytes);
    if (!text) {
      std::fprintf(stderr, "%s: %s\n", argv[i], text.error().message.c_str());
      return 1;
    }
    texts.push_back(std::move(*text));
    files.push_back(
        {"rules.d/" + std::string(BaseName(argv[i])), texts.back(), true});
  }
  rules::CompileOptions options;
  options.layer = rules::Layer::kBuiltin;
  const rules::CompiledRules compiled = rules::CompileRules(files, options);
  for (const Diagnostic& diagnostic : compiled.diagnostics)
    std::fputs(Render(diagnostic).c_str(), stderr);
  if (!compiled.diagnostics.empty()) return 1;

  std::string out =
      "// Made by gate_compile_rules from rules.d/*.json.\n"
      "#include \"rules/policy_impl.h\"\n"
      "namespace gate::rules {\nnamespace {\n"
      "alignas(16) constexpr unsigned char kImage[] = {\n";
  for (size_t i = 0; i < compiled.image.size(); ++i) {
    out += std::to_string(static_cast<unsigned char>(compiled.image[i]));
    out += i % 32 == 31 ? ",\n" : ",";
  }
  out +=
      "};\n}  // namespace\nstd::string_view EmbeddedRules() {\n"
      "  return {reinterpret_cast<const char*>(kImage), sizeof(kImage)};\n"
      "}\n}  // namespace gate::rules\n";
  if (const auto written = WriteFileAtomically(argv[1], out, 0644); !written) {
    std::fprintf(stderr, "%s: %s\n", argv[1], written.error().message.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gate

int main(int argc, char** argv) { return gate::Main(argc, argv); }
