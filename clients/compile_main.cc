// gate_compile_clients OUT.cc FILE…: compiles rules.d/clients into a C++ source
// with the tables of clients/table.h. Part of the build; a mistake fails it.
#include <cstdio>
#include <string>
#include <vector>

#include "base/file.h"
#include "clients/clients.h"
#include "clients/read.h"

namespace gate::clients {
namespace {

// The members of a file, in the order of Names.
constexpr std::array<std::string_view, kNameUses> kUses = {
    "programs",      "packages",       "processes",
    "process_paths", "shell_variable", "beside_directory"};

std::string Quoted(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found == json.end() ? "\"\"" : Dump(*found);
}

std::string Flag(const Json& json, const char* name) {
  return json.value(name, false) ? "true" : "false";
}

// "2.0.10" as the parts of a Version; empty for anything else.
std::string VersionOf(const Json& json, const char* name) {
  const std::string text = json.value(name, "");
  int parts[3];
  int used = 0;
  if (std::sscanf(text.c_str(), "%5d.%5d.%5d%n", &parts[0], &parts[1],
                  &parts[2], &used) != 3 ||
      static_cast<size_t>(used) != text.size())
    return "";
  return "Version{{" + std::to_string(parts[0]) + ", " +
         std::to_string(parts[1]) + ", " + std::to_string(parts[2]) + "}}";
}

// A constant with the texts of `list`, before what uses it; its name.
std::string ListNamed(const std::string& name, const std::vector<Json>& list,
                      std::string* out) {
  if (list.empty()) return "{}";
  *out += "constexpr std::string_view " + name + "[] = {\n";
  for (const Json& item : list) *out += "    " + Dump(item) + ",\n";
  *out += "};\n";
  return name;
}

std::vector<Json> TextsOf(const Json& json, std::string_view name) {
  const auto found = json.find(name);
  if (found == json.end()) return {};
  if (found->is_string()) return {*found};
  return {found->begin(), found->end()};
}

Result<std::string> Capable(const ClientFile& file, std::string* lists) {
  const Json& hook = file.json.at("hook");
  const std::string rewrites = VersionOf(hook, "first_that_rewrites");
  const std::string blocks = VersionOf(hook, "first_that_blocks");
  if (rewrites.empty() ||
      (blocks.empty() && hook.contains("first_that_blocks")))
    return Fail(ErrorCode::kInvalid,
                file.client + ": a version is three numbers");
  const std::string prefix = "k_" + file.client;
  const std::string disabling = ListNamed(
      prefix + "_disabling", TextsOf(hook, "disabling_settings"), lists);
  const std::string done =
      ListNamed(prefix + "_done", TextsOf(hook, "done_events"), lists);
  return "    {.client = " + Dump(file.client) +
         ",\n     .title = " + Quoted(file.json, "title") +
         ",\n     .first_that_rewrites = " + rewrites +
         ",\n     .first_that_blocks = " +
         (blocks.empty() ? "std::nullopt" : blocks) +
         ",\n     .has_lookalikes = " + Flag(hook, "has_lookalikes") +
         ",\n     .has_own_sandbox = " + Flag(hook, "has_own_sandbox") +
         ",\n     .matches_rewritten_lines = " +
         Flag(hook, "matches_rewritten_lines") +
         ",\n     .runs_hooks_by_user_shell = " +
         Flag(hook, "runs_hooks_by_user_shell") +
         ",\n     .review = " + Quoted(hook, "review") +
         ",\n     .review_help = " + Quoted(hook, "review_help") +
         ",\n     .sandbox_off = " + Quoted(hook, "sandbox_off") +
         ",\n     .sandbox_narrow = " + Quoted(hook, "sandbox_narrow") +
         ",\n     .directory = " + Quoted(file.json, "directory") +
         ",\n     .settings = " + Quoted(hook, "settings") +
         ",\n     .disabling_settings = " + disabling +
         ",\n     .done_events = " + done + "},\n";
}

Result<std::string> Compile(const std::vector<ClientFile>& files) {
  std::string lists, capable, directories, names;
  size_t moved = 0;
  for (const ClientFile& file : files) {
    if (file.json.contains("hook")) {
      GATE_TRY(const std::string record, Capable(file, &lists));
      capable += record;
    }
    if (!file.json.contains("variable")) continue;
    directories += "    {" + Dump(file.client) + ", " +
                   Quoted(file.json, "variable") + ", " +
                   Quoted(file.json, "directory") + "},\n";
    if (++moved > kMaxDirectories)
      return Fail(ErrorCode::kInvalid, "more variables than kMaxDirectories");
  }
  for (const std::string_view use : kUses) {
    std::vector<Json> all;
    for (const ClientFile& file : files)
      for (Json& text : TextsOf(file.json, use)) all.push_back(std::move(text));
    names +=
        "    " + ListNamed("k_all_" + std::string(use), all, &lists) + ",\n";
  }
  return "// Made by gate_compile_clients from rules.d/clients.\n"
         "#include \"clients/table.h\"\n"
         "namespace gate::clients {\nnamespace {\n" +
         lists + "constexpr Capabilities kHooked[] = {\n" + capable +
         "};\nconstexpr Directory kMoved[] = {\n" + directories +
         "};\n}  // namespace\n"
         "constinit const std::span<const Capabilities> kCapabilities = "
         "kHooked;\n"
         "constinit const std::span<const Directory> kDirectories = kMoved;\n"
         "constinit const std::array<std::span<const std::string_view>, "
         "kNameUses> kNames = {{\n" +
         names + "}};\n}  // namespace gate::clients\n";
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: gate_compile_clients OUT.cc FILE…\n", stderr);
    return 64;
  }
  const auto files = ReadClients({argv + 2, argv + argc});
  const auto out = files ? Compile(*files)
                         : Result<std::string>(std::unexpected(files.error()));
  const auto written = out ? WriteFileAtomically(argv[1], *out, 0644)
                           : Status(std::unexpected(out.error()));
  if (written) return 0;
  std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return 1;
}

}  // namespace
}  // namespace gate::clients

int main(int argc, char** argv) { return gate::clients::Main(argc, argv); }
