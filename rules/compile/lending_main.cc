// gate_compile_lending OUT.cc FILE: compiles what is lent to programs into a
// C++ source that holds its image. Part of the build; a mistake fails it.
#include <cstdio>
#include <string>

#include "base/file.h"
#include "base/flat_file.h"
#include "rules/lending.h"

namespace gate::rules {
// The tool reads files; it has no image of its own.
std::string_view EmbeddedLending() { return ""; }
}  // namespace gate::rules

namespace gate {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

int Main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: gate_compile_lending OUT.cc FILE\n", stderr);
    return 64;
  }
  const auto text = ReadFile(argv[2], kMaxBytes);
  const auto image = text ? rules::CompileLending(*text)
                          : Result<std::string>(std::unexpected(text.error()));
  if (!image) {
    std::fprintf(stderr, "%s: %s\n", argv[2], image.error().message.c_str());
    return 1;
  }
  if (const auto written = WriteFileAtomically(
          argv[1], SourceOfImage(*image, "gate::rules", "EmbeddedLending"),
          0644);
      !written) {
    std::fprintf(stderr, "%s: %s\n", argv[1], written.error().message.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gate

int main(int argc, char** argv) { return gate::Main(argc, argv); }
