#!/bin/sh
# check_known_test.sh SOURCE: tools/check-known finds second lists, and takes what
# is none for none.
# shellcheck disable=SC2016
set -eu
check=$1/tools/check-known
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
mkdir -p "$place/router" "$place/rules.d" "$place/tests"

# expect CODE WHAT: the answer about what stands in $place.
expect() {
  code=0
  "$check" "$place" >"$place/said" 2>&1 || code=$?
  [ "$code" -eq "$1" ] || {
    echo "check-known answered $code, not $1, to $2:"
    cat "$place/said"
    exit 1
  }
}

# list FILE TEXT…: a list of C++ with these texts.
list() {
  file=$place/$1
  shift
  {
    echo 'constexpr const char* kNames[] = {'
    printf '    "%s",\n' "$@"
    echo '};'
  } >"$file"
}

expect 1 'no source at all'
list router/names.cc .ssh .aws/credentials .npmrc .netrc .kube .docker .azure .gnupg
expect 0 'a few paths'
list router/names.cc .ssh .aws/credentials .npmrc .netrc .kube .docker .azure .gnupg .pypirc
expect 1 'a list of paths'
list router/names.cc LD_PRELOAD ENV BASH_ENV PYTHONPATH NODE_OPTIONS PERL5LIB RUBYOPT IFS CDPATH
expect 1 'a list of variables'
list router/names.cc core.pager core.editor core.fsmonitor diff.external gpg.program 'filter.*' \
  'pager.*' url.x.insteadof alias.x
expect 1 'a list of keys of git'
list router/names.cc one two three four five six seven eight nine ten eleven
list tests/names.cc .ssh .aws/credentials .npmrc .netrc .kube .docker .azure .gnupg .pypirc
expect 0 'words, and what a test lists'
printf '{"classes": {"secret": ["$HOME/@known/home/secret", "/etc/shadow"]}}\n' >"$place/rules.d/a.json"
expect 0 'a class that names a list'
printf '{"classes": {"secret": [' >"$place/rules.d/a.json"
for name in a b c d e f g h i; do printf '"$HOME/.%s/**", ' $name; done >>"$place/rules.d/a.json"
printf '"/x"]}}\n' >>"$place/rules.d/a.json"
expect 1 'a class that lists a home'
