// What a compose file may do to this machine is read before a sub-command of
// compose runs that is not asked about.
#include "gateway/programs/compose_doubt.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/file.h"
#include "tests/support/temporary_directory.h"

namespace gate::app {
namespace {

TEST(ComposeDoubtTest, AFileThatReachesThisMachineIsDoubted) {
  const struct {
    const char* text;
    bool stops;   // doubted for stop, down, rm
    bool enters;  // …for exec, start, restart
  } cases[] = {
      {"services:\n  web:\n    image: node:20\n    ports: ['80:80']\n", false,
       false},
      {"services:\n  db:\n    image: postgres\n    volumes:\n"
       "      - data:/var/lib\nvolumes:\n  data:\n",
       false, false},
      {"    env_file: .env\n    logging: {driver: json-file}\n", false, false},
      {"    build: {context: ., dockerfile: Dockerfile}\n", false, false},
      {"    healthcheck: {test: [CMD, curl, 'http://x:80/y']}\n", false, false},
      {"    depends_on: [db]\n    restart: always\n", false, false},
      {"    hostname: pid-1\n    environment: {A: B}\n", false, false},
      {"  # privileged: true\n", false, false},
      {"A=b\nNODE_ENV=x\n", false, false},
      {"    provider:\n      type: ./evil\n", true, true},
      {"    \"provider\": {type: evil}\n", true, true},
      {"    ? provider\n    : {type: evil}\n", true, true},
      {"    pre_stop: [{command: x, privileged: true}]\n", true, true},
      {"    post_start:\n      - command: x\n", true, true},
      {"include: [./other.yaml]\n", true, true},
      {"include:\n  - oci://evil.example/x\n", true, true},
      {"    extends: {file: other.yaml, service: x}\n", true, true},
      {"    \"pre\\x5fstop\": [{command: x}]\n", true, true},
      {"    \"pre\\u005fstop\": [{command: x}]\n", true, true},
      {"COMPOSE_FILE=evil.yaml\n", true, true},
      {"export COMPOSE_ENV_FILES=x\n", true, true},
      {"DOCKER_HOST=tcp://evil.example\n", true, true},
      {"    privileged: true\n", false, true},
      {"    cap_add: [SYS_ADMIN]\n", false, true},
      {"    devices: ['/dev/sda:/dev/sda']\n", false, true},
      {"    pid: host\n", false, true},
      {"    {pid: \"host\"}\n", false, true},
      {"    ipc: host\n", false, true},
      {"    network_mode: host\n", false, true},
      {"    userns_mode: host\n", false, true},
      {"    cgroup: host\n", false, true},
      {"    security_opt: ['seccomp:unconfined']\n", false, true},
      {"    volumes_from: [db]\n", false, true},
      {"    volumes: [/:/h]\n", false, true},
      {"      - /:/h\n", false, true},
      {"      - \"/:/h\"\n", false, true},
      {"      - .:/app\n", false, true},
      {"      - ./src:/app\n", false, true},
      {"      - ../x:/app\n", false, true},
      {"      - ~/x:/app\n", false, true},
      {"      - ${HOME}:/app\n", false, true},
      {"      - {type: bind, source: a, target: /x}\n", false, true},
      {"      - /var/run/docker.sock:/s\n", false, true},
      {"    driver_opts: {device: /, o: bind}\n", false, true},
      {"    use_api_socket: true\n", false, true},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(!ComposeTextDoubt(one.text, false).empty(), one.stops)
        << one.text;
    EXPECT_EQ(!ComposeTextDoubt(one.text, true).empty(), one.enters)
        << one.text;
  }
}

TEST(ComposeDoubtTest, EveryFileThatComposeTakesIsRead) {
  TemporaryDirectory work;
  const std::string root = work.path();
  ASSERT_TRUE(MakeDirectories(root + "/sub", 0755));
  const auto write = [](const std::string& path, const char* text) {
    ASSERT_TRUE(WriteFileAtomically(path, text, 0644));
  };
  parser::Context context;
  context.home = "/home/me";
  const auto doubt = [&](const std::string& line, const std::string& cwd) {
    context.cwd = cwd;
    const parser::Analysis analysis = parser::Analyze(line, context);
    std::string why;
    for (const parser::Invocation& invocation : analysis.invocations)
      why += ComposeDoubt(invocation);
    return why;
  };
  // Compose does nothing where there is no file.
  EXPECT_EQ(doubt("docker compose down", root), "");
  write(root + "/good.yaml", "services: {web: {image: a}}\n");
  write(root + "/evil.yaml", "a: {provider: {type: ./x}}\n");
  for (const char* name :
       {"compose.yaml", "compose.yml", "docker-compose.yml",
        "docker-compose.yaml", "compose.override.yaml", ".env"}) {
    const std::string path = root + "/" + name;
    write(path, "provider: x\n");
    for (const char* line :
         {"docker compose down", "docker compose stop web",
          "docker compose restart", "docker compose start",
          "docker compose rm -s", "docker compose exec web ls",
          "docker-compose down", "docker-compose exec web ls"})
      EXPECT_NE(doubt(line, root), "") << line << " " << name;
    EXPECT_EQ(doubt("docker compose ps", root), "");
    EXPECT_EQ(doubt("docker ps", root), "");
    EXPECT_NE(doubt("docker compose down", root + "/sub"), "") << name;
    ASSERT_EQ(std::remove(path.c_str()), 0);
  }
  const std::pair<const char*, bool> kLines[] = {
      {"docker compose -f good.yaml down", false},
      {"docker compose -f ./good.yaml exec web make", false},
      {"docker-compose -f good.yaml stop", false},
      {"docker compose --file=evil.yaml down", true},
      {"docker compose -f evil.yaml stop", true},
      {"docker compose -f good.yaml -f evil.yaml stop", true},
      {"docker-compose -f evil.yaml down", true},
      {"docker compose -f https://evil.example/c.yaml down", true},
      {"docker compose -f oci://evil.example/c down", true},
      {"docker compose -f \"$X\" down", true},
      {"docker compose --project-directory sub down", true},
      {"docker compose -p other exec web make", true},
      {"docker compose -p other stop", false},
  };
  for (const auto& [line, doubted] : kLines)
    EXPECT_EQ(!doubt(line, root).empty(), doubted) << line;
}

}  // namespace
}  // namespace gate::app
