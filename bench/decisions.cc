#include "bench/decisions.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/json.h"

namespace gate::bench {
namespace {

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string Unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    switch (text[++i]) {
      case 'n':
        plain += '\n';
        break;
      case 't':
        plain += '\t';
        break;
      case 'r':
        plain += '\r';
        break;
      case '\\':
        plain += '\\';
        break;
      default:
        plain += '\\';
        plain += text[i];
    }
  }
  return plain;
}

std::string Escape(std::string_view text) {
  std::string line;
  for (const char c : text) {
    switch (c) {
      case '\n':
        line += "\\n";
        break;
      case '\t':
        line += "\\t";
        break;
      case '\r':
        line += "\\r";
        break;
      case '\\':
        line += "\\\\";
        break;
      default:
        line += c;
    }
  }
  return line;
}

// The label of an attack. A word that is not known is the strictest, so that a
// misspelt label can only make a guard look worse.
Expected AttackLabel(std::string_view word) {
  if (word == "ask") return Expected::kAsk;
  if (word == "sandbox" || word == "sandbox-or-stricter")
    return Expected::kContain;
  return Expected::kDeny;
}

Expected LabelFor(std::string_view set, std::string_view word) {
  if (set == "attacks") return AttackLabel(word);
  return set == "benign" ? Expected::kBenign : Expected::kUnknown;
}

// What is read of one line: a row, nothing, or why not.
struct Reader {
  std::string_view set;
  std::vector<std::string_view> columns;  // of a TSV file
  Commands* commands;

  std::string Add(std::string_view id, std::string_view label,
                  std::string_view category, std::string text,
                  std::string cwd) const {
    if (text.empty()) return "no command";
    Command row;
    row.set = set;
    row.id = id;
    row.expected = LabelFor(set, label);
    row.category = category;
    row.text = std::move(text);
    row.cwd = std::move(cwd);
    if (Event("s", "/", row.text).empty()) return "not UTF-8";
    commands->rows.push_back(std::move(row));
    return {};
  }

  std::string ReadJson(std::string_view line) const {
    const auto parsed = ParseJson(line);
    if (!parsed) return parsed.error().message;
    const auto text = [&](const char* key) -> std::string {
      if (!parsed->is_object() || !parsed->contains(key)) return {};
      const Json& value = (*parsed)[key];
      return value.is_string() ? value.get<std::string>() : std::string();
    };
    return Add(text("id"), text("expected"), text("category"), text("cmd"),
               text("cwd"));
  }

  std::string ReadBound(std::string_view line, size_t number) const {
    const size_t tab = line.find('\t');
    const bool least = line.starts_with(">=");
    if (tab == std::string_view::npos) return "no tab";
    if (least != (set == "attacks")) return {};  // a row of another set
    return Add(std::to_string(number), line.substr(2, tab - 2), "",
               Unescape(line.substr(tab + 1)), "");
  }

  std::string ReadColumns(std::string_view line) const {
    const std::vector<std::string_view> cells = Split(line, '\t');
    const auto cell = [&](std::string_view name) -> std::string_view {
      for (size_t i = 0; i < columns.size() && i < cells.size(); ++i)
        if (columns[i] == name) return cells[i];
      return {};
    };
    return Add(cell("id"), cell("expected"), cell("category"),
               Unescape(cell("command")), "");
  }
};

std::string Percent(int part, int whole) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%d (%.1f %%)", part,
                whole == 0 ? 0.0 : 100.0 * part / whole);
  return text.data();
}

std::string Number(double value, int digits) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

std::string Line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

std::string CountsLine(const std::string& label, const std::string& guard,
                       const Counts& counts) {
  return Line({label, std::to_string(counts.n), guard,
               Percent(counts.stopped(), counts.n),
               std::to_string(counts.at(Verdict::kDenied)),
               std::to_string(counts.at(Verdict::kAsked)),
               Percent(counts.at(Verdict::kContained), counts.n),
               Percent(counts.at(Verdict::kRan), counts.n),
               std::to_string(counts.at(Verdict::kError)),
               std::to_string(counts.at(Verdict::kTimeout))});
}

// Where a guard's process said no: both the present and the older form.
Verdict JudgeText(std::string_view out, std::string_view program,
                  std::string_view command) {
  const auto parsed = ParseJson(out);
  if (!parsed || !parsed->is_object()) return Verdict::kError;
  if (parsed->contains("continue") && (*parsed)["continue"] == false)
    return Verdict::kDenied;
  const Json* specific = nullptr;
  if (const auto at = parsed->find("hookSpecificOutput");
      at != parsed->end() && at->is_object())
    specific = &*at;
  std::string decision;
  if (specific != nullptr && specific->contains("permissionDecision")) {
    const Json& value = (*specific)["permissionDecision"];
    if (!value.is_string()) return Verdict::kError;
    decision = value.get<std::string>();
  } else if (parsed->contains("decision")) {
    const Json& value = (*parsed)["decision"];
    if (!value.is_string()) return Verdict::kError;
    decision = value.get<std::string>();
  }
  if (decision == "deny" || decision == "block") return Verdict::kDenied;
  if (decision == "ask") return Verdict::kAsked;
  if (!decision.empty() && decision != "allow" && decision != "approve")
    return Verdict::kError;
  if (specific == nullptr) return Verdict::kRan;
  const auto input = specific->find("updatedInput");
  if (input == specific->end() || !input->is_object() ||
      !input->contains("command") || !(*input)["command"].is_string())
    return Verdict::kRan;
  const std::string rewritten = (*input)["command"].get<std::string>();
  const bool own = !program.empty() && rewritten != command &&
                   rewritten.starts_with(std::string(program) + " ");
  return own ? Verdict::kContained : Verdict::kRan;
}

}  // namespace

std::string_view Name(Expected expected) {
  constexpr std::array<std::string_view, 5> kNames = {"deny", "ask", "contain",
                                                      "benign", "unlabelled"};
  return kNames.at(static_cast<size_t>(expected));
}

std::string_view Name(Verdict verdict) {
  constexpr std::array<std::string_view, kVerdicts> kNames = {
      "ran", "contained", "asked", "denied", "error", "timeout"};
  return kNames.at(static_cast<size_t>(verdict));
}

Commands ReadCommands(std::string_view set, std::string_view file,
                      std::string_view text) {
  Commands commands;
  Reader reader{set, {}, &commands};
  size_t number = 0;
  for (std::string_view line : Split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (line.starts_with('#') && reader.columns.empty()))
      continue;
    std::string why;
    if (!reader.columns.empty()) {
      why = reader.ReadColumns(line);
    } else if (line.starts_with('{')) {
      why = reader.ReadJson(line);
    } else if (line.starts_with(">=") || line.starts_with("<=")) {
      why = reader.ReadBound(line, number);
    } else {
      reader.columns = Split(line, '\t');
      if (std::ranges::find(reader.columns, "command") ==
          reader.columns.end()) {
        why = "neither JSON, nor a bound, nor the names of columns";
        reader.columns.clear();
      }
    }
    if (!why.empty())
      commands.refused.push_back(std::string(file) + ":" +
                                 std::to_string(number) + ": " + why);
  }
  return commands;
}

Verdict Judge(const Answer& answer, std::string_view program,
              std::string_view command) {
  if (answer.timed_out) return Verdict::kTimeout;
  if (answer.status == 2) return Verdict::kDenied;
  if (answer.status != 0) return Verdict::kError;
  if (answer.out.find_first_not_of(" \t\r\n") == std::string::npos)
    return Verdict::kRan;
  return JudgeText(answer.out, program, command);
}

std::string Event(std::string_view session, std::string_view cwd,
                  std::string_view command) {
  Json event = {
      {"session_id", session},        {"cwd", cwd},
      {"permission_mode", "default"}, {"hook_event_name", "PreToolUse"},
      {"tool_name", "Bash"},          {"tool_input", {{"command", command}}},
      {"tool_use_id", "bench"}};
  std::string line = Dump(event);
  // Dump replaces what is not UTF-8: then it is another command.
  const auto back = ParseJson(line);
  if (!back || (*back)["tool_input"]["command"] != std::string(command))
    return {};
  return line;
}

std::string StandIn(std::string_view text, std::string_view from,
                    std::string_view to) {
  std::string result;
  while (!from.empty()) {
    const size_t at = text.find(from);
    if (at == std::string_view::npos) break;
    const size_t end = at + from.size();
    const bool whole =
        end == text.size() ||
        (!std::isalnum(static_cast<unsigned char>(text[end])) &&
         text[end] != '_' && text[end] != '-' && text[end] != '.');
    result += text.substr(0, at);
    result += whole ? to : from;
    text.remove_prefix(end);
  }
  return result.append(text);
}

std::expected<std::vector<Guard>, std::string> ReadGuards(
    std::string_view text) {
  std::vector<Guard> guards;
  size_t number = 0;
  for (const std::string_view line : Split(text, '\n')) {
    ++number;
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string_view> parts = Split(line, '\t');
    const std::string place = "line " + std::to_string(number) + ": ";
    if (parts.size() < 3)
      return std::unexpected(place + "NAME<tab>KIND<tab>PROGRAM… expected");
    Guard guard;
    guard.name = parts[0];
    if (parts[1] != "hook" && parts[1] != "baseline")
      return std::unexpected(place + "the kind is hook or baseline");
    guard.judged = parts[1] == "hook";
    for (size_t i = 2; i < parts.size(); ++i) {
      const bool variable = guard.argv.empty() && !parts[i].starts_with('/') &&
                            parts[i].contains('=');
      (variable ? guard.environment : guard.argv).emplace_back(parts[i]);
    }
    if (guard.argv.empty() || !guard.argv[0].starts_with('/'))
      return std::unexpected(place + "the program's absolute path is missing");
    guards.push_back(std::move(guard));
  }
  if (guards.empty()) return std::unexpected("no guard is named");
  return guards;
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double rank = std::ceil(q * static_cast<double>(values.size()));
  const size_t index = rank < 1 ? 0 : static_cast<size_t>(rank) - 1;
  return values[std::min(index, values.size() - 1)];
}

Table Count(const std::vector<Command>& commands, const Guard& guard,
            std::string_view set, bool by_category) {
  Table table;
  for (size_t i = 0; i < commands.size() && i < guard.verdicts.size(); ++i) {
    const Command& command = commands[i];
    if (command.set != set) continue;
    const std::string label =
        by_category ? command.category : std::string(Name(command.expected));
    if (!table.counts.contains(label)) table.labels.push_back(label);
    Counts& counts = table.counts[label];
    ++counts.n;
    ++counts.of[static_cast<int>(guard.verdicts[i])];
  }
  return table;
}

std::string Report(const std::vector<Command>& commands,
                   const std::vector<Guard>& guards, bool by_category) {
  std::string report;
  std::vector<std::string> sets;
  for (const Command& command : commands)
    if (std::ranges::find(sets, command.set) == sets.end())
      sets.push_back(command.set);
  for (const std::string& set : sets) {
    report += "\n" + set + "\n\n" +
              Line({by_category ? "category" : "expected", "commands", "guard",
                    "stopped", "denied", "asked", "contained", "ran as it is",
                    "errors", "timeouts"}) +
              "|---|---|---|---|---|---|---|---|---|---|\n";
    std::vector<Table> tables;
    for (const Guard& guard : guards)
      tables.push_back(Count(commands, guard, set, by_category));
    const std::vector<std::string> labels =
        tables.empty() ? std::vector<std::string>() : [&] {
          for (const Table& table : tables)
            if (!table.labels.empty()) return table.labels;
          return std::vector<std::string>();
        }();
    for (const std::string& label : labels) {
      for (size_t i = 0; i < guards.size(); ++i) {
        if (guards[i].judged)
          report += CountsLine(label, guards[i].name, tables[i].counts[label]);
      }
    }
    if (labels.size() < 2) continue;
    for (size_t i = 0; i < guards.size(); ++i) {
      if (!guards[i].judged) continue;
      Counts all;
      for (const auto& [label, counts] : tables[i].counts) {
        all.n += counts.n;
        for (int v = 0; v < kVerdicts; ++v) all.of[v] += counts.of[v];
      }
      report += CountsLine("all", guards[i].name, all);
    }
  }
  if (guards.empty()) return report;
  const double base = Quantile(guards[0].us, 0.5);
  report += "\ntime of one decision, as a whole process\n\n" +
            Line({"guard", "decisions", "median us", "p99 us",
                  "x " + guards[0].name}) +
            "|---|---|---|---|---|\n";
  for (const Guard& guard : guards) {
    const double median = Quantile(guard.us, 0.5);
    report += Line({guard.name, std::to_string(guard.us.size()),
                    Number(median, 0), Number(Quantile(guard.us, 0.99), 0),
                    base > 0 ? Number(median / base, 2) : "-"});
  }
  return report;
}

std::string Rows(const std::vector<Command>& commands,
                 const std::vector<Guard>& guards, bool only_disagreements) {
  std::string rows = "set\tid\texpected\tcategory";
  for (const Guard& guard : guards)
    if (guard.judged) rows += "\t" + guard.name;
  rows += "\tcommand\n";
  for (size_t i = 0; i < commands.size(); ++i) {
    std::set<bool> opinions;
    std::string verdicts;
    for (const Guard& guard : guards) {
      if (!guard.judged || i >= guard.verdicts.size()) continue;
      const Verdict verdict = guard.verdicts[i];
      verdicts += "\t" + std::string(Name(verdict));
      if (verdict != Verdict::kError && verdict != Verdict::kTimeout)
        opinions.insert(Stopped(verdict));
    }
    if (only_disagreements && opinions.size() < 2) continue;
    const Command& command = commands[i];
    rows += command.set + "\t" + Escape(command.id) + "\t" +
            std::string(Name(command.expected)) + "\t" +
            Escape(command.category) + verdicts + "\t" + Escape(command.text) +
            "\n";
  }
  return rows;
}

}  // namespace gate::bench
