// gate_compile_known OUT.cc FILE… --clients FILE…: compiles what is known of
// the world into a C++ source. Part of the build; a mistake fails it.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/file.h"
#include "base/paths.h"
#include "clients/read.h"
#include "known/compile.h"

namespace gate {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 20;

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: gate_compile_known OUT.cc FILE... --clients FILE...\n",
               stderr);
    return 64;
  }
  std::vector<std::pair<std::string, std::string>> files;
  int k = 2;
  for (; k < argc && std::string_view(argv[k]) != "--clients"; ++k) {
    auto text = ReadFile(argv[k], kMaxBytes);
    if (!text) {
      std::fprintf(stderr, "%s: %s\n", argv[k], text.error().message.c_str());
      return 1;
    }
    const std::string_view name = BaseName(argv[k]);
    files.emplace_back(name.substr(0, name.rfind('.')), std::move(*text));
  }
  const auto clients =
      clients::ReadClients({argv + std::min(k + 1, argc), argv + argc});
  const auto source =
      clients ? known::Compile(files, *clients)
              : Result<std::string>(std::unexpected(clients.error()));
  const Status written = source ? WriteFileAtomically(argv[1], *source, 0644)
                                : Status(std::unexpected(source.error()));
  if (!written) {
    std::fprintf(stderr, "gate_compile_known: %s\n",
                 written.error().message.c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gate

int main(int argc, char** argv) { return gate::Main(argc, argv); }
