#!/usr/bin/env python3
"""inside.py: one copy of the fixture of `run`, in the namespaces that it made. Reads the task on stdin, answers on stdout.

Mounts places of its own over all that a user may write, makes the user `worker` there, starts the servers, and does the rows one by
one, each in a fresh home. Ends with everything that it started, since it is process 1.
"""
import fcntl
import json
import os
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
HOME, SRV, TEMPLATE, KEPT = '/home/worker', '/srv/fixture', '/home/template', '/home/kept'
LINE_S = 60
# Of one line; `a && b` may ask for each of its commands.
MOST_QUESTIONS = 4
UID = 1777 if os.geteuid() == 0 else os.geteuid()
GATE = '/home/bin/gate'


def mounts(gate):
    """A machine of its own, as far as the rows look. What is read from below /home is read before."""
    kept = {}
    for name in ('engine.py', 'fixture.sh', 'standins.py'):
        with open(os.path.join(HERE, name), 'rb') as f:
            kept[name] = f.read()
    if gate:
        with open(gate, 'rb') as f:
            kept['gate'] = f.read()
        # Its keeper of networks stands beside it, as where it is installed.
        with open(gate + '-session', 'rb') as f:
            kept['gate-session'] = f.read()
    # All that an ordinary user may write, and where `crontab` writes for one.
    crontabs = '/var/spool/cron/crontabs'
    group = os.stat(crontabs).st_gid if os.path.isdir(crontabs) else 0
    for place, mode in (('/home', '755'), ('/srv', '755'), ('/run', '755'), ('/tmp', '1777'), ('/var/tmp', '1777'),
                        ('/dev/shm', '1777')) + (((crontabs, '1730'),) if os.path.isdir(crontabs) else ()):
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'mode=' + mode, 'fixture', place], check=True)
    if group and os.geteuid() == 0:
        os.chown(crontabs, 0, group)
    os.makedirs('/home/bin')
    for name, data in kept.items():
        with open('/home/bin/' + name, 'wb') as f:
            f.write(data)
        os.chmod('/home/bin/' + name, 0o755)
    for file, line in (('/etc/passwd', 'worker:x:%d:%d:Some One:%s:/bin/bash' % (UID, UID, HOME)),
                       ('/etc/group', 'worker:x:%d:' % UID)):
        with open(file) as f:
            others = [l for l in f.read().splitlines() if l.split(':')[2:3] != [str(UID)]]
        copy = '/home/bin/' + os.path.basename(file)
        with open(copy, 'w') as f:
            f.write('\n'.join(others + [line]) + '\n')
        subprocess.run(['mount', '--bind', copy, file], check=True)
    for place in (HOME, SRV, '/run/user/%d' % UID):
        os.makedirs(place)
        os.chown(place, UID, UID)
    os.chmod('/run/user/%d' % UID, 0o700)
    # The loopback of a new network namespace is down.
    with socket.socket() as s:
        fcntl.ioctl(s, 0x8914, struct.pack('16sH14x', b'lo', 0x49))


def as_worker():
    """Everything but this process is an ordinary user's, without capabilities."""
    return ['setpriv', '--inh-caps=-all', '--ambient-caps=-all'] + \
        (['--reuid', str(UID), '--regid', str(UID), '--clear-groups'] if os.geteuid() == 0 else [])


def answers(port, seconds, server=None):
    """Whether something listens on `port` before `server` ends. A server tells nobody that it does: it is asked again and again."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as s:
            if s.connect_ex(('127.0.0.1', port)) == 0:
                return True
        if server is not None and server.poll() is not None:
            return False
        time.sleep(.05)
    return False


class Fixture:
    def __init__(self, task):
        self.gate = GATE if task['gate'] else ''
        path = [HOME + '/.local/bin'] + ([task['tools']] if task['tools'] else []) + ['/usr/local/bin', '/usr/bin', '/bin']
        self.environment = {'HOME': HOME, 'USER': 'worker', 'LOGNAME': 'worker', 'SHELL': '/bin/bash', 'LANG': 'C.UTF-8',
                            'PATH': ':'.join(path), 'XDG_RUNTIME_DIR': '/run/user/%d' % UID, 'SRV': SRV, 'TERM': 'dumb',
                            'GIT_AUTHOR_DATE': '1700000000 +0000', 'GIT_COMMITTER_DATE': '1700000000 +0000',
                            'PYTHONHASHSEED': '0'}
        self.task, self.have, self.session = task, set(), 0

    def run(self, argv, **more):
        return subprocess.run(as_worker() + argv, env=self.environment, cwd=more.pop('cwd', HOME), **more)

    def serve(self, name, argv, port, **more):
        """A server of the fixture; it is had when its port answers."""
        with open('%s/%s.log' % (SRV, name), 'w') as log:
            process = subprocess.Popen(as_worker() + argv, env=dict(self.environment, **more), cwd=SRV,
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if answers(port, 30, process):
            self.have.add(':' + name)

    def build(self):
        self.run(['bash', '/home/bin/fixture.sh'], check=True, stdout=sys.stderr)
        os.rename(HOME, TEMPLATE)
        shutil.copytree(SRV + '/git', '/srv/git-template', symlinks=True)
        subprocess.run(['chown', '-R', '%d:%d' % (UID, UID), '/srv/git-template'], check=True)
        self.fresh()

    def serve_all(self):
        self.run(['mkdir', '-p', SRV + '/s3/bucket'])
        self.run(['sh', '-c', 'echo hello > %s/hello.txt' % SRV])
        if shutil.which('sshd', path='/usr/sbin:/usr/bin'):
            os.makedirs('/run/sshd', exist_ok=True)
            with open(SRV + '/sshd_config', 'w') as f:
                f.write('Port 2222\nListenAddress 127.0.0.1\nHostKey %s/host_key\nAuthorizedKeysFile %s/authorized_keys\n'
                        'StrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nSubsystem sftp internal-sftp\n' % (SRV, SRV))
            self.serve('sshd', ['/usr/sbin/sshd', '-D', '-e', '-f', SRV + '/sshd_config'], 2222)
        verdaccio = self.task['verdaccio']
        self.serve('standins', ['python3', '/home/bin/standins.py', SRV] + ([] if verdaccio else ['--npm']), 8099)
        if verdaccio:
            with open(SRV + '/verdaccio.yaml', 'w') as f:
                f.write('storage: %s/npm\nuplinks: {}\npackages:\n  "**": {access: $all, publish: $all}\nlog: {type: stdout, level: warn}\n' % SRV)
            self.serve('npm', ['node', verdaccio + '/node_modules/verdaccio/bin/verdaccio', '-c', SRV + '/verdaccio.yaml', '-l',
                               '127.0.0.1:4873'], 4873)
            self.publish()
        elif ':standins' in self.have:
            self.have.add(':npm')
        if ':standins' in self.have:
            self.have.update((':pip', ':s3', ':site'))
        initdb = next((p for p in ['/usr/local/bin/initdb'] + sorted(
            '/usr/lib/postgresql/%s/bin/initdb' % v for v in os.listdir('/usr/lib/postgresql')) if os.path.exists(p)), '') \
            if os.path.isdir('/usr/lib/postgresql') else ''
        if initdb:
            folder = os.path.dirname(os.path.realpath(initdb))
            self.run(['sh', '-c', 'printf app > pgpw && %s/initdb -D pg -U app -A scram-sha-256 --pwfile=pgpw --no-sync' % folder],
                     cwd=SRV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            # By 5433 it is a server that the person started, by 5432 one in a container.
            self.serve('own-pg', [folder + '/postgres', '-D', SRV + '/pg', '-h', '127.0.0.1', '-p', '5433', '-k', SRV, '-F'], 5433)
        if shutil.which('redis-server', path=self.environment['PATH']):
            self.serve('own-redis', ['redis-server', '--bind', '127.0.0.1', '--port', '6380', '--save', ''], 6380)
        if self.run(['sh', '-c', 'docker info'], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
            self.have.add(':docker')
        self.contain([row for row in ((':own-pg', 'pg', 5432, 5433), (':own-redis', 'redis', 6379, 6380)) if row[0] in self.have])

    def contain(self, databases):
        """Publishes ports of databases as docker does: by a proxy of root's that listens, and an engine that tells of it.

        The database itself runs outside a container, which no line sees: what gate asks of is who listens, and the engine.
        """
        if not databases or not shutil.which('docker', path=self.environment['PATH']):
            return
        subprocess.run(['cp', os.path.realpath(sys.executable), '/home/bin/docker-proxy'], check=True)
        ports = ['%d:%d' % (port, behind) for _, _, port, behind in databases]
        with open(SRV + '/engine.log', 'w') as log:
            subprocess.Popen(['/home/bin/docker-proxy', '/home/bin/engine.py', '/var/run/docker.sock'] + ports, stdin=subprocess.DEVNULL,
                             env=dict(self.environment, PYTHONHOME=sys.base_prefix), stdout=log, stderr=log)
        for _, name, port, _ in databases:
            if answers(port, 10):
                self.have.add(':' + name)

    def publish(self):
        """The stand-in's packages, handed to verdaccio."""
        code = ('import sys, types; sys.argv = ["x", "%s"]\nsrc = open("/home/bin/standins.py").read().split("class Base")[0]\n'
                'exec(src)\nfor n, (about, data) in MADE.items(): open("%s/%%s.tgz" %% n.replace("/", "_"), "wb").write(data)\n') % (SRV, SRV)
        self.run(['python3', '-c', code], cwd=SRV, check=True)
        self.run(['bash', '-c', 'for f in *.tgz; do npm publish ./$f || exit 1; done >>fixture.log 2>&1'], cwd=SRV)

    def fresh(self):
        """The home and the repositories of the servers as they were; gate's own records stay."""
        subprocess.run('rm -rf %s/git; cp -a /srv/git-template %s/git; mkdir -p %s; [ -d %s/.local/state ] && '
                       'mv %s/.local/state %s/state; rm -rf %s; cp -a %s %s; mkdir -p %s/.local; [ -d %s/state ] && '
                       'mv %s/state %s/.local/state; chown worker: %s/.local; rm -rf /tmp/* %s/s3/bucket/*'
                       % (SRV, SRV, KEPT, HOME, HOME, KEPT, HOME, TEMPLATE, HOME, HOME, KEPT, KEPT, HOME, HOME, SRV),
                       shell=True, check=True)

    def processes(self):
        return {int(name) for name in os.listdir('/proc') if name.isdigit()}

    def bash(self, line, cwd, environment=None):
        """One line as a client runs it: a shell of its own that starts where the last one ended."""
        here = '/home/kept/cwd-of-line'
        script = 'cd "$CWD_OF_LINE" || exit 1\neval "$1" </dev/null\nstatus=$?\npwd -P >|"$0" 2>/dev/null\nexit $status'
        open(here, 'w').close()
        os.chmod(here, 0o666)
        out, err = open('/home/kept/out', 'w+b'), open('/home/kept/err', 'w+b')
        p = subprocess.Popen(as_worker() + ['bash', '-c', script, here, line], stdout=out, stderr=err,
                             env=dict(self.environment, CWD_OF_LINE=cwd, **(environment or {})), start_new_session=True)
        try:
            status = p.wait(LINE_S)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()
            status = 'time limit'
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode('utf-8', 'replace'))
            file.close()
        with open(here) as f:
            cwd = f.read().strip() or cwd
        return {'status': status, 'out': texts[0][-20000:], 'err': texts[1][-20000:]}, cwd

    def hook(self, line, cwd):
        """(the line that the client runs or None, what gate said)"""
        event = {'session_id': 'row-%d' % self.session, 'transcript_path': HOME + '/.claude/projects/app/t.jsonl', 'cwd': cwd,
                 'permission_mode': 'bypassPermissions', 'hook_event_name': 'PreToolUse', 'tool_name': 'Bash',
                 'tool_input': {'command': line}, 'tool_use_id': 't-%d' % time.monotonic_ns()}
        got = self.run(['sh', '-c', self.gate + ' hook claude'], input=json.dumps(event), capture_output=True, text=True)
        if got.returncode != 0:
            return None, got.stderr
        if not got.stdout.strip():
            return line, ''
        answer = json.loads(got.stdout)['hookSpecificOutput']
        if answer.get('permissionDecision', 'allow') != 'allow':
            return None, answer.get('permissionDecisionReason', '')
        return answer.get('updatedInput', {}).get('command', line), ''

    def approve(self, question):
        """Says yes as a person does, in a terminal of their own. Whether that was taken.

        A person is not below this process, which no shell of theirs is: so gate is the first of a namespace of its own.
        """
        terminal, slave = os.openpty()
        os.fchown(slave, UID, -1)
        process = subprocess.Popen(['unshare', '--pid', '--fork', '--mount-proc', 'setsid', '--ctty'] + as_worker() +
                                   [self.gate, 'approve', question], stdin=slave, stdout=slave, stderr=slave,
                                   env=self.environment, cwd=HOME)
        os.close(slave)
        os.write(terminal, b'y\n')
        text = b''
        try:
            while part := os.read(terminal, 4096):
                text += part
        except OSError:
            pass  # the other side is closed
        os.close(terminal)
        if process.wait() != 0:
            print('no yes to %s: %s' % (question, text.decode('utf-8', 'replace')), file=sys.stderr)
        return process.returncode == 0

    def line(self, text, cwd):
        if not self.gate:
            step, cwd = self.bash(text, cwd)
            return dict(step, said=[]), cwd
        rewritten, said = self.hook(text, cwd)
        for _ in range(MOST_QUESTIONS if self.task['person'] else 0):
            question = re.search(r'gate approve ([0-9a-f-]+)', said)
            if rewritten is not None or not question or not self.approve(question[1]):
                break
            self.asked += 1
            rewritten, said = self.hook(text, cwd)
        if rewritten is None:
            return {'status': 'refused', 'out': '', 'err': said, 'said': said.splitlines()}, cwd
        step, cwd = self.bash(rewritten, cwd)
        return dict(step, said=[l for l in step['err'].splitlines() if l.startswith('gate:')]), cwd

    def row(self, row):
        needed = [n for n in row['needs'] if n != 'ci']
        missing = [n for n in needed if (n not in self.have if n.startswith(':') else
                                         not shutil.which(n, path=self.environment['PATH']))]
        if missing:
            return {'missing': missing}
        self.fresh()
        self.session += 1
        before, cwd, steps, self.asked = self.processes(), HOME + '/app', [], 0
        for kind, text in row['steps']:
            if kind in '+?':
                step = dict(self.bash(text, HOME + '/app')[0], said=[])
                if kind == '+' and step['status'] != 0:
                    print('set-up failed: %s: %s' % (text, step['err'][-300:]), file=sys.stderr)
            else:
                step, cwd = self.line(text, cwd)
            steps.append(dict(step, kind=kind, text=text))
        for _ in range(3):
            for pid in self.processes() - before:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            while True:
                try:
                    if os.waitpid(-1, os.WNOHANG)[0] == 0:
                        break
                except OSError:
                    break
        return {'steps': steps, 'asked': self.asked}


def main():
    task = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    mounts(task['gate'])
    fixture = Fixture(task)
    fixture.build()
    if not task['ci']:
        fixture.serve_all()
    json.dump({'rows': [fixture.row(row) for row in task['rows']], 'have': sorted(fixture.have)}, answers)


main()
