# SPDX-License-Identifier: Apache-2.0
"""System calls of many kinds, from threads and processes: kernel_calls.py FOLDER."""

import mmap
import os
import select
import socket
import subprocess
import sys
import threading

folder = sys.argv[1]


def path(name):
    return os.path.join(folder, name)


def files(number):
    for i in range(20):
        with open(path(f"file-{number}-{i}"), "w+b") as file:
            file.write(b"x" * 10000)
            file.seek(0)
            file.read()
    os.rename(path(f"file-{number}-0"), path(f"renamed-{number}"))
    os.unlink(path(f"file-{number}-1"))
    os.listdir(folder)
    os.path.exists("/does/not/exist")


def descriptors():
    with open(path("mapped"), "w+b") as file:
        file.write(bytes(8192))
        file.flush()
        with mmap.mmap(file.fileno(), 4096) as memory:
            memory[0] = 1
        copy = os.dup(file.fileno())
        os.pread(copy, 100, 0)
        os.unlink(path("mapped"))
        os.fsync(copy)
        os.close(copy)


def pipes():
    reading, writing = os.pipe()
    poll = select.epoll()
    poll.register(reading, select.EPOLLIN)
    os.write(writing, b"hello")
    poll.poll()
    os.read(reading, 5)
    for fd in (reading, writing):
        os.close(fd)
    poll.close()


def sockets():
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection(server.getsockname()) as client:
            connection, _ = server.accept()
            with connection:
                client.sendall(b"y" * 1000)
                connection.recv(1000)
    one, other = socket.socketpair()
    with one, other:
        one.send(b"z")
        other.recv(1)


def processes():
    subprocess.run(["sh", "-c", "cat /etc/hostname > /dev/null; exit 3"], check=False)
    child = os.fork()
    if child == 0:
        with open("/dev/null") as file:
            file.read()
        os._exit(5)
    os.waitpid(child, 0)


workers = [threading.Thread(target=files, args=(i,)) for i in range(3)]
for worker in workers:
    worker.start()
descriptors()
pipes()
sockets()
for worker in workers:
    worker.join()
processes()
