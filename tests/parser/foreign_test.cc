// What code in other languages starts.
#include <gtest/gtest.h>

#include "parser/eval/evaluate.h"

namespace gate::parser {
namespace {

struct EmbeddedCase {
  const char* language;
  const char* code;
  const char* expected;  // commands parted by `|`, then `!` when unclear
};

TEST(Foreign, ListsLiteralCommandsAndFlagsTheRest) {
  static constexpr EmbeddedCase kCases[] = {
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
  for (const EmbeddedCase& test : kCases) {
    EmbeddedCode code = ScanEmbedded(LanguageNamed(test.language), test.code);
    std::string shown;
    for (const EmbeddedCommand& command : code.commands) {
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

struct EmbeddedFile {
  const char* language;
  const char* code;
  const char* expected;  // kinds and names parted by `; `
};

TEST(Foreign, SaysWhatItDoesToFilesAndHosts) {
  static constexpr EmbeddedFile kCases[] = {
      {"python", "open('/a').read()", "read /a"},
      {"python", "open('/a', 'w')", "write /a"},
      {"python", "open('/a', mode='r+')", "read /a; write /a"},
      {"python", "open(r'/a', 'ab')", "write /a"},
      {"python", "p = '/a'; open(p).read()", "read /a"},
      {"python", "x.remove(y)", ""},
      {"python", "os.rename('/a', '/b')", "delete /a recursive; write /b"},
      {"python", "shutil.copy('/a', '/b')", "read /a; write /b"},
      {"python", "Path('/a').unlink()", "delete /a"},
      {"python", "requests.post('http://h/x')", "network http://h/x"},
      {"python", "s.connect(('h.x', 99)); socket", "network tcp://h.x:99"},
      {"python", "import http.server", "network listens"},
      {"python", "print('/a')", ""},
      {"python", "Path.home().joinpath('.bashrc').write_text('x')",
       "write .bashrc; write ~/.bashrc"},
      {"node", "const {readFileSync: r} = require('fs'); r('/a')", "read /a"},
      {"ruby", "IO.read('/a')", "read /a"},
      {"perl", "open(F, '<', '/a')", "read /a"},
      {"perl", "open(F, '>/a')", "write /a"},
      {"perl", "unlink '/a'", "delete /a"},
      {"ruby", "File.open('/a', 'w')", "write /a"},
      {"ruby", "FileUtils.rm_rf '/a'", "delete /a recursive"},
      {"node", "require('fs').readFileSync('/a')", "read /a"},
      {"node", "fs.writeFileSync(`/a`, x)", "write /a"},
      {"node", "require('https').get('https://h/')", "network https://h/"},
      {"php", "file_get_contents('http://h/')", "network http://h/"},
      {"lua", "io.open('/a', 'w')", "write /a"},
      {"awk", "{print > \"/a\"}", "write /a"},
      {"awk", "{print $1 >> \"/a\"}", "write /a"},
      {"awk", "$1 > 5 {print}", ""},
      {"awk", "{while ((getline x < \"/a\") > 0) n++}", "read /a"},
      {"awk", "{print > $1}", "write "},
      {"sed", "w /a", "write /a"},
      {"sed", "s/x/y/w /a", "write /a"},
      {"sed", "1r /a", "read /a"},
      {"sed", "y/w/r/", ""},
  };
  for (const EmbeddedFile& test : kCases) {
    std::string shown;
    for (const EmbeddedEffect& effect :
         ScanEmbedded(LanguageNamed(test.language), test.code).effects) {
      std::string one = Name(effect.kind);
      if (!effect.listens) one += " " + effect.text;
      if (effect.recursive) one += " recursive";
      if (effect.listens) one += " listens";
      if (shown.ends_with(one)) continue;  // said twice
      if (!shown.empty()) shown += "; ";
      shown += one;
    }
    EXPECT_EQ(shown, test.expected) << test.language << ": " << test.code;
  }
}

}  // namespace
}  // namespace gate::parser
