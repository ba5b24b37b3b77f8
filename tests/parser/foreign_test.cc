// What code in other languages starts.
#include <gtest/gtest.h>

#include "parser/evaluate.h"

namespace gate::parser {
namespace {

struct ForeignCase {
  const char* language;
  const char* code;
  const char* expected;  // commands parted by `|`, then `!` when unclear
};

TEST(Foreign, ListsLiteralCommandsAndFlagsTheRest) {
  static constexpr ForeignCase kCases[] = {
      {"python", "print(1)", ""},
      {"python", "import os; os.system('rm z')", "sh:rm z"},
      {"python", "import os; os.system(x)", "!"},
      {"python", "import subprocess\nsubprocess.run(['rm', \"z\"])", "rm z"},
      {"python", "import subprocess; subprocess.run('rm z', shell=True)",
       "sh:rm z"},
      {"python", "import subprocess; subprocess.run(cmd)", "!"},
      {"python", "__import__('os').system('rm z')", "sh:rm z!"},
      {"perl", "print 1", ""},
      {"perl", "system('rm','z')", "rm z"},
      {"perl", "exec 'rm', 'z'", "rm z"},
      {"perl", "print `rm z`", "sh:rm z"},
      {"perl", "system(\"rm $x\")", "!"},
      {"ruby", "system('rm z')", "sh:rm z"},
      {"node", "console.log(1)", ""},
      {"node", "require('child_process').execSync('rm z')", "sh:rm z"},
      {"node", "require('child_process').spawn('rm', ['z'])", "rm z"},
      {"node", "require(x)", "!"},
      {"awk", "{print $1}", ""},
      {"awk", "$1 ~ /a|b/ || $2 {n++} END {print n}", ""},
      {"awk", "BEGIN{system(\"rm z\")}", "sh:rm z"},
      {"awk", "BEGIN{\"rm z\" | getline}", "sh:rm z"},
      {"awk", "{print | \"rm z\"}", "sh:rm z"},
      {"awk", "{system($0)}", "!"},
      {"awk", "{print | c}", "!"},
      {"sed", "s/a/b/g; /x/d; 1,3p", ""},
      {"sed", "s|/e|x|; $!N; y/e/f/", ""},
      {"sed", "1e rm z", "sh:rm z"},
      {"sed", "s/.*/rm z/e", "sh:rm z"},
      {"sed", "s/a/b/e", "!"},
      {"sed", "e", "!"},
      {"unheard", "x", "!"},
  };
  for (const ForeignCase& test : kCases) {
    ForeignCode code = ScanForeign(test.language, test.code);
    std::string shown;
    for (const ForeignCommand& command : code.commands) {
      if (!shown.empty()) shown += '|';
      if (command.shell) shown += "sh:";
      for (size_t i = 0; i < command.argv.size(); ++i) {
        if (i > 0) shown += ' ';
        shown += command.argv[i];
      }
    }
    if (code.unclear) shown += '!';
    EXPECT_EQ(shown, test.expected) << test.language << ": " << test.code;
  }
}

}  // namespace
}  // namespace gate::parser
