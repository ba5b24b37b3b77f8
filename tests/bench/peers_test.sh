#!/bin/sh
# peers_test.sh SOURCE BIN: bench/peers with stubs in place of npm, node and
# gate. What it counts must be what the stubs answered, and without npm it must
# give no numbers at all. No network; nothing outside a temporary directory.
set -u
source=$1
bin=$2
dir=$(mktemp -d "${TMPDIR:-/tmp}/gate-peers.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/bin" "$dir/home" "$dir/base"
failures=0

# One stub for all guards: it answers by what the command says of it.
cat >"$dir/bin/guard" <<'STUB'
#!/bin/sh
# guard WHO: reads an event, answers as the command's WHO=ANSWER says.
event=$(cat)
case $event in
  *"$1=deny"*) echo '{"hookSpecificOutput":{"permissionDecision":"deny"}}' ;;
  *"$1=exit2"*) exit 2 ;;
  *"$1=ask"*) echo '{"hookSpecificOutput":{"permissionDecision":"ask"}}' ;;
  *"$1=contain"*) printf '{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"%s run x"}}}\n' "$2" ;;
  *"$1=crash"*) kill -SEGV $$ ;;
  *"$1=noise"*) echo 'some log line' ;;
esac
exit 0
STUB
cat >"$dir/bin/gate" <<'STUB'
#!/bin/sh
case $1 in --version) echo 'gate stub' && exit 0 ;; esac
for word; do
  case $word in hook) exec guard gate "$0" ;; esac
done
STUB
cat >"$dir/bin/node" <<'STUB'
#!/bin/sh
case $1 in
  --version) echo v0.stub && exit 0 ;;
  */warm.mjs) echo 'cc-safety-net, checkCommand: stub' && exit 0 ;;
esac
[ "$2 $3" = 'hook -cc' ] || exit 1
[ -f "$1" ] || exit 1
exec "$(dirname "$0")/guard" "net${CC_SAFETY_NET_LEVEL-}" "$1"
STUB
cat >"$dir/bin/npm" <<'STUB'
#!/bin/sh
[ "$1 $2" = 'ci --ignore-scripts' ] || exit 1
[ -f package-lock.json ] || exit 1
mkdir -p node_modules/cc-safety-net/dist/bin
echo '  "version": "9.9.9",' >node_modules/cc-safety-net/package.json
: >node_modules/cc-safety-net/dist/bin/cc-safety-net.js
echo installed >>"$NPM_LOG"
STUB
chmod +x "$dir/bin"/*

printf '%s\n' \
  '>=deny	a gate=exit2 net=deny netparanoid=deny' \
  '>=deny	b gate=deny netparanoid=deny' \
  '>=deny	c gate=contain net=crash netparanoid=noise' \
  '>=ask	d gate=ask' \
  '<=sandbox	e gate=contain netparanoid=ask' \
  '<=sandbox	f' >"$dir/cases.tsv"
printf '%s\n' '{"id":"1","cmd":"g gate=ask net=deny"}' '{"id":"2","cmd":"h"}' \
  'broken' >"$dir/agent.jsonl"

run() { # run ARG…: into $dir/out and $dir/err
  env PATH="$dir/bin:$PATH" HOME="$dir/home" GATE_BENCH_CACHE="$dir/cache" GATE_BENCH_BASE="$dir/base" \
    GATE_BENCH_BIN="$bin" NPM_LOG="$dir/npm.log" CC_SAFETY_NET_LEVEL=strict \
    "$source/bench/peers" "$@" --gate "$dir/bin/gate" >"$dir/out" 2>"$dir/err"
}

fail() {
  printf 'FAILED: %s\n' "$*"
  cat "$dir/out" "$dir/err"
  failures=1
}

expect() { # expect TEXT…: each is in the output
  for text; do
    grep -qF -- "$text" "$dir/out" "$dir/err" || fail "no '$text'"
  done
}

measure() {
  run decisions --attacks "$dir/cases.tsv" --benign "$dir/cases.tsv" \
    --agent "$dir/agent.jsonl" --disagreements --rows "$dir/rows.tsv" "$@" ||
    fail "exit $?"
}

measure
expect 'cc-safety-net 9.9.9' \
  '| deny | 3 | gate | 2 (66.7 %) | 2 | 0 | 1 (33.3 %) | 0 (0.0 %) | 0 | 0 |' \
  '| deny | 3 | cc-safety-net | 1 (33.3 %) | 1 | 0 | 0 (0.0 %) | 1 (33.3 %) | 1 | 0 |' \
  '| deny | 3 | cc-safety-net, paranoid | 2 (66.7 %) | 2 | 0 | 0 (0.0 %) | 0 (0.0 %) | 1 | 0 |' \
  '| all | 4 | gate | 3 (75.0 %) | 2 | 1 | 1 (25.0 %) | 0 (0.0 %) | 0 | 0 |' \
  '| benign | 2 | gate | 0 (0.0 %) | 0 | 0 | 1 (50.0 %) | 1 (50.0 %) | 0 | 0 |' \
  '| benign | 2 | cc-safety-net, paranoid | 1 (50.0 %) | 0 | 1 |' \
  '| unlabelled | 2 | gate | 1 (50.0 %) | 0 | 1 |' \
  '| /bin/true | 8 |' \
  "left out: $dir/agent.jsonl:3:" \
  'gate check --batch: mean' 'checkCommand: stub' \
  'denied	ran	denied	b gate=deny netparanoid=deny'
[ "$(wc -l <"$dir/rows.tsv")" = 9 ] || fail 'the rows are not 8 and a heading'
if grep -q 'a gate=exit2' "$dir/out"; then fail 'a row all agree on is printed'; fi

measure # a second time from the cache
[ "$(wc -l <"$dir/npm.log")" = 1 ] || fail 'what is installed was fetched again'
[ -z "$(find "$dir/base" -mindepth 1)$(find "$dir/cache" -maxdepth 1 -name 'run*')" ] ||
  fail 'the run left files behind'

mkdir "$dir/results" # --write keeps the same tables in a file
GATE_BENCH_RESULTS=$dir/results
export GATE_BENCH_RESULTS
run --write decisions --agent "$dir/agent.jsonl" || fail "exit $? with --write"
for text in ', commit ' '== decisions: ' '| unlabelled | 2 | gate | 1 (50.0 %) | 0 | 1 |'; do
  grep -qF -- "$text" "$dir/results/peers.txt" || fail "no '$text' in peers.txt"
done

printf 'mine\thook\t%s/bin/guard\tnet\t-\n' "$dir" >"$dir/guards"
measure --guards "$dir/guards"
expect '| deny | 3 | mine | 1 (33.3 %) | 1 | 0 |'
if grep -q 'cc-safety-net, paranoid' "$dir/out"; then fail 'guards of npm beside --guards'; fi

# Without npm: no numbers, a clear word and exit 69.
rm -rf "$dir/cache"
printf '#!/bin/sh\necho network >&2\nexit 1\n' >"$dir/bin/npm"
run decisions --attacks "$dir/cases.tsv"
status=$?
[ "$status" = 69 ] || fail "exit $status without npm, not 69"
expect 'NOT MEASURED: bench/npm/decisions'
if grep -q '|' "$dir/out"; then fail 'numbers without npm'; fi

for wrong in '--nonsense' 'decisions extra' '--attacks'; do
  # shellcheck disable=SC2086
  run $wrong
  [ $? = 64 ] || fail "'$wrong' is no usage error"
done
exit "$failures"
