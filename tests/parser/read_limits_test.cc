// The reader's limits are results, found early, on a small stack.
#include <gtest/gtest.h>
#include <pthread.h>

#include <functional>

#include "tests/parser/read_support.h"

namespace gate::parser {
namespace {

std::string Repeat(const std::string& piece, size_t times) {
  std::string text;
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

// Runs `work` on a thread with a stack of 1 MiB.
void OnSmallStack(std::function<void()> work) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, 1 << 20), 0);
  pthread_t thread;
  auto run = [](void* argument) -> void* {
    (*static_cast<std::function<void()>*>(argument))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, run, &work), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attributes);
}

struct Nest {
  const char* open;
  const char* inside;
  const char* close;
};
const Nest kNests[] = {
    {"(", "a", ")"},
    {"( ", "a", " )"},
    {"{ ", "a", "; }"},
    {"$(", "a", ")"},
    {"\"$(", "a", ")\""},
    {"a \"$(", "a", ")\""},
    {"${x:-", "a", "}"},
    {"\"${x:-", "a", "}\""},
    {"${x/", "a", "}"},
    {"$((", "1", "))"},
    {"$[", "1", "]"},
    {"<(", "a", ")"},
    {"if a; then ", "a", "; fi"},
    {"for i in a; do ", "a", "; done"},
    {"case a in a) ", "a", ";; esac"},
    {"f() { ", "a", "; }"},
    {"function f { ", "a", "; }"},
    {"coproc { ", "a", "; }"},
    {"x=($(", "a", "))"},
    {"x[$(", "a", ")]=1"},
    {"a <<<\"$(", "a", ")\""},
};

TEST(ReadLimits, NestingBeyondTheLimitIsTooLarge) {
  for (const Nest& nest : kNests) {
    // `((` is one arithmetic command, however many parentheses are in it.
    if (std::string_view(nest.open) == "(") continue;
    const std::string text =
        Repeat(nest.open, 201) + nest.inside + Repeat(nest.close, 201);
    OnSmallStack([&] {
      const Script script = Read(text);
      EXPECT_EQ(script.status, ReadStatus::kTooLarge) << nest.open;
      EXPECT_EQ(script.ast.root, kNone);
    });
  }
}

TEST(ReadLimits, EveryDepthFitsASmallStack) {
  for (const Nest& nest : kNests) {
    for (const size_t depth : {20, 49, 66, 99, 198}) {
      const std::string text =
          Repeat(nest.open, depth) + nest.inside + Repeat(nest.close, depth);
      OnSmallStack([&] {
        const Script script = Read(text);
        EXPECT_NE(script.status, ReadStatus::kSyntaxError)
            << nest.open << depth << script.message;
        if (depth == 20) {
          EXPECT_NE(script.status, ReadStatus::kTooLarge) << nest.open;
        }
        Print(script.ast);
      });
    }
  }
}

TEST(ReadLimits, AMebibyteOfAnythingEndsWithoutACrash) {
  const char* const pieces[] = {
      "(",       "((",         "{ ",   "$(",           "$((",
      "`",       "\"",         "\"$(", "${",           "${x:-",
      "<(",      "[[ (",       "a;",   "a|",           "a&&",
      "a\n",     "if a;then ", "f()",  "coproc ",      "<<E ",
      "x=(",     "a[",         "'",    "$'",           "((a)",
      "$((a) ",  "`\\`",       "$[",   "case a in a)", "a=(b ",
      "\"${x:-'"};
  for (const char* piece : pieces) {
    const std::string text =
        Repeat(piece, kMaxSourceBytes / std::string_view(piece).size());
    OnSmallStack([&] {
      ReadOptions options;
      options.compare = false;
      const Script script = Read(text, options);
      EXPECT_NE(script.status, ReadStatus::kOk) << piece;
    });
  }
}

TEST(ReadLimits, LongTextsAndManyPartsAreTooLarge) {
  EXPECT_EQ(Read(std::string(kMaxSourceBytes + 1, 'a')).status,
            ReadStatus::kTooLarge);
  EXPECT_EQ(Read(Repeat("a ", kMaxNodes)).status, ReadStatus::kTooLarge);
  EXPECT_EQ(Read(Repeat("a && ", 300) + "a").status, ReadStatus::kTooLarge);
  EXPECT_EQ(Read(Repeat("a; ", 300) + "a").status, ReadStatus::kOk);
  EXPECT_EQ(Read(Repeat("a | ", 300) + "a").status, ReadStatus::kOk);
}

TEST(ReadLimits, DepthOfEnclosingTextsCounts) {
  ReadOptions options;
  options.depth = 150;
  const std::string text = Repeat("( ", 60) + "a" + Repeat(" )", 60);
  EXPECT_EQ(Read(text, options).status, ReadStatus::kTooLarge);
  options.depth = 0;
  EXPECT_EQ(Read(text, options).status, ReadStatus::kOk);
}

TEST(ReadLimits, ANulByteIsASyntaxError) {
  const Script script = Read(std::string_view("a\0b", 3));
  EXPECT_EQ(script.status, ReadStatus::kSyntaxError);
  EXPECT_EQ(script.where, (Span{1, 2}));
}

}  // namespace
}  // namespace gate::parser
