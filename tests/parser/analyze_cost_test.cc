// What a line costs grows with its length and not with its square, or the line
// is cut with an unknown that closes. Allocations are counted, not time.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "parser/analysis.h"

namespace {
size_t g_bytes = 0;
}  // namespace

void* operator new(size_t size) {
  g_bytes += size;
  if (void* place = std::malloc(size)) return place;
  std::abort();
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, size_t) noexcept { std::free(place); }

namespace gate::parser {
namespace {

// A line of `size` bytes: `unit` again and again, with another number for each
// `%`, between `prefix` and `suffix`.
struct Shape {
  const char* prefix;
  const char* unit;
  const char* suffix;
};

std::string Line(const Shape& shape, size_t size) {
  std::string line = shape.prefix;
  for (int i = 0; line.size() < size; ++i) {
    for (const char* at = shape.unit; *at != '\0'; ++at) {
      if (*at == '%')
        line += std::to_string(i);
      else
        line += *at;
    }
  }
  return line + shape.suffix;
}

struct Cost {
  size_t bytes = 0;
  bool cut = false;
};

Cost CostOf(const std::string& line) {
  Context context;
  context.cwd = "/home/agent/work";
  context.home = "/home/agent";
  const size_t before = g_bytes;
  const Analysis analysis = Analyze(line, context);
  Cost cost;
  cost.bytes = g_bytes - before;
  for (const auto& unknown : analysis.unknowns) {
    cost.cut = cost.cut || unknown.code == UnknownCode::kLimit ||
               unknown.code == UnknownCode::kTooLarge;
  }
  return cost;
}

constexpr Shape kShapes[] = {
    {"rsync ", "-e ssh-with-a-long-name ", "a b:c"},
    {"rsync ", "-e 'ssh -o BatchMode=yes -p %' ", "a b:c"},
    {"rsync ", "--rsh='ssh -o BatchMode=yes -p %' ", "a b:c"},
    {"rsync ", "--rsync-path='sudo rsync%' ", "a b:c"},
    {"rsync ", "-e \"$x%\" ", "a b:c"},
    {"env ", "-S 'A%=1' ", "rm x"},
    {"env ", "-S -i ", "rm x"},
    {"env ", "-u A% ", "rm x"},
    {"", "env ", "rm x"},
    {"find . ", "-exec rm % {} \\; ", ""},
    {"find . ", "-exec sh -c 'rm %' \\; ", ""},
    {"find . ", "-ok rm a% \\; ", ""},
    {"", "xargs ", "rm"},
    {"", "xargs -I% ", "rm -rf %"},
    {"", "xargs -I% env ", "% status"},
    {"", "xargs -I% git -C % ", "status"},
    {"echo a | ", "xargs -I{} ", "rm {}"},
    {"echo a | xargs -I{} rm ", "{}% ", ""},
    {"", "sh -c 'rm %';", ""},
    {"git ", "-c core.pager=p% ", "log"},
    {"git ", "-c alias.a%='!rm x' ", "a1"},
    {"git ", "-c core.sshCommand='ssh -p %' ", "fetch"},
    {"git ", "-C d% ", "log"},
    {"git rebase ", "-x 'rm a-file-with-a-name%' ", ""},
    {"git filter-branch ", "--tree-filter 'rm %' ", ""},
    {"ssh ", "-o ProxyCommand='nc %' ", "h"},
    {"", "ssh h ", "rm x"},
    {"tar xf a ", "--to-command='rm a-file-with-a-name%' ", ""},
    {"tar cf a b ", "--checkpoint-action=exec='rm %' ", ""},
    {"tar xf a ", "-I 'gzip -%' ", ""},
    {"tar cf a ", "-C d% f ", ""},
    {"make ", "V%=$(id) ", ""},
    {"make ", "SHELL=sh% ", ""},
    {"awk ", "-v a%=1 ", "'BEGIN{system(a)}'"},
    {"sed ", "-e 's/%/b/e' ", "f"},
    {"docker run ", "-e A%=1 ", "img rm x"},
    {"docker run ", "-v /a%:/b ", "img rm x"},
    {"gcc ", "-o f% f%.c ", ""},
    {"su ", "-c 'rm a-file-with-a-name%' ", ""},
    {"script ", "-c 'rm a-file-with-a-name%' ", ""},
    {"zip a b ", "-TT 'rm %' ", ""},
    {"man ", "-P 'rm a-file-with-a-name%' ", "x"},
    {"less ", "+'!rm %' ", "x"},
    {"sudo ", "--odd% ", "rm x"},
    {"sudo ", "$x% ", "rm x"},
    {"", "timeout 5 ", "rm x"},
    {"echo x | tee ", "f% ", ""},
    {"parallel rm ::: ", "f% ", ""},
    {"sort ", "-o f% ", ""},
    {"", "cd d%;", "rm x"},
    {"cd /tmp && echo ", ">f% ", ""},
    {"", "command ", "ls"},
    {"", "builtin command ", "ls"},
    {"", "command -p -- ", "ls"},
};

TEST(Cost, GrowsWithTheLineOrTheLineIsCut) {
  for (const Shape& shape : kShapes) {
    const Cost one = CostOf(Line(shape, size_t{28} << 10));
    const Cost four = CostOf(Line(shape, size_t{112} << 10));
    SCOPED_TRACE(std::string(shape.prefix) + shape.unit);
    // Four times the line; half as much again for containers that double.
    EXPECT_TRUE(four.cut || four.bytes <= 6 * one.bytes)
        << one.bytes << " and " << four.bytes << " bytes";
    // A cut comes before the work: 8 KiB are allocated for each byte at most.
    EXPECT_LE(four.bytes, size_t{1} << 30);
  }
}

// Names too long to be compared without an allocation, below what is too large
// for the evaluator: each word is looked up, not searched among the others.
TEST(Cost, WordsThatXargsFillsAreLookedUp) {
  for (const Shape& shape : {
           Shape{"xargs -I@ echo ", "a-name-of-more-than-sixteen-bytes%-@ ",
                 ""},
           Shape{"xargs -I@ nice rm ", "a-name-of-more-than-sixteen%-@ ", ""},
           Shape{"xargs -I@ xargs -I% timeout 5 rm ",
                 "a-name-of-more-than-sixteen%-@ ", ""},
           Shape{"find . -exec nice rm ", "a-name-of-more-than-16-bytes%{} ",
                 "\\;"},
       }) {
    SCOPED_TRACE(std::string(shape.prefix) + shape.unit);
    const Cost one = CostOf(Line(shape, size_t{12} << 10));
    const Cost four = CostOf(Line(shape, size_t{48} << 10));
    EXPECT_FALSE(four.cut);
    EXPECT_LE(four.bytes, 6 * one.bytes) << one.bytes;
  }
}

TEST(Cost, OrdinaryLinesWithManyOptionsAreNotCut) {
  for (const Shape& shape : {
           Shape{"sed ", "-e s/a%/b/ ", "f"},
           Shape{"rsync -e 'ssh -p 22' ", "--exclude=d% ", "a b:c"},
           Shape{"find . ", "-name a% -o ", "-name b"},
           Shape{"docker run ", "-e A%=1 ", "img"},
           Shape{"git add ", "src/file%.cc ", ""},
           Shape{"gcc -o a ", "f%.c ", ""},
           Shape{"tar cf a ", "f% ", ""},
           Shape{"env ", "A%=1 ", "make"},
           Shape{"psql ", "-c 'select %' ", ""},
       }) {
    SCOPED_TRACE(std::string(shape.prefix) + shape.unit);
    EXPECT_FALSE(CostOf(Line(shape, size_t{16} << 10)).cut);
  }
}

}  // namespace
}  // namespace gate::parser
