#include "base/locale.h"

#include <gtest/gtest.h>

namespace gate {
namespace {

TEST(LocaleTest, OnlyCharsetsThatKeepEveryByteOfALineAreSafe) {
  for (const char* safe : {"",
                           "C",
                           "POSIX",
                           "C.UTF-8",
                           "C.utf8",
                           "en_US.UTF-8",
                           "zh_CN.UTF-8",
                           "ja_JP.utf8",
                           "de_DE.UTF-8@euro",
                           "de_DE@euro",
                           "de_DE.ISO-8859-1",
                           "pl_PL.iso88592",
                           "en_GB.ISO8859-15",
                           "ru_RU.KOI8-R",
                           "uk_UA.koi8u",
                           "ru_RU.CP1251",
                           "en_US",
                           "fr",
                           "C.ASCII",
                           "C.US-ASCII",
                           "sr_RS.UTF-8@latin"})
    EXPECT_TRUE(IsSafeLocale(safe)) << safe;
  for (const char* other : {"zh_CN.GBK",
                            "zh_CN.gb18030",
                            "zh_CN.GB2312",
                            "zh_CN",
                            "zh_TW",
                            "zh_TW.BIG5",
                            "zh_TW.Big5",
                            "zh_HK.BIG5-HKSCS",
                            "zh_HK",
                            "ja_JP.SJIS",
                            "ja_JP.Shift_JIS",
                            "ja_JP",
                            "ja_JP.CP932",
                            "ko_KR.JOHAB",
                            "ko_KR.CP949",
                            "ko_KR",
                            "japanese.sjis",
                            "german",
                            "C.GBK",
                            "en_US.GBK",
                            "en_US.UTF-7",
                            "en_US.UTF-16",
                            "en_US.",
                            "UTF-8",
                            "xx",
                            "en_US.ISO-8859-1x",
                            "en_US.ISO-8859-100",
                            "en_US.CP125",
                            "en_US.CP936",
                            "LC_CTYPE=zh_CN.GBK;LC_TIME=C.UTF-8",
                            "./en_US.UTF-8",
                            "../x/C.UTF-8",
                            "/tmp/C.UTF-8",
                            "en_US.UTF-8.GBK",
                            "en_US.GBK@UTF-8",
                            "zh_TW@C.UTF-8",
                            " C",
                            "C\n"})
    EXPECT_FALSE(IsSafeLocale(other)) << other;
}

TEST(LocaleTest, ThreeVariablesChooseTheCharset) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"})
    EXPECT_TRUE(ChoosesCharset(name)) << name;
  for (const char* name : {"LC_TIME", "LANGUAGE", "LC_", "lang", ""})
    EXPECT_FALSE(ChoosesCharset(name)) << name;
}

}  // namespace
}  // namespace gate
