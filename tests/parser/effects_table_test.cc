// Every line of effects.tsv has the effects that stand beside it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "parser/analysis.h"

namespace gate::parser {
namespace {

std::string Path(const Argument& path) { return path.known ? path.text : "*"; }

std::string Show(const Effect& effect) {
  std::string out = Name(effect.kind);
  if (effect.kind == EffectKind::kNetwork) {
    out += " " + (effect.host.empty() ? "*" : effect.host);
    if (effect.port != 0) out += ":" + std::to_string(effect.port);
    if (effect.listens) out += " listens";
  } else {
    out += " " + Path(effect.path);
  }
  if (effect.kind == EffectKind::kMove) out += " -> " + Path(effect.target);
  if (effect.recursive) out += " recursive";
  if (!effect.certain) out += " possible";
  return out;
}

TEST(EffectsTable, LinesDoWhatTheTableSays) {
  std::ifstream table(GATE_SOURCE_DIR "/tests/parser/effects.tsv");
  ASSERT_TRUE(table.is_open());
  Context context;
  context.cwd = "/w/p";
  context.home = "/home/u";
  context.user = "u";
  size_t count = 0;
  for (std::string row; std::getline(table, row);) {
    if (row.empty() || row[0] == '#') continue;
    const size_t tab = row.find('\t');
    ASSERT_NE(tab, std::string::npos) << row;
    ++count;
    const std::string line = row.substr(0, tab);
    std::vector<std::string> shown;
    for (const Effect& effect : Analyze(line, context).effects) {
      if (effect.kind == EffectKind::kExecuteFile) continue;
      std::string text = Show(effect);
      if (std::find(shown.begin(), shown.end(), text) == shown.end()) {
        shown.push_back(std::move(text));
      }
    }
    std::sort(shown.begin(), shown.end());
    std::string all;
    for (const std::string& text : shown) {
      all += (all.empty() ? "" : "; ") + text;
    }
    EXPECT_EQ(all, row.substr(tab + 1)) << line;
  }
  EXPECT_GE(count, 150u);
}

}  // namespace
}  // namespace gate::parser
