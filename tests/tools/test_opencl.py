"""The opencl adapter by the command: what is said when it can't be used, and examples with the results of the cpu."""
import json
import os
import re

from quern_test import QUERN, CommandTest, example, main, read_npy, write_npy

BUILD = os.path.dirname(QUERN)


class Reasons(CommandTest):
    def reason(self, **environment):
        """What `quern devices -v` says of the adapter."""
        out, _ = self.quern("devices", "-v", environment=environment)
        found = re.search(r"^opencl +(.*(?:\n +.*)*)", out[out.index("\nadapters"):], re.M)
        self.assertTrue(found, out)
        self.assertNotIn("opencl:0", out)
        self.assertIn("cpu:0", out)  # the others work
        return found.group(1)

    def test_no_library(self):
        reason = self.reason(QUERN_OPENCL_LIBRARY="libOpenCL-that-is-nowhere.so")
        self.assertIn("libOpenCL-that-is-nowhere.so", reason)
        self.assertIn("ocl-icd-libopencl1", reason)

    def test_a_library_that_is_none(self):
        self.assertIn("has no function clGetPlatformIDs", self.reason(QUERN_OPENCL_LIBRARY="libm.so.6"))

    def test_a_loader_without_drivers(self):
        os.mkdir(self.path("vendors"))
        self.assertIn("no driver", self.reason(OCL_ICD_VENDORS=self.path("vendors")))

    def test_a_driver_that_is_not_there(self):
        os.mkdir(self.path("vendors"))
        self.file("vendors/gone.icd", "libgone.so.1\n")
        self.assertIn("no driver", self.reason(OCL_ICD_VENDORS=self.path("vendors")))

    def test_a_driver_that_crashes(self):
        os.mkdir(self.path("vendors"))
        self.file("vendors/crash.icd", os.path.join(BUILD, "tests/plugins/libquern-adapter-crash_in_load.so") + "\n")
        reason = self.reason(OCL_ICD_VENDORS=self.path("vendors"))
        self.assertRegex(reason, "process (of its own|that tried it out)")  # a sanitizer ends the process, a signal else

    def test_a_driver_without_devices(self):
        library = os.path.join(BUILD, "tests/plugins/fake/libquern-fake-opencl.so")
        self.assertIn("no driver", self.reason(QUERN_OPENCL_LIBRARY=library))

    def test_the_selector_says_it_too(self):
        _, err = self.quern("run", example("saxpy.cl"), "--arg", "x=range:8", "--arg", "y=range:8", "--arg", "a=1", "-d", "opencl",
                            status=1, environment={"QUERN_OPENCL_LIBRARY": "libOpenCL-that-is-nowhere.so"})
        self.assertIn("libOpenCL-that-is-nowhere.so", err)


class Laziness(CommandTest):
    """A vendor's library is loaded when a selector names its adapter or devices are listed, and not before."""

    SAXPY = ["run", example("saxpy.cl"), "--arg", "x=range:8", "--arg", "y=range:8", "--arg", "a=1", "--print", "y"]

    def mapped(self, *words, **environment):
        """The libraries that the dynamic loader mapped for the command, by their files' names."""
        _, err = self.quern(*words, environment=dict(environment, LD_DEBUG="files"))
        return {os.path.basename(path) for path in re.findall(r"file=(\S+) \[0\];  generating link map", err)}

    def test_a_run_on_the_cpu_loads_no_other_adapter(self):
        for words, environment in ((["-d", "cpu"], {}), ([], {}), (["-d", "check"], {}), ([], {"QUERN_DEVICE": "cpu:0"})):
            found = self.mapped(*self.SAXPY, *words, **environment)
            self.assertEqual([name for name in found if "OpenCL" in name or "opencl" in name or "pocl" in name or "null" in name], [], found)
            self.assertIn("libquern.so.0", found)

    def test_a_run_on_opencl_does(self):
        found = self.mapped(*self.SAXPY, "-d", "opencl:0")
        self.assertIn("libquern-adapter-opencl.so", found)
        self.assertTrue([name for name in found if name.startswith("libOpenCL.so")], found)
        self.assertNotIn("libquern-adapter-cpu.so", found)


class Devices(CommandTest):
    def test_three_devices_of_one_driver(self):
        out, _ = self.quern("devices", "--json", environment={"POCL_DEVICES": "basic pthread pthread"})
        found = [d for d in json.loads(out)["devices"] if d["adapter"] == "opencl" and "Portable" in d["driver"]]
        self.assertEqual(len(found), 3)
        self.assertTrue(found[0]["name"].startswith("basic") and found[2]["name"].startswith("pthread"))

    def test_all_devices_agree(self):
        words = ["run", example("saxpy.cl"), "--arg", "x=random:1000", "--arg", "y=random:1000", "--arg", "a=2", "-d", "all", "--compare"]
        out, err = self.quern(*words, environment={"POCL_DEVICES": "basic pthread"})
        self.assertIn("opencl:1", out + err)

    def test_a_program_that_does_not_compile_never_reaches_the_driver(self):
        source = self.file("wrong.cl", "kernel void k(global int *p) { p[0] = nothing; }")
        self.fails(["run", source, "-d", "opencl", "--arg", "p=zeros:1"], 1, "wrong.cl:1:39", "nothing")


class Examples(CommandTest):
    """Each example gives on opencl:0 what it gives on the cpu. a * b + c may be rounded once or twice (FP_CONTRACT), and compilers
    choose differently: floats may differ a little, and a picture's values by one."""

    def same(self, *words, out, exact=True):
        results = []
        for device in ("cpu", "opencl:0"):
            self.quern("run", *words, "-d", device, "--out", "%s=@%s.npy" % (out, device.replace(":", "")))
            results.append(read_npy(self.path(device.replace(":", "") + ".npy")))
        (kind, shape, ours), (other_kind, other_shape, theirs) = results
        self.assertEqual((kind, shape), (other_kind, other_shape))
        if exact:
            self.assertEqual(ours, theirs)
        else:
            limit = (lambda v: 1) if kind == "|u1" else (lambda v: 1e-5 * max(1, abs(v)))
            self.assertLessEqual(max(abs(a - b) / limit(a) for a, b in zip(ours, theirs)), 1)

    def picture(self, width, height):
        pixels = [(x * 7 + y * 3 + c * 50) % 256 for y in range(height) for x in range(width) for c in range(4)]
        write_npy(self.path("in.npy"), "|u1", (height, width, 4), pixels)

    def test_saxpy(self):
        self.same(example("saxpy.cl"), "--arg", "x=random:1003", "--arg", "y=random:1003:2", "--arg", "a=2.5", out="y", exact=False)

    def test_blur(self):
        self.picture(37, 29)
        self.same(example("blur.cl"), "--arg", "src=@in.npy", "--arg", "dst=like:src", out="dst", exact=False)

    def test_edges(self):
        self.picture(24, 18)
        self.same(example("edges.cl"), "--arg", "src=@in.npy", "--arg", "dst=like:src", out="dst", exact=False)

    def test_mandelbrot(self):
        self.same(example("mandelbrot.cl"), "--arg", "out=zeros:60x80", "--arg", "centre_x=-0.7", "--arg", "centre_y=0", "--arg", "scale=2.6",
                  "--arg", "limit=100", out="out", exact=False)

    def test_matmul(self):
        self.same(example("matmul.cl"), "--arg", "a=random:33x17", "--arg", "b=random:17x20:2", "--arg", "c=zeros:33x20", out="c", exact=False)

    def test_histogram(self):
        self.picture(64, 64)
        self.same(example("histogram.cl"), "--arg", "src=@in.npy", "--arg", "counts=zeros:256", "--global", "4096", "--local", "256", out="counts")

    def test_nbody(self):
        self.same(example("nbody.cl"), "--arg", "bodies=random:256", "--arg", "velocities=zeros:256", "--arg", "moved=like:bodies", "--arg",
                  "dt=0.01", out="moved", exact=False)

    def test_scan(self):
        self.same(example("scan.cl"), "--arg", "in=range:1024", "--arg", "out=like:in", "--arg", "totals=zeros:8", "--arg", "buffer=local:256",
                  "--global", "1024", "--local", "128", out="out")


if __name__ == "__main__":
    main()
