// Settings files are judged as their own readers read them.
#include "backends/protected_content.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace gate::backends {
namespace {

struct Row {
  const char* content;
  int entries;  // -1: cannot be told
};

void Expect(const char* name, std::initializer_list<Row> rows) {
  for (const Row& row : rows) {
    const auto entries = EntriesWithPower(name, row.content);
    EXPECT_EQ(entries ? static_cast<int>(entries->size()) : -1, row.entries)
        << name << ": " << row.content;
  }
}

TEST(ProtectedContent, ALineOfYarnIsOneKeyWithOneValue) {
  Expect(".yarnrc", {{"color true\n", 0},
                     {"color true \r\n\r\n# c: d \"\n", 0},
                     {"network-timeout 600000\n", 0},
                     {"save-prefix \"~\"\nversion-tag-prefix \"\"\n", 0},
                     {"version-git-message \"chore: %s, x y\"\n", 0},
                     {"loglevel warn\n", 0},
                     {"color true yarn-path ./x.js\n", 1},
                     {"color true yarn-path \"./x.js\"\n", 1},
                     {"color true\"yarn-path\" \"./x.js\"\n", 1},
                     {"color trueyarn-path x.js\n", 1},
                     {"network-timeout 1yarn-path x.js\n", 1},
                     {"save-prefix \"~\"yarn-path x.js\n", 1},
                     {"save-prefix \"~\\\"\n", 1},
                     {"save-prefix '~'yarn-path x'\n", 1},
                     {"save-prefix \"~\nyarn-path \"x\"\n", 2},
                     {"color, yarn-path x.js\n", 1},
                     {"color, \"yarn-path\" x.js\n", 1},
                     {"color:\n  yarn-path x.js\n", 2},
                     {"color :true\n", 1},
                     {"\"color\" true\n", 1},
                     {"color\n", 1},
                     {"color\ttrue\n", 1},
                     {"color true # c\n", 1},
                     // What ends the reading takes orders away.
                     {"  \n", 1},
                     {"  color true\n", 1},
                     {" # c\n", 1},
                     {"# c\ryarn-path x\n", 1},
                     {"color x\xc2\xa0yarn-path\n", 1},
                     {"<<<<<<< a\n", 1}});
}

TEST(ProtectedContent, ALineOfNpmIsOneKeyWithOneValue) {
  Expect(".npmrc", {{"save-prefix='~'\nsave-exact = true # c\n", 0},
                    {"hoist-pattern[]=*eslint*\n", 0},
                    {"# \xc3\xa4\n  ; c\r\n", 0},
                    {"# c\rscript-shell=x\n", 1},
                    {"; c\rscript-shell=x\r\n", 1},
                    {"\rscript-shell=x\n", 1},
                    {"save-exact=true\rscript-shell=x", 1},
                    {"#\vscript-shell=x\n", 1},
                    {"script-shell[]=x\n", 1},
                    {"save[]=x\n", 1},
                    {"save;=x\n", 1},
                    {"'save'=x\n", 1},
                    {"save\\;=x\n", 1},
                    {"=save\n", 1},
                    {"save = \"a\\u0000\"\n", 1},
                    {"save = \"a\n", 1},
                    {"save = a\xe2\x80\xa8script-shell=x\n", 1},
                    {"\xef\xbb\xbf# c\n", 1},
                    {"[ save ]\n", 1}});
}

TEST(ProtectedContent, ASettingIsWhatTheEditorReads) {
  Expect(".vscode/settings.json",
         {{"{\"editor.a\":1, // \xc3\xa4\n\"search.b\":2}", 0},
          {"{\"editor.a\":1, // \xe2\x80\xa8 \"git.path\":2,\n\"search.b\":2}",
           -1},
          {"{\"editor.a\":1, // \r \"git.path\":2,\n\"search.b\":2}", 1},
          {"{\"editor.a\":1 /* */, \"git.path\":2 /* */}", 1},
          {"{\"editor.a\":1 /*/, \"git.path\":2 /* */}", 0},
          {"{\"\\u0067it.path\":\"x\"}", 1},
          {"{\"\\u0065ditor.a\":\"x\"}", 0},
          {"{\"editor.a\":1,\"editor.a\":2}", -1},
          {"{\"editor.a\":1,}", -1},
          {"{\"Editor.a\":1}", 1},
          {"{\"[c]\":{\"editor.a\":1},\"[git.path]\":1}", 1},
          {"{\"editor.a\":1} {\"git.path\":1}", -1},
          {"{\"editor.a\":1", -1}});
}

}  // namespace
}  // namespace gate::backends
