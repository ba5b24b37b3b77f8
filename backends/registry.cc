#include "backends/backend.h"
#include "backends/bwrap/bwrap.h"
#include "backends/engines/backend.h"
#include "backends/gvisor/gvisor.h"
#include "backends/landlock/backend.h"
#include "backends/native/native.h"
#include "backends/none.h"
#include "backends/seatbelt/seatbelt.h"

namespace gate::backends {

std::vector<std::unique_ptr<Backend>> MakeBackends() {
  std::vector<std::unique_ptr<Backend>> all;
  all.push_back(MakeNative());
  all.push_back(MakeBwrap());
  all.push_back(MakeLandlock());
  all.push_back(MakeSeatbelt());
  all.push_back(MakeEngineBackend(Docker()));
  all.push_back(MakeEngineBackend(Podman()));
  all.push_back(MakeGvisor());
  all.push_back(MakeNone(unsafe::NoSandbox()));
  return all;
}

}  // namespace gate::backends
