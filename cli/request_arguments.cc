#include "cli/request_arguments.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/json.h"
#include "base/paths.h"
#include "cli/exit_codes.h"
#include "cli/options.h"

namespace gate::app {
namespace {

// More than any command that is read, so that `too_large` is the parser's to
// say; still bounded.
constexpr size_t kMaxStdin = 64u << 20;
constexpr size_t kMaxBatchLine = 8u << 20;
constexpr size_t kFlushBytes = 64 * 1024;

}  // namespace

std::optional<int> ReadLookArguments(const char* name, const char* help,
                                     const ProcessFacts& facts,
                                     const Arguments& arguments,
                                     LookOptions* options) {
  const auto separator = std::find(arguments.begin(), arguments.end(), "--");
  const Arguments head(arguments.begin(), separator);
  const bool has_argv = separator != arguments.end();

  Options app(help, std::string("gate ") + name);
  std::vector<std::string> words;
  std::string line;
  app.Flag("--json", options->json, "print one JSON object");
  app.Flag("--explain", options->explain, "show why: what matched, what runs");
  app.Flag("--trace", options->trace,
           "show every rule that was tried, and what it missed");
  app.Add("--why-not", options->why_not,
          "say what keeps the decision from being this action")
      .OneOf({"allow", "sandbox", "ask", "deny"});
  app.Flag("--batch", options->batch,
           "read JSON lines {\"id\", \"cmd\"[, \"cwd\"]} from stdin");
  app.Add("--cwd", options->cwd, "the directory it would run in");
  app.Add("--agent", options->agent, "the agent that asks");
  const Option& c = app.Add("-c", line, "the command line");
  app.Add("command", words,
          "the command line, or `-` for stdin; or an argument vector "
          "after `--`");
  if (auto code = ParseWith(app, head)) return code;

  const auto wrong = [name](const char* message) {
    Complain(message);
    std::fprintf(stderr, "help: gate %s 'git status'\n", name);
    return kExitUsage;
  };
  Request& request = options->request;
  request.cwd = DirectoryFor(facts, options->cwd);
  request.agent = options->agent;
  const int given = (c.count() > 0) + !words.empty() + has_argv;
  if (options->batch) {
    if (given == 0) return std::nullopt;
    return wrong("`--batch` takes its commands from stdin only");
  }
  if (given != 1 || words.size() > 1)
    return wrong(given == 0 ? "no command was given"
                            : "give exactly one command line; quote it as one "
                              "argument, or give an argument vector after "
                              "`--`");
  if (has_argv) {
    request.argv.assign(separator + 1, arguments.end());
    request.is_argv = true;
    if (!request.argv.empty()) return std::nullopt;
    return wrong("nothing follows `--`");
  }
  request.command = c.count() > 0 ? line : words[0];
  if (c.count() == 0 && request.command == "-") {
    auto text = ReadAll(STDIN_FILENO, kMaxStdin);
    if (!text) {
      Complain(text.error().message);
      return kExitInternal;
    }
    request.command = std::move(*text);
  }
  return std::nullopt;
}

namespace {

// Calls `line` for each line of stdin with its 1-based number; a line longer
// than kMaxBatchLine comes as an empty optional. Returns false on a read
// error.
bool ForEachLine(
    const std::function<void(size_t, std::optional<std::string_view>)>& line) {
  std::string buffer;
  size_t number = 0;
  bool skipping = false;  // inside a line that is too long
  char chunk[65536];
  while (true) {
    const ssize_t got = ::read(STDIN_FILENO, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    buffer.append(chunk, static_cast<size_t>(got));
    size_t start = 0;
    while (true) {
      const size_t newline = buffer.find('\n', start);
      if (newline == std::string::npos) break;
      if (skipping)
        skipping = false;
      else
        line(++number, std::string_view(buffer).substr(start, newline - start));
      start = newline + 1;
    }
    buffer.erase(0, start);
    if (buffer.size() > kMaxBatchLine) {
      if (!skipping) line(++number, std::nullopt);
      skipping = true;
      buffer.clear();
    }
  }
  if (!buffer.empty() && !skipping) line(++number, buffer);
  return true;
}

BatchItem ReadBatchItem(std::string_view line) {
  BatchItem item;
  item.id_json = "null";
  auto json = ParseJson(line);
  if (!json) {
    item.error = json.error().message;
    return item;
  }
  if (!json->is_object()) {
    item.error = "the line is not a JSON object";
    return item;
  }
  if (const auto id = json->find("id"); id != json->end())
    item.id_json = Dump(*id);
  const auto command = json->find("cmd");
  if (command == json->end() || !command->is_string()) {
    item.error = "`cmd` is missing or is not a string";
    return item;
  }
  item.command = command->get<std::string>();
  if (const auto cwd = json->find("cwd"); cwd != json->end()) {
    if (!cwd->is_string() || !cwd->get<std::string>().starts_with('/')) {
      item.error = "`cwd` is not an absolute path";
      return item;
    }
    item.cwd = cwd->get<std::string>();
  }
  return item;
}

}  // namespace

int AnswerBatch(
    const std::function<std::string(size_t number, const BatchItem&)>& answer) {
  std::string out;
  bool written = true;
  const auto flush = [&out, &written] {
    written = written && WriteAll(STDOUT_FILENO, out).has_value();
    out.clear();
  };
  const bool read =
      ForEachLine([&](size_t number, std::optional<std::string_view> line) {
        if (line && line->find_first_not_of(" \t\r") == std::string_view::npos)
          return;
        out += answer(number,
                      line ? ReadBatchItem(*line)
                           : BatchItem{"null", "", "", "the line is too long"});
        out += '\n';
        if (out.size() > kFlushBytes) flush();
      });
  flush();
  if (read && written) return 0;
  Complain(read ? "the answers could not be written" : "stdin is unreadable");
  return kExitInternal;
}

Request RequestOf(const LookOptions& options, const BatchItem& item) {
  Request request = options.request;
  request.on_this_machine = false;
  request.command = item.command;
  if (!item.cwd.empty()) request.cwd = Normalise(item.cwd, "/");
  return request;
}

}  // namespace gate::app
