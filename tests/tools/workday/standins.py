#!/usr/bin/env python3
"""standins.py ROOT: small servers on loopback that answer as a registry, an index, an object store and a site do.

4873 npm packages of ROOT/npm (not where verdaccio runs), 3141 a Python index of ROOT/pip, 9000 objects below ROOT/s3,
8099 the files of ROOT. Nothing here checks a password: what is measured is whether a client arrives with its work done.
"""
import base64
import hashlib
import http.server
import io
import json
import os
import sys
import tarfile
import threading
import urllib.parse
import zipfile

ROOT = sys.argv[1]
# name: (version, files); what the rows install.
PACKAGES = {
    'tiny-left': ('1.0.0', {'index.js': 'module.exports = s => " " + s;\n'}, {}),
    '@corp/util': ('2.0.0', {'index.js': 'module.exports = 2;\n'}, {}),
    'tiny-cli': ('1.1.0', {'cli.js': '#!/usr/bin/env node\nconsole.log("tiny " + process.argv.slice(2).join(" "));\n'},
                 {'bin': {'tiny-cli': 'cli.js'}}),
    'create-tiny': ('1.0.0', {'cli.js': '#!/usr/bin/env node\nrequire("fs").mkdirSync(process.argv[2]);\n'},
                    {'bin': {'create-tiny': 'cli.js'}}),
}


def tarball(name):
    version, files, more = PACKAGES[name]
    about = dict({'name': name, 'version': version, 'license': 'MIT'}, **more)
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w:gz') as tar:
        for file, text in dict(files, **{'package.json': json.dumps(about)}).items():
            entry = tarfile.TarInfo('package/' + file)
            entry.size, entry.mode = len(text.encode()), 0o755
            tar.addfile(entry, io.BytesIO(text.encode()))
    return about, out.getvalue()


def wheel():
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as z:
        z.writestr('tinypkg/__init__.py', 'value = 7\n')
        z.writestr('tinypkg/__main__.py', 'print("tinypkg runs")\n')
        z.writestr('tinypkg-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\nName: tinypkg\nVersion: 1.0\n')
        z.writestr('tinypkg-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: fixture\nRoot-Is-Purelib: true\nTag: py3-none-any\n')
        z.writestr('tinypkg-1.0.dist-info/entry_points.txt', '[console_scripts]\ntinypkg = tinypkg:__main__\n')
        z.writestr('tinypkg-1.0.dist-info/RECORD', '')
    return out.getvalue()


MADE = {name: tarball(name) for name in PACKAGES}
WHEEL = wheel()


class Base(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def answer(self, body, kind='application/octet-stream', code=200, **headers):
        self.send_response(code)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        for key, value in headers.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(body)


class Npm(Base):
    def do_GET(self):
        path = urllib.parse.unquote(urllib.parse.urlparse(self.path).path).strip('/')
        name, _, file = path.partition('/-/')
        if name == '-/ping' or name not in MADE:
            return self.answer(b'{}', 'application/json', 200 if path.endswith('ping') else 404)
        about, data = MADE[name]
        if file:
            return self.answer(data)
        at = 'http://127.0.0.1:4873/%s/-/%s-%s.tgz' % (name, name.split('/')[-1], about['version'])
        sums = {'shasum': hashlib.sha1(data).hexdigest(), 'tarball': at,
                'integrity': 'sha512-' + base64.b64encode(hashlib.sha512(data).digest()).decode()}
        answer = {'name': name, 'dist-tags': {'latest': about['version']},
                  'versions': {about['version']: dict(about, dist=sums)}}
        self.answer(json.dumps(answer).encode(), 'application/json')

    do_HEAD = do_GET


class Pip(Base):
    def do_GET(self):
        if self.path.startswith('/simple/tinypkg'):
            return self.answer(b'<a href="/files/tinypkg-1.0-py3-none-any.whl">tinypkg-1.0-py3-none-any.whl</a>', 'text/html')
        if self.path.startswith('/files/tinypkg'):
            return self.answer(WHEEL)
        self.answer(b'', code=404)

    do_HEAD = do_GET


class S3(Base):
    def place(self):
        path = urllib.parse.unquote(urllib.parse.urlparse(self.path).path).strip('/')
        return os.path.join(ROOT, 's3', os.path.normpath('/' + path).strip('/'))

    def do_PUT(self):
        place, size = self.place(), int(self.headers.get('Content-Length', 0))
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, 'wb') as f:
            f.write(self.rfile.read(size))
        self.answer(b'', ETag='"0"')

    def do_GET(self):
        place = self.place()
        if os.path.isfile(place):
            with open(place, 'rb') as f:
                data = f.read()
            stamp = {'Last-Modified': 'Wed, 01 Nov 2023 00:00:00 GMT', 'ETag': '"0"'}
            return self.answer(data, **stamp)
        if os.path.isdir(place):
            keys = ''.join('<Contents><Key>%s</Key><LastModified>2023-11-01T00:00:00.000Z</LastModified><ETag>"0"</ETag>'
                           '<Size>%d</Size></Contents>' % (n, os.path.getsize(os.path.join(place, n)))
                           for n in sorted(os.listdir(place)))
            return self.answer(('<ListBucketResult>%s</ListBucketResult>' % keys).encode(), 'application/xml')
        self.answer(b'', code=404)

    do_HEAD = do_GET


class Site(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args):
        super().__init__(*args, directory=ROOT)

    def log_message(self, *_):
        pass


ports = {3141: Pip, 9000: S3, 8099: Site}
if '--npm' in sys.argv:
    ports[4873] = Npm
for port, handler in ports.items():
    server = http.server.ThreadingHTTPServer(('127.0.0.1', port), handler)
    threading.Thread(target=server.serve_forever).start()
print('ready', flush=True)
