// What is passed on of a stream, and when.
#include "backends/process/relay.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "base/file.h"

namespace gate::backends {
namespace {

// What a relay that may hold stderr back passes on of `text`, and when.
struct Held {
  std::string at_once, in_all;
};
Held HoldBack(const std::string& text, uint64_t limit, bool drop) {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const Fd reader(ends[0]), writer(ends[1]);
  const auto all = [&] {
    char buffer[65536];
    const ssize_t got = read(reader.get(), buffer, sizeof(buffer));
    return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : "";
  };
  Held held;
  {
    auto relay =
        OutputRelay::Make({0, writer.get(), writer.get()}, limit, true);
    EXPECT_TRUE(relay);
    EXPECT_TRUE(WriteAll((*relay)->io().err, text));
    (*relay)->Started();
    (*relay)->Drain(-1);
    held.at_once = all();
    if (drop) (*relay)->DropHeld();
  }
  held.in_all = held.at_once + all();
  return held;
}

TEST(OutputRelay, HoldsBackOnlyWhatMayBeAClientsMessage) {
  const std::string failed = "docker: Error response from daemon: no\n";
  for (const uint64_t limit : {uint64_t{0}, uint64_t{100}}) {
    EXPECT_EQ(HoldBack(failed, limit, true).in_all, "");
    const Held kept = HoldBack(failed, limit, false);
    EXPECT_EQ(kept.at_once, "");
    EXPECT_EQ(kept.in_all, failed);
    for (const std::string& line :
         {std::string("a warning\n"), std::string("dock\n")}) {
      EXPECT_EQ(HoldBack(line, limit, true).in_all, line);
      EXPECT_EQ(HoldBack(line, limit, false).at_once, line);
    }
  }
  // More than is held at once follows it.
  const std::string much = failed + std::string(20000, 'x');
  EXPECT_EQ(HoldBack(much, 0, false).in_all, much);
  EXPECT_EQ(HoldBack(much, 0, true).in_all, "");
  EXPECT_EQ(HoldBack(failed, 8, false).in_all, "docker: ");
}

}  // namespace
}  // namespace gate::backends
