#include "base/diagnostic.h"

#include <gtest/gtest.h>

namespace gate {
namespace {

TEST(Diagnostic, RendersAsEditorsUnderstand) {
  Diagnostic d;
  d.code = "rule-unknown-key";
  d.file = "rules.d/a.json";
  d.line = 3;
  d.column = 7;
  d.message = "unknown key `acton`";
  EXPECT_EQ(Render(d),
            "rules.d/a.json:3:7: error: unknown key `acton` "
            "[rule-unknown-key]\n");
  d.help = "did you mean `action`?";
  d.column = 0;
  d.severity = Severity::kWarning;
  EXPECT_EQ(Render(d),
            "rules.d/a.json:3: warning: unknown key `acton` "
            "[rule-unknown-key]\n    help: did you mean `action`?\n");
  d = {};
  d.severity = Severity::kNote;
  d.message = "m";
  EXPECT_EQ(Render(d), "note: m\n");
}

TEST(Diagnostic, NothingOfAHostileFileReachesTheTerminal) {
  Diagnostic d;
  d.file = "a\nb";
  d.message = "\x1b[31m";
  EXPECT_EQ(Render(d), "a\\x0ab: error: \\x1b[31m\n");
}

TEST(Diagnostic, OnlyErrorsAreErrors) {
  Diagnostic d;
  d.severity = Severity::kWarning;
  EXPECT_FALSE(HasErrors({}));
  EXPECT_FALSE(HasErrors({d}));
  EXPECT_TRUE(HasErrors({d, Diagnostic{}}));
  EXPECT_STREQ(Name(Severity::kNote), "note");
}

}  // namespace
}  // namespace gate
