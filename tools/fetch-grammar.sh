#!/bin/sh
# fetch-grammar.sh DIR: unpacks the tree-sitter core and the bash grammar into
# DIR, from npm's packages by exact version and SHA-512. Runs none of their
# scripts. Does nothing when DIR already holds these versions.
# fetch-grammar.sh --check DIR: only says by its exit code whether it does.
set -u

check=no
if [ "$1" = --check ]; then
  check=yes
  shift
fi
dir=$1

die() {
  printf 'gate: %s\n' "$*" >&2
  exit 1
}

# The line of npm's messages that says most.
reason() {
  grep -m 1 -iE 'reason:|E4|ENOTFOUND|ECONN|ETIMEDOUT|certificate' "$1" ||
    grep -m 1 . "$1" || echo 'no network?'
}

fetch() {
  name=$1 version=$2 sha512=$3
  if [ "$(cat "$dir/$name/.gate-sha512" 2>/dev/null)" = "$sha512" ]; then
    return 0
  fi
  [ $check = no ] || exit 1
  for tool in npm tar sha512sum; do
    command -v $tool >/dev/null 2>&1 ||
      die "$tool is missing, so $name@$version could not be had (apt-get install npm tar coreutils)"
  done
  # Beside its final place, so that the rename at the end is one step.
  mkdir -p "$dir" && work=$(mktemp -d "$dir/.fetch.XXXXXX") ||
    die "cannot write to $dir"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM
  (cd "$work" && npm pack --ignore-scripts --loglevel=error --prefer-offline \
    --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=60000 \
    "$name@$version") >/dev/null 2>"$work/log" </dev/null ||
    die "the npm package $name@$version could not be had: $(reason "$work/log")"
  found=$(cd "$work" && sha512sum -- *.tgz | cut -d' ' -f1)
  [ "$found" = "$sha512" ] ||
    die "the npm package $name@$version has SHA-512 $found, not the pinned $sha512"
  mkdir "$work/package" &&
    tar -xzf "$work"/*.tgz -C "$work/package" --strip-components=1 \
      --no-same-owner &&
    printf '%s\n' "$sha512" >"$work/package/.gate-sha512" &&
    rm -rf "${dir:?}/$name" &&
    mv "$work/package" "$dir/$name" ||
    die "cannot unpack $name@$version into $dir"
  rm -rf "$work"
  trap - EXIT
}

fetch tree-sitter 0.25.1 \
  9ab70476462d1dfacad40e9fb373ba171901a344228395d45ea1e1c54390bb46e63e8d34405e17692c7879da5acdd1f0c674828e518a1a022a59d68de1dbd32c
fetch tree-sitter-bash 0.25.1 \
  ee1332b6e6083285ceab6e3246e960231b6113d6268206483870b23d34ee25cbba114e78b580fee06dfd7146f6f24c42ea331ffc06cf7d618b42d80f4dd877c7
