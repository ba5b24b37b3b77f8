// What tests/tools/with-engines has set up, as backends.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/backend.h"

namespace gate::backends {

// docker, podman and gvisor, as far as the environment names them:
// GATE_TEST_DOCKER_SOCKET, GATE_TEST_PODMAN_ROOT, GATE_TEST_GVISOR.
std::vector<std::string> EnginesHere();

// One of them; nullptr when it has not been set up.
std::unique_ptr<Backend> MakeTestEngine(const std::string& name);

// The image of static busybox that docker or podman has; empty: none.
std::string TestImage(const std::string& name);

// The names of gate's containers that the engine knows; for gvisor, of the
// directories of runs.
std::string LeftBy(const std::string& name);

// Makes what a run leaves when gate and its watchdog are killed: something that
// is named after `owner`, as OwnerTag() is. After a first run.
void LeaveBehind(const std::string& name, const std::string& owner);
void RemoveLeft(const std::string& name);

// Fails the test that asks, or skips it (true), when the engine has not been
// set up; it fails where GATE_MUST_WORK names it.
bool MustSkip(const std::string& name);

}  // namespace gate::backends
