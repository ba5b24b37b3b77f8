// Copies of files that mix settings and secrets: what of each format is in
// them.
#include "settings/copy.h"

#include <gtest/gtest.h>

#include <span>

namespace gate {
namespace {

settings::Copy Copy(std::string_view name, const std::string& text) {
  for (const rules::SettingsFile& file : rules::SettingsFiles())
    if (file.file == name)
      return settings::CopyOf(
          file, text, [](std::string_view path) { return path != "~/hidden"; });
  ADD_FAILURE() << name;
  return {};
}

constexpr const char* kKey =
    "AAAAC3NzaC1lZDI1NTE5AAAAIEl0c0EgUHVibGljS2V5VGhhdElzTm90QVNlY3JldA";

struct Row {
  const char* text;
  const char* written;
  bool left_out;
};

TEST(SettingsCopiesTest, OfNpmrcOnlyHarmlessKeysAreWrittenAnew) {
  const std::string none =
      "registry=" + std::string(settings::kWithheldSource) + "\n";
  const Row kRows[] = {
      {"", "", false},
      {"# a comment with TOKEN\n; another\n", "", false},
      {"registry=https://registry.npmjs.org/\n",
       "registry=https://registry.npmjs.org/\n", false},
      {"registry = \"https://npm.acme.example:8443/a/b/\"",
       "registry=https://npm.acme.example:8443/a/b/\n", false},
      {"@acme:registry=https://npm.acme.example/npm/\n",
       "@acme:registry=https://npm.acme.example/npm/\n", false},
      {"save-exact=true\nfund = false\n", "save-exact=true\nfund=false\n",
       false},
      {"save-prefix=~\r\n", "save-prefix=~\n", false},
      {"package-lock\n", "package-lock=true\n", false},
      {"cafile=/etc/ssl/acme.pem\n", "cafile=/etc/ssl/acme.pem\n", false},
      {"proxy=http://proxy.acme.example:3128\n",
       "proxy=http://proxy.acme.example:3128\n", false},
      // What is secret, or may be.
      {"//registry.npmjs.org/:_authToken=npm_abcdefghijklmnopqrstuvwxyz0123\n",
       "", true},
      {"//r.example/:_password=aHVudGVyMg==\n//r.example/:username=me\n", "",
       true},
      {"_auth=bWU6aHVudGVyMg==\nemail=me@example.org\n", "", true},
      {"registry=https://me:hunter2@r.example/\n", none.c_str(), true},
      {"registry=https://token@r.example/\n", none.c_str(), true},
      {"registry=https://r.example/f/3f2504e0-4f89-41d3-9a0c-0305e82c3301/\n",
       none.c_str(), true},
      {"registry=https://r.example/qwertyuiopasdfghjklzxcvbnmqwert/\n",
       none.c_str(), true},
      {"registry=https://r.example/?token=hunter2\n", none.c_str(), true},
      {"registry=https://r.example/#hunter2\n", none.c_str(), true},
      {"registry=https://r.example/a8f5f167f44f4964e6c998dee827110c/npm/\n",
       none.c_str(), true},
      {"registry=https://r.example\\@evil.example/\n", none.c_str(), true},
      {"registry=${REGISTRY}\n", none.c_str(), true},
      {"registry=ftp://r.example/\n", none.c_str(), true},
      {"registry='https://r.example/\n", none.c_str(), true},
      {"proxy=http://me:hunter2@proxy.example:3128\n", "", true},
      {"cafile=/tmp/$(id)\n", "", true},
      {"init-version=npm_abcdefghijklmnopqrstuvwxyz0123456789\n", "", true},
      {"save-prefix=q8JH2kd93hTQz0plXv7\n", "", true},
      {"init-author-name=Me\ncert=\"-----BEGIN\"\nkey=x\n", "", true},
      {"unknown=hunter2\n", "", true},
  };
  for (const Row& row : kRows) {
    const settings::Copy copy = Copy(".npmrc", row.text);
    EXPECT_TRUE(copy.parsed) << row.text;
    EXPECT_EQ(copy.text, row.written) << row.text;
    EXPECT_EQ(copy.left_out, row.left_out) << row.text;
  }
  // A scope whose registry cannot be shown does not fall back to another.
  EXPECT_EQ(Copy(".npmrc", "@acme:registry=https://x:y@npm.example/\n").text,
            "@acme:registry=" + std::string(settings::kWithheldSource) + "\n");
  for (const std::string& text :
       {std::string("[section]\n"), std::string("a b c\n"),
        std::string("registry=https://r.example/\n\x01=1\n"),
        std::string("registry=https://r.example/\n\0", 29),
        std::string(settings::kMaxCopyBytes + 1, '#')}) {
    EXPECT_FALSE(Copy(".npmrc", text).parsed) << text.substr(0, 40);
    EXPECT_EQ(Copy(".npmrc", text).text, "");
  }
}

TEST(SettingsCopiesTest, OfSshConfigurationAliasesAreWrittenAnew) {
  const Row kRows[] = {
      {"Host work\n  HostName git.acme.example\n  User git\n  Port 2222\n",
       "Host work\nHostName git.acme.example\nUser git\nPort 2222\n", false},
      {"host=a b *.c !d\nhostname = 10.0.0.1\n",
       "host a b *.c !d\nhostname 10.0.0.1\n", false},
      {"# TOKEN\nHost \"work\"\n\tProxyJump me@bastion.example:22\n",
       "Host work\nProxyJump me@bastion.example:22\n", false},
      {"Host a\nIdentityFile ~/.ssh/id\nUser me\n", "Host a\nUser me\n", true},
      {"Host a\nProxyCommand nc -X connect hunter2 %h\n", "Host a\n", true},
      {"Host a\nSetEnv TOKEN=hunter2\nLocalCommand x\n", "Host a\n", true},
      {"Include ~/.ssh/more\nHost a\nUser me\n", "Host a\nUser me\n", true},
      {"Match exec \"true\"\nUser you\nHost a\nUser me\n", "Host a\nUser me\n",
       true},
      {"Host $(x)\nUser you\nHost a\nUser me\n", "Host a\nUser me\n", true},
      {"Host a\nUser ghp_0123456789abcdefghijABCDEFGHIJ012345\n", "Host a\n",
       true},
  };
  for (const Row& row : kRows) {
    const settings::Copy copy = Copy(".ssh/config", row.text);
    EXPECT_TRUE(copy.parsed) << row.text;
    EXPECT_EQ(copy.text, row.written) << row.text;
    EXPECT_EQ(copy.left_out, row.left_out) << row.text;
  }
  for (const char* text :
       {"Host\n", "-----BEGIN OPENSSH PRIVATE KEY-----\n", "Host a\n}{\n"})
    EXPECT_FALSE(Copy(".ssh/config", text).parsed) << text;
}

TEST(SettingsCopiesTest, OfAwsRegionsAndProfilesAreWrittenAnew) {
  struct Row {
    const char* text;
    const char* written;
    bool left_out;
  } const kRows[] = {
      {"[default]\nregion=eu-central-1\noutput = json\n",
       "[default]\nregion = eu-central-1\noutput = json\n", false},
      {"# AKIA\n[profile work]\nregion = us-east-1\n",
       "[profile work]\nregion = us-east-1\n", false},
      {"[default]\naws_access_key_id = AKIAFIXTUREFIXTURE00\n"
       "aws_secret_access_key = x\nregion = a-1\n",
       "[default]\nregion = a-1\n", true},
      {"[default]\ncredential_process = /x --user me:hunter2\n", "[default]\n",
       true},
      {"[default]\nrole_arn = arn:aws:iam::1:role/x\nexternal_id = hunter2\n",
       "[default]\n", true},
      {"[default]\ns3 =\n  endpoint_url = https://me:hunter2@x\n  region = y\n"
       "region = a-1\n",
       "[default]\nregion = a-1\n", true},
      {"[sso-session a]\nsso_start_url = https://a.awsapps.com/start\n"
       "sso_region = a-1\n",
       "[sso-session a]\nsso_start_url = https://a.awsapps.com/start\n"
       "sso_region = a-1\n",
       false},
      {"[sso-session a]\nsso_start_url = https://me:hunter2@x/\n",
       "[sso-session a]\n", true},
      // What belongs to a section that is not shown is shown for no other.
      {"[default]\n[services x]\nregion = b-1\n", "[default]\n", true},
      {"[profile $(x)]\nregion = b-1\n[default]\nregion = a-1\n",
       "[default]\nregion = a-1\n", true},
  };
  for (const Row& row : kRows) {
    const settings::Copy copy = Copy(".aws/config", row.text);
    EXPECT_TRUE(copy.parsed) << row.text;
    EXPECT_EQ(copy.text, row.written) << row.text;
    EXPECT_EQ(copy.left_out, row.left_out) << row.text;
  }
  for (const char* text : {"region = a-1\n", "[default\n", "[default]\nx\n",
                           "  region = a-1\n", "{}\n"})
    EXPECT_FALSE(Copy(".aws/config", text).parsed) << text;
}

TEST(SettingsCopiesTest, OfKeysOnlyPublicOnesAreWrittenAnew) {
  const std::string key = std::string("ssh-ed25519 ") + kKey;
  EXPECT_EQ(Copy(".ssh", key + " me@host secret\n").text, key + "\n");
  EXPECT_EQ(Copy(".ssh/known_hosts",
                 "# c\ngithub.com,1.2.3.4 " + key + " c\n|1|a=|b= " + key +
                     "\n@cert-authority *.x " + key + "\nhunter2\n")
                .text,
            "github.com,1.2.3.4 " + key + "\n|1|a=|b= " + key +
                "\n@cert-authority *.x " + key + "\n");
  for (const char* text :
       {"", "hunter2\n", "ssh-ed25519 hunter2\n", "ssh-ed25519\n",
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaA==\n",
        "x AAAAC3NzaC1lZDI1NTE5\n", "@cert-authority\n"}) {
    EXPECT_FALSE(Copy(".ssh", text).parsed) << text;
    EXPECT_FALSE(Copy(".ssh/known_hosts", text).parsed) << text;
    EXPECT_FALSE(Copy(".ssh/allowed_signers", text).parsed) << text;
  }
}

TEST(SettingsCopiesTest, OfAllowedSignersLinesOfPlainOptionsAreWrittenAnew) {
  const std::string key = std::string("ssh-ed25519 ") + kKey;
  const std::string kept = "me@example.org " + key +
                           "\n*@example.org,you@x namespaces=\"git\" " + key +
                           "\n";
  const settings::Copy whole = Copy(".ssh/allowed_signers", "# mine\n" + kept);
  EXPECT_EQ(whole.text, kept);
  EXPECT_FALSE(whole.left_out);
  const settings::Copy part =
      Copy(".ssh/allowed_signers", kept + "me@x valid-after=\"2026 01\" " +
                                       key + "\nme@x hunter2 x\n" + "$(x) " +
                                       key + "\nme@x " + key + " comment\n");
  EXPECT_EQ(part.text, kept + "me@x " + key + "\n");
  EXPECT_TRUE(part.left_out);
}

void ExpectRows(const char* name, std::span<const Row> rows) {
  for (const Row& row : rows) {
    const settings::Copy copy = Copy(name, row.text);
    EXPECT_TRUE(copy.parsed) << name << "\n" << row.text;
    EXPECT_EQ(copy.text, row.written) << name << "\n" << row.text;
    EXPECT_EQ(copy.left_out, row.left_out) << name << "\n" << row.text;
  }
}

TEST(SettingsCopiesTest, OfGitConfigurationWhatCommitsNeedIsWrittenAnew) {
  const Row kRows[] = {
      {"", "", false},
      {"# TOKEN\n; TOKEN\n", "", false},
      {"[user]\n\tname = Jürgen O'Neil # x\n\temail = "
       "12345678+jo@users.noreply.github.com\n",
       "[user]\n\tname = \"Jürgen O'Neil\"\n\temail = "
       "\"12345678+jo@users.noreply.github.com\"\n",
       false},
      {"[user]\nsigningkey = 3AA5C34371567BD2\n[commit]\ngpgsign\n",
       "[user]\n\tsigningkey = \"3AA5C34371567BD2\"\n[commit]\n\tgpgsign\n",
       false},
      {"[user]\nsigningkey = ~/.ssh/id_ed25519.pub\n[gpg]\nformat=ssh\n",
       "[user]\n\tsigningkey = \"~/.ssh/id_ed25519.pub\"\n[gpg]\n\tformat = "
       "\"ssh\"\n",
       false},
      {"[alias]\n\tlg = log --graph --pretty=format:'%C(auto)%h -%d %s (%cr) "
       "<%an>'\n\tup = \"!git fetch && git rebase\"\n",
       "[alias]\n\tlg = \"log --graph --pretty=format:'%C(auto)%h -%d %s (%cr) "
       "<%an>'\"\n\tup = \"!git fetch && git rebase\"\n",
       false},
      {"[core]\nexcludesFile=~/.gitignore_global\nautocrlf=input\neditor=code "
       "--wait\n",
       "[core]\n\texcludesfile = \"~/.gitignore_global\"\n\tautocrlf = "
       "\"input\"\n\teditor = \"code --wait\"\n",
       false},
      {"[pull]\nrebase=true\n[init]\ndefaultBranch=main\n[push]"
       "\nautoSetupRemote\n",
       "[pull]\n\trebase = \"true\"\n[init]\n\tdefaultbranch = "
       "\"main\"\n[push]\n\tautosetupremote\n",
       false},
      {"[filter \"lfs\"]\nclean = git-lfs clean -- %f\nrequired = true\n",
       "[filter \"lfs\"]\n\tclean = \"git-lfs clean -- %f\"\n\trequired = "
       "\"true\"\n",
       false},
      {"[diff \"x\"]\ntextconv = exif\n[merge]\nconflictstyle=zdiff3\n",
       "[diff \"x\"]\n\ttextconv = \"exif\"\n[merge]\n\tconflictstyle = "
       "\"zdiff3\"\n",
       false},
      {"[url \"git@github.com:\"]\ninsteadOf = https://github.com/\n",
       "[url \"git@github.com:\"]\n\tinsteadof = \"https://github.com/\"\n",
       false},
      {"[url \"ssh://git@git.acme.example:2222/\"]\npushInsteadOf = acme:\n",
       "[url \"ssh://git@git.acme.example:2222/\"]\n\tpushinsteadof = "
       "\"acme:\"\n",
       false},
      {"[include]\npath = ~/work.inc\n[includeIf "
       "\"gitdir:~/work/\"]\npath=more\n",
       "[include]\n\tpath = \"~/work.inc\"\n[includeif "
       "\"gitdir:~/work/\"]\n\tpath = \"more\"\n",
       false},
      {"[http]\nproxy=http://proxy.example:3128\nsslVerify=true\n",
       "[http]\n\tproxy = \"http://proxy.example:3128\"\n\tsslverify = "
       "\"true\"\n",
       false},
      {"[safe]\ndirectory = *\ndirectory = /srv/a\n",
       "[safe]\n\tdirectory = \"*\"\n\tdirectory = \"/srv/a\"\n", false},
      // What is secret, or may be.
      {"[url \"https://me:ghp_0123456789abcdefghijABCDEFGHIJ012345@github.com/"
       "\"]\ninsteadOf=https://github.com/\n",
       "[url \"https://github.com/\"]\n\tinsteadof = "
       "\"https://github.com/\"\n",
       true},
      {"[url "
       "\"https://mirror.example/?t=hunter2\"]\ninsteadOf=https://a.example/\n",
       "[url \"https://withheld.invalid/\"]\n\tinsteadof = "
       "\"https://a.example/\"\n",
       true},
      {"[http \"https://a.example/\"]\nextraheader=Authorization: Basic x\n",
       "", true},
      {"[http]\nextraheader=X\ncookiefile=~/.c\nproxy=http://a:b@p.example\n",
       "", true},
      {"[credential]\nhelper=store\n[credential \"https://a.example\"]\n"
       "username=me\n",
       "", true},
      {"[core]\nsshCommand = ssh -i ~/.ssh/work\n[github]\ntoken=hunter2\n", "",
       true},
      {"[sendemail]\nsmtpPass=hunter2\n[remote \"x\"]\nurl=https://a:b@c/d\n",
       "", true},
      {"[alias]\nx = \"!curl -H 'Authorization: Bearer "
       "q8JH2kd93hTQz0plXv7'\"\n",
       "", true},
      {"[include]\npath = ~/hidden\n[user]\nname=Me\n",
       "[user]\n\tname = \"Me\"\n", true},
      {"am = n\n", "", true},
      {"[lfs]\npassword = x\n[delta \"q8JH2kd93hTQz0plXv7\"]\nx=y\n", "", true},
  };
  ExpectRows(".gitconfig", kRows);
  ExpectRows(".config/git/config", kRows);
  for (const char* text :
       {"[user\n", "[user]\nname = \"x\n", "[user]\n1x = y\n"}) {
    EXPECT_FALSE(Copy(".gitconfig", text).parsed) << text;
    EXPECT_EQ(Copy(".gitconfig", text).text, "") << text;
  }
  const settings::Copy bad =
      Copy(".gitconfig", "[user]\n\tname = x\n  1x = y\n");
  EXPECT_EQ(bad.line, 3U);
  EXPECT_EQ(bad.column, 3U);
}

TEST(SettingsCopiesTest, OfPipsConfigurationIndexesAreWrittenAnew) {
  const std::string none =
      "[global]\nindex-url = " + std::string(settings::kWithheldSource) + "\n";
  const Row kRows[] = {
      {"", "", false},
      {"[global]\nindex-url = https://pypi.acme.example/simple\ntimeout: 60\n",
       "[global]\nindex-url = https://pypi.acme.example/simple\ntimeout = 60\n",
       false},
      {"[global]\nextra_index_url =\n    https://a.example/simple\n\n    "
       "https://b.example/simple\n[install]\nno-deps = x\nuser=true\n",
       "[global]\nextra-index-url = https://a.example/simple\n    "
       "https://b.example/simple\n[install]\nuser = true\n",
       true},
      {"[global]\n# TOKEN\ntrusted-host = a.example b.example\n",
       "[global]\ntrusted-host = a.example\n    b.example\n", false},
      {"[global]\nindex-url = https://me:hunter2@pypi.acme.example/simple\n",
       none.c_str(), true},
      {"[global]\nindex-url = https://pypi.acme.example/simple?t=x\n",
       none.c_str(), true},
      {"[global]\nproxy = http://me:hunter2@proxy.example\nclient-cert=/a/b\n",
       "[global]\n", true},
      {"[global]\nkeyring-provider = hunter2\n", "[global]\n", true},
  };
  ExpectRows(".config/pip/pip.conf", kRows);
  ExpectRows(".pip/pip.conf", kRows);
  for (const char* text : {"index-url = https://a.example\n", "[a\n", " x\n",
                           "[a]\nx\n", "[hunter2!]\n", "[a]\n[b] c\n"})
    EXPECT_FALSE(Copy(".pip/pip.conf", text).parsed) << text;
}

TEST(SettingsCopiesTest, OfMavensSettingsMirrorsAreWrittenAnew) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  const std::string kMirror =
      head +
      "<settings>\n  <mirrors>\n    <mirror>\n      <id>acme</id>\n      "
      "<url>https://maven.acme.example/all</url>\n      "
      "<mirrorOf>*</mirrorOf>\n    </mirror>\n  </mirrors>\n</settings>\n";
  const Row kRows[] = {
      {"<settings xmlns=\"http://maven.apache.org/SETTINGS/1.0.0\">\n<!-- "
       "TOKEN "
       "--><servers><server><username>me</username><password>hunter2</password>"
       "</server></servers><mirrors><mirror><id>acme</id><url>\n "
       "https://maven.acme.example/all </url><mirrorOf>*</mirrorOf></mirror>"
       "</mirrors></settings>",
       kMirror.c_str(), true},
  };
  ExpectRows(".m2/settings.xml", kRows);
  EXPECT_EQ(
      Copy(".m2/settings.xml",
           "<settings><proxies><proxy><active>true</active><host>p.example"
           "</host><username>u</username><password>hunter2</password>"
           "</proxy></proxies><profiles><profile><id>a</id><properties>"
           "<api.token>hunter2</api.token><maven.release>1.2</maven.release>"
           "</properties></profile></profiles></settings>")
          .text,
      head +
          "<settings>\n  <proxies>\n    <proxy>\n      "
          "<active>true</active>\n      <host>p.example</host>\n    "
          "</proxy>\n  </proxies>\n  <profiles>\n    <profile>\n      "
          "<id>a</id>\n      <properties>\n        "
          "<maven.release>1.2</maven.release>\n      </properties>\n    "
          "</profile>\n  </profiles>\n</settings>\n");
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += "<a>";
  for (const std::string& text :
       {std::string("<!DOCTYPE a [<!ENTITY x \"y\">]><settings/>"),
        std::string("<settings>&x;</settings>"),
        std::string("<settings><![CDATA[x]]></settings>"),
        std::string("<settings>"), std::string("<settings></a>"),
        std::string("<settings a=b/>"), std::string("<settings/><settings/>"),
        std::string("<settings>x<offline>true</offline></settings>"),
        std::string("hunter2"), std::string("<?xml"), std::string("<!--"),
        deep}) {
    EXPECT_FALSE(Copy(".m2/settings.xml", text).parsed) << text.substr(0, 60);
    EXPECT_EQ(Copy(".m2/settings.xml", text).text, "");
  }
  EXPECT_EQ(
      Copy(".m2/settings.xml", "<settings>\n  <a>&x;</a></settings>").line, 2U);
}

TEST(SettingsCopiesTest, OfTreesOnlyNamedPartsAreWrittenAnew) {
  struct {
    const char *file, *text, *written;
  } const kRows[] = {
      {".docker/config.json",
       R"({"auths": {"https://index.docker.io/v1/": {"auth": "bWU6aHVudGVyMg=="}},
           "credsStore": "desktop", "credHelpers": {"a.example": "gcr"},
           "HttpHeaders": {"X": "hunter2"}, "currentContext": "colima",
           "cliPluginsExtraDirs": ["/opt/homebrew/lib/docker/cli-plugins"],
           "proxies": {"default": {"httpProxy": "http://p.example:3128",
           "httpsProxy": "http://me:hunter2@p.example", "noProxy": "*.example"}}})",
       "{\n  \"cliPluginsExtraDirs\": [\n    "
       "\"/opt/homebrew/lib/docker/cli-plugins\"\n  ],\n  "
       "\"currentContext\": \"colima\",\n  \"proxies\": {\n    "
       "\"default\": {\n      \"httpProxy\": \"http://p.example:3128\",\n  "
       "    \"noProxy\": \"*.example\"\n    }\n  }\n}\n"},
      {".docker/config.json", "{}", "{}\n"},
      {".config/gh/hosts.yml",
       "github.com:\n    git_protocol: ssh\n    users:\n        me:\n          "
       "  "
       "oauth_token: gho_0123456789abcdefghijABCDEFGHIJ012345\n    user: me\n  "
       "  "
       "oauth_token: gho_0123456789abcdefghijABCDEFGHIJ012345\n",
       "github.com:\n    git_protocol: ssh\n    user: me\n"},
      {".config/gh/config.yml",
       "# TOKEN\ngit_protocol: https\neditor:\naliases:\n    co: pr checkout\n",
       "git_protocol: https\naliases:\n    co: \"pr "
       "checkout\"\n"},
      {".config/gh/hosts.yml", "a:\n- b:\n  user: me\n-\n  - user: you\n",
       "a:\n  -\n      user: me\n  -\n    -\n        user: you\n"},
      {".yarnrc.yml",
       "npmRegistryServer: \"https://npm.acme.example\"\nnpmAuthToken: "
       "hunter2\nnpmScopes:\n  acme:\n    npmRegistryServer: "
       "https://me:hunter2@npm.acme.example\n    npmAuthToken: "
       "hunter2\nnodeLinker: node-modules\n",
       "npmRegistryServer: https://npm.acme.example\nnpmScopes:\n    acme:\n  "
       "      npmRegistryServer: https://withheld.invalid/\nnodeLinker: "
       "node-modules\n"},
      {".cargo/config.toml",
       "[registries.acme]\nindex = \"https://cargo.acme.example/index\"\ntoken "
       "= "
       "\"hunter2\"\n[net]\ngit-fetch-with-cli = true\n[http]\nproxy = "
       "\"me:hunter2@p.example\"\n[env]\nX = \"hunter2\"\n",
       "[registries]\n[registries.acme]\nindex = "
       "\"https://cargo.acme.example/index\"\n[net]\ngit-fetch-with-cli = "
       "true\n"},
      {".config/uv/uv.toml",
       "offline = false\n[[index]]\nname = \"a\"\nurl = "
       "\"https://a.example/simple\"\n[[index]]\nurl = "
       "\"https://me:hunter2@b.example/simple\"\n",
       "offline = false\n[[index]]\nname = \"a\"\nurl = "
       "\"https://a.example/simple\"\n[[index]]\nurl = "
       "\"https://withheld.invalid/\"\n"},
      {".bundle/config",
       "---\nBUNDLE_PATH: \"vendor/bundle\"\nBUNDLE_GEMS__EXAMPLE__COM: "
       "\"me:hunter2\"\nBUNDLE_JOBS: \"4\"\n",
       "BUNDLE_PATH: vendor/bundle\nBUNDLE_JOBS: 4\n"},
      {".gradle/gradle.properties",
       "# TOKEN\norg.gradle.jvmargs=-Xmx2g -Dfile.encoding=UTF-8\n"
       "nexusPassword=hunter2\norg.gradle.x = a\\\n  hunter2\n"
       "systemProp.http.proxyHost: "
       "p.example\nsystemProp.http.proxyPassword=x\n",
       "org.gradle.jvmargs=-Xmx2g "
       "-Dfile.encoding=UTF-8\nsystemProp.http.proxyHost=p.example\n"},
      {".nuget/NuGet/NuGet.Config",
       "<?xml version='1.0'?>\n<configuration><packageSources><add key='acme' "
       "value='https://nuget.acme.example/v3/index.json'/></packageSources>"
       "<packageSourceCredentials><acme><add key='ClearTextPassword' "
       "value='hunter2'/></acme></packageSourceCredentials></configuration>",
       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<configuration>\n  "
       "<packageSources>\n    <add key=\"acme\" "
       "value=\"https://nuget.acme.example/v3/index.json\"/>\n  "
       "</packageSources>\n</configuration>\n"},
  };
  for (const auto& row : kRows) {
    const settings::Copy copy = Copy(row.file, row.text);
    EXPECT_TRUE(copy.parsed) << row.file;
    EXPECT_EQ(copy.text, row.written) << row.file;
    EXPECT_FALSE(copy.text.contains("hunter2")) << row.file;
  }
  struct {
    const char *file, *text;
  } const kBad[] = {
      {".docker/config.json", "{\"a\": }"},
      {".docker/config.json", "[\"hunter2\"]"},
      {".docker/config.json", "3e3"},
      {".docker/config.json", "{\"a\": 1, \"a\": 2}"},
      {".config/gh/hosts.yml", "a: &x b\n"},
      {".config/gh/hosts.yml", "a: !!binary aHVudGVyMg==\n"},
      {".config/gh/hosts.yml", "hunter2"},
      {".config/gh/hosts.yml", "\ta: b\n"},
      {".config/gh/hosts.yml", "a\x07: b\n"},
      {".config/gh/hosts.yml", "a: b\rc: d\n"},
      {".yarnrc.yml", "a: {b: c}\n"},
      {".cargo/config.toml", "a = \n"},
      {".cargo/config.toml", "[a]\n[a]\n"},
      {".config/uv/uv.toml", "hunter2"},
      {".gradle/gradle.properties", "}{\n"},
      {".nuget/NuGet/NuGet.Config", "<configuration a='1' a='2'/>"},
  };
  for (const auto& row : kBad) {
    EXPECT_FALSE(Copy(row.file, row.text).parsed) << row.file << row.text;
    EXPECT_EQ(Copy(row.file, row.text).text, "") << row.file << row.text;
  }
}

TEST(SettingsCopiesTest, WhatNoReaderShouldSeeIsNotParsed) {
  const std::string nested(100'000, '['), tables(100'000, '{');
  for (const rules::SettingsFile& file : rules::SettingsFiles()) {
    for (const std::string& text :
         {std::string("a\0b", 3), std::string("\xff\xfe"), nested, tables,
          std::string(settings::kMaxCopyBytes + 1, '#')}) {
      const settings::Copy copy = settings::CopyOf(file, text);
      EXPECT_FALSE(copy.parsed) << file.file << text.substr(0, 8);
      EXPECT_EQ(copy.text, "") << file.file;
    }
  }
}

}  // namespace
}  // namespace gate
