// Feeds bytes to the reader of the plan in a ticket, and to that of signed
// files. Besides not crashing:
//   - a plan that is read is written again as a text that reads to the same;
//   - no text is taken for one that the state key signed.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "approvals/signed_store.h"
#include "base/file.h"
#include "fuzz/require.h"
#include "gateway/plan_json.h"

namespace {

using namespace gate;  // NOLINT(google-build-using-namespace)

// A state directory whose key no input knows; made once, removed at the end.
struct State {
  std::string path;
  State() {
    char made[] = "/tmp/gate-plan-fuzzer-XXXXXX";
    Require(mkdtemp(made) != nullptr);
    path = made;
    Require(app::Sign(path, "domain", "body").has_value());
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    unlink((path + "/key").c_str());
    rmdir(path.c_str());
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const State state;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Require(!app::VerifySigned(state.path, "domain", text).has_value());
  const auto plan = app::PlanFromJson(text);
  if (!plan) return 0;
  const std::string once = app::PlanToJson(*plan);
  const auto again = app::PlanFromJson(once);
  Require(again.has_value());
  Require(app::PlanToJson(*again) == once);
  return 0;
}
