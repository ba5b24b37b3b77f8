#!/usr/bin/env python3
"""engine.py SOCKET PORT:BEHIND ...: what docker shows of containers that publish ports, and its proxy in front of them.

Answers on SOCKET as the engine's API does for GET /containers/json and /containers/ID/json (Docker Engine API v1.43): one container
a PORT, with nothing of the machine. Passes what connects to 127.0.0.1:PORT on to 127.0.0.1:BEHIND.
"""
import http.server
import json
import os
import socket
import socketserver
import sys
import threading

SOCKET = sys.argv[1]
PORTS = [tuple(int(n) for n in pair.split(':')) for pair in sys.argv[2:]]
IDS = {('%x' % port).rjust(64, 'c'): port for port, _ in PORTS}


class Api(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def address_string(self):
        return 'local'

    def log_message(self, *_):
        pass

    def do_GET(self):
        parts = self.path.split('?')[0].strip('/').split('/')
        code, body = 404, {'message': 'page not found'}
        if parts == ['containers', 'json']:
            code, body = 200, [{'Id': one, 'Names': ['/db-%d' % port], 'Ports': [
                {'IP': '127.0.0.1', 'PrivatePort': port, 'PublicPort': port, 'Type': 'tcp'}]} for one, port in IDS.items()]
        elif len(parts) == 3 and parts[1] in IDS:
            code, body = 200, {'Id': parts[1], 'Name': '/db-%d' % IDS[parts[1]], 'Mounts': [],
                               'HostConfig': {'Privileged': False, 'NetworkMode': 'bridge'},
                               'NetworkSettings': {'Networks': {'bridge': {}}}}
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Engine(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def pass_on(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass
    for end, how in ((sink, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            end.shutdown(how)
        except OSError:
            pass


def proxy(port, behind):
    with socket.create_server(('127.0.0.1', port)) as listener:
        while True:
            one = listener.accept()[0]
            try:
                other = socket.create_connection(('127.0.0.1', behind))
            except OSError:
                one.close()
                continue
            for ends in ((one, other), (other, one)):
                threading.Thread(target=pass_on, args=ends, daemon=True).start()


for pair in PORTS:
    threading.Thread(target=proxy, args=pair).start()
engine = Engine(SOCKET, Api)
os.chmod(SOCKET, 0o666)
engine.serve_forever()
