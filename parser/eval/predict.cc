#include "parser/predict.h"

#include <cstdio>

#include "base/text.h"

namespace gate::parser {
namespace {

void AppendString(std::string& out, std::string_view bytes) {
  std::string storage;
  if (!IsUtf8(bytes)) {
    storage = ToUtf8(bytes);
    bytes = storage;
  }
  out += '"';
  for (char c : bytes) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          char escape[8];
          std::snprintf(escape, sizeof escape, "\\u%04x",
                        static_cast<unsigned>(static_cast<unsigned char>(c)));
          out += escape;
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// Patterns that other matchers read as bash does.
bool PlainPattern(std::string_view text) {
  return text.find_first_of("\\^") == std::string_view::npos &&
         text.find("[:") == std::string_view::npos &&
         text.find('(') == std::string_view::npos;
}

// "", "." and "..": nothing that could be opened for writing.
bool NamesNoFile(std::string_view text) {
  return text.find_first_not_of("./") == std::string_view::npos;
}

void AppendWord(std::string& out, const Argument& word) {
  if (!word.known || word.splits || (word.glob && !PlainPattern(word.text))) {
    out += "null";
  } else {
    AppendString(out, word.text);
  }
}

}  // namespace

std::string PredictionToJson(const Analysis& analysis, std::string_view id) {
  std::string out = "{\"id\":";
  out += id;
  out += ",\"commands\":[";
  bool first = true;
  for (const Invocation& invocation : analysis.invocations) {
    if (invocation.argv.empty()) continue;
    if (!first) out += ',';
    first = false;
    out += "{\"argv\":[";
    for (size_t i = 0; i < invocation.argv.size(); ++i) {
      if (i > 0) out += ',';
      AppendWord(out, invocation.argv[i]);
    }
    out += "]}";
  }
  out += "],\"writes\":[";
  for (size_t i = 0; i < analysis.shell_writes.size(); ++i) {
    if (i > 0) out += ',';
    const Argument& word = analysis.shell_writes[i];
    if (word.known &&
        (NamesNoFile(word.text) ||
         (word.glob && word.text.find('[') != std::string::npos))) {
      // An error of the shell, whatever it tries; or a set of characters,
      // which stands for itself where no file fits.
      out += "null";
    } else {
      AppendWord(out, word);
    }
  }
  out += "],\"dynamic\":";
  out += analysis.hides_commands ? "true" : "false";
  out += ",\"parse_error\":";
  out += analysis.parse_error ? "true" : "false";
  out += ",\"reasons\":[";
  first = true;
  bool seen[kUnknownCodes] = {};
  for (const Unknown& unknown : analysis.unknowns) {
    bool& known = seen[static_cast<int>(unknown.code)];
    if (known) continue;
    known = true;
    if (!first) out += ',';
    first = false;
    AppendString(out, Name(unknown.code));
  }
  out += "]}";
  return out;
}

std::string UnreadablePrediction(std::string_view id) {
  std::string out = "{\"id\":";
  out += id;
  out +=
      ",\"commands\":[],\"writes\":[],\"dynamic\":true,"
      "\"parse_error\":true,\"reasons\":[]}";
  return out;
}

}  // namespace gate::parser
