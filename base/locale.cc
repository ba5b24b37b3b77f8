#include "base/locale.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace gate {
namespace {

using std::string_view;

// Languages whose locales without a charset are ISO-8859-1, -2 or -15 in the C
// library (localedata/SUPPORTED of glibc). Not: zh_TW (Big5), zh_HK, ja, ko.
constexpr std::array<string_view, 28> kLatin = {
    "af", "br", "ca", "cs", "cy", "da", "de", "en", "es", "et",
    "eu", "fi", "fo", "fr", "ga", "gl", "hr", "hu", "is", "it",
    "nb", "nl", "nn", "no", "pl", "pt", "sk", "sv"};

bool IsDigits(string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// As glibc compares charsets: without case and punctuation.
std::string Folded(string_view charset) {
  std::string folded;
  for (const char c : charset)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      folded += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return folded;
}

bool IsSafeCharset(string_view charset) {
  const std::string folded = Folded(charset);
  const string_view name = folded;
  if (name == "utf8" || name == "ascii" || name == "usascii" ||
      name == "ansix341968" || name == "koi8r" || name == "koi8u")
    return true;
  // ISO-8859-1 to -16, and cp1250 to cp1258.
  for (const string_view family : {"iso8859", "8859"})
    if (name.starts_with(family)) {
      const string_view part = name.substr(family.size());
      return part.size() <= 2 && IsDigits(part);
    }
  for (const string_view family : {"cp125", "windows125"})
    if (name.starts_with(family)) {
      const string_view part = name.substr(family.size());
      return part.size() == 1 && IsDigits(part);
    }
  return false;
}

}  // namespace

bool ChoosesCharset(string_view name) {
  return name == "LC_ALL" || name == "LC_CTYPE" || name == "LANG";
}

bool IsSafeLocale(string_view value) {
  if (value.empty() || value == "C" || value == "POSIX") return true;
  // LANGUAGE[_TERRITORY][.CHARSET][@MODIFIER]. `LC_CTYPE=a;LC_TIME=b` is a
  // name, too, and so is a path.
  const bool plain = std::ranges::all_of(value, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           string_view("_.@-").find(c) != string_view::npos;
  });
  if (!plain) return false;
  const string_view name = value.substr(0, value.find('@'));
  const size_t dot = name.find('.');
  if (dot != string_view::npos) return IsSafeCharset(name.substr(dot + 1));
  const size_t line = name.find('_');
  // `german`, `japanese.sjis` and others are aliases of any locale.
  return (line == string_view::npos || name.size() == line + 3) &&
         std::ranges::find(kLatin, name.substr(0, line)) != kLatin.end();
}

}  // namespace gate
