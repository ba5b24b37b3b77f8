// gate_compile_programs OUT.cc FILE.json… --clients FILE.json…: the build's
// compiler of program descriptions, with the programs that clients' files add
// to them. Writes a C++ source that holds the image; prints diagnostics and
// exits 1 when a description or one of its examples is wrong.

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/flat_file.h"
#include "clients/extend.h"
#include "parser/programs.h"

namespace {

constexpr size_t kMaxDescriptionBytes = 4u << 20;

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr,
                 "usage: gate_compile_programs OUT.cc FILE.json... "
                 "--clients FILE.json...\n");
    return 64;
  }
  std::vector<gate::clients::SourceText> texts;
  int i = 2;
  for (; i < argc && std::string_view(argv[i]) != "--clients"; ++i) {
    auto text = gate::ReadFile(argv[i], kMaxDescriptionBytes);
    if (!text) {
      std::fprintf(stderr, "%s: %s\n", argv[i], text.error().message.c_str());
      return 1;
    }
    texts.push_back({argv[i], std::move(*text)});
  }
  const auto read =
      gate::clients::ReadClients({argv + std::min(i + 1, argc), argv + argc});
  const gate::Status extended =
      read ? gate::clients::ExtendPrograms(*read, &texts)
           : gate::Status(std::unexpected(read.error()));
  if (!extended) {
    std::fprintf(stderr, "%s\n", extended.error().message.c_str());
    return 1;
  }
  std::vector<std::pair<std::string, std::string>> files;
  for (gate::clients::SourceText& text : texts)
    files.emplace_back(std::move(text.path), std::move(text.text));
  std::vector<gate::Diagnostic> diagnostics;
  const auto image = gate::parser::CompilePrograms(files, &diagnostics);
  for (const gate::Diagnostic& d : diagnostics) {
    std::fputs(gate::Render(d).c_str(), stderr);
  }
  if (!image) {
    std::fprintf(stderr, "gate_compile_programs: %s\n",
                 image.error().message.c_str());
    return 1;
  }
  const auto written = gate::WriteFileAtomically(
      argv[1], gate::SourceOfImage(*image, "gate::parser", "EmbeddedPrograms"),
      0644);
  if (!written) {
    std::fprintf(stderr, "%s: %s\n", argv[1], written.error().message.c_str());
    return 1;
  }
  return 0;
}
