"""Hostile bots: each tries one thing and says on its log what came of it, GOT or NOT.

A probe does no harm where it succeeds: what it kills, fills or floods is bounded by itself, and
made by the test. ``sys.argv`` has what the test tells it.
"""

from typing import Final

PRELUDE: Final = """\
import ctypes, errno, fcntl, mmap, os, signal, socket, struct, subprocess, sys, time
argument = sys.argv[1] if len(sys.argv) > 1 else ""
libc = ctypes.CDLL(None, use_errno=True)
def got(what): print("GOT", what, flush=True)
def call(*arguments):
    result = libc.syscall(*arguments)
    if result < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def probe():
{body}
try:
    probe()
except Exception as error:
    print("NOT", type(error).__name__, error, flush=True)
print("DONE", flush=True)
"""

READ: Final = """
    try:
        got(open(argument).read(100))
    except IsADirectoryError:
        got(os.listdir(argument))
"""

READ_BELOW: Final = """
    for name in os.listdir(argument):
        for place, _, files in os.walk(os.path.join(argument, name)):
            for file in files: got(open(os.path.join(place, file), "rb").read(100))
        if os.path.isfile(os.path.join(argument, name)):
            got(open(os.path.join(argument, name), "rb").read(100))
"""

TICKETS: Final = """
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try: environment = open(f"/proc/{pid}/environ").read()
        except OSError: continue
        if argument in environment: got(pid)
"""

PROCESSES: Final = """
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try: words = open(f"/proc/{pid}/cmdline").read()
        except OSError: continue
        if argument in words and int(pid) not in (os.getpid(), os.getppid(), 1): got(pid)
"""

KILL: Final = """
    os.kill(int(argument), signal.SIGKILL)
    got("it took a signal")
"""

PTRACE: Final = """
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    try:
        if libc.ptrace(16, child, None, None) < 0:  # PTRACE_ATTACH
            raise OSError(ctypes.get_errno(), "ptrace")
        got("it can be traced")
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
"""

FORKS: Final = """
    children = []
    try:
        for _ in range(120):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)
        got(len(children))
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
"""

THREADS: Final = """
    import threading
    over = threading.Event()
    threads = [threading.Thread(target=over.wait) for _ in range(120)]
    try:
        for thread in threads: thread.start()
        got(len(threads))
    finally:
        over.set()
"""

MEMORY: Final = """
    held = mmap.mmap(-1, 500 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    got(len(held))
"""

MEMORY_OF_MANY: Final = """
    children = []
    told, tell = os.pipe()
    try:
        for _ in range(4):
            child = os.fork()
            if child == 0:
                held = bytearray(b"x" * (60 << 20))
                held += b"x" * (60 << 20)
                os.write(tell, b"x")
                time.sleep(60)
                os._exit(0)
            children.append(child)
        for _ in children: os.read(told, 1)
        time.sleep(3)  # it is looked at each second
        got(len(children))
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
"""

MEMORY_THAT_IS_SHARED: Final = """
    held = bytearray(b"x" * (100 << 20))
    children = []
    try:
        for _ in range(6):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)
        time.sleep(3)
        got(len(children))
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
"""

SHARED_MEMORY: Final = """
    held = mmap.mmap(-1, 20 << 30, flags=mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | 0x4000)
    got(len(held))
"""

MEMFD: Final = """
    got(os.memfd_create("held"))
"""

BIG_FILE: Final = """
    file = os.path.join(argument, f"filled-{os.getpid()}")
    try:
        with open(file, "wb") as stream:
            stream.truncate(80 << 20)
        got(os.path.getsize(file))
    finally:
        os.unlink(file)
"""

MANY_FILES: Final = """
    files = []
    try:
        for number in range(8):
            files.append(os.path.join(argument, f"filled-{os.getpid()}-{number}"))
            with open(files[-1], "wb") as stream:
                stream.write(bytes(10 << 20))
        got(len(files))
    finally:
        for file in files: os.unlink(file)
"""

FLOOD: Final = """
    lines = (b"x" * 63 + b"\\n") * 1024
    for _ in range((10 << 30) // len(lines)):
        os.write(1, lines)
"""

BURN: Final = """
    while time.process_time() < 3: pass
    got("more than its time")
"""

TCP: Final = """
    with socket.create_connection(("127.0.0.1", int(argument)), timeout=2) as line:
        got(line.recv(10))
"""

UDP: Final = """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(2)
        line.connect(("127.0.0.1", int(argument)))
        line.send(b"hello")
        got(line.recv(10))
"""

DNS: Final = """
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(2)
        name = b"\\x06secret\\x04test\\0"
        question = struct.pack("!HHHHHH", 7, 256, 1, 0, 0, 0) + name + b"\\0\\x01\\0\\x01"
        line.sendto(question, ("127.0.0.1", int(argument)))
        got(line.recv(10))
"""

UNIX: Final = """
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(2)
        line.connect(argument.replace("@", "\\0"))
        got(line.recv(10))
"""

SPOIL: Final = """
    for spoil in (lambda: os.utime(argument, (1, 1)), lambda: os.chmod(argument, 0o600)):
        try: spoil()
        except OSError as error: print("NOT", error)
        else: got("it can be marked, and closed to others")
"""

MARK: Final = """
    for name in "null zero full random urandom tty".split():
        try: os.utime("/dev/" + name)
        except OSError as error: print("NOT", error)
        else: got("a mark on what all share, /dev/" + name)
"""

DEVICES: Final = """
    with open("/dev/null", "w") as stream: stream.write("gone")
    with open("/dev/urandom", "rb") as stream: got(len(stream.read(9)))
"""

OTHER_FAMILY: Final = """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW):
        got("a line to the kernel")
"""

NEW_NAMESPACE: Final = """
    if libc.unshare(0x10000000) < 0:  # CLONE_NEWUSER
        raise OSError(ctypes.get_errno(), "unshare")
    got("a user namespace")
"""

CLONE_NAMESPACE: Final = """
    child = call({"x86_64": 56, "aarch64": 220}[os.uname().machine], 0x10000000 | 17, 0, 0, 0, 0)
    if child == 0: os._exit(0)
    os.waitpid(child, 0)
    got("a user namespace")
"""

WATCH: Final = """
    descriptor = libc.inotify_init1(0)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), "inotify")
    got("a watch on files that others read")
"""

COUNTERS: Final = """
    text = open("/proc/stat").read()
    got([line for line in text.splitlines() if line.startswith("processes")][0])
"""

MACHINE_SETTINGS: Final = """
    got(open("/proc/sys/fs/file-nr").read())
"""

NUMBERS: Final = """
    def number():
        child = os.fork()
        if child == 0: os._exit(0)
        os.waitpid(child, 0)
        return child
    first = number()
    time.sleep(1)  # meanwhile others start processes
    passed = number() - first
    if passed > 20: got(passed)
"""

WRITE: Final = """
    for folder in argument.split(os.pathsep):
        try:
            with open(os.path.join(folder, "hokm-told"), "w") as stream: stream.write("mine")
        except OSError as error:
            print("NOT", folder, error)
    print("wrote", flush=True)
    time.sleep(600)
"""

FIND: Final = """
    for folder in argument.split(os.pathsep):
        if os.path.exists(os.path.join(folder, "hokm-told")): got(folder)
"""

LOCK: Final = """
    stream = open(argument)
    for take, how in ((fcntl.flock, fcntl.LOCK_EX), (fcntl.lockf, fcntl.LOCK_SH)):
        try: take(stream, how)
        except OSError as error: print("NOT", error)
    print("holds", flush=True)
    time.sleep(600)
"""

SEE_LOCK: Final = """
    stream = open(argument)
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        got("somebody holds a lock")
"""

ABSTRACT: Final = """
    line = socket.socket(socket.AF_UNIX)
    line.bind("\\0" + argument)
    line.listen()
    print("listens", flush=True)
    while True:
        with line.accept()[0] as caller: caller.send(b"told")
"""

KEY: Final = """
    numbers = {"x86_64": 248, "aarch64": 217}
    call(numbers[os.uname().machine], b"user", argument.encode(), b"told", 4, -4)
    print("kept", flush=True)
    time.sleep(600)
"""

SEE_KEY: Final = """
    numbers = {"x86_64": 250, "aarch64": 219}
    key = call(numbers[os.uname().machine], 10, -4, b"user", argument.encode(), 0)  # KEYCTL_SEARCH
    call(numbers[os.uname().machine], 9, key, -4)  # KEYCTL_UNLINK
    got("a key of the other's")
"""

LEAVE: Final = """
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            words = [sys.executable, "-c", "import time; time.sleep(120)", argument]
            os.execve(sys.executable, words, {})
        os._exit(0)
    os.wait()
    print("left", flush=True)
    time.sleep(120)
"""
