"""Each fault of the adapter `liar` (liar.c) is found by the conformance suite, and by the tests that are for it; and the suite
itself says what it should of crashes, hangs and gaps.

    test_liar.py QUERN_CTS DIRECTORY_OF_THE_LIAR ADAPTER_BEHIND_IT
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

CTS, DIRECTORY, BEHIND = sys.argv[1:4]

# Fault: tests of which each must fail.
FAULTS = {
    "lose_copies": ["copies.small_sizes_between_small_offsets", "order.launches_copies_and_fills_take_turns"],
    "shorten_copies": ["copies.large_sizes_between_odd_offsets"],
    "align_fills": ["copies.patterns_of_every_size_fill_any_range"],
    "narrow_fills": ["copies.patterns_of_every_size_fill_any_range"],
    "read_too_much": ["copies.reads_write_their_target_and_nothing_around_it"],
    "write_at_start": ["memory.every_small_view_is_written_and_read"],
    "forget_waits": ["cross_queue.a_wait_for_a_slow_queue_holds_back_what_follows", "cross_queue.readers_wait_for_slow_writers"],
    "forget_offset": ["launches.items_know_where_they_are"],
    "whole_groups_only": ["launches.each_item_of_one_dimension_runs_once", "launches.the_last_group_may_be_smaller"],
    "swap_dimensions": ["launches.items_know_where_they_are"],
    "groups_of_one": ["launches.items_know_where_they_are", "launches.barriers_keep_groups_together"],
    "forget_buffer_offsets": ["arguments.views_with_offsets_arrive"],
    "no_null_buffers": ["arguments.a_null_buffer_is_a_null_pointer"],
    "narrow_values": ["arguments.values_of_every_type_arrive", "arguments.many_values_arrive"],
    "keep_values": ["arguments.arguments_are_copied_before_the_call_returns"],
    "completed_early": ["points.a_point_is_never_complete_early"],
    "completed_when_waited": ["points.a_point_becomes_complete_by_polling_alone"],
    "wait_for_ever": ["time_limits.a_wait_for_a_point_keeps_its_limit"],
    "wait_never": ["time_limits.a_wait_for_a_point_keeps_its_limit"],
    "submit_and_wait": ["points.a_busy_queue_is_not_ready"],
    "refuse_some_submissions": ["order.random_commands_run_as_in_a_serial_run"],
    "submit_and_die": ["copies.a_chain_of_copies_runs_in_order"],
    "submit_and_exit": ["copies.a_chain_of_copies_runs_in_order"],
    "constant_time": ["timed.long_work_takes_long"],
    "time_backwards": ["timed.time_goes_on_from_point_to_point", "timed.queues_of_a_device_have_one_clock"],
    "keep_queue": ["points.values_rise_by_one_a_command"],
    "describe_otherwise": ["discovery.the_order_of_devices_is_stable"],
    "describe_without_driver": ["discovery.the_description_makes_sense"],
    "describe_without_shared": ["memory.shared_memory_is_one_address_for_both"],
    "describe_with_wrong_features": ["discovery.features_are_known_ones"],
    "larger_groups": ["launches.every_local_size_up_to_the_limit"],
    "open_once": ["discovery.a_device_opens_again_after_a_close"],
    "open_with_destructor": ["lifetime.a_process_may_exit_with_work_in_flight"],
    "keep_memory": ["memory.device_memory_keeps_what_is_written"],
    "map_start": ["memory.a_part_is_mapped"],
    "map_a_copy": ["memory.work_sees_what_a_map_wrote"],
    "one_program": ["programs.programs_keep_their_names_apart"],
}
# The liar is a cpu under another name: what the cpu lacks, it lacks.
GAPS = """
liar* | * | lacks faults  | as the cpu
liar* | * | lacks control | as the cpu
liar* | * | lacks half    | as the cpu
"""


def run(fault, *words, gaps="", status=None):
    environment = dict(os.environ, QUERN_ADAPTER_PATH=DIRECTORY, QUERN_LIAR=fault, QUERN_LIAR_ADAPTER=BEHIND)
    with tempfile.NamedTemporaryFile("w", suffix=".gaps") as file:
        file.write(GAPS + gaps)
        file.flush()
        done = subprocess.run([CTS, "-d", "liar", "--patience", "3", "--gaps", file.name, *words], env=environment, capture_output=True, text=True,
                              timeout=900)
    if status is not None and done.returncode != status:
        raise AssertionError(f"{fault} {words}: exit status {done.returncode}, not {status}\n{done.stdout}\n{done.stderr}")
    return done


def results(fault, *words, gaps="", status=None):
    """Test to result, of a run with --json."""
    done = run(fault, *words, "--json", gaps=gaps, status=status)
    told = json.loads(done.stdout)
    counts = [sum(r["verdict"] == v for r in told["results"]) for v in ("pass", "fail", "gap")]
    assert counts == [told["passed"], told["failed"], told["gaps"]], told
    return {r["test"]: r for r in told["results"]}


def words_for(tests):
    return [word for test in tests for word in ("--test", test)]


class Faults(unittest.TestCase):
    def test_every_fault_of_the_liar_has_a_test_that_finds_it(self):
        with open(os.path.join(os.path.dirname(__file__), "liar.c")) as source:
            names = set(re.findall(r"^ +FAULT\((\w+)\)", source.read(), re.M))
        self.assertEqual(names, set(FAULTS) | {"maps", "submit_and_hang"})

    def test_each_fault_is_found(self):
        for fault, tests in FAULTS.items():
            with self.subTest(fault):
                came = results(fault, *words_for(tests), status=1)
                for test in tests:
                    self.assertEqual(came[test]["verdict"], "fail", f"{fault} is not found by {test}")
                    for key in ("expected", "came", "where", "rule"):
                        self.assertTrue(came[test][key], f"{fault}, {test}: {key}")

    def test_without_a_fault_nothing_is_found(self):
        tests = sorted({test for tests in FAULTS.values() for test in tests})
        for fault in ("none", "maps"):
            came = results(fault, *words_for(tests), status=0)
            self.assertEqual({r["verdict"] for r in came.values()}, {"pass"}, fault)
            self.assertEqual(len(came), len(tests))


class Endings(unittest.TestCase):
    CHAIN = "copies.a_chain_of_copies_runs_in_order"

    def test_a_crash_names_its_signal_and_the_last_check(self):
        came = results("submit_and_die", "--test", self.CHAIN, status=1)[self.CHAIN]
        self.assertIn("SIGSEGV", came["came"])
        self.assertRegex(came["where"], r"suite_copies\.c:[0-9]+ was the last check")

    def test_an_exit_in_the_middle_is_a_failure(self):
        came = results("submit_and_exit", "--test", self.CHAIN, status=1)[self.CHAIN]
        self.assertIn("exit status 0", came["came"])

    def test_a_hang_ends_after_the_time_limit(self):
        came = results("submit_and_hang", "--test", self.CHAIN, "--timeout", "2", status=1)[self.CHAIN]
        self.assertIn("no end within 2 s", came["came"])

    def test_after_a_crash_the_others_run(self):
        came = results("submit_and_die", "--suite", "copies", status=1)
        self.assertEqual(came["copies.patterns_of_every_size_fill_any_range"]["verdict"], "pass")
        self.assertGreater(sum("SIGSEGV" in r.get("came", "") for r in came.values()), 2)

    def test_a_crash_in_one_process_is_told_with_its_test_and_seed(self):
        done = run("submit_and_die", "--suite", "copies", "--one-process", "--shuffle", "4", "--rounds", "2", status=1)
        self.assertIn("SIGSEGV", done.stdout)
        self.assertRegex(done.stdout, r"again: +quern-cts -d liar:0 --one-process --shuffle 4")

    def test_several_processes_at_a_time_give_the_same(self):
        one = results("narrow_fills", "--suite", "copies", status=1)
        many = results("narrow_fills", "--suite", "copies", "-j", "4", status=1)
        self.assertEqual({t: r["verdict"] for t, r in one.items()}, {t: r["verdict"] for t, r in many.items()})


class Gaps(unittest.TestCase):
    FILLS = "copies.patterns_of_every_size_fill_any_range"
    CHAIN = "copies.a_chain_of_copies_runs_in_order"

    def verdict(self, fault, test, line, status):
        return results(fault, "--test", test, "--timeout", "20", gaps=line + "\n", status=status)[test]

    def test_a_known_failure_is_a_gap(self):
        came = self.verdict("narrow_fills", self.FILLS, f"liar* | {self.FILLS} | fails any offset | its fills are narrow", 0)
        self.assertEqual((came["verdict"], came["reason"]), ("gap", "its fills are narrow"))

    def test_an_unexpected_pass_fails(self):
        came = self.verdict("none", self.FILLS, f"liar* | {self.FILLS} | fails | its fills were narrow", 1)
        self.assertEqual(came["verdict"], "fail")
        self.assertIn("it passes: take the line out", came["came"])

    def test_another_failure_than_the_known_one_fails(self):
        came = self.verdict("narrow_fills", self.FILLS, f"liar* | {self.FILLS} | fails QN_ERROR_UNSUPPORTED | -", 1)
        self.assertEqual(came["verdict"], "fail")

    def test_a_known_crash_is_a_gap_and_a_failure_instead_is_not(self):
        line = f"liar* | {self.CHAIN} | crashes | it dies of copies"
        self.assertEqual(self.verdict("submit_and_die", self.CHAIN, line, 0)["verdict"], "gap")
        self.assertEqual(self.verdict("lose_copies", self.CHAIN, line, 1)["verdict"], "fail")

    def test_a_known_hang_is_not_run(self):
        line = f"liar* | {self.CHAIN} | hangs | it never comes back"
        self.assertEqual(self.verdict("submit_and_hang", self.CHAIN, line, 0)["verdict"], "gap")

    def test_known_crashes_are_left_out_in_one_process(self):
        line = "\n".join(f"liar* | {test} | crashes | it dies of copies" for test in ("copies.*",)) + "\n"
        run("submit_and_die", "--suite", "copies", "--suite", "points", "--one-process", gaps=line, status=1)  # points copy too
        done = run("submit_and_die", "--suite", "copies", "--test", "copies.*", "--one-process", gaps=line)
        self.assertNotIn("SIGSEGV", done.stdout)

    def test_a_lack_needs_a_line(self):
        test = "memory.shared_memory_is_one_address_for_both"
        came = results("describe_without_shared", "--test", test, status=1)[test]
        self.assertIn("lacks shared-memory | REASON", came["expected"])
        came = self.verdict("describe_without_shared", test, "liar* | * | lacks shared-memory | none", 0)
        self.assertEqual(came["verdict"], "gap")

    def test_lines_that_mean_nothing_are_refused(self):
        for line in ("liar | x.y | fails | no such test", "liar | copies.* | fails |", "liar | copies.* | breaks | -",
                     "liar | copies.* | lacks wings | -", "liar | copies.*"):
            done = run("none", "--suite", "discovery", gaps=line + "\n", status=2)
            self.assertRegex(done.stderr, r"\.gaps:[0-9]+: ")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
