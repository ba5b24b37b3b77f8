#include "settings/passwords.h"

#include <gtest/gtest.h>

namespace gate {
namespace {

TEST(PasswordsTest, OfAPasswordFileOnlyThisMachinesEntriesForThePortsAreKept) {
  struct Row {
    const char* text;
    const char* kept;
  } const kRows[] = {
      {"localhost:5432:*:app:pw\n", "localhost:5432:*:app:pw\n"},
      {"127.0.0.1:5432:db:app:pw", "127.0.0.1:5432:db:app:pw\n"},
      {"\\:\\:1:5432:db:app:pw\n", "\\:\\:1:5432:db:app:pw\n"},
      {"localhost:*:*:*:pw\n", "localhost:5432:*:*:pw\n"},
      {"localhost:5432:*:app:p\\:w\\\\\r\n",
       "localhost:5432:*:app:p\\:w\\\\\n"},
      {"localhost:5432:*:app:p:w\n", "localhost:5432:*:app:p:w\n"},
      {"# localhost:5432:*:app:pw\nlocalhost:5432:a:b:c\n",
       "localhost:5432:a:b:c\n"},
      // Others'.
      {"localhost:5433:*:app:pw\n", ""},
      {"*:5432:*:app:pw\n", ""},
      {"*:*:*:*:pw\n", ""},
      {"db.example:5432:*:app:pw\n", ""},
      {"localhost.example:5432:*:app:pw\n", ""},
      {"LOCALHOST:5432:*:app:pw\n", ""},
      {"/run/postgresql:5432:*:app:pw\n", ""},
      {"localhost:05432:*:app:pw\n", ""},
      {"localhost:5432 :*:app:pw\n", ""},
      // What does not parse.
      {"localhost:5432:*:app\n", ""},
      {"localhost:5432:*:app:\n", ""},
      {"localhost:5432:*:a\\:pw\n", ""},
      {"hunter2\n", ""},
      {"localhost:5432:*:app:p\x01w\n", ""},
      {"", ""},
      {"\n\n", ""},
  };
  for (const Row& row : kRows)
    EXPECT_EQ(settings::PasswordsFor(row.text, {5432}), row.kept) << row.text;
}

TEST(PasswordsTest, AnEntryForAnyPortIsWrittenForEachThatIsGiven) {
  EXPECT_EQ(settings::PasswordsFor("localhost:*:*:a:b\n", {5432, 5433}),
            "localhost:5432:*:a:b\nlocalhost:5433:*:a:b\n");
  EXPECT_EQ(settings::PasswordsFor("localhost:*:*:a:b\n", {}), "");
}

}  // namespace
}  // namespace gate
