#!/bin/bash
# fixture.sh: the home directory, the projects and the repositories of a made-up developer, below $HOME and $SRV.
#
# Every key, token and password is made here and opens nothing but the servers of this fixture. Runs as that developer.
set -eu
cd "$HOME"
quiet() { "$@" >>"$SRV/fixture.log" 2>&1; }

# What a developer's home holds.
mkdir -p .ssh .aws .config/pip .config/git .config/gh .m2 .docker .local/bin .cache bin
chmod 700 .ssh
cat >.gitconfig <<END
[user]
	name = Some One
	email = one@example.org
	signingkey = $HOME/.ssh/id_ed25519.pub
[gpg]
	format = ssh
[gpg "ssh"]
	allowedSignersFile = $HOME/.ssh/allowed_signers
[init]
	defaultBranch = main
[core]
	excludesFile = $HOME/.config/git/ignore
[alias]
	st = status --short
[pull]
	rebase = false
[push]
	default = simple
[gc]
	auto = 0
[maintenance]
	auto = false
[include]
	path = $HOME/.config/git/more
END
printf '*.swp\n' >.config/git/ignore
printf '[merge]\n\tconflictStyle = diff3\n' >.config/git/more
ssh-keygen -q -t ed25519 -N '' -C one@example.org -f .ssh/id_ed25519
ssh-keygen -q -t ed25519 -N '' -C host -f "$SRV/host_key"
cp .ssh/id_ed25519.pub "$SRV/authorized_keys"
printf '[127.0.0.1]:2222 %s\n' "$(cut -d' ' -f1,2 "$SRV/host_key.pub")" >.ssh/known_hosts
printf 'one@example.org %s\n' "$(cut -d' ' -f1,2 .ssh/id_ed25519.pub)" >.ssh/allowed_signers
cat >.ssh/config <<END
Host forge
  HostName 127.0.0.1
  Port 2222
  User $USER
  IdentityFile ~/.ssh/id_ed25519
END
cat >.npmrc <<END
registry=http://127.0.0.1:4873/
@corp:registry=http://127.0.0.1:4873/
//127.0.0.1:4873/:_authToken=${NPM_TOKEN:-npm_fixture}
fund=false
audit=false
update-notifier=false
END
printf '[global]\nindex-url = http://127.0.0.1:3141/simple/\ntrusted-host = 127.0.0.1\ndisable-pip-version-check = true\n' >.config/pip/pip.conf
printf '[default]\naws_access_key_id = AKIAFIXTUREFIXTURE00\naws_secret_access_key = fixture/fixture/fixture/fixture/fixture0\n' >.aws/credentials
printf '[default]\nregion = eu-central-1\n' >.aws/config
printf '127.0.0.1:%s:*:app:app\n' 5432 5433 >.pgpass
printf 'machine 127.0.0.1 login one password fixture\n' >.netrc
chmod 600 .pgpass .npmrc .aws/credentials .netrc
printf '<settings><mirrors><mirror><id>corp</id><mirrorOf>*</mirrorOf><url>http://127.0.0.1:8081/m2</url></mirror></mirrors></settings>\n' >.m2/settings.xml
printf '{"auths":{"127.0.0.1:5000":{"auth":"b25lOmZpeHR1cmU="}}}\n' >.docker/config.json
printf 'alias ll="ls -l"\nexport EDITOR=true\n' >.bashrc
printf '[ -f ~/.bashrc ] && . ~/.bashrc\n' >.profile
printf 'set expandtab\n' >.vimrc
printf 'trust level\n' >notes.txt
mkdir -m 700 .gnupg
quiet gpg --batch --passphrase '' --quick-gen-key 'Some One <one@example.org>' ed25519 sign never || true
gpg --list-secret-keys --with-colons 2>/dev/null | awk -F: '/^fpr/ {print $10; exit}' >"$SRV/gpg_key"
gpgconf --kill all 2>/dev/null || true

# A project with a part in each language, and a library beside it.
mkdir app lib
cd app
quiet git init
mkdir -p src tests web pkg
cat >package.json <<'END'
{"name": "app", "version": "1.0.0", "private": true, "license": "MIT",
 "scripts": {"test": "node web/test.js", "build": "node web/build.js", "start": "node web/server.js", "lint": "node -e \"console.log('lint ok')\""},
 "dependencies": {"tiny-left": "^1.0.0"}}
END
cat >web/test.js <<'END'
const assert = require('assert');
assert.strictEqual(require('./sum')(1, 2), 3);
console.log('ok 1');
END
printf 'module.exports = (a, b) => a + b;\n' >web/sum.js
printf "require('fs').mkdirSync('dist', {recursive: true});\nrequire('fs').writeFileSync('dist/out.js', 'built');\n" >web/build.js
printf "require('http').createServer((q, r) => r.end('hello\\\\n')).listen(process.env.PORT || 3000, '127.0.0.1');\n" >web/server.js
printf '[project]\nname = "pkg"\nversion = "0.1"\n[build-system]\nrequires = []\nbuild-backend = "backend"\n' >pyproject.toml
printf 'def double(n):\n    return 2 * n\n' >pkg/__init__.py
printf 'import unittest, pkg\n\n\nclass T(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(pkg.double(2), 4)\n' >tests/test_pkg.py
printf 'tinypkg\n' >requirements.txt
printf '#include <cstdio>\nint sum(int, int);\nint main() { std::printf("%%d\\n", sum(1, 2)); }\n' >src/main.cc
printf 'int sum(int a, int b) { return a + b; }\n' >src/sum.cc
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(app CXX)
enable_testing()
add_executable(app src/main.cc src/sum.cc)
add_test(NAME runs COMMAND app)
END
printf 'prog: src/main.cc src/sum.cc\n\tg++ -o $@ $^\ncheck: prog\n\t./prog | grep -qx 3\nclean:\n\trm -f prog\n.PHONY: check clean\n' >Makefile
printf 'module example.org/app\n\ngo 1.19\n' >go.mod
printf 'package app\n\nfunc Sum(a, b int) int { return a + b }\n' >app.go
printf 'package app\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Fatal()\n\t}\n}\n' >app_test.go
mkdir crate crate/src
printf '[package]\nname = "crate"\nversion = "0.1.0"\nedition = "2021"\n[workspace]\n' >crate/Cargo.toml
printf 'fn main() { println!("{}", 3); }\n#[test]\nfn t() { assert_eq!(1, 1); }\n' >crate/src/main.rs
printf 'FROM scratch\nCOPY web /web\n' >Dockerfile
printf 'node_modules\ndist\nbuild\nprog\n.venv\n__pycache__\n*.log\n' >.gitignore
: >tests/__init__.py
printf '# app\n' >README.md
printf 'create table item (id serial primary key, name text);\n' >schema.sql
git add -A
quiet git commit -m first
printf 'more\n' >>README.md
quiet git commit -am second
quiet git tag v0
mkdir -p "$SRV/git"
quiet git clone --bare . "$SRV/git/app.git"
quiet git -C "$SRV/git/app.git" update-server-info
quiet git clone --bare . "$SRV/git/file.git"
git remote add origin "forge:$SRV/git/app.git"
git remote add backup "$SRV/git/file.git"
git remote add web "http://127.0.0.1:8099/git/app.git"
quiet git fetch backup
git update-ref refs/remotes/origin/main HEAD
git config branch.main.remote origin
git config branch.main.merge refs/heads/main
cd ../lib
quiet git init
printf 'lib\n' >README.md
git add -A
quiet git commit -m lib
quiet git clone --bare . "$SRV/git/lib.git"
quiet git -C "$SRV/git/lib.git" update-server-info
