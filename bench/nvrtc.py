#!/usr/bin/env python3
"""Compiles CUDA C to PTX with NVRTC, as nvcc -O3 does: nvrtc.py LIBRARY ARCHITECTURE FILE... > PTX. The files are one text."""
import ctypes
import os
import sys


def main():
    library, architecture, *files = sys.argv[1:]
    builtins = os.path.join(os.path.dirname(library), "libnvrtc-builtins.so.12.9")
    if os.path.exists(builtins):
        ctypes.CDLL(builtins, mode=ctypes.RTLD_GLOBAL)
    nvrtc = ctypes.CDLL(library)
    text = "".join(open(name).read() for name in files)
    program = ctypes.c_void_p()
    options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17"]

    def check(code, what):
        if code != 0:
            size = ctypes.c_size_t()
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            sys.exit(f"{what}: {code}\n{log.value.decode()}")

    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"gpu.cu", 0, None, None), "nvrtcCreateProgram")
    check(nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)), "nvrtcCompileProgram")
    size = ctypes.c_size_t()
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)), "nvrtcGetPTXSize")
    ptx = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, ptx), "nvrtcGetPTX")
    sys.stdout.write(ptx.value.decode())


if __name__ == "__main__":
    main()
