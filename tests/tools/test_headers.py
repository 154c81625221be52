"""The C headers of `quern build`: they compile as C11 and C++17 without a warning whatever kernels and parameters are called,
beside each other, and each launches its own kernel."""
import os
import re
import shutil
import subprocess
import sys
import unittest

from quern_test import CommandTest, QUERN, SOURCE

# A build with a sanitizer makes the same headers: there it is the making that is looked at.
with open(QUERN, "rb") as program:
    IS_SANITIZED = bool(re.search(b"__[at]san_init", program.read()))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
LANGUAGES = {
    "C11": (["cc", "gcc", "clang-19"], "c", ["-std=c11", "-x", "c", "-Wstrict-prototypes"]),
    "C++17": (["c++", "g++", "clang++-19"], "cc", ["-std=c++17", "-x", "c++"]),
}
# Every header that may have macros and names of its own, before ours.
CROWD = "".join("#include <%s>\n" % h for h in ("assert.h", "complex.h", "ctype.h", "errno.h", "fenv.h", "float.h", "inttypes.h", "iso646.h", "limits.h",
                                                "locale.h", "math.h", "setjmp.h", "signal.h", "stdalign.h", "stdarg.h", "stdbool.h",
                                                "stddef.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "time.h", "wchar.h"))
C_HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef stdint stdio
stdlib stdnoreturn string tgmath threads time uchar wchar wctype""".split()
POSIX_HEADERS = """aio arpa/inet cpio dirent dlfcn fcntl fmtmsg fnmatch ftw getopt glob grp iconv langinfo libgen link monetary mqueue net/if netdb netinet/in
netinet/tcp nl_types poll pthread pwd regex resolv sched search semaphore spawn strings sys/epoll sys/file sys/ioctl sys/ipc sys/mman
sys/msg sys/param sys/resource sys/select sys/sem sys/shm sys/socket sys/stat sys/statvfs sys/syscall sys/time sys/times sys/types sys/uio
sys/un sys/utsname sys/wait syslog tar termios ulimit unistd utime utmpx wordexp""".split()
CPLUSPLUS_HEADERS = """algorithm any array atomic bitset charconv chrono cfenv cfloat climits cmath complex condition_variable cstdio cstdlib deque exception
filesystem forward_list fstream functional future initializer_list iomanip ios iosfwd iostream istream iterator limits list locale map
memory memory_resource mutex new numeric optional ostream queue random ratio regex scoped_allocator set shared_mutex sstream stack stdexcept
streambuf string string_view system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant
vector""".split()
# C++ has other ways to what some of C's headers have, and they are not for it.
MACROS = {"c": [h + ".h" for h in C_HEADERS + POSIX_HEADERS],
          "cc": CPLUSPLUS_HEADERS + [h + ".h" for h in C_HEADERS + POSIX_HEADERS if h not in ("complex", "stdatomic", "stdnoreturn", "tgmath", "threads")]}
CPLUSPLUS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await co_return
co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct switch template
this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile wchar_t while xor
xor_eq""".split()
# Words that OpenCL C itself keeps can't name a parameter there.
OPENCL = """auto bool break case char const continue default do double else enum extern false float for goto if inline int long register restrict
return short signed sizeof static struct switch true typedef union unsigned void volatile while private""".split()
STANDARD = """int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t int_least8_t intmax_t uintmax_t wchar_t
INT32_MAX UINT64_C INT8_MIN stdin stdout stderr errno EOF I complex _Complex_I NULL linux unix i386 math_errhandling BUFSIZ
HUGE_VAL__ EXIT_FAILURE RAND_MAX near far small interface IN OUT noreturn __x _Y x_ __x_ arg__x""".split()
OWN = """queue queue_ queue__ range range_ arguments arguments_ out_point out_point_ argument name qn_view qn_status qn_arg_i32 qn_launch_image
qn_queue qn_launch QN_OK QN_RANGE_1D quern_image_host quern_image_host_size QUERN_IMAGE_host_H""".split()


def is_plain(word):
    return word not in OPENCL and not word.startswith(("size_t", "ptrdiff_t", "intptr_t", "uintptr_t")) and word not in (
        "HUGE_VAL", "NULL", "INFINITY", "NAN", "restrict", "INT_MAX")


class HeaderTest(CommandTest):
    def build(self, file, text, *words, status=0):
        self.file(file, text)
        return self.quern("build", file, "--target", "x86-64-linux", "-o", "out", *words, status=status, environment={"QUERN_CACHE": "off"})[1]

    def compilers(self, every):
        for language, (names, suffix, options) in LANGUAGES.items():
            there = [name for name in names[1:] if shutil.which(name)]
            for name in there if every else there[:1]:
                yield language, name, suffix, options

    def compile(self, text, *more, good=True, every=False, suffix=None):
        """Compiles a program as C and as C++, with each compiler or one; returns what the last one said."""
        if IS_SANITIZED:
            self.skipTest("what was made is compiled in builds without a sanitizer")
        said, done = "", 0
        for language, compiler, ending, options in self.compilers(every):
            if suffix not in (None, ending):
                continue
            path = self.file("program." + ending, text)
            run = subprocess.run([compiler, *options, *WARNINGS, *more, "-I", os.path.join(SOURCE, "include"), "-I", self.path("out"), "-c", path, "-o",
                                  self.path("program.o")], stderr=subprocess.PIPE, text=True)
            self.assertEqual(run.returncode == 0, good, "%s by %s:\n%s" % (language, compiler, run.stderr))
            said, done = run.stderr, done + 1
        self.assertGreaterEqual(done, 1 if suffix else 2)
        return said

    def header(self, name):
        with open(self.path("out/%s.h" % name)) as f:
            return f.read()


class Names(HeaderTest):
    def test_parameters_of_hostile_names(self):
        words = [w for w in dict.fromkeys(CPLUSPLUS + STANDARD + OWN) if is_plain(w)]
        # Where the preprocessor or OpenCL C itself has a meaning for a word, the kernel can't have it: it is left out, and counted.
        kept = []
        for at in range(0, len(words), 8):
            part = words[at:at + 8]
            kept += part if self.accepts(part) else [w for w in part if self.accepts([w])]
        print("rounds: hostile names %d of %d" % (len(kept), len(words)))
        self.assertGreater(len(kept), 110)
        kernels = ""
        for i, kind in enumerate(("int %s", "__global float *%s", "__local float *%s", "float3 %s", "struct s %s")):
            kernels += "__kernel void k%d(%s) { }\n" % (i, ", ".join(kind % w for w in kept))
        self.build("host.cl", "struct s { int a; };\n" + kernels, "--emit", "c_header")
        for before in ("", CROWD):
            self.compile(before + '#include "host.h"\n' + "#include <quern/quern.h>\n", every=True)

    def test_parameters_called_as_macros_of_any_header(self):
        """Every macro without arguments that the standard headers of C and C++ and common ones of POSIX define here, before ours."""
        names = set()
        crowd = {}
        for language, compiler, suffix, options in self.compilers(False):
            crowd[suffix] = "#define _GNU_SOURCE 1\n" + "".join("#if __has_include(<%s>)\n#include <%s>\n#endif\n" % (h, h) for h in MACROS[suffix])
            path = self.file("all." + suffix, crowd[suffix])
            macros = subprocess.run([compiler, *options, "-dM", "-E", path], stdout=subprocess.PIPE, text=True, check=True).stdout
            names |= set(re.findall(r"^#define ([A-Za-z]\w*) ", macros, re.M))
        names = self.legal(sorted(names))
        print("rounds: %d macros" % len(names))
        self.assertGreater(len(names), 4000)
        for name in ("EINTR", "WEOF", "L_tmpnam", "TIME_UTC", "PATH_MAX", "sa_handler", "si_pid", "basename", "ATOMIC_INT_LOCK_FREE"):
            self.assertIn(name, names)
        self.build("host.cl", self.kernels(names), "--emit", "c_header")
        use = '''
#define width 640
static int depth = 2;
#include "more.h"
int main(void) { return (int)more_launch(0, 0, width, depth, EINTR, 0); }
'''
        self.build("more.cl", "kernel void more(int width, int depth, int EINTR) { }\n", "--emit", "c_header")
        for suffix, text in crowd.items():
            self.compile(text + '#include "host.h"\n' + use, suffix=suffix)

    PART = 100  # parameters of a kernel

    def kernels(self, names):
        parts = [names[at:at + self.PART] for at in range(0, len(names), self.PART)]
        return "".join("kernel void k%d(\n%s) { }\n" % (i, ",\n".join("int " + name for name in part)) for i, part in enumerate(parts))

    def legal(self, names):
        """Those that OpenCL C has no meaning for: most of the others are known by their form, the compiler tells the rest."""
        opencl = re.compile(r"((S|U)?CHAR|U?SHRT|U?INT|U?LONG)_(BIT|MAX|MIN)|(FLT|DBL|M)_\w+|NAN|INFINITY|MAXFLOAT|HUGE_VALF?|FP_ILOGB\w+|NULL")
        names = [name for name in names if not opencl.fullmatch(name) and name not in OPENCL]
        while True:
            text = self.kernels(names)
            self.file("try.cl", text)
            done = subprocess.run([QUERN, "build", "try.cl", "--emit", "c_header", "-o", "try"], cwd=self.directory.name, stderr=subprocess.PIPE, text=True,
                                  env=dict(os.environ, QUERN_CACHE="off"))
            if done.returncode == 0:
                return names
            line = text.split("\n")[int(re.search(r"^try.cl:(\d+):\d+: error", done.stderr, re.M)[1]) - 1]
            bad = re.match(r"int (\w+)", line)[1]  # the first: what is said behind it may be its doing
            names = [name for name in names if name != bad]

    def accepts(self, words):
        self.file("try.cl", "__kernel void k(%s) { }\n" % ", ".join("int " + w for w in words))
        done = subprocess.run([QUERN, "build", "try.cl", "--emit", "ir", "-o", "try"], cwd=self.directory.name, stderr=subprocess.DEVNULL)
        return done.returncode == 0

    def test_names_that_meet_are_told_apart(self):
        self.build("host.cl", """__kernel void k(__local int *tile, int tile_bytes, int tile_bytes_, int new, int new_, int new__, __global int *queue, int queue_,
  float3 v, int v_padded, float3 v_padded_, int x$y, int x_y, int __z, int arg__z) { }
""", "--emit", "c_header")
        signature = re.search(r"qn_status k_launch\((.*?)\) \{", self.header("host"), re.S)[1]
        names = re.findall(r"(\w+)(?:\[\d+\])?(?:,|$)", re.sub(r"\s+", " ", signature))
        # A name that can be kept is kept; the others get underscores until they are free.
        self.assertEqual(names, ["queue", "range", "tile_bytes__", "tile_bytes", "tile_bytes_", "new___", "new_", "new__", "queue__", "queue_", "v",
                                 "v_padded", "v_padded_", "x_y_", "x_y", "arg__z_", "arg__z", "out_point"])
        self.compile('#include "host.h"\n')

    def test_kernels_of_hostile_names(self):
        names = ["qn", "qn_point", "qn_", "quern", "quern_image_host", "host", "host_qn", "new", "class", "k", "k_launch", "host_k", "x$y", "x_y", "int32_t", "__x",
                 "_Y", "QN", "QUERN_HAS_k", "printf_", "main_"]
        self.build("host.cl", "".join("__kernel void %s(__global int *x) { *x = 1; }\n" % n for n in names), "--emit", "c_header")
        self.compile(CROWD + '#include "host.h"\n', every=True)
        functions = re.findall(r"qn_status (\w+)\(", self.header("host"))
        self.assertEqual(len(functions), 2 * len(names) + 1)
        self.assertEqual(len(set(functions)), len(functions))
        for function in ("new_launch", "class_launch", "k_launch", "k_launch_launch", "host_k_launch", "qn_launch_", "host_load"):
            self.assertIn(function, functions)

    def test_images_of_hostile_names(self):
        for name in ("qn_program", "class", "qn", "QUERN", "_", "int32_t", "main"):
            self.build("k.cl", "__kernel void k(__global int *x) { *x = 1; }\n", "--emit", "c_header,object", "--name", name)
            self.compile(CROWD + '#include "%s.h"\n' % name)

    def test_the_choice_does_not_depend_on_the_place_or_the_run(self):
        text = "__kernel void k(int new, int new_, __local int *a, int a_bytes) { }\n"
        self.build("host.cl", text, "--emit", "c_header")
        first = self.header("host")
        os.makedirs(self.path("elsewhere"))
        self.build("elsewhere/host.cl", text, "--emit", "c_header")
        self.assertEqual(self.header("host"), first)


class SeveralImages(HeaderTest):
    ONE = "__kernel void k(__global int *x) { *x = 1; }\n__kernel void own(__global int *x) { *x = 3; }\n"
    TWO = "__kernel void k(__global int *x, int more) { *x = 2 + more; }\n"

    def setUp(self):
        super().setUp()
        self.build("one.cl", self.ONE)
        self.build("two.cl", self.TWO)
        self.build("three.cl", self.TWO)

    def test_two_kernels_of_one_name_are_launched_each(self):
        program = r"""
#include "one.h"
#include "two.h"
#include "three.h"
#include "one.h"
#include <stdio.h>
#define OK(x) do { if ((x) < 0) { printf("%s\n", qn_error_text()); return 1; } } while (0)
int main(void) {
  qn_runtime runtime;
  qn_device device;
  qn_queue queue;
  qn_buffer buffer;
  qn_point done;
  int numbers[3] = {0, 0, 0};
  OK(qn_runtime_open(0, &runtime));
  OK(qn_device_open(runtime, "cpu", &device));
  OK(qn_queue_create(device, 0, &queue));
  qn_buffer_options options = QN_INIT(qn_buffer_options);
  options.size_bytes = 256;
  OK(qn_buffer_create(device, &options, &buffer));
  const qn_view x = {buffer, 0, QN_WHOLE};
  for (int i = 0; i < 3; i++) {
    if (i == 0) OK(one_k_launch(queue, QN_RANGE_1D(1), &x, 0));
    if (i == 1) OK(two_k_launch(queue, QN_RANGE_1D(1), &x, 5, 0));
    if (i == 2) OK(own_launch(queue, QN_RANGE_1D(1), &x, 0));
    const qn_view first = {buffer, 0, 4};
    OK(qn_read(queue, &first, &numbers[i], &done));
    OK(qn_point_wait(&done, QN_FOREVER));
  }
  printf("%d %d %d\n", numbers[0], numbers[1], numbers[2]);
  OK(qn_runtime_close(runtime, QN_FOREVER));
  return 0;
}
"""
        self.file("program.c", program)
        library = os.path.dirname(QUERN)
        if IS_SANITIZED:
            self.skipTest("the library has a sanitizer, and the program would need it")
        subprocess.run(["cc", "-std=c11", "program.c", "out/one.o", "out/two.o", "-I", "out", "-I", os.path.join(SOURCE, "include"), "-L", library, "-lquern",
                        "-Wl,-rpath," + library, "-o", "program"], cwd=self.directory.name, check=True)
        done = subprocess.run([self.path("program")], stdout=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "1 7 3\n"))

    def test_the_short_name_of_two_kernels_is_an_error_that_says_what_to_do(self):
        use = '#include "one.h"\n#include "%s.h"\nint main(void) { return (int)k_launch(0, 0, 0, 0); }\n'
        self.compile(use % "one")
        said = self.compile(use % "two", good=False)
        self.assertIn("k_launch_is_in_several_images_call_IMAGE_k_launch", said)

    def test_two_images_of_one_name_are_an_error(self):
        os.rename(self.path("out"), self.path("first"))
        self.build("one.cl", self.TWO)
        said = self.compile('#include "first/one.h"\n#include "out/one.h"\n', "-I", self.directory.name, good=False)
        self.assertIn("two images are named 'one'", said)

    def test_names_that_differ_by_case_are_two_images(self):
        self.build("ONE.cl", self.TWO.replace("k(", "upper("))
        self.compile('#include "one.h"\n#include "ONE.h"\nint main(void) { return own_launch(0, 0, 0, 0) < 0 ? (int)upper_launch(0, 0, 0, 0, 0) : 0; }\n')

    def test_one_build_of_two_kernels_of_one_name_is_refused(self):
        self.file("a.cl", self.ONE)
        self.file("b.cl", self.TWO)
        shutil.rmtree(self.path("out"))
        _, err = self.quern("build", "a.cl", "b.cl", "-o", "out", status=2)
        self.assertIn("two kernels are named 'k': in 'a.cl' and in 'b.cl'", err)
        self.assertFalse(os.path.exists(self.path("out")))


class Declarations(HeaderTest):
    def test_parameters_are_of_their_types(self):
        self.build("t.cl", """struct s { int a; float b; };
__kernel void t(__global const float *in, __global float *out, __local int *tile, char c, uchar uc, short sh, ushort us, int i, uint ui, long l, ulong ul,
  float f, double d, float2 f2, int3 i3, uchar16 u16, struct s st) { out[0] = in[0] + c + uc + sh + us + i + ui + l + ul + f + d + f2.x + i3.x + u16.x + st.b; }
""", "--emit", "c_header")
        self.assertIn("const qn_view *in, const qn_view *out, uint64_t tile_bytes, int8_t c, uint8_t uc, int16_t sh, uint16_t us, int32_t i, "
                      "uint32_t ui, int64_t l, uint64_t ul, float f, double d, const float f2[2], const int32_t i3[3], const uint8_t u16[16], "
                      "const void *st", re.sub(r"\s+", " ", self.header("t")))
        self.compile('#include "t.h"\n')

    def test_a_parameter_that_is_declared_twice_is_an_error(self):
        err = self.build("a.cl", "__kernel void k(int a, int a) { }\n", status=1)
        self.assertIn("a.cl:1:28: error: two parameters are named 'a'", err)
        twice = '#pragma quern param(P, int, 1, "one")\n#pragma quern param(P, int, %d, "again")\n__kernel void k(__global int *x) { *x = P; }\n'
        self.build("b.cl", twice % 1)
        err = self.build("b.cl", twice % 2, status=1)
        self.assertIn("b.cl:2:21: error: parameter 'P' is declared twice", err)
        self.assertIn("b.cl:1:21: note", err)


if __name__ == "__main__":
    unittest.main(argv=[__file__] + sys.argv[3:])
