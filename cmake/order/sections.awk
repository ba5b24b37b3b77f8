# sections.awk MAP PLACES: prints a linker script that puts the sections of
# program text that hold PLACES first, in the order of PLACES. MAP is GNU ld's.
function hex(text,   value, i) {
  value = 0
  for (i = 3; i <= length(text); i++)
    value = value * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
  return value
}
function section(name, at, size, file) {
  if (hex(size) == 0) return
  begin[++count] = hex(at)
  end[count] = begin[count] + hex(size)
  sub(/.*\//, "", file)
  sub(/\(/, ":", file)  # an archive's member
  sub(/\)$/, "", file)
  text[count] = "*" file "(" name ")"
}
BEGIN {
  print "/* The functions that gate's usual calls run, in the order of their first call,"
  print "   as cmake/order/run found them. A name that is gone or elsewhere named"
  print "   differently costs nothing. */"
  print "SECTIONS {"
  print "  .text.usual : {"
}
# A long name has a line of its own before its address.
NR == FNR && /^ \.text/ && NF >= 4 { section($1, $2, $3, $4); name = ""; next }
NR == FNR && /^ \.text/ && NF == 1 { name = $1; next }
NR == FNR && name != "" && NF >= 3 { section(name, $1, $2, $3) }
NR == FNR { name = ""; next }
{
  low = 1
  high = count
  while (low < high) {
    middle = int((low + high + 1) / 2)
    if (begin[middle] <= $1) low = middle
    else high = middle - 1
  }
  # What is larger than a window of the kernel's gains nothing.
  if (begin[low] <= $1 && $1 < end[low] && end[low] - begin[low] <= 65536 &&
      !seen[low]++)
    print "    " text[low]
}
END {
  print "  }"
  print "} INSERT BEFORE .text;"
}
