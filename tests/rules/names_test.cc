// The names of rule files are the names that the parser prints.
#include "rules/names.h"

#include <gtest/gtest.h>

#include "parser/analysis.h"

namespace gate::rules {
namespace {

TEST(Names, AreTheParsersNames) {
  for (int i = 0; i < parser::kEffectKinds; ++i)
    EXPECT_EQ(EffectNames()[static_cast<size_t>(i)],
              parser::Name(static_cast<parser::EffectKind>(i)));
  for (int i = 0; i < parser::kUnknownCodes; ++i)
    EXPECT_EQ(UnknownNames()[static_cast<size_t>(i)],
              parser::Name(static_cast<parser::UnknownCode>(i)));
  for (int i = 0; i < parser::kActKinds; ++i)
    EXPECT_EQ(ActNames()[static_cast<size_t>(i)],
              parser::Name(static_cast<parser::Act>(i)));
  for (int i = 0; i < parser::kRedirectKinds; ++i)
    EXPECT_EQ(RedirectNames()[static_cast<size_t>(i)],
              parser::Name(static_cast<parser::RedirectTo>(i)));
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(FlowNames()[static_cast<size_t>(i)],
              parser::Name(static_cast<parser::FlowKind>(i)));
}

}  // namespace
}  // namespace gate::rules
