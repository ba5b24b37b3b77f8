// What is kept must be what would be compiled now, or not be used at all.
#include "rules/cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

namespace gate::rules {
namespace {

namespace fs = std::filesystem;

std::string RuleText(const std::string& id, const std::string& action) {
  return R"({"schema": 1, "pack": "p", "rules": [{"id": ")" + id +
         R"(", "action": ")" + action +
         R"(", "reason": "r", "match": {"program": "x"}}]})";
}

uint64_t Later() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return (static_cast<uint64_t>(now.tv_sec) + 10) * 1'000'000'000u;
}

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/gate-cache-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root_ = name;
    sources_.user_dir = root_ + "/user";
    sources_.system_dir = root_ + "/system";
    sources_.project_dir = root_ + "/project";
    sources_.owner = geteuid();
    ASSERT_EQ(mkdir(sources_.user_dir.c_str(), 0700), 0);
    cache_.directory = root_ + "/cache";
    cache_.key.fill(7);
    cache_.program = "this one";
    Write(sources_.user_dir + "/a.json", RuleText("a", "deny"));
  }
  void TearDown() override { fs::remove_all(root_); }

  static void Write(const std::string& path, const std::string& text) {
    std::ofstream(path) << text;
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  }
  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  // The file of the cache whose name ends so; empty when there is none.
  std::string Kept(const std::string& suffix) const {
    if (!fs::exists(cache_.directory)) return "";
    for (const auto& entry : fs::directory_iterator(cache_.directory))
      if (entry.path().string().ends_with(suffix)) return entry.path();
    return "";
  }
  void Keep() {
    ASSERT_TRUE(
        KeepPolicy(sources_, cache_, LoadPolicy(sources_, cache_), Later()));
  }
  // One that came from the cache is not worth keeping.
  bool FromCache() { return !WorthKeeping(LoadPolicy(sources_, cache_)); }

  std::string root_;
  PolicySources sources_;
  PolicyCache cache_;
};

TEST_F(CacheTest, WhatWasKeptIsTheSamePolicy) {
  Write(sources_.user_dir + "/b.json",
        R"({"schema": 1, "pack": "q", "disable": ["nothing.such"], "rules": [
            {"id": "b", "action": "ask", "reason": "r",
             "match": {"regex": "^y .*z"}}]})");
  const Policy fresh = LoadPolicy(sources_, cache_);
  ASSERT_TRUE(KeepPolicy(sources_, cache_, fresh, Later()));
  const Policy kept = LoadPolicy(sources_, cache_);
  ASSERT_FALSE(WorthKeeping(kept));
  EXPECT_EQ(kept.revision(), fresh.revision());
  EXPECT_EQ(kept.floor(), fresh.floor());
  EXPECT_EQ(kept.default_action(), fresh.default_action());
  ASSERT_EQ(kept.diagnostics().size(), fresh.diagnostics().size());
  for (size_t i = 0; i < kept.diagnostics().size(); ++i)
    EXPECT_EQ(Render(kept.diagnostics()[i]), Render(fresh.diagnostics()[i]));
  struct stat info{};
  ASSERT_EQ(stat(Kept(".image").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(cache_.directory.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(CacheTest, AnyChangeOfASourceIsSeen) {
  std::string file;
  const std::string same_size = RuleText("b", "deny");
  const struct {
    const char* what;
    std::function<void()> change;
  } kChanges[] = {
      {"other bytes", [&] { Write(file, RuleText("a", "ask") + "  "); }},
      {"the same size", [&] { Write(file, same_size); }},
      {"the same size and time",
       [&] {
         struct stat info{};
         ASSERT_EQ(stat(file.c_str(), &info), 0);
         Write(file, same_size);
         const timespec times[] = {info.st_atim, info.st_mtim};
         ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
       }},
      {"replaced",
       [&] {
         Write(root_ + "/new", same_size);
         fs::rename(root_ + "/new", file);
       }},
      {"another mode", [&] { chmod(file.c_str(), 0666); }},
      {"one more", [&] { Write(sources_.user_dir + "/c.json", "{}"); }},
      {"removed", [&] { fs::remove(file); }},
      {"another layer", [&] { mkdir(sources_.system_dir.c_str(), 0755); }},
      {"a project", [&] { mkdir(sources_.project_dir.c_str(), 0755); }},
      {"the directory's mode", [&] { chmod(sources_.user_dir.c_str(), 0777); }},
      {"another directory",
       [&] {
         fs::rename(sources_.user_dir, root_ + "/old");
         fs::copy(root_ + "/old", sources_.user_dir);
       }},
  };
  for (const auto& [what, change] : kChanges) {
    TearDown();
    SetUp();
    file = sources_.user_dir + "/a.json";
    Keep();
    ASSERT_TRUE(FromCache()) << what;
    change();
    const Policy fresh = LoadPolicy(sources_);
    const Policy loaded = LoadPolicy(sources_, cache_);
    EXPECT_EQ(loaded.revision(), fresh.revision()) << what;
    EXPECT_EQ(loaded.floor(), fresh.floor()) << what;
  }
}

TEST_F(CacheTest, OtherCircumstancesAreOtherPolicies) {
  Keep();
  ASSERT_TRUE(FromCache());
  const PolicySources sources = sources_;
  const PolicyCache cache = cache_;
  const std::function<void()> kChanges[] = {
      [&] { cache_.key.fill(8); },
      [&] { cache_.program = "another"; },
      [&] { sources_.owner += 1; },
      [&] { sources_.builtin = false; },
      [&] { sources_.trusted_hashes = {FileHash("x")}; },
      [&] { sources_.project_dir += "2"; },
      [&] { sources_.system_dir.clear(); },
  };
  for (const auto& change : kChanges) {
    sources_ = sources;
    cache_ = cache;
    change();
    const Policy fresh = LoadPolicy(sources_);
    const Policy loaded = LoadPolicy(sources_, cache_);
    EXPECT_EQ(WorthKeeping(loaded), WorthKeeping(fresh));
    EXPECT_EQ(loaded.revision(), fresh.revision());
    EXPECT_EQ(loaded.floor(), fresh.floor());
  }
}

TEST_F(CacheTest, DamagedAndForgedFilesAreNotUsed) {
  const std::function<void(std::string*)> kDamages[] = {
      [](std::string* text) { text->resize(text->size() / 2); },
      [](std::string* text) { text->clear(); },
      [](std::string* text) { text->back() ^= 1; },
      [](std::string* text) { (*text)[text->size() / 3] ^= 1; },
      [](std::string* text) { *text += 'x'; },
  };
  for (const char* suffix : {".index", ".image"}) {
    for (const auto& damage : kDamages) {
      TearDown();
      SetUp();
      Keep();
      ASSERT_TRUE(FromCache());
      const std::string path = Kept(suffix);
      std::string text = Read(path);
      damage(&text);
      Write(path, text);
      EXPECT_FALSE(FromCache()) << suffix;
      EXPECT_EQ(LoadPolicy(sources_, cache_).revision(),
                LoadPolicy(sources_).revision());
    }
  }
}

TEST_F(CacheTest, ASourceThatHasJustChangedIsNotReliedOn) {
  const Policy policy = LoadPolicy(sources_, cache_);
  ASSERT_TRUE(KeepPolicy(sources_, cache_, policy, Later() - 10'000'000'000u));
  EXPECT_EQ(Kept(".index"), "");
}

TEST_F(CacheTest, ASourceThatChangesWhileItIsCompiledIsNotKept) {
  const Policy policy = LoadPolicy(sources_, cache_);
  Write(sources_.user_dir + "/a.json", RuleText("b", "ask"));
  ASSERT_TRUE(KeepPolicy(sources_, cache_, policy, Later()));
  EXPECT_EQ(Kept(".index"), "");
  EXPECT_EQ(Kept(".image"), "");
}

TEST_F(CacheTest, ABrokenPolicyIsCompiledEachTime) {
  Write(sources_.user_dir + "/a.json", "{");
  const Policy policy = LoadPolicy(sources_, cache_);
  EXPECT_FALSE(WorthKeeping(policy));
  ASSERT_TRUE(KeepPolicy(sources_, cache_, policy, Later()));
  EXPECT_EQ(Kept(".index"), "");
}

TEST_F(CacheTest, OnlyTheNewestAreLeft) {
  for (size_t i = 0; i < kKeptPolicies + 5; ++i) {
    cache_.program = "version " + std::to_string(i);
    Keep();
    ASSERT_TRUE(FromCache());
  }
  size_t files = 0;
  for ([[maybe_unused]] const auto& entry :
       fs::directory_iterator(cache_.directory))
    ++files;
  EXPECT_EQ(files, 2 * kKeptPolicies);
}

TEST_F(CacheTest, WithoutAPlaceEveryProcessCompiles) {
  Write(root_ + "/cache", "a file");
  const Policy policy = LoadPolicy(sources_, cache_);
  EXPECT_FALSE(KeepPolicy(sources_, cache_, policy, Later()));
  EXPECT_EQ(LoadPolicy(sources_, cache_).revision(), policy.revision());
}

}  // namespace
}  // namespace gate::rules
