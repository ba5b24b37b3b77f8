#!/bin/sh
# gatew_test.sh ROOT: tries gatew in a temporary tree, with stand-ins for every
# tool that would build or install something. The stand-ins note their calls in
# $T/calls; the stand-in for the build makes a `gate` that prints its arguments.
set -u
root=$1
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
failures=0
check() { # check WHAT EXPECTED FOUND
  if [ "$2" != "$3" ]; then
    printf 'FAILED: %s\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
  fi
}

tree=$T/tree
mkdir -p "$tree/tools" "$tree/base" "$tree/.git/refs/heads" "$T/bin"
cp "$root/gatew" "$tree/"
cp "$root/tools/install-packages" "$tree/tools/"
printf '#!/bin/sh\nexit 0\n' >"$tree/tools/fetch-grammar.sh"
chmod +x "$tree/tools/fetch-grammar.sh"
touch "$tree/CMakeLists.txt" "$tree/CMakePresets.json" "$tree/base/a.cc"
echo 'ref: refs/heads/main' >"$tree/.git/HEAD"
echo 1111 >"$tree/.git/refs/heads/main"

cat >"$T/bin/cmake" <<STUB
#!/bin/sh
echo "cmake \$*" >>"$T/calls"
echo "build output on stdout"
cat # stdin must not be the caller's
[ ! -e "$T/break" ] || exit 1
mkdir -p "$tree/build/release"
case \$* in
  *--preset*)
    echo "CMAKE_HOME_DIRECTORY:INTERNAL=$tree" >"$tree/build/release/CMakeCache.txt"
    case \$* in *TESTS=ON*) echo 'GATE_TESTS:BOOL=ON' >>"$tree/build/release/CMakeCache.txt" ;; esac
    : >"$tree/build/release/build.ninja"
    ;;
  *)
    cp "$T/gate" "$tree/build/release/gate"
    ;;
esac
STUB
cat >"$T/gate" <<'STUB'
#!/bin/sh
printf '<%s>' "$@"
cat
exit 7
STUB
cat >"$T/bin/ctest" <<STUB
#!/bin/sh
echo "ctest \$*" >>"$T/calls"
echo "100% tests passed"
STUB
for tool in ninja pkg-config g++ npm bwrap apt-get; do
  printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\n' "$tool" "$T" >"$T/bin/$tool"
done
printf '#!/bin/sh\necho installed\n' >"$T/bin/dpkg-query"
chmod +x "$T/bin"/* "$T/gate"
PATH=$T/bin:$PATH
export PATH

gatew() {
  : >"$T/calls"
  (cd / && printf 'input' | "$tree/gatew" "$@" 2>"$T/stderr")
}
# What the last call started to build with.
builds() { grep -c '^cmake' "$T/calls"; }

out=$(gatew check 'a b' '' "it's")
check 'the first call passes arguments, stdin and exit code' \
  "<check><a b><><it's>input 7" "$out $?"
check 'the first call configures and builds' 2 "$(builds)"
grep -q 'GATE_TESTS=OFF' "$T/calls" || check 'no tests are built for it' yes no

out=$(gatew x)
check 'the second call runs' '<x>input 7' "$out $?"
check 'the second call starts no build tool' '' "$(cat "$T/calls")"
check 'the second call says nothing' '' "$(cat "$T/stderr")"

make_newer() { # gives it a time stamp that is surely newer
  touch -d '+2 seconds' "$1"
}
make_newer "$tree/base/a.cc"
gatew x >/dev/null
check 'a newer source is built' 1 "$(builds)"
touch "$tree/base/a.cc"
gatew x >/dev/null
rm "$tree/base/a.cc"
make_newer "$tree/base"
gatew x >/dev/null
check 'a deleted source is built' 1 "$(builds)"
touch "$tree/base"
gatew x >/dev/null
gatew x >/dev/null
check 'and then nothing' 0 "$(builds)"

echo 2222 >"$tree/.git/refs/heads/main"
gatew x >/dev/null
check 'another HEAD is built' 1 "$(builds)"
rm "$tree/.git/refs/heads/main"
echo '3333 refs/heads/main' >"$tree/.git/packed-refs"
gatew x >/dev/null
check 'another packed HEAD is built' 1 "$(builds)"
gatew x >/dev/null
check 'a packed HEAD is read without a build' 0 "$(builds)"
mv "$tree/.git" "$T/repository"
mkdir -p "$T/repository/worktrees/w"
echo '../..' >"$T/repository/worktrees/w/commondir"
echo 'ref: refs/heads/main' >"$T/repository/worktrees/w/HEAD"
echo "gitdir: $T/repository/worktrees/w" >"$tree/.git"
gatew x >/dev/null
check 'a worktree has the same HEAD' 0 "$(builds)"
echo '4444 refs/heads/main' >"$T/repository/packed-refs"
gatew x >/dev/null
check 'a worktree follows its HEAD' 1 "$(builds)"

touch "$T/break"
for case in 'check:1' 'hook:2' 'run:125' 'sandbox:125' 'doctor:1'; do
  echo "$case" >"$T/repository/worktrees/w/HEAD"
  out=$(gatew "${case%:*}" 2>/dev/null)
  check "a failed build runs nothing: ${case%:*}" " ${case#*:}" "$out $?"
done
out=$(gatew --config-dir /x hook claude)
check 'a failed build blocks a hook with options' ' 2' "$out $?"
grep -q 'the build failed' "$T/stderr" ||
  check 'a failed build says so' 'the build failed' "$(cat "$T/stderr")"
grep -q 'build output' "$T/stderr" ||
  check 'a failed build shows its output' yes no
rm "$T/break"

out=$(gatew test -R 'a b')
check 'test prints what ctest prints' '100% tests passed 0' "$out $?"
grep -q 'GATE_TESTS=ON' "$T/calls" || check 'tests are configured' yes no
check 'test passes arguments' \
  "ctest --test-dir $tree/build/release -j2 --output-on-failure -R a b" \
  "$(grep ^ctest "$T/calls")"
gatew x >/dev/null
check 'after test the binary is fresh' 0 "$(builds)"

# Two at once: one of them builds.
echo 5555 >"$T/repository/worktrees/w/HEAD"
: >"$T/calls"
"$tree/gatew" x >/dev/null 2>&1 </dev/null &
"$tree/gatew" x >/dev/null 2>&1 </dev/null
wait
if command -v flock >/dev/null 2>&1; then
  check 'two calls at once build once' 1 "$(builds)"
fi

# Packages that are missing and cannot be had.
printf '#!/bin/sh\nexit 1\n' >"$T/bin/dpkg-query"
printf '#!/bin/sh\necho "apt-get $*" >>"%s/calls"\necho "E: no network" >&2\nexit 100\n' \
  "$T" >"$T/bin/apt-get"
printf '#!/bin/sh\nexec "$@"\n' >"$T/bin/sudo"
chmod +x "$T/bin"/*
echo 6666 >"$T/repository/worktrees/w/HEAD"
out=$(gatew check x)
check 'missing packages stop everything' ' 1' "$out $?"
grep -q 'could not be had:.* libre2-dev .*E: no network' "$T/stderr" ||
  check 'one line says what could not be had' yes "$(cat "$T/stderr")"
check 'the lists are fetched before giving up' 1 "$(grep -c ' update' "$T/calls")"
check 'nothing is built then' 0 "$(builds)"

[ "$failures" -eq 0 ] && echo 'gatew keeps its promises'
exit "$failures"
