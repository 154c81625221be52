"""What the tests of `quern abi` share: running it, and what a golden file expects of it."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

QUERN = sys.argv[1]
HERE = os.path.dirname(os.path.abspath(__file__))
LONG = os.environ.get("QUERN_LONG") == "1"


def here(*names):
    return os.path.join(HERE, *names)


def options_of(path):
    """The words of its line  /* options: ... */  and of  /* targets: ... */."""
    with open(path) as f:
        text = f.read()
    words = re.findall(r"/\* options: (.*?) \*/", text)
    targets = re.findall(r"/\* targets: (.*?) \*/", text)
    return (words[0].split() if words else []) + (["--targets", targets[0]] if targets else [])


def expected_in(path):
    """{line: kinds} of its comments  /* expect: KIND... */  at ends of lines; line 0: what no line has (expect-gone)."""
    found = {}
    with open(path) as f:
        for number, line in enumerate(f, 1):
            for gone, kinds in re.findall(r"/\* expect(-gone)?: ([a-z -]+?) \*/", line):
                found.setdefault(0 if gone else number, set()).update(kinds.split())
    return found


class AbiTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return os.path.join(self.directory.name, name)

    def file(self, name, text):
        with open(self.path(name), "wb" if isinstance(text, bytes) else "w") as f:
            f.write(text)
        return self.path(name)

    def run_abi(self, *words, timeout=120, environment=None):
        return subprocess.run([QUERN, "abi", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=HERE,
                              timeout=timeout, env=dict(os.environ, **(environment or {})), text=True, errors="replace")

    def abi(self, *words, status, environment=None):
        """(standard output, standard error)"""
        done = self.run_abi(*words, environment=environment)
        self.assertEqual(done.returncode, status, "%s\n%s%s" % (" ".join(map(str, words)), done.stdout, done.stderr))
        return done.stdout, done.stderr

    def violations(self, *words):
        """Its JSON, and {line: kinds} of the violations in the last file of the words."""
        done = self.run_abi("--json", *words)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        result = json.loads(done.stdout)
        found = {}
        for v in result["violations"]:
            if os.path.basename(v["file"]) == os.path.basename(words[-1]) or v["line"] == 0:
                found.setdefault(v["line"], set()).add(v["kind"])
        self.assertEqual(done.returncode, 1 if result["violations"] else 0, done.stderr)
        return result, found

    def fails(self, words, status, *parts, timeout=120):
        """Fails with this status, says each part, and prints nothing on standard output."""
        done = self.run_abi(*words, timeout=timeout)
        self.assertEqual(done.returncode, status, "%s\n%s%s" % (words, done.stdout, done.stderr))
        for part in parts:
            self.assertIn(part, done.stderr)
        return done


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], module="__main__")
