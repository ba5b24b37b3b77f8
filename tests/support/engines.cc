#include "tests/support/engines.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "backends/engines/backend.h"
#include "backends/gvisor/gvisor.h"
#include "tests/support/must_work.h"

namespace gate::backends {
namespace {

std::string Setting(const std::string& name) {
  const char* value = getenv(name == "docker"   ? "GATE_TEST_DOCKER_SOCKET"
                             : name == "podman" ? "GATE_TEST_PODMAN_ROOT"
                                                : "GATE_TEST_GVISOR");
  return value == nullptr ? "" : value;
}

Engine TestEngine(const std::string& name) {
  const std::string place = Setting(name);
  Engine engine = name == "docker" ? Docker() : Podman();
  if (name == "docker") {
    engine.socket = place;
    engine.options = {"--host=unix://" + place};
  } else {
    engine.options = {
        "--root=" + place + "/root",  "--runroot=" + place + "/run",
        "--tmpdir=" + place + "/tmp", "--runtime=runc",
        "--cgroup-manager=cgroupfs",  "--events-backend=none",
        "--storage-driver=vfs"};
  }
  return engine;
}

// For an ordinary user the place must be one that it may write.
std::string GvisorPlace() { return Setting("gvisor"); }

}  // namespace

std::vector<std::string> EnginesHere() {
  std::vector<std::string> names;
  for (const char* name : {"docker", "podman", "gvisor"})
    if (!Setting(name).empty()) names.emplace_back(name);
  return names;
}

std::unique_ptr<Backend> MakeTestEngine(const std::string& name) {
  if (Setting(name).empty()) return nullptr;
  if (name != "gvisor") return MakeEngineBackend(TestEngine(name));
  Gvisor gvisor;
  gvisor.place = GvisorPlace();
  return MakeGvisor(gvisor);
}

namespace {

std::string Client(const std::string& name) {
  const Engine engine = TestEngine(name);
  std::string line = engine.name;
  for (const std::string& option : engine.options) line += " " + option;
  return line;
}

}  // namespace

void LeaveBehind(const std::string& name, const std::string& owner) {
  if (name == "gvisor") {
    std::filesystem::create_directory(GvisorPlace() + "/gate-gvisor-" + owner +
                                      "-x");
    return;
  }
  (void)!system((Client(name) +
                 " create --pull=never --network=none --label gate.run=1 "
                 "--name gate-" +
                 owner + "-x $(" + Client(name) +
                 " image ls --quiet localhost/gate-base | head -n 1) "
                 "/usr/bin/true >/dev/null 2>&1")
                    .c_str());
}

void RemoveLeft(const std::string& name) {
  if (name == "gvisor") {
    for (const auto& entry : std::filesystem::directory_iterator(GvisorPlace()))
      std::filesystem::remove_all(entry);
    return;
  }
  (void)!system((Client(name) + " rm --force $(" + Client(name) +
                 " ps --all --quiet --filter label=gate.run) >/dev/null 2>&1")
                    .c_str());
}

std::string TestImage(const std::string& name) {
  const char* image = getenv(name == "docker" ? "GATE_TEST_DOCKER_IMAGE"
                                              : "GATE_TEST_PODMAN_IMAGE");
  return image == nullptr ? "" : image;
}

std::string LeftBy(const std::string& name) {
  std::string left;
  if (name == "gvisor") {
    for (const auto& entry : std::filesystem::directory_iterator(GvisorPlace()))
      left += entry.path().filename().string() + "\n";
    return left;
  }
  const std::string line =
      Client(name) + " ps --all --filter label=gate.run --format '{{.Names}}'";
  FILE* pipe = popen(line.c_str(), "r");
  char text[4096];
  const size_t size = fread(text, 1, sizeof(text), pipe);
  pclose(pipe);
  return std::string(text, size);
}

bool MustSkip(const std::string& name) {
  if (!Setting(name).empty()) return false;
  if (test::MustWork(name))
    ADD_FAILURE() << name << " must work, but tests/tools/with-engines has not "
                  << "set it up";
  return true;
}

}  // namespace gate::backends
