// Files of the host's /tmp that a line only looks at are shown to it.
#include "gateway/grants/host_tmp_binds.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parser/analysis.h"

namespace gate::app {
namespace {

TEST(ShownPlacesTest, AreWhatALineOnlyLooksAtBelowTmp) {
  const struct {
    const char* line;
    std::vector<std::string> places;
  } cases[] = {
      {"cat /tmp/a", {"/tmp/a"}},
      {"tail -n1 /var/tmp/x/../b | grep c /dev/shm/d",
       {"/var/tmp/b", "/dev/shm/d"}},
      {"bash /tmp/s.sh", {"/tmp/s.sh"}},
      {"cat < /tmp/a > /tmp/b", {"/tmp/a"}},
      {"cat /tmp/a; echo x > /tmp/a", {}},
      {"cat /tmp/d/a; rm -rf /tmp/d", {}},
      {"ls /tmp /var/tmp; cat /tmpfile /etc/hosts \"$X\"", {}},
      {"cat /tmp/*.log", {}},
      {"cat /tmp/work/a /tmp/other", {"/tmp/other"}},
      {"cat /tmp/krb5cc_1000 /tmp/x509up_u0 /tmp/ssh-1/a /tmp/sshd",
       {"/tmp/sshd"}},
  };
  parser::Context context;
  context.cwd = "/tmp/work";
  for (const auto& c : cases)
    EXPECT_EQ(HostTmpBinds(parser::Analyze(c.line, context), "/tmp/work"),
              c.places)
        << c.line;
  std::string many = "cat";
  for (size_t i = 0; i < 2 * kMaxHostTmpBinds; ++i)
    many += " /tmp/" + std::to_string(i);
  EXPECT_EQ(HostTmpBinds(parser::Analyze(many, context), "").size(),
            kMaxHostTmpBinds);
}

}  // namespace
}  // namespace gate::app
