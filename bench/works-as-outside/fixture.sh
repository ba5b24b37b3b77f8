#!/bin/bash
# fixture.sh DIR: makes the project that the lines of lines.txt work in.
set -eu
mkdir -p "$1" && cd "$1"
mkdir -p src tests docs data include node/lib
cat > src/main.c <<'C'
#include <stdio.h>
#include "greet.h"
int main(int argc, char** argv) {
  printf("%s\n", greet(argc > 1 ? argv[1] : "world"));
  return 0;
}
C
cat > src/greet.c <<'C'
#include "greet.h"
#include <stdio.h>
const char* greet(const char* name) {
  static char text[64];
  snprintf(text, sizeof(text), "hello %s", name);
  return text;
}
C
echo 'const char* greet(const char* name);' > include/greet.h
printf 'CFLAGS = -Iinclude -O1\nhello: src/main.o src/greet.o\n\tcc -o $@ $^\nclean:\n\trm -f hello src/*.o\ncheck: hello\n\t./hello make | grep -q make && echo passed\n.PHONY: clean check\n' > Makefile
cat > CMakeLists.txt <<'C'
cmake_minimum_required(VERSION 3.16)
project(hello C)
include_directories(include)
add_executable(hello src/main.c src/greet.c)
enable_testing()
add_test(NAME runs COMMAND hello cmake)
C
mkdir -p pkg
echo 'def add(a, b):
    return a + b' > pkg/__init__.py
cat > tests/test_pkg.py <<'P'
import os, tempfile, unittest
import pkg
class Adding(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(pkg.add(2, 3), 5)
    def test_temporary_file(self):
        with tempfile.NamedTemporaryFile() as f:
            f.write(b"x"); f.flush()
            self.assertEqual(os.path.getsize(f.name), 1)
P
touch tests/__init__.py
cat > pyproject.toml <<'P'
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "fixture"
version = "1.0"
P
cat > node/package.json <<'J'
{"name": "fixture", "version": "1.0.0", "scripts": {"test": "node --test lib/", "build": "node build.js", "hello": "echo hello from npm"}}
J
echo 'exports.add = (a, b) => a + b;' > node/lib/add.js
cat > node/lib/add.test.js <<'J'
const test = require('node:test'), assert = require('node:assert');
test('adds', () => assert.equal(require('./add.js').add(1, 2), 3));
J
echo "require('fs').mkdirSync('dist', {recursive: true}); require('fs').copyFileSync('lib/add.js', 'dist/add.js'); console.log('built');" > node/build.js
for i in 1 2 3 4 5 6 7 8 9; do echo "line $i of the data, $((i * i))" > "data/$i.txt"; done
printf 'name,size\nb,2\na,1\nc,3\n' > data/table.csv
printf '{"name": "fixture", "list": [1, 2, 3]}\n' > data/a.json
ln -s 1.txt data/link
ln data/2.txt data/twin
printf '#!/bin/sh\necho "script $1"\n' > run.sh && chmod 755 run.sh
echo '# Fixture' > README.md
printf -- '--index-url http://127.0.0.1:%s/simple\nlittle\n' "$TEST_PORT" > requirements.txt
printf '*.o\n/hello\n/build\n__pycache__\nnode_modules\n' > .gitignore
cat > server.py <<'P'
"""A registry of one python and one npm package, and a page."""
import http.server, io, json, os, sys, tarfile, zipfile
port = int(os.environ["TEST_PORT"])
def npm():
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as t:
        for name, text in (("package.json", '{"name":"little","version":"1.0.0"}'), ("index.js", "module.exports = 42;")):
            entry = tarfile.TarInfo("package/" + name); entry.size = len(text)
            t.addfile(entry, io.BytesIO(text.encode()))
    return raw.getvalue()
def wheel():
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as z:
        z.writestr("little.py", "value = 42\n")
        z.writestr("little-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: little\nVersion: 1.0\n")
        z.writestr("little-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr("little-1.0.dist-info/RECORD", "little.py,,\nlittle-1.0.dist-info/METADATA,,\nlittle-1.0.dist-info/WHEEL,,\nlittle-1.0.dist-info/RECORD,,\n")
    return raw.getvalue()
here = "http://127.0.0.1:%d" % port
pages = {
    "/": (b"front page\n", "text/plain"),
    "/simple/little/": (b'<a href="/little-1.0-py3-none-any.whl">little-1.0-py3-none-any.whl</a>', "text/html"),
    "/little-1.0-py3-none-any.whl": (wheel(), "application/octet-stream"),
    "/little": (json.dumps({"name": "little", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "little", "version": "1.0.0", "dist": {"tarball": here + "/little.tgz"}}}}).encode(), "application/json"),
    "/little.tgz": (npm(), "application/octet-stream"),
}
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body, kind = pages.get(self.path, (None, None))
        self.send_response(200 if body is not None else 404)
        body = body or b""
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
class Server(http.server.ThreadingHTTPServer):
    allow_reuse_address = True
server = Server(("127.0.0.1", port), Handler)
print("ready", flush=True)
server.serve_forever()
P
cat > with-server <<'B'
#!/bin/bash
# with-server COMMAND…: runs COMMAND while server.py answers.
exec 3< <(exec python3 server.py); server=$!
read -r _ <&3
npm_config_registry=http://127.0.0.1:$TEST_PORT "$@"; code=$?
kill "$server"; exit "$code"
B
chmod 755 with-server
git init -q -b main
git add -A && git commit -qm 'Start'
git checkout -q -b feature && echo more >> README.md && git commit -qam 'Say more'
git checkout -q main && echo 1 > data/new.txt && git add data && git commit -qm 'Add data'
git tag v1 && echo 2 >> data/new.txt && git commit -qam 'Change data'
git init -q -b main library && (cd library && echo lib > lib.txt && git add . && git commit -qm 'Library')
echo /library >> .git/info/exclude
git clone -q --bare . upstream.git 2>/dev/null
echo /upstream.git >> .git/info/exclude
git remote add origin ./upstream.git && git fetch -q
printf '#!/bin/sh\n! grep -q refuse "$1" || { echo refused >&2; exit 1; }\necho checked >&2\n' > .git/hooks/commit-msg
chmod 755 .git/hooks/commit-msg
