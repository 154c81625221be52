#!/usr/bin/env python3
"""QUERN_TRACE: what a real run writes, against trace.schema.json and for its sense.

test_trace.py TRACE_PROGRAM BUILD_DIR [unittest options: Trace or Processor for one of the two]
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import jsonschema

HERE = pathlib.Path(__file__).resolve().parent
SCHEMA = json.loads((HERE / "trace.schema.json").read_text())
PROGRAM, BUILD = None, None
COMMANDS = ("launch", "copy", "fill")
TINY = 0.0015  # microseconds: sums of numbers with three decimals


def strict(text):
    """JSON as the standard has it: no name twice, no NaN."""

    def pairs(items):
        names = [name for name, _ in items]
        assert len(names) == len(set(names)), f"a name stands twice in {names}"
        return dict(items)

    def refuse(name):
        raise ValueError(f"{name} is no JSON")

    return json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)


class Base(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.directory.name) / "trace.json"

    def tearDown(self):
        self.directory.cleanup()

    def environment(self, device, trace):
        environment = dict(os.environ, QUERN_TRACE=str(trace), QUERN_CACHE="off")
        if device == "fake":
            environment["QUERN_ADAPTER_PATH"] = f"{BUILD}/tests/plugins/fake"
        return environment

    def run_program(self, device, case, trace=None, check=True):
        """The program's end, and what it says that it did."""
        done = subprocess.run([PROGRAM, device, case], env=self.environment(device, self.path if trace is None else trace), capture_output=True, text=True, timeout=120)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done, {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}

    def read(self, path=None):
        """The events, once they have passed the schema and made sense."""
        events = strict((path or self.path).read_text(encoding="utf-8"))
        jsonschema.Draft201909Validator.check_schema(SCHEMA)
        jsonschema.validate(events, SCHEMA, cls=jsonschema.Draft201909Validator)
        self.check_tracks(events)
        self.check_commands(events)
        return events

    def of(self, events, category):
        return [event for event in events if event.get("cat") == category]

    # ---- Sense ----

    def check_tracks(self, events):
        """Every track has a name, told once; slices of a track nest."""
        names = collections.Counter((e["pid"], e["tid"]) for e in events if e["name"] == "thread_name")
        processes = collections.Counter(e["pid"] for e in events if e["name"] == "process_name")
        self.assertEqual(set(names.values()) | set(processes.values()), {1})
        tracks = collections.defaultdict(list)
        for event in events:
            self.assertIn(event["pid"], processes)
            if event["ph"] == "X":
                self.assertIn((event["pid"], event["tid"]), names)
                tracks[event["pid"], event["tid"]].append(event)
        for track in tracks.values():
            self.check_nesting(track)

    def check_nesting(self, track):
        open_ends = []
        for event in sorted(track, key=lambda e: (e["ts"], -e["dur"])):
            while open_ends and open_ends[-1] <= event["ts"] + TINY:
                open_ends.pop()
            end = event["ts"] + event["dur"]
            self.assertTrue(not open_ends or end <= open_ends[-1] + TINY, f"{event} ends after the slice that it lies in")
            open_ends.append(end)

    def check_commands(self, events):
        """Each value of a queue once, in order, not before it was submitted; one clock a track, as its name says."""
        queues = collections.defaultdict(list)
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
        for event in events:
            if event.get("cat") in COMMANDS:
                queues[event["pid"], event["tid"]].append(event)
        for track, commands in queues.items():
            values = [c["args"]["value"] for c in commands]
            self.assertEqual(values, sorted(set(values)))
            for command in commands:
                is_hosts = names[track].endswith("(times of the host)")
                if command["args"]["state"] == "done":
                    self.assertEqual(command["args"]["clock"], "host" if is_hosts else "device")
            for before, after in zip(commands, commands[1:]):
                self.assertLessEqual(before["ts"] + before["dur"], after["ts"] + TINY)

    def check_counts(self, events, counts):
        for category in COMMANDS:
            self.assertEqual(len(self.of(events, category)), counts[category], category)

    def check_all_is_told(self, device):
        _, counts = self.run_program(device, "close")
        events = self.read()
        self.check_counts(events, counts)
        self.assertEqual(len(self.of(events, "callback")), counts["callback"])
        submits = collections.Counter(e["args"]["detail"] for e in self.of(events, "submit") if "args" in e)
        launches = collections.Counter(e["name"] for e in self.of(events, "launch"))
        self.assertEqual(launches, submits)
        memory = [e["args"]["used"] for e in self.of(events, "memory")]
        self.assertGreaterEqual(max(memory), 3 * 4096)
        self.assertEqual(memory[-1], 0)
        self.assertEqual([e["args"]["detail"] for e in self.of(events, "device")], [device])
        return events, counts


class Processor(Base):
    """Generated code: needs LLVM, which the thread sanitizer can't see into."""

    def test_cpu(self):
        events, _ = self.check_all_is_told("cpu")
        self.assertEqual({e["args"]["clock"] for e in events if e.get("cat") in COMMANDS}, {"device"})


class Trace(Base):
    def test_every_launch_copy_and_fill_is_told_once_with_device_times(self):
        events, _ = self.check_all_is_told("check")
        for event in events:
            if event.get("cat") in COMMANDS:
                self.assertEqual(event["args"]["clock"], "device")
                self.assertEqual(event["args"]["state"], "done")
        launches = collections.Counter(e["name"] for e in self.of(events, "launch"))
        self.assertEqual(launches, {"first": 24, "second": 24})
        # On this machine the device's clock is the host's: work begins after it was submitted, and waits end after it.
        ends = [e["ts"] + e["dur"] for e in events if e.get("cat") in COMMANDS]
        closed = max(e["ts"] + e["dur"] for e in self.of(events, "wait"))
        self.assertLess(max(ends), closed + 1e6)
        first_submit = min(e["ts"] for e in self.of(events, "submit"))
        self.assertGreaterEqual(min(e["ts"] for e in events if e.get("cat") in COMMANDS), first_submit)

    def test_compiles_and_cache_answers_are_told(self):
        self.run_program("check", "close")
        events = self.read()
        compiles = [e["name"] for e in self.of(events, "compile")]
        self.assertEqual(compiles, ["front end", "generate code", "load", "build", "front end", "build"])
        self.assertEqual([e["name"] for e in self.of(events, "cache")], ["miss", "hit in memory"])
        self.assertEqual({e["args"]["detail"] for e in self.of(events, "compile")}, {'a "file"\\ with\tan odd \x01 ? name.cl'})

    def test_null(self):
        events, _ = self.check_all_is_told("null")
        self.assertEqual({e["args"]["clock"] for e in events if e.get("cat") in COMMANDS}, {"device"})

    def test_a_device_without_times_is_told_with_the_hosts_and_says_so(self):
        events, _ = self.check_all_is_told("fake")
        for event in events:
            if event.get("cat") in COMMANDS:
                self.assertEqual(event["args"]["clock"], "host")
                self.assertGreaterEqual(event["ts"], event["args"]["submitted"] - TINY)
        queues = [e["args"]["name"] for e in events if e["name"] == "thread_name" and e["pid"] >= 1 << 30]
        self.assertEqual(len(queues), 3)
        self.assertTrue(all(name.endswith("(times of the host)") for name in queues), queues)

    def test_exit_without_closing_ends_the_file(self):
        for case in ("exit", "quick_exit"):
            _, counts = self.run_program("check", case)
            events = self.read()
            self.check_counts(events, counts)
            self.assertEqual({e["args"]["state"] for e in events if e.get("cat") in COMMANDS}, {"done"})

    def test_exit_with_work_in_flight_tells_it_as_unfinished(self):
        _, counts = self.run_program("check", "busy")
        events = self.read()
        self.check_counts(events, counts)
        states = collections.Counter(e["args"]["state"] for e in events if e.get("cat") in COMMANDS)
        self.assertGreater(states["unfinished"], 0)
        self.assertEqual(set(states) - {"done", "unfinished"}, set())

    def test_a_killed_process_leaves_a_file_that_can_be_read(self):
        done, _ = self.run_program("check", "kill", check=False)
        self.assertEqual(done.returncode, -9)
        events = self.read()
        self.assertGreater(len(self.of(events, "launch")), 0)

    def test_what_is_done_is_in_the_file_soon(self):
        done, counts = self.run_program("check", "rest", check=False)
        self.assertEqual(done.returncode, -9)
        self.check_counts(self.read(), counts)

    def test_many_threads(self):
        _, counts = self.run_program("check", "threads")
        events = self.read()
        self.check_counts(events, counts)
        self.assertGreaterEqual(len({e["tid"] for e in self.of(events, "submit")}), 4)

    def test_two_runtimes_share_the_file(self):
        _, counts = self.run_program("check", "again")
        self.check_counts(self.read(), counts)

    def test_a_forked_child_leaves_the_file_alone(self):
        _, counts = self.run_program("check", "fork")
        self.check_counts(self.read(), counts)

    def test_a_failed_launch_is_told_as_failed(self):
        _, counts = self.run_program("check", "fail")
        launches = self.of(self.read(), "launch")
        self.assertEqual([(e["name"], e["args"]["state"]) for e in launches], [("first", "done"), ("wild", "failed")])
        self.assertEqual(len(launches), counts["launch"])

    def test_a_file_that_cannot_be_written_is_an_error_at_opening(self):
        pipe = self.path.with_suffix(".pipe")
        os.mkfifo(pipe)
        for path, why in (("/no/such/directory/t.json", "No such file or directory"), (self.directory.name, "Is a directory"), (pipe, "")):
            done, _ = self.run_program("check", "close", path, check=False)
            self.assertEqual(done.returncode, 3)
            self.assertIn(f"QN_ERROR_IO: QUERN_TRACE={path}: '{path}' can't be written: {why}", done.stderr)

    def test_a_full_disk_ends_the_trace_and_not_the_program(self):
        for case, status in (("close", 3), ("exit", 0)):  # closing tells it, to a program that is still there
            done = subprocess.run([PROGRAM, "check", case], env=dict(self.environment("check", "/dev/full"), QUERN_LOG="runtime"), capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertEqual(done.stderr.count("quern: runtime: the trace ends: writing failed: No space left on device"), 1, done.stderr)
            told = "QN_ERROR_IO: QUERN_TRACE=/dev/full: the trace ends: writing failed: No space left on device"
            self.assertEqual(done.stderr.count(told), status // 3, done.stderr)

    def test_one_file_of_two_processes_is_refused_and_a_number_tells_them_apart(self):
        holder = subprocess.Popen([PROGRAM, "check", "threads"], env=self.environment("check", self.path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        refused = False
        while holder.poll() is None and not refused:
            if self.path.exists() and self.path.stat().st_size > 0:
                done, _ = self.run_program("check", "close", check=False)
                refused = done.returncode == 3 and "another process is writing it" in done.stderr
        self.assertEqual(holder.wait(), 0)
        self.assertTrue(refused)
        self.read()
        for _ in range(2):
            self.run_program("check", "close", self.path.with_name("%p.json"))
        numbered = [path for path in self.path.parent.glob("*.json") if path.stem.isdigit()]
        self.assertEqual(len(numbered), 2)
        for path in numbered:
            events = self.read(path)
            self.assertIn(int(path.stem), {e["pid"] for e in events})

    def test_without_the_variable_no_file_is_written(self):
        self.run_program("check", "close", "")
        self.assertEqual(list(self.path.parent.iterdir()), [])

    def test_the_checks_find_what_is_wrong(self):
        self.run_program("check", "close")
        good = strict(self.path.read_text(encoding="utf-8"))
        launch = next(i for i, e in enumerate(good) if e.get("cat") == "launch")

        def spoiled(change):
            events = [dict(e) for e in good]
            change(events)
            self.path.write_text(json.dumps(events), encoding="utf-8")
            with self.assertRaises((AssertionError, jsonschema.ValidationError)):
                self.read()

        spoiled(lambda events: events.append(events[launch]))  # told twice
        spoiled(lambda events: events[launch].update(dur=-1))
        spoiled(lambda events: events[launch].update(dur=1e9))  # over those that follow
        spoiled(lambda events: events[launch].pop("ts"))
        spoiled(lambda events: events[launch].update(ph="B"))
        spoiled(lambda events: events[launch].update(tid=99))
        spoiled(lambda events: events[launch].update(args={}))


if __name__ == "__main__":
    PROGRAM, BUILD = sys.argv[1], sys.argv[2]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
