#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "audit/log.h"
#include "audit/redact.h"

namespace gate::audit {
namespace {

struct Case {
  const char* text;
  const char* secret;  // must be gone
  const char* kept;    // must still be there
};

// The secrets are made up. Those with a known format are put together from
// parts, so that scanners of this repository have nothing to find.
#define AWS \
  "AKIA"    \
  "ABCDEFGHIJKLMNOP"
#define GITHUB \
  "gh"         \
  "p_0123456789abcdefghijABCDEFGHIJ"
#define OPENAI \
  "sk"         \
  "-proj-0a1b2c3d4e5f6g7h8i9j"
#define TOKEN_JWT     \
  "eyJ"               \
  "hbGciOiJIUzI1NiJ9" \
  ".eyJ"              \
  "zdWIiOiIxMjM0In0.c2lnbmF0dXJl"

const Case kCases[] = {
    // Known by their look (rules.d/known/secrets.json).
    {"x gs"
     "k_0123456789abcdefghij y",
     "0123456789abcdefghij", " y"},
    {"x dap"
     "i0123456789abcdef0123456789abcdef y",
     "0123456789abcdef", " y"},
    {"x 123456789:"
     "AAabcdefghijklmnopqrstuvwxyz0123456 y",
     "AAabcdef", " y"},
    // Assignments.
    {"GITHUB_TOKEN=hunter2 gh pr list", "hunter2", "gh pr list"},
    {"export DB_PASSWORD='a b c'; psql", "a b c", "; psql"},
    {"export API_KEY=\"x y\" && run", "x y", "&& run"},
    {"env MY_SECRET=s3cr3t make", "s3cr3t", "make"},
    {"docker run -e POSTGRES_PASSWORD=pw123 postgres:16", "pw123",
     "postgres:16"},
    {"docker build --build-arg NPM_TOKEN=abcdef .", "abcdef", " ."},
    {"bash -c 'export TOKEN=abc123; curl x'", "abc123", "; curl x'"},
    {"bash -c \"PASSWORD=\\\"a b\\\" run\"", "a b", "run"},
    {"set -x; AWS_SECRET_ACCESS_KEY=wJalr/K7+MDENG aws s3 ls", "wJalr",
     "aws s3 ls"},
    {"java -Ddb.password=tiger -jar a.jar", "tiger", "-jar a.jar"},
    {"PGPASSWORD=$(cat f) TOKEN=zzz9 psql", "zzz9", "$(cat f)"},
    {"KEY=abcdef ./sign", "abcdef", "./sign"},
    {"SECRET=${FOO:-fallback9} run", "fallback9", "run"},
    // Options.
    {"tool --password hunter2 --verbose", "hunter2", "--verbose"},
    {"tool --password=hunter2 --verbose", "hunter2", "--verbose"},
    {"tool --api-key 'k e y' next", "k e y", "next"},
    {"tool --token \"$X\" --auth-token abc", "abc", "\"$X\""},
    {"mysql -u root -phunter2 db", "hunter2", "-u root"},
    {"mysql -u root -p'hun ter' db", "hun ter", "-u root"},
    {"sudo -u postgres mysqldump -phunter2 db", "hunter2", "-u postgres"},
    {"sshpass -p hunter2 ssh host", "hunter2", "ssh host"},
    {"curl -u alice:hunter2 https://x.example/", "hunter2", "alice:"},
    {"curl --user 'alice:hun ter' https://x.example/", "hun ter", "alice:"},
    {"curl -s --user=alice:hunter2 x", "hunter2", "alice:"},
    {"wget --user=a --password=hunter2 x", "hunter2", "--user=a"},
    {"redis-cli -a hunter2 ping", "hunter2", "ping"},
    {"docker login -u a -p hunter2 r.example", "hunter2", "r.example"},
    {"openssl enc -pass pass:hunter2 -in f", "hunter2", "-in f"},
    {"gh secret set NAME --body hunter2", "hunter2", "NAME"},
    {"kubectl create secret generic s --from-literal=user=hunter2", "hunter2",
     "--from-literal=user="},
    {"aws configure set aws_secret_access_key hunter2", "hunter2",
     "aws configure"},
    {"npm config set //r.example/:_authToken hunter2", "hunter2", "npm config"},
    {"tool --password \\\n  hunter2 next", "hunter2", " next"},
    {"setenv API_KEY hunter2 && x", "hunter2", "&& x"},
    {"curl -b 'session=hunter2' https://x.example/", "hunter2", "https://x"},
    {"mongodump -u root -phunter2 x", "hunter2", "-u root"},
    {"mongo --host h -u root -phunter2 x", "hunter2", "--host h"},
    {"redis-cli -h h -ahunter2 ping", "hunter2", "ping"},
    {"nerdctl login -u u -p hunter2 x", "hunter2", "-u u"},
    {"keytool -list -storepass hunter2 x", "hunter2", " x"},
    {"docker run -e \"DB_PASSWORD=correct hunter2\" img", "hunter2", "img"},
    {"TOKENS=(first hunter2) x", "hunter2", " x"},
    {"T[api_key]=hunter2 x", "hunter2", " x"},
    // Other languages.
    {"cat > c <<'E'\napi_key = \"hunter2\"\nE\nls", "hunter2", "\nE\nls"},
    {"cat > c <<E\n[a]\naws_secret_access_key = hunter2\nE", "hunter2", "[a]"},
    {"python3 - <<'E'\nos.environ['API_KEY'] = 'hunter2'\nx()\nE", "hunter2",
     "\nx()\nE"},
    {"python3 -c \"os.environ['API_KEY']='hunter2'; x()\"", "hunter2",
     "; x()\""},
    {"node - <<'E'\nprocess.env.API_KEY = \"hunter2\"\nx\nE", "hunter2",
     "\nx\nE"},
    {"node -e 'const apiKey = \"hunter2\"; x()'", "hunter2", "; x()'"},
    {"ruby -e \"ENV['SECRET_KEY'] = 'hunter2'; x\"", "hunter2", "; x\""},
    {"yq -i '.password = \"hunter2\"' x.yml", "hunter2", "' x.yml"},
    {"cat <<E\n<password>hunter2</password>\nE", "hunter2", "</password>"},
    {"cat <<E\n- name: DB_PASSWORD\n  value: hunter2\n- name: A\n  value: b\nE",
     "hunter2", "value: b"},
    // Standard input.
    {"echo hunter2 | docker login --password-stdin r", "hunter2", "docker"},
    {"printf '%s' hunter2 | gh auth login --with-token", "hunter2", "gh auth"},
    {"docker login --password-stdin r <<< hunter2", "hunter2", "login"},
    {"echo hunter2 | sudo -S apt update", "hunter2", "apt update"},
    {"echo 'root:hunter2' | chpasswd -e", "hunter2", "chpasswd"},
    // Headers, queries, members.
    {"curl -H 'Authorization: Bearer abc.def' x", "abc.def", "' x"},
    {"curl -H \"Authorization: token abc\" x", "abc", "\" x"},
    {"curl -H 'Cookie: sid=1; a=b' x", "sid=1; a=b", "' x"},
    {"curl -H 'X-Api-Key: abc' x", "abc", "' x"},
    {"curl -H 'PRIVATE-TOKEN: abc' x", "abc", "' x"},
    {"curl 'https://x.example/?a=1&token=abc&b=2'", "abc", "&b=2'"},
    {"curl 'https://x.example/?key=abc123&b=2'", "abc123", "&b=2'"},
    {"curl -d '{\"user\":\"u\",\"password\":\"hunter2\"}' x", "hunter2",
     "\"user\":\"u\""},
    {"curl -d \"{\\\"password\\\": \\\"hunter2\\\"}\" x", "hunter2", "x"},
    {"python -c \"d={'api_key': 'abc'}\"", "'abc'", "python"},
    {"cat > c.yml <<E\nuser: u\npassword: hunter2\nE", "hunter2", "user: u"},
    {"cat > ~/.netrc <<E\nmachine m login l password hunter2\nE", "hunter2",
     "machine m"},
    {"psql -c \"ALTER USER u PASSWORD 'hunter2'\"", "hunter2", "ALTER USER u"},
    {"mysql -e \"CREATE USER u IDENTIFIED BY 'hunter2'\"", "hunter2",
     "CREATE USER u"},
    {"mysql -e \"ALTER USER u IDENTIFIED WITH caching_sha2_password BY "
     "'hunter2'\"",
     "hunter2", "caching_sha2_password"},
    {"mysql -e \"SET PASSWORD FOR u = 'hunter2'\"", "hunter2", "FOR u"},
    {"mysql -e \"SET PASSWORD FOR 'u'@'%' = PASSWORD('hunter2'); SELECT 1\"",
     "hunter2", "SELECT 1"},
    {"mysql -e 'set password = \"hunter2\"' db", "hunter2", "db"},
    {"curl -su alice:hunter2 https://x.example/", "hunter2", "alice:"},
    {"curl -sSfu 'alice:hun ter' https://x.example/", "hun ter", "alice:"},
    {"curl -ualice:hunter2 https://x.example/", "hunter2", "alice:"},
    {"curl -su'alice:hunter2' https://x.example/", "hunter2", "alice:"},
    {"curl -u alice:hunter2 -sU p:hunter3 x", "hunter3", "alice:"},
    {"TOKEN+=hunter2; x", "hunter2", "; x"},
    {": ${TOKEN:=hunter2} x", "hunter2", "} x"},
    {"run \"${API_KEY:-hunter2}\" x", "hunter2", "}\" x"},
    // URLs.
    {"git clone https://alice:hunter2@git.example/r.git", "hunter2",
     "https://alice:"},
    {"psql postgres://u:p%40ss@db.example:5432/d", "p%40ss",
     "@db.example:5432"},
    {"git push https://0123456789abcdefghij@git.example/r", "0123456789",
     "@git.example"},
    // Formats.
    {"run " AWS " x", AWS, " x"},
    {"run " GITHUB " x", GITHUB, " x"},
    {"export A=" GITHUB, GITHUB, "export A="},
    {"run '" OPENAI "'", OPENAI, "run"},
    {"run " TOKEN_JWT " x", "c2lnbmF0dXJl", " x"},
    {"echo '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE "
     "KEY-----' > k",
     "MIIE", "> k"},
    {"curl https://hooks.slack.com/services/"
     "T0/B0/abcdefghijklmnop",
     "abcdefghijklmnop", "hooks.slack.com"},
    {"echo Bearer abcdefgh12345678", "abcdefgh12345678", "Bearer"},
};

TEST(Redact, TakesOutTheSecretAndKeepsTheRest) {
  for (const Case& c : kCases) {
    const std::string out = Redact(c.text, nullptr);
    EXPECT_EQ(out.find(c.secret), std::string::npos) << c.text << " -> " << out;
    EXPECT_NE(out.find(c.kept), std::string::npos) << c.text << " -> " << out;
    EXPECT_NE(out.find("[redacted:"), std::string::npos)
        << c.text << " -> " << out;
  }
}

// What runs must be found in the record, whatever text stands beside it. The
// base64 is made up.
#define KEY_LINE "MIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn1ygWyF8PbnGy0AHB7MaXJ5r9Tb1Q2"
TEST(Redact, TakesNothingThatRuns) {
  const struct {
    const char* text;
    const char* kept;
    const char* secret = nullptr;
  } kRows[] = {
      {"# -----BEGIN RSA PRIVATE KEY-----\nrm notes.txt", "rm notes.txt"},
      {"# -----BEGIN RSA PRIVATE KEY-----\nrm notes.txt\n"
       "# -----END RSA PRIVATE KEY-----\necho built",
       "rm notes.txt"},
      {"cat > k <<E\n-----BEGIN PRIVATE KEY-----\n" KEY_LINE "\n" KEY_LINE
       "\nE\nrm notes.txt",
       "\nE\nrm notes.txt", KEY_LINE},
      {"cat > k <<E\n-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
       "DEK-Info: AES-128-CBC,0123\n\n  " KEY_LINE
       "\n  aB3=\n-----END EC PRIVATE KEY-----\nE\nrm notes.txt",
       "\nE\nrm notes.txt", "aB3="},
      {"printf '-----BEGIN PRIVATE KEY-----\\n" KEY_LINE
       "\\naB3=\\n-----END PRIVATE KEY-----\\n' > k; rm notes.txt",
       "' > k; rm notes.txt", "aB3="},
      {"echo \"{\\\"token\\\":\\\"\"; rm notes.txt; echo '\"'", "rm notes.txt"},
      {"echo '{\"token\":\"'; rm notes.txt; echo '\"'", "rm notes.txt"},
      {"echo \"PASSWORD='\"; rm notes.txt; echo \"'\"", "rm notes.txt"},
      {"echo 'PASSWORD=\"'; rm notes.txt; echo '\"'", "rm notes.txt"},
      {"echo \\\"TOKEN=\\\"; rm notes.txt; echo \\\"", "rm notes.txt"},
      {"echo $'\\'TOKEN=\"'; rm notes.txt; echo '\"'", "rm notes.txt"},
      {"x=1 # PASSWORD=\"\nrm notes.txt\n# \"", "rm notes.txt"},
      {"x=1 # it's\nPASSWORD='a b'; rm notes.txt", "; rm notes.txt", "a b"},
      {"cat <<E\nPASSWORD=\"\nE\nrm notes.txt; echo \"", "rm notes.txt"},
      {"cat <<E\n\"token\": \"\nE\nrm notes.txt; echo \"", "rm notes.txt"},
      {"bash -c \"echo 'Cookie: a'; rm notes.txt\"", "rm notes.txt"},
      {"bash -c \"echo Cookie: a; rm notes.txt\"", "rm notes.txt"},
      {"bash -c 'echo Authorization: a|rm notes.txt'", "|rm notes.txt"},
      {"bash -c 'echo Authorization: a b rm notes.txt'", "rm notes.txt"},
      {"bash -c \"TOKEN=a;rm notes.txt\"", ";rm notes.txt"},
      {"bash -c \"TOKEN=a>notes.txt\"", ">notes.txt"},
      {"bash -c TOKEN='a;rm notes.txt'", "rm notes.txt"},
      {"echo --token=\"a`rm notes.txt`\"", "rm notes.txt"},
      {"echo --token=\"a$(rm notes.txt)\"", "rm notes.txt"},
      {"echo \"{'token': 'a$(rm notes.txt)'}\"", "rm notes.txt"},
      {"eval TOKEN=a\\;rm\\ notes.txt", "rm\\ notes.txt"},
      {"eval TOKEN='a;rm notes.txt'", "rm notes.txt"},
      {"echo a > notes.txt | docker login --password-stdin", "> notes.txt"},
      {"echo http://a:b&rm${IFS}notes.txt&@h", "rm${IFS}notes.txt"},
      {"cat <password>x;rm notes.txt </password>y", "rm notes.txt"},
      {"TOKEN= 'rm' notes.txt", "'rm' notes.txt"},
      {"TOKENS=(a `rm notes.txt`)", "rm notes.txt"},
      {"TOKENS=(a); rm notes.txt; (b)", "rm notes.txt"},
      {"docker run -e \"TOKEN=a $(rm notes.txt)\" x", "rm notes.txt"},
      // What stands in one pair of quotes is one secret still.
      {"PASSWORD='a;b`c|d' run", "run", "c|d"},
      {"curl -H 'Authorization: Bearer 12|abcdefghijABCDEFGHIJ0' x", "' x",
       "abcdefghij"},
      {"curl -H 'Authorization: Digest username=\"u\", response=\"a b\"' x",
       "' x", "a b"},
      {"export KEY='" KEY_LINE "\n" KEY_LINE "'; x", "; x", KEY_LINE},
  };
  for (const auto& row : kRows) {
    const std::string out = Redact(row.text, nullptr);
    EXPECT_NE(out.find(row.kept), std::string::npos)
        << row.text << " -> " << out;
    EXPECT_EQ(Redact(out, nullptr), out) << row.text;
    if (row.secret == nullptr) continue;
    EXPECT_EQ(out.find(row.secret), std::string::npos)
        << row.text << " -> " << out;
  }
}

// Beginnings and numbers of characters that follow, of tokens made up here.
TEST(Redact, KnowsTheTokensOfManyProviders) {
  const struct {
    const char* begin;
    size_t more;
  } kRows[] = {{"HRKU-AA", 58},
               {"Ab0cdEfghIjk1m.atlasv1.", 67},
               {"dp.pt.", 43},
               {"pul-", 40},
               {"pscale_tkn_", 43},
               {"nfp_", 36},
               {"squ_", 40},
               {"sqp_", 40},
               {"LTAI", 20},
               {"xkeysib-", 64},
               {"nvapi-", 64},
               {"ATBB", 32},
               {"bkua_", 40},
               {"snyk_uat.0a1b2c3d.", 60},
               {"AKCp8", 68},
               {"CFPAT-", 43},
               {"sntryu_", 64},
               {"fo1_", 43},
               {"glc_", 60},
               {"glcbt-64_", 20},
               {"sb_secret_", 31},
               {"cio", 32},
               {"vcp_", 56},
               {"ico-", 32},
               {"EZAK", 54},
               {"csk-", 48},
               {"dt0c01.AB0.", 64},
               {"CCIPAT_Ab0_", 40},
               {"patAb0cdEfghIjk1m.", 64},
               {"MTEAb0cdEfghIjk1mnOpqrStu.Gabcde.", 38}};
  for (const auto& row : kRows) {
    std::string token = row.begin;
    for (size_t i = 0; i < row.more; ++i) token += "0a1b2c3d4e5f"[i % 12];
    const std::string tail = token.substr(token.size() - 14);
    for (const char* around : {"push ", "'", "X_ID=", "/p/", "a:"}) {
      const std::string out = Redact(around + token + " now", nullptr);
      EXPECT_EQ(out.find(tail), std::string::npos) << around << token;
      EXPECT_NE(out.find(" now"), std::string::npos) << out;
    }
  }
  for (const char* text :
       {"cat patches/path.0a1b", "circioctl cion cio-tools ciopaths",
        "pul-request dp.pt.x ico-converter csk-1 vcp_vars glc_test.c",
        "./x.atlasv1.json LTAI fm2_x EZAK-1 NOTES.txt.gz MODULE.bazel.lock",
        "Nfp_x ls /nfp_share/fo1_x"})
    EXPECT_EQ(Redact(text, nullptr), text);
}

TEST(Redact, IsIdempotent) {
  for (const Case& c : kCases) {
    const std::string once = Redact(c.text, nullptr);
    EXPECT_EQ(Redact(once, nullptr), once) << c.text;
  }
}

TEST(Redact, LeavesOrdinaryCommandsAlone) {
  const char* const ordinary[] = {
      "at 12:30 run dapi-service 1234567:AAx",
      "[ \"$TOKEN\" = \"\" ] && test $KEY == x; name: value: b",
      "curl -b cookies.txt https://x.example/",
      "git status && git commit -m 'fix token: handle empty input'",
      "sort --key=2 file | uniq -c",
      "TOKENIZERS_PARALLELISM=false python train.py --max_tokens=4096",
      "curl -u \"$USER:$PASS\" https://x.example/",
      "curl -su \"$USER:$PASS\" https://x.example/",
      "curl -fou https://x.example/",
      "curl -Xu https://x.example/",
      "run ${TOKEN:-} ${TOKEN:-$OTHER} ${PATH:=/bin}",
      "mysql -e 'SET PASSWORD_LIFETIME = 3'",
      "export TOKEN=\"$GITHUB_TOKEN\"",
      "PASSWORD=${PASSWORD} make",
      "ssh user@host.example:22 'ls -la'",
      "git clone https://git.example/a:b/c.git",
      "git clone git@git.example:a/b.git",
      "docker run secret:latest",
      "ls ~/.ssh/id_ed25519 /etc/passwd",
      "grep -rn 'password' src/ | head",
      "ssh-keygen -t ed25519 -f key",
      "mysql -p db",
      "cat /run/secrets/TOKEN_FILE",
      "tool --password-file /run/pw --token-file=t",
      "sk-learn-contrib-something-long-name",
      "npm_config_cache=/tmp/x npm ci",
      "find . -name '*.key' -print",
      "echo hello | cat",
      "PWD=/tmp OLDPWD=/x pwd",
      "kubectl get secret my-secret -o yaml",
      "python -m pytest tests/test_token.py -k 'not secret'",
  };
  for (const char* text : ordinary) {
    EXPECT_EQ(Redact(text, nullptr), text);
  }
}

TEST(Redact, NamesEachKindOnce) {
  std::vector<std::string> kinds;
  Redact("A_TOKEN=x B_TOKEN=y tool --password z", &kinds);
  EXPECT_EQ(kinds, (std::vector<std::string>{"assignment", "option"}));
}

TEST(Redact, AcceptsAnyBytes) {
  EXPECT_EQ(Redact("", nullptr), "");
  for (const char* text : {"TOKEN=",
                           "TOKEN='",
                           "TOKEN=\\",
                           "--password",
                           "--password ",
                           "\\",
                           "'",
                           "\"",
                           "<<<",
                           "://",
                           "://@",
                           "eyJ",
                           "-----BEGIN ",
                           "\"token\":",
                           "\"token\": \"",
                           "Authorization:",
                           "curl -u",
                           "mysql -p",
                           "|",
                           "bearer",
                           "\xff\xfeTOKEN=\xff x"}) {
    Redact(text, nullptr);
    RedactDetail(std::string("{\"a\":\"") + text, nullptr);
  }
}

// Texts in which a careless scanner would read the rest again at every step.
TEST(Redact, IsLinear) {
  const char* const pieces[] = {"\"TOKEN=$(",
                                "TOKEN='",
                                "<<<\"",
                                "eyJ-",
                                "sk-",
                                "\"token\": \"$(",
                                "://a:b",
                                "bearer ",
                                "--password ",
                                "curl -u ",
                                "-----BEGIN ",
                                "-----BEGIN PRIVATE KEY-----\n",
                                "-----BEGIN PRIVATE KEY-----aB3aB3aB3aB3 ",
                                "TOKEN='\naB3aB3aB3aB3",
                                "Cookie: a;",
                                "TOKENS=(a ",
                                "api_key \t",
                                "<password>",
                                "curl -b x",
                                "docker -e \"TOKEN=a ",
                                "--password \\\n",
                                "Authorization: a|",
                                "\\\"token\\\":\\\"",
                                "Cookie: $(",
                                "\\\"",
                                "SG.",
                                "TOKEN=${TOKEN=",
                                "\"token\\\":\\\"$(",
                                "echo x | ",
                                "TOKEN=`"};
  for (const char* piece : pieces) {
    std::string text = "\"";
    while (text.size() < (1u << 20)) text += piece;
    const clock_t start = clock();
    Redact(text, nullptr);
    RedactDetail("{\"x\":\"" + text, nullptr);
    EXPECT_LT(clock() - start, 3 * CLOCKS_PER_SEC) << piece;
  }
}

TEST(RedactDetail, CleansEveryStringAndStaysJson) {
  std::vector<std::string> kinds;
  EXPECT_EQ(
      RedactDetail(R"({"a":"TOKEN=\"x y\" ls","n":1,"password":"pw"})", &kinds),
      R"({"a":"TOKEN=[redacted:assignment] ls","n":1,)"
      R"("password":"[redacted:member]"})");
  EXPECT_EQ(kinds, (std::vector<std::string>{"assignment", "member"}));
  EXPECT_EQ(RedactDetail(R"({"argv":["t","--password","pw","x"]})", nullptr),
            R"({"argv":["t","--password","[redacted:option]","x"]})");
  EXPECT_EQ(RedactDetail(R"({"a":"pass\u0077ord"} )", nullptr),
            R"({"a":"pass\u0077ord"} )");
  EXPECT_EQ(RedactDetail(R"({"a":"x\nTOKEN=a\tb"})", nullptr),
            R"({"a":"x\u000aTOKEN=[redacted:assignment]\u0009b"})");
  EXPECT_EQ(RedactDetail("", nullptr), "");
}

TEST(SecretName, KnowsNamesOfSecrets) {
  for (const char* name :
       {"GITHUB_TOKEN", "db-password", "X-Api-Key", "AWS_SECRET_ACCESS_KEY",
        "--password", "--client-secret", "SSH_PRIVATE_KEY", "passwd",
        "npm_config__authToken", "SESSION_COOKIE", "--connection-string",
        "MASTERKEY", "DB_ENCRYPTIONKEY"}) {
    EXPECT_TRUE(IsSecretName(name)) << name;
  }
  for (const char* name :
       {"PATH", "PWD", "OLDPWD", "OLD_PWD", "--key", "KEYBOARD", "monkey",
        "--password-stdin", "TOKEN_FILE", "PUBLIC_KEY", "max_tokens", "author",
        "--no-password", ""}) {
    EXPECT_FALSE(IsSecretName(name)) << name;
  }
}

}  // namespace
}  // namespace gate::audit
