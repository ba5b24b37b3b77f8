// A secret in any place of a settings file is in no copy of it.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "settings/copy.h"

namespace gate {
namespace {

// What tokens are made of: a service's alphabet and length.
struct Shape {
  const char* alphabet;
  size_t length;
};
constexpr Shape kShapes[] = {
    {"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 24},
    {"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", 40},
    {"abcdefghijklmnopqrstuvwxyz0123456789", 32},
    {"0123456789abcdef", 44},
    {"abcdefghijklmnopqrstuvwxyz", 32},
    {"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32},
    {"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", 43},
};

std::string Secret(std::mt19937& random, const Shape& shape) {
  const std::string_view alphabet = shape.alphabet;
  std::string secret;
  for (size_t i = 0; i < shape.length; ++i)
    secret += alphabet[random() % alphabet.size()];
  return secret;
}

// How a secret stands in a value.
std::string Dressed(const std::string& secret, size_t how) {
  const std::string forms[] = {
      secret,
      "https://me:" + secret + "@a.example/",
      "https://" + secret + "@a.example/simple",
      "https://a.example/" + secret + "/simple",
      "https://a.example/?token=" + secret,
      "two words " + secret,
      "/home/me/" + secret,
      "Bearer " + secret,
      "key=" + secret,
  };
  return forms[how % std::size(forms)];
}
constexpr size_t kForms = 9;

// Every key of the data, with a name in the place of each `*`.
std::vector<std::string> KeysOf(const rules::SettingsFile& file) {
  std::set<std::string> keys;
  for (const auto* list : {&file.sources, &file.urls, &file.paths, &file.words,
                           &file.texts, &file.publics})
    for (const std::string_view pattern : *list) {
      std::string key(pattern);
      for (size_t at; (at = key.find('*')) != std::string::npos;)
        key.replace(at, 1, "some");
      keys.insert(key);
    }
  for (const char* key : {"password", "token", "_authToken", "unknown"})
    keys.insert(key);
  return {keys.begin(), keys.end()};
}

std::vector<std::string> Parts(const std::string& key, char by) {
  std::vector<std::string> parts;
  for (size_t at = 0; at <= key.size();) {
    const size_t end = std::min(key.find(by, at), key.size());
    parts.push_back(key.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// A file of the format that has `value` at `key`.
std::string Document(std::string_view format, const std::string& key,
                     const std::string& value) {
  if (format == "git") {
    const size_t first = key.find('.'), last = key.rfind('.');
    if (first == std::string::npos) return "[x]\n" + key + "=" + value + "\n";
    return "[" + key.substr(0, first) +
           (first == last
                ? ""
                : " \"" + key.substr(first + 1, last - first - 1) + "\"") +
           "]\n" + key.substr(last + 1) + " = \"" + value + "\"\n";
  }
  if (format == "aws") return "[default]\n" + key + " = " + value + "\n";
  if (format == "ini") return "[global]\n" + key + " = " + value + "\n";
  if (format == "ssh") return "Host a\n" + key + " " + value + "\n";
  if (format == "npmrc" || format == "properties")
    return key + "=" + value + "\n";
  const std::vector<std::string> parts = Parts(key, '/');
  std::string head, tail;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string indent(i * 2, ' ');
    if (format == "json") {
      head += "{\"" + parts[i] + "\":";
      tail += "}";
    } else if (format == "yaml") {
      head += (i == 0 ? "" : "\n") + indent + "\"" + parts[i] + "\":";
    } else if (format == "toml") {
      head += (i == 0 ? "" : ".") + ("\"" + parts[i] + "\"");
    } else if (parts[i].starts_with('@')) {
      head.pop_back();
      return head + " " + parts[i].substr(1) + "='" + value + "'>" + tail;
    } else {
      head += "<" + parts[i] + ">";
      tail = "</" + parts[i] + ">" + tail;
    }
  }
  if (format == "xml") return head + value + tail;
  if (format == "toml") return head + " = \"" + value + "\"\n";
  return head + " \"" + value + "\"" + tail;
}

TEST(SettingsSecretsTest, ASecretInAnyValueIsInNoCopy) {
  std::mt19937 random(20261123);
  size_t parsed = 0, all = 0;
  for (const rules::SettingsFile& file : rules::SettingsFiles()) {
    if (file.format == "known-hosts" || file.format == "public-keys" ||
        file.format == "signers")
      continue;
    for (const std::string& key : KeysOf(file))
      for (size_t how = 0; how < kForms; ++how)
        for (const Shape& shape : kShapes) {
          const std::string secret = Secret(random, shape);
          const std::string text =
              Document(file.format, key, Dressed(secret, how));
          const settings::Copy copy = settings::CopyOf(
              file, text, [](std::string_view) { return true; });
          ++all;
          parsed += copy.parsed;
          ASSERT_FALSE(copy.text.contains(secret)) << file.file << "\n"
                                                   << text << "\n"
                                                   << copy.text;
        }
  }
  // A document that does not parse proves nothing.
  EXPECT_GT(parsed * 100, all * 90) << parsed << " of " << all;
}

TEST(SettingsSecretsTest, ASecretInAnyNameOrCommentIsInNoCopy) {
  std::mt19937 random(20261124);
  for (const rules::SettingsFile& file : rules::SettingsFiles())
    for (const Shape& shape : kShapes)
      for (const std::string& key : KeysOf(file)) {
        const std::string secret = Secret(random, shape);
        std::string name = key;
        if (const size_t at = name.find("some"); at != std::string::npos)
          name.replace(at, 4, secret);
        else
          name += secret;
        for (const std::string& text :
             {Document(file.format, name, "a"),
              Document(file.format, key, "a") + "\n# " + secret + "\n",
              Document(file.format, key, "a") + "\n<!-- " + secret + " -->\n",
              "; " + secret + "\n" + Document(file.format, key, "a")}) {
          const settings::Copy copy = settings::CopyOf(
              file, text, [](std::string_view) { return true; });
          ASSERT_FALSE(copy.text.contains(secret)) << file.file << "\n"
                                                   << text << "\n"
                                                   << copy.text;
        }
      }
}

}  // namespace
}  // namespace gate
