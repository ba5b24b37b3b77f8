#include "base/paths.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace gate {
namespace {

TEST(Paths, NormaliseIsLexical) {
  const struct {
    const char *path, *cwd, *expected;
  } cases[] = {
      {"", "/w", "/w"},
      {".", "/w", "/w"},
      {"a", "/w", "/w/a"},
      {"./a/", "/w/", "/w/a"},
      {"..", "/w/x", "/w"},
      {"../../../..", "/w/x", "/"},
      {"/a//b/../c/.", "/w", "/a/c"},
      {"//", "/w", "/"},
      {"//a", "/w", "/a"},
      {"/..", "/w", "/"},
      {"...", "/w", "/w/..."},
      {"a/..b", "/w", "/w/a/..b"},
      {"~", "/w", "/w/~"},
      {"a", "/", "/a"},
      {"/", "/w", "/"},
      {"a", "", "/a"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(Normalise(c.path, c.cwd), c.expected) << c.path << " " << c.cwd;
}

TEST(Paths, WithinIsByComponents) {
  EXPECT_TRUE(IsWithin("/a/b", "/a"));
  EXPECT_TRUE(IsWithin("/a", "/a"));
  EXPECT_TRUE(IsWithin("/a", "/"));
  EXPECT_TRUE(IsWithin("/", "/"));
  EXPECT_FALSE(IsWithin("/ab", "/a"));
  EXPECT_FALSE(IsWithin("/", "/a"));
  EXPECT_FALSE(IsWithin("a", "/"));
}

TEST(Paths, NamesOfParts) {
  const struct {
    const char *path, *base, *dir;
  } cases[] = {{"/a/b", "b", "/a"}, {"/a", "a", "/"}, {"a", "a", "."},
               {"a/b", "b", "a"},   {"/", "", "/"},   {"", "", "."}};
  for (const auto& c : cases) {
    EXPECT_EQ(BaseName(c.path), c.base) << c.path;
    EXPECT_EQ(DirName(c.path), c.dir) << c.path;
  }
}

TEST(Paths, PasswdIsRead) {
  EXPECT_EQ(UserName(0), "root");
  EXPECT_EQ(HomeOf("root"), "/root");
  EXPECT_EQ(HomeOf("no-such-user-here"), std::nullopt);
  EXPECT_EQ(HomeOf(""), std::nullopt);
  EXPECT_EQ(UserName(3999999999u), std::nullopt);
}

// Sets or unsets variables and puts them back.
class Environment {
 public:
  void Set(const char* name, const char* value) {
    const char* before = getenv(name);
    saved_.push_back({name, before != nullptr
                                ? std::optional<std::string>(before)
                                : std::nullopt});
    if (value != nullptr) {
      setenv(name, value, 1);
    } else {
      unsetenv(name);
    }
  }
  ~Environment() {
    for (auto it = saved_.rbegin(); it != saved_.rend(); ++it) {
      if (it->second) {
        setenv(it->first, it->second->c_str(), 1);
      } else {
        unsetenv(it->first);
      }
    }
  }

 private:
  std::vector<std::pair<const char*, std::optional<std::string>>> saved_;
};

TEST(Paths, PlacesFollowTheXdgSpecification) {
  Environment environment;
  environment.Set("HOME", "/h//me/");
  environment.Set("XDG_CONFIG_HOME", nullptr);
  environment.Set("XDG_STATE_HOME", "");
  environment.Set("XDG_CACHE_HOME", "relative");
  Places places = FindPlaces();
  EXPECT_EQ(places.home, "/h/me");
  EXPECT_EQ(places.config, "/h/me/.config/gate");
  EXPECT_EQ(places.state, "/h/me/.local/state/gate");
  EXPECT_EQ(places.cache, "/h/me/.cache/gate");
  EXPECT_EQ(places.system, "/etc/gate");
  environment.Set("XDG_CONFIG_HOME", "/c/");
  environment.Set("XDG_STATE_HOME", "/s/../t");
  environment.Set("XDG_CACHE_HOME", "/");
  places = FindPlaces();
  EXPECT_EQ(places.config, "/c/gate");
  EXPECT_EQ(places.state, "/t/gate");
  EXPECT_EQ(places.cache, "/gate");
}

TEST(Paths, ARelativeHomeIsNotBelieved) {
  if (getuid() != 0) GTEST_SKIP() << "knows the home of root only";
  Environment environment;
  environment.Set("XDG_CONFIG_HOME", nullptr);
  for (const char* home : {"", "here", (const char*)nullptr}) {
    environment.Set("HOME", home);
    EXPECT_EQ(FindPlaces().config, "/root/.config/gate");
  }
}

}  // namespace
}  // namespace gate
