#!/usr/bin/env python3
"""finalizers.py LIBQUERN [ROUNDS] - objects of the library in the hands of a real garbage collector (L4).

Runtimes, devices, queues, buffers, programs and kernels hang together in reference cycles, so that only the collector finds
them. It finalizes them in its own order, whenever it runs: forced, by itself, on other threads, and inside callbacks of the
library. Each round ends with everything gone; the process ends with some of it alive.
"""
import ctypes as c
import gc
import os
import random
import sys
import tempfile
import threading
import weakref

OK, NOT_READY, INVALID_HANDLE = 0, 1, -2
FOREVER = 2**64 - 1
WHOLE = 2**64 - 1
SOURCE = b"kernel void add(global int *sum, int a) { sum[get_global_id(0)] += a; }"
DEVICES = [b"null", b"check", b"cpu"]


class BufferOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("memory", c.c_uint32), ("size_bytes", c.c_uint64), ("flags", c.c_uint64),
                ("host_pointer", c.c_void_p)]


class ProgramOptions(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("reserved", c.c_uint32), ("source", c.c_char_p), ("source_bytes", c.c_uint64),
                ("file_name", c.c_char_p), ("options", c.c_char_p)]


class Range(c.Structure):
    _fields_ = [("struct_size", c.c_uint32), ("dimensions", c.c_uint32), ("global_", c.c_uint64 * 3),
                ("local", c.c_uint64 * 3), ("offset", c.c_uint64 * 3)]


class Argument(c.Structure):
    _fields_ = [("kind", c.c_uint32), ("type", c.c_uint32), ("value", c.c_uint64), ("offset_bytes", c.c_uint64),
                ("size_bytes", c.c_uint64)]


class View(c.Structure):
    _fields_ = [("buffer", c.c_void_p), ("offset_bytes", c.c_uint64), ("size_bytes", c.c_uint64)]


class Point(c.Structure):
    _fields_ = [("queue", c.c_uint64), ("value", c.c_uint64)]


CALLBACK = c.CFUNCTYPE(None, c.c_void_p, c.c_int32)

store = tempfile.TemporaryDirectory(prefix="quern-finalizers-")  # one compilation for all rounds
os.environ["QUERN_CACHE_DIR"], os.environ["QUERN_CACHE"] = store.name, "write"

library = c.CDLL(sys.argv[1])
SIGNATURES = {
    "qn_release": [c.c_void_p],
    "qn_runtime_open": [c.c_void_p, c.POINTER(c.c_void_p)],
    "qn_runtime_close": [c.c_void_p, c.c_uint64],
    "qn_device_open": [c.c_void_p, c.c_char_p, c.POINTER(c.c_void_p)],
    "qn_queue_create": [c.c_void_p, c.c_void_p, c.POINTER(c.c_void_p)],
    "qn_buffer_create": [c.c_void_p, c.POINTER(BufferOptions), c.POINTER(c.c_void_p)],
    "qn_program_build": [c.c_void_p, c.POINTER(ProgramOptions), c.POINTER(c.c_void_p)],
    "qn_kernel_get": [c.c_void_p, c.c_char_p, c.POINTER(c.c_void_p)],
    "qn_launch": [c.c_void_p, c.c_void_p, c.POINTER(Range), c.POINTER(Argument), c.c_uint32, c.POINTER(Point)],
    "qn_fill": [c.c_void_p, c.POINTER(View), c.c_char_p, c.c_uint32, c.POINTER(Point)],
    "qn_point_wait": [c.POINTER(Point), c.c_uint64],
    "qn_queue_call": [c.c_void_p, c.c_void_p, CALLBACK, c.c_void_p],
}
for name, arguments in SIGNATURES.items():
    getattr(library, name).argtypes = arguments
    getattr(library, name).restype = c.c_int32
library.qn_error_text.restype = c.c_char_p

# Statuses that a finalizer got and that nobody can raise there.
surprises = []
finalized = 0


def release(handle):
    """What every finalizer does. A runtime that was closed has made its handles stale."""
    global finalized
    finalized += 1
    status = library.qn_release(handle)
    if status not in (OK, INVALID_HANDLE):
        surprises.append(status)


def check(status):
    if status != OK:
        raise RuntimeError(f"status {status}: {library.qn_error_text().decode()}")


class Object:
    """A handle with peers. Released by its __del__, or by weakref's finalizer: bindings use both."""

    def __init__(self, function, *arguments, uses_weakref=False):
        handle = c.c_void_p()
        check(getattr(library, function)(*arguments, c.byref(handle)))
        self.handle = handle.value
        self.peers = [self]  # a cycle at once
        self.uses_weakref = uses_weakref
        if uses_weakref:
            weakref.finalize(self, release, handle.value).atexit = False

    def __del__(self):
        if not self.uses_weakref:
            release(self.handle)


class World:
    def __init__(self, chance, selector):
        new = lambda *arguments: Object(*arguments, uses_weakref=chance.random() < 0.3)
        options = BufferOptions(c.sizeof(BufferOptions), 0, 4096)
        program = ProgramOptions(c.sizeof(ProgramOptions), 0, SOURCE)
        self.runtime = new("qn_runtime_open", None)
        self.device = new("qn_device_open", self.runtime.handle, selector)
        self.queues = [new("qn_queue_create", self.device.handle, None) for _ in range(3)]
        self.buffers = [new("qn_buffer_create", self.device.handle, c.byref(options)) for _ in range(6)]
        self.programs, self.kernels = [], []
        if selector != b"null":
            self.programs = [new("qn_program_build", self.device.handle, c.byref(program)) for _ in range(2)]
            self.kernels = [new("qn_kernel_get", p.handle, b"add") for p in self.programs]

    def objects(self):
        return [self.runtime, self.device] + self.queues + self.buffers + self.programs + self.kernels

    def submit(self, chance):
        queue, buffer = chance.choice(self.queues), chance.choice(self.buffers)
        point = Point()
        if self.kernels:
            range_ = Range(c.sizeof(Range), 1, (c.c_uint64 * 3)(1024, 1, 1))
            arguments = (Argument * 2)(Argument(2, 0, buffer.handle, 0, WHOLE), Argument(1, 5, 1, 0, 4))
            kernel = chance.choice(self.kernels)
            check(library.qn_launch(queue.handle, kernel.handle, c.byref(range_), arguments, 2, c.byref(point)))
        else:
            view = View(buffer.handle, 0, WHOLE)
            check(library.qn_fill(queue.handle, c.byref(view), b"x", 1, c.byref(point)))
        return point

    def tie(self, chance):
        """Each knows some others, in both directions and across kinds."""
        objects = self.objects()
        for o in objects:
            o.peers += chance.sample(objects, 3)


# Callbacks that the library still has; a callback that was collected would be called at a dead address.
outstanding = {}
called = threading.Semaphore(0)
next_callback = iter(range(1 << 62))


def collect_inside_callback(world, number):
    """A callback on the library's thread that makes garbage and collects it, the queue that calls among it."""
    def run(_, status):
        try:
            check(status)
            held.clear()  # the last way to the world but its cycles
            gc.collect()
        except Exception as e:  # nothing may leave a callback
            surprises.append(repr(e))
        called.release()

    held = [world]
    outstanding[number] = CALLBACK(run)
    return outstanding[number]


def collect_on_a_thread():
    gc.collect()


def play(chance, selector):
    """One round. What it makes is garbage when it returns, with work in flight."""
    world = World(chance, selector)
    world.tie(chance)
    points = [world.submit(chance) for _ in range(20)]
    way = chance.randrange(5)
    if way == 0:
        queue = chance.choice(world.queues)
        number = next(next_callback)
        function = collect_inside_callback(world, number)
        check(library.qn_queue_call(queue.handle, None, function, None))
        del world, queue
        called.acquire()
    elif way == 1:
        status = library.qn_runtime_close(world.runtime.handle, FOREVER)
        check(status)
        del world
    elif way == 2:
        del world
        thread = threading.Thread(target=collect_on_a_thread)
        thread.start()
        for point in points:
            check(library.qn_point_wait(c.byref(point), FOREVER))
        thread.join()
    elif way == 3:
        del world
        gc.collect()
    # else: whenever the collector likes
    return points


def fork_with_garbage(chance):
    """A child that collects what its parent made: releases do nothing there."""
    world = World(chance, b"check")
    world.tie(chance)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        del world
        gc.collect()
        os._exit(1 if surprises else 0)
    if os.waitpid(child, 0)[1] != 0:
        surprises.append("a forked child")


def threads_of_this_process():
    return len(os.listdir("/proc/self/task"))


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    chance = random.Random(4711)
    gc.set_threshold(50, 5, 5)  # the collector runs by itself, often
    print(f"rounds: cycles of objects under Python's collector {rounds}", flush=True)
    for i in range(rounds):
        points = play(chance, DEVICES[i % len(DEVICES)])
        if i % 20 == 19:
            fork_with_garbage(chance)
        for point in points:
            check(library.qn_point_wait(c.byref(point), FOREVER))
    gc.collect()
    if finalized < rounds * 8:
        sys.exit(f"only {finalized} objects were finalized")
    # Everything is gone: this thread and the library's keeper are left.
    for _ in range(1000):
        if threads_of_this_process() <= 2:
            break
        threading.Event().wait(0.01)
    else:
        sys.exit(f"{threads_of_this_process()} threads are left: something still lives")
    outstanding.clear()
    if surprises:
        sys.exit(f"in finalizers and callbacks: {surprises[:10]}")
    print(f"measured: {finalized} objects finalized")
    globals()["left"] = World(chance, b"cpu")  # and some are alive when the interpreter ends
    left.tie(chance)  # noqa: F821
    left.submit(chance)  # noqa: F821


main()
