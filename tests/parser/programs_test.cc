// ReadArguments over the shipped descriptions: nothing that an argument vector
// runs is missed, however it is spelled.

#include "parser/programs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "parser/programs/examples.h"
#include "parser/programs/pass.h"

namespace gate::parser {
namespace {

std::vector<Argument> Arguments(std::string_view line) {
  std::vector<Argument> argv;
  for (const programs::ExampleWord& word : programs::ExampleWords(line)) {
    Argument argument;
    argument.text = word.text;
    argument.known = word.known;
    argument.splits = word.splits;
    argument.glob = word.glob;
    argv.push_back(std::move(argument));
  }
  return argv;
}

ArgumentAnalysis Read(std::string_view line) {
  return ReadArguments(Arguments(line));
}

bool Says(const ArgumentAnalysis& arguments, std::string_view line) {
  const auto lines = Describe(arguments);
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

std::string All(const ArgumentAnalysis& arguments) {
  std::string all;
  for (const std::string& line : Describe(arguments)) all += line + "\n";
  return all;
}

TEST(Programs, CommandsAreFoundInEverySpelling) {
  const struct {
    const char* line;
    const char* argument_effect;
  } kCases[] = {
      {"/usr/bin/sudo -u root -- rm -rf x", "command: rm -rf x"},
      {"sudo --preserve-env=A --user bob rm x", "command: rm x"},
      {"sudo -nEu bob rm x", "command: rm x"},
      {"env -iu A B=1 rm x", "command: rm x"},
      {"env --ignore-environment --chdir /d rm x", "command: rm x"},
      {"env -vS 'A=b rm  x' y", "command: rm x y"},
      {"env '--split-string=rm x'", "command: rm x"},
      {"timeout --foreground -s9 -k 3 5 rm x", "command: rm x"},
      {"nice -n19 nice rm x", "command: nice rm x"},
      {"nice --adjustment 5 rm", "command: rm"},
      {"stdbuf --output=L rm x", "command: rm x"},
      {"flock --timeout 3 /l --command 'rm x'", "shell(flock): rm x"},
      {"xargs --max-args=3 -P2 rm", "command: rm + <"},
      {"xargs -0rn1 rm -f", "command: rm -f + <"},
      {"xargs -i% rm %", "command: rm % < @%"},
      {"find . ( -name a -o -name b ) -exec rm {} +", "command: rm +"},
      {"find . -type f -okdir rm {} ;", "command(execdir): rm {} @{}"},
      {"bash -xeuo pipefail -c 'rm x'", "shell(bash): rm x"},
      {"bash --posix -lc 'rm x' a b", "shell(bash): rm x a b"},
      {"bash -O extglob +o posix -c 'rm x'", "shell(bash): rm x"},
      {"dash -ec 'rm x'", "shell(sh): rm x"},
      {"python3.12 -Bc 'x'", "foreign(python): x"},
      {"perl -wnle 'x' f", "foreign(perl): x"},
      {"ssh -tt -p22 -i k u@h rm -rf x", "shell(ssh): rm -rf x"},
      {"git -C a -c core.pager='rm x' log", "shell(git): rm x"},
      {"git -c Core.SSHCommand='rm x' fetch", "shell(git): rm x"},
      {"git -c alias.z='!rm x' z", "shell(git): rm x"},
      {"git clone --upload-p='rm x' h:r", "shell(git): rm x"},
      {"tar -x --checkpoint-action exec='rm x' -f a", "shell(tar): rm x"},
      {"tar --use-comp='rm x' -xf a", "shell(tar): rm x"},
      {"tar xfI a 'rm x'", "shell(tar): rm x"},
      {"docker --context c run -v /:/h --rm i rm x",
       "command(container): rm x"},
      {"docker container exec -it c rm x", "command(container): rm x"},
      {"kubectl -n a exec p -c c -- rm x", "command(kubernetes): rm x"},
      {"watch -n.5 -d 'rm x'", "shell(watch): rm x"},
      {"script -q /dev/null -c 'rm x'", "shell(script): rm x"},
      {"su -s /bin/sh -c 'rm x' bob", "shell(su): rm x"},
      {"nsenter -t1 -a rm x", "command(nsenter): rm x"},
      {"unshare --map-root-user rm x", "command(unshare): rm x"},
      {"strace -fe trace=open -o o rm x", "command: rm x"},
      {"rsync -ae 'rm x' a b", "shell(rsync): rm x"},
      {"split --filter 'rm x' a", "shell(split): rm x"},
      {"sort --compress-program rm a", "command: rm"},
      {"busybox rm -rf x", "command(busybox): rm -rf x"},
      {"npm exec --call 'rm x'", "shell(npm): rm x"},
      {"uv run -p 3.12 rm x", "command: rm x"},
      {"tmux new-session -d -s a rm x", "shell(tmux): rm x"},
      {"parallel -j2 rm ::: a b", "command(parallel): rm ::: a b + < @{}"},
      {"setsid -f rm x", "command: rm x"},
      {"ionice -c 3 rm x", "command: rm x"},
      {"taskset 1 rm x", "command: rm x"},
      {"systemd-run --user -p A=b rm x", "command: rm x"},
      {"make -f Makefile SHELL=rm", "possible command(make): rm"},
      {"ip netns exec n rm x", "command: rm x"},
      {"gdb -q -batch -ex 'shell rm x'", "foreign(gdb): shell rm x"},
      {"vim -es -c '!rm x' f", "foreign(vim): !rm x"},
      {"node --eval 'x'", "foreign(node): x"},
      {"awk -F: -v a=1 '{system(x)}' f", "foreign(awk): {system(x)}"},
      {"sed -n --expression='1e rm x' f", "foreign(sed): 1e rm x"},
      {"psql -h h -c 'DROP TABLE x'", "foreign(sql): DROP TABLE x"},
      {"nc -lvnp 9 -e /bin/sh", "command(nc): /bin/sh"},
      {"socat - EXEC:'rm x'", "split: rm x"},
      {"socat TCP-LISTEN:9,fork SYSTEM:'rm x'", "shell(socat): rm x"},
      {"make CC='rm x' SHELL=y", "possible shell(make): rm x"},
  };
  for (const auto& c : kCases) {
    const ArgumentAnalysis arguments = Read(c.line);
    EXPECT_TRUE(arguments.known) << c.line;
    EXPECT_TRUE(Says(arguments, c.argument_effect)) << c.line << "\n"
                                                    << All(arguments);
  }
}

TEST(Programs, EffectsHaveTheirTargets) {
  const struct {
    const char* line;
    const char* argument_effect;
  } kCases[] = {
      {"rm --recurs --forc a", "delete recursive: a"},
      {"rm -fr -- -x", "delete recursive: -x"},
      {"dd bs=1 of=/dev/sda", "write: /dev/sda"},
      {"sort -o out in", "write: out"},
      {"sort -ro out in", "write: out"},
      {"tee -a out", "write: out"},
      {"sed --in-place=.b p f", "write: f"},
      {"sed -i p f", "write: f"},
      {"perl -pi -e p f", "write: f"},
      {"cp --target-directory=d a b", "write(in): d"},
      {"install -m 1 a b", "write(into): b"},
      {"ln -sfn a b", "write(into): b"},
      {"mv -t d a", "move-to(in): d"},
      {"truncate -s 0 f", "write: f"},
      {"shred -uz f", "delete: f"},
      {"mkfs.ext4 -F /dev/sda1", "write: /dev/sda1"},
      {"wipefs --all /dev/sda", "write: /dev/sda"},
      {"chmod -R 777 /", "permission recursive: /"},
      {"chown -hR u:g d", "permission recursive: d"},
      {"find /d -delete", "possible delete recursive: /d"},
      {"find /d -fprintf f %p", "write: f"},
      {"curl -sLo f http://h", "write: f"},
      {"curl http://h --upload-file f", "read: f"},
      {"curl -F a=@f http://h", "read: f"},
      {"curl --data-urlencode a@f http://h", "read: f"},
      {"wget -qO f http://h", "write: f"},
      {"wget --post-file f http://h", "read: f"},
      {"scp f u@h:d", "url: u@h"},
      {"rsync -a --delete a/ b/", "possible delete recursive: b/"},
      {"git push -f origin main", "remote: origin"},
      {"git clean -xdf", "delete recursive: ."},
      {"git reset --hard", "write: ."},
      {"git clone http://h d", "write: d"},
      {"crontab -r", "persistence: crontab"},
      {"crontab f", "read: f"},
      {"systemctl enable x", "persistence(service): x"},
      {"kill -9 1", "signal: 1"},
      {"pkill -f x", "signal: x"},
      {"reboot", "system: power"},
      {"mount -o ro a b", "system: mount"},
      {"insmod x.ko", "possible load(kernel): x.ko"},
      {"apt-get install -y x", "system: packages"},
      {"npm i -g x", "system: npm"},
      {"pip install --target d x", "write: d"},
      {"docker run -v /etc:/e i", "write: /etc"},
      {"kubectl delete ns x", "remote(delete): x"},
      {"terraform destroy", "remote(delete): infrastructure"},
      {"aws s3 rm s3://b --recursive", "remote(delete): s3://b"},
      {"tar -C d -xf a", "directory: d"},
      {"unzip a -d d", "write(tree): d"},
      {"useradd x", "system: users"},
      {"npm publish", "remote: registry"},
      {"ssh -L 80:h:80 h", "listen: 80:h:80"},
      {"python3 -m http.server 80", "listen: 80"},
  };
  for (const auto& c : kCases) {
    const ArgumentAnalysis arguments = Read(c.line);
    EXPECT_TRUE(Says(arguments, c.argument_effect)) << c.line << "\n"
                                                    << All(arguments);
  }
}

// Whatever an undescribed option or an unknown word is, the command behind it
// is among the argument effects.
TEST(Programs, WrappersFindTheCommandUnderEveryReading) {
  for (const char* wrapper :
       {"sudo", "env", "nice", "nohup", "setsid", "stdbuf", "ionice", "xargs",
        "doas", "strace", "time", "unshare", "nsenter", "systemd-run"}) {
    for (const char* before :
         {"--odd", "--odd value", "--odd=1", "-@", "-@ value", "--odd -@",
          "\"$x\"", "\"$x\" value", "$x", "-$x", "--$x value", "--odd $x"}) {
      const std::string line =
          std::string(wrapper) + " " + before + " rm -rf /";
      const ArgumentAnalysis arguments = Read(line);
      EXPECT_FALSE(arguments.complete) << line;
      const bool found =
          std::any_of(arguments.effects.begin(), arguments.effects.end(),
                      [](const ArgumentEffect& argument_effect) {
                        return argument_effect.role == Role::kCommand &&
                               !argument_effect.words.empty() &&
                               argument_effect.words[0].text == "rm";
                      });
      EXPECT_TRUE(found) << line << "\n" << All(arguments);
    }
  }
}

TEST(Programs, TooManyPossibilitiesAreAnUnknownCommand) {
  std::string line = "sudo";
  for (int n = 0; n < 12; ++n) line += " --odd \"$x\"";
  const ArgumentAnalysis arguments = Read(line + " rm x");
  EXPECT_TRUE(std::any_of(arguments.effects.begin(), arguments.effects.end(),
                          [](const ArgumentEffect& argument_effect) {
                            return argument_effect.role == Role::kCommand &&
                                   !argument_effect.words[0].known;
                          }));
}

TEST(Programs, WhatDependsOnUnknownWordsIsNotCertain) {
  for (const char* line : {"rm $x -r y", "timeout $t rm x", "chmod $x y"}) {
    const ArgumentAnalysis arguments = Read(line);
    EXPECT_FALSE(arguments.complete);
  }
  // An unknown word cannot be the option -r and what -r deletes.
  EXPECT_FALSE(Says(Read("rm \"$f\""), "possible delete recursive: ?"));
  EXPECT_TRUE(Says(Read("rm \"$f\" x"), "possible delete recursive: x"));
  EXPECT_TRUE(Says(Read("rm \"$f\" x"), "delete: x"));
  // Behind `--` it is no option.
  EXPECT_FALSE(Says(Read("rm -- \"$f\" x"), "possible delete recursive: x"));
}

TEST(Programs, NamesAreFoundByPathVersionAndFamily) {
  for (const char* name : {"python3.11", "python", "gcc-12", "clang++-19",
                           "mkfs.xfs", "fsck.ext4", "perl5.36", "ruby3.1"}) {
    EXPECT_TRUE(IsDescribed(name)) << name;
  }
  for (const char* name : {"", "nosuchprogram", "rm2", "3", "..", "-"}) {
    EXPECT_FALSE(IsDescribed(name)) << name;
  }
  EXPECT_EQ(Read("/opt/x/rm.exe y").program, "rm");
  EXPECT_FALSE(Read("\"$x\" y").known);
  EXPECT_FALSE(Read("r* y").known);
  EXPECT_FALSE(ReadArguments({}).known);
}

TEST(Programs, SubcommandsAreNamedCanonically) {
  const auto sub = [](std::string_view line) { return Read(line).subcommand; };
  using Names = std::vector<std::string>;
  EXPECT_EQ(sub("git -C x --no-pager push"), Names({"push"}));
  EXPECT_EQ(sub("docker container rm x"), Names({"container", "rm"}));
  EXPECT_EQ(sub("npm i x"), Names({"install"}));
  EXPECT_EQ(sub("kubectl -n x delete pod"), Names({"delete"}));
  EXPECT_EQ(sub("aws --profile x s3 rm y"), Names({"s3", "rm"}));
  EXPECT_EQ(sub("git nosuch"), Names({"nosuch"}));
  EXPECT_TRUE(sub("git \"$x\"").empty());
}

TEST(Programs, PropertiesOfPipesAreKnown) {
  EXPECT_TRUE(Read("cat").reads_stdin);
  EXPECT_FALSE(Read("cat f").reads_stdin);
  EXPECT_TRUE(Read("curl h").prints_network);
  EXPECT_FALSE(Read("curl -o f h").prints_network);
  EXPECT_TRUE(Read("wget -qO- h").prints_network);
  EXPECT_TRUE(Read("base64 -d").decodes);
  EXPECT_FALSE(Read("base64").decodes);
  EXPECT_TRUE(Read("bash").reads_stdin);
  EXPECT_FALSE(Read("bash -c x").reads_stdin);
  EXPECT_TRUE(Read("tar -xzf -").reads_stdin);
}

TEST(Programs, EnvironmentVariablesThatRunCode) {
  const struct {
    const char* name;
    Role role;
  } kCases[] = {
      {"LD_PRELOAD", Role::kLoadCode},
      {"BASH_ENV", Role::kScriptFile},
      {"PAGER", Role::kShellCode},
      {"GIT_SSH_COMMAND", Role::kShellCode},
      {"PROMPT_COMMAND", Role::kShellCode},
      {"EDITOR", Role::kShellCode},
      {"NODE_OPTIONS", Role::kLoadCode},
      {"PYTHONSTARTUP", Role::kScriptFile},
      {"GIT_CONFIG_KEY_0", Role::kLoadCode},
      {"BASH_FUNC_ls%%", Role::kShellCode},
      {"DYLD_FRAMEWORK_PATH", Role::kLoadCode},
  };
  for (const auto& c : kCases) {
    const auto meaning = EnvironmentRole(c.name);
    ASSERT_TRUE(meaning.has_value()) << c.name;
    EXPECT_EQ(meaning->role, c.role) << c.name;
  }
  for (const char* name : {"", "FOO", "LD_PRELOA", "LD_PRELOADX", "_", "A_*"}) {
    EXPECT_FALSE(EnvironmentRole(name).has_value()) << name;
  }
}

TEST(Programs, EnvSplitsAsItsManualSays) {
  const struct {
    const char* text;
    std::vector<std::string> words;
  } kCases[] = {
      {"a b", {"a", "b"}},   {" a  'b c' \"d e\" ", {"a", "b c", "d e"}},
      {"a\\_b", {"a", "b"}}, {"\"a\\_b\"", {"a b"}},
      {"a\\tb", {"a\tb"}},   {"a #b", {"a"}},
      {"a#b", {"a#b"}},      {"a\\c b", {"a"}},
      {"''", {""}},
  };
  for (const auto& c : kCases) {
    std::vector<std::string> words;
    EXPECT_TRUE(programs::SplitEnvString(c.text, &words)) << c.text;
    EXPECT_EQ(words, c.words) << c.text;
  }
  for (const char* text : {"${A}", "'a", "\"a", "a\\", "\\q", "\"\\c\""}) {
    std::vector<std::string> words;
    EXPECT_FALSE(programs::SplitEnvString(text, &words)) << text;
  }
}

TEST(Programs, PatternsCapture) {
  const struct {
    const char* pattern;
    const char* text;
    const char* capture;  // nullptr: does not fit
  } kCases[] = {
      {"of=(*)", "of=x", "x"},
      {"of=(*)", "of=", ""},
      {"of=(*)", "if=x", nullptr},
      {"(%):*", "h:/a:b", "h"},
      {"(%):*", "/a/b:c", nullptr},
      {"*=@(*)", "a=@f", "f"},
      {"alias.*=!(*)", "alias.a.b=!c=!d", "c=!d"},
      {"*", "x", "x"},
      {"-", "-", "-"},
      {"%:*", "h:x", "h:x"},
      {"a*b*c", "aXbYc", "aXbYc"},
      {"a*b", "ac", nullptr},
      {"", "", ""},
  };
  for (const auto& c : kCases) {
    size_t begin = 0, end = 0;
    const std::string_view text = c.text;
    const bool fits =
        programs::MatchValue(c.pattern, text, false, &begin, &end);
    ASSERT_EQ(fits, c.capture != nullptr) << c.pattern << " " << text;
    if (fits) {
      EXPECT_EQ(text.substr(begin, end - begin), c.capture)
          << c.pattern << " " << text;
    }
  }
}

// Any words at all: no crash, bounded work, spans and words from the input.
TEST(Programs, AnyArgumentsAreRead) {
  constexpr const char* kPrograms[] = {
      "git",     "tar",     "find",  "sudo", "env", "xargs",
      "docker",  "curl",    "bash",  "rm",   "sed", "cp",
      "kubectl", "python3", "flock", "dd",   "vim", "gcc"};
  constexpr const char* kWords[] = {"-",
                                    "--",
                                    "---",
                                    "-a",
                                    "-xzf",
                                    "--file",
                                    "--file=x",
                                    "--=",
                                    "-=",
                                    "+",
                                    "+x",
                                    "{}",
                                    ";",
                                    "+",
                                    "a",
                                    "",
                                    "=",
                                    "a=b",
                                    "-exec",
                                    "-c",
                                    "-S",
                                    "-i",
                                    "'",
                                    "\"",
                                    "$",
                                    "(",
                                    "!",
                                    "-o",
                                    "-u",
                                    "push",
                                    "run",
                                    "exec",
                                    "--help",
                                    "-1",
                                    "-99",
                                    "-n",
                                    "--split-string",
                                    "A=1 b",
                                    "${x}",
                                    "-I",
                                    "-e",
                                    "of=x"};
  std::minstd_rand random(7);
  for (int n = 0; n < 4000; ++n) {
    std::vector<Argument> argv(1);
    argv[0].text = kPrograms[random() % std::size(kPrograms)];
    for (size_t k = random() % 9; k > 0; --k) {
      Argument word;
      word.text = kWords[random() % std::size(kWords)];
      word.known = random() % 6 != 0;
      word.splits = !word.known && random() % 2 == 0;
      word.glob = word.known && random() % 9 == 0;
      argv.push_back(std::move(word));
    }
    const ArgumentAnalysis arguments = ReadArguments(argv);
    EXPECT_TRUE(arguments.known);
    EXPECT_LT(arguments.effects.size(), 400u);
  }
  // Long lines cost their length.
  std::vector<Argument> argv(20000);
  argv[0].text = "rm";
  for (size_t k = 1; k < argv.size(); ++k) argv[k].text = std::to_string(k);
  EXPECT_EQ(ReadArguments(argv).effects.size(), argv.size() - 1);
}

}  // namespace
}  // namespace gate::parser
