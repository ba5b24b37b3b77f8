#!/bin/sh
# fetch-grammar.sh DIR: unpacks the tree-sitter core and the bash grammar into
# DIR, from npm's packages by exact version and SHA-512. Runs none of their
# scripts. Does nothing when DIR already holds these versions.
set -eu
dir=$1

fetch() {
  name=$1 version=$2 sha512=$3
  if [ "$(cat "$dir/$name/.gate-sha512" 2>/dev/null)" = "$sha512" ]; then
    return 0
  fi
  if ! command -v npm >/dev/null 2>&1; then
    echo "gate: npm is missing, so $name@$version could not be had (apt-get install npm)" >&2
    exit 1
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  if ! (cd "$work" && npm pack --silent --ignore-scripts "$name@$version" >/dev/null 2>"$work/log"); then
    echo "gate: $name@$version could not be had from the npm registry: $(grep -m1 . "$work/log" || echo 'no network?')" >&2
    exit 1
  fi
  found=$(sha512sum "$work"/*.tgz | cut -d' ' -f1)
  if [ "$found" != "$sha512" ]; then
    echo "gate: $name@$version has hash $found, not the pinned $sha512" >&2
    exit 1
  fi
  mkdir -p "$work/package" "$dir"
  tar -xzf "$work"/*.tgz -C "$work/package" --strip-components=1
  echo "$sha512" > "$work/package/.gate-sha512"
  rm -rf "${dir:?}/$name"
  mv "$work/package" "$dir/$name"
  rm -rf "$work"
  trap - EXIT
}

fetch tree-sitter 0.25.1 \
  9ab70476462d1dfacad40e9fb373ba171901a344228395d45ea1e1c54390bb46e63e8d34405e17692c7879da5acdd1f0c674828e518a1a022a59d68de1dbd32c
fetch tree-sitter-bash 0.25.1 \
  ee1332b6e6083285ceab6e3246e960231b6113d6268206483870b23d34ee25cbba114e78b580fee06dfd7146f6f24c42ea331ffc06cf7d618b42d80f4dd877c7
