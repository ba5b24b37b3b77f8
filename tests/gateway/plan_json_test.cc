// A plan as a ticket or an approval holds it.
#include "gateway/plan_json.h"

#include <gtest/gtest.h>

#include <string>

#include "base/json.h"

namespace gate::app {
namespace {

TEST(PlanJsonTest, APlanComesBackAsItWas) {
  router::Plan plan;
  plan.mode = router::Mode::kSandbox;
  plan.backend = "native";
  plan.why = "because";
  plan.lost = {"limits"};
  plan.profile.name = "workspace-write";
  plan.profile.write = {"/w", "/c"};
  plan.profile.deny_read = {"/home/a/.ssh"};
  plan.profile.protect = {"/w/.git/hooks"};
  plan.profile.network = backends::Network::kLoopback;
  plan.profile.environment_set = {{"A", "1"}};
  plan.profile.limits.wall_ms = 7;
  plan.profile.limits.written_bytes = 8;
  plan.profile.limits.files = 9;
  plan.profile.watch_execs = true;
  plan.profile.alias_checked_paths = {"/home/a/.bashrc"};
  plan.profile.host_tmp_binds = {"/tmp/a"};
  plan.profile.image = "x@sha256:1";
  plan.profile.required.Add(backends::Feature::kSeccomp);
  plan.profile.domains = {{"a.example", "*.b.example:22"}, {"c.example"}};
  const std::string text = PlanToJson(plan);
  const auto back = PlanFromJson(text);
  ASSERT_TRUE(back);
  EXPECT_EQ(PlanToJson(*back), text);
  EXPECT_EQ(back->profile.write, plan.profile.write);
  EXPECT_TRUE(back->profile.watch_execs);
  EXPECT_EQ(back->profile.domains, plan.profile.domains);
  EXPECT_FALSE(back->profile.report_blocked);
  EXPECT_EQ(back->profile.limits.written_bytes, 8u);
  EXPECT_EQ(back->profile.limits.files, 9u);
  EXPECT_EQ(back->profile.alias_checked_paths,
            plan.profile.alias_checked_paths);
  EXPECT_EQ(back->profile.host_tmp_binds, plan.profile.host_tmp_binds);
  EXPECT_EQ(back->profile.image, plan.profile.image);
  EXPECT_TRUE(back->profile.required.Has(backends::Feature::kSeccomp));
}

TEST(PlanJsonTest, AnythingElseIsRefused) {
  router::Plan plan;
  const std::string good = PlanToJson(plan);
  for (size_t size = 0; size < good.size(); size += 11)
    EXPECT_FALSE(PlanFromJson(good.substr(0, size))) << size;
  auto json = ParseJson(good);
  (*json)["mode"] = "nonsense";
  EXPECT_FALSE(PlanFromJson(Dump(*json)));
  (*json)["mode"] = 7;
  EXPECT_FALSE(PlanFromJson(Dump(*json)));
}

// Of an older version, as a ticket or an approval may still hold it.
TEST(PlanJsonTest, OneThatLacksAnythingIsRefused) {
  const auto whole = ParseJson(PlanToJson(router::Plan()));
  ASSERT_TRUE(whole);
  for (const char* path :
       {"", "/profile", "/profile/limits", "/profile/environment_set"})
    for (const auto& member :
         whole->at(nlohmann::json::json_pointer(path)).items()) {
      auto json = *whole;
      json.at(nlohmann::json::json_pointer(path)).erase(member.key());
      EXPECT_FALSE(PlanFromJson(Dump(json))) << path << "/" << member.key();
    }
}

}  // namespace
}  // namespace gate::app
