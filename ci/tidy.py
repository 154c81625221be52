#!/usr/bin/env python3
"""Runs clang-tidy over the C files below src/ that a build directory compiles. A file that was clean is looked at again only
when its preprocessed text, its options, the configuration or the program changed.

  tidy.py BUILD_DIR [-j N] [FILE...]     prints what is wrong; exit status 1 when anything is
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TIDY = "clang-tidy-19"


def options_of(entry):
    """The compiler's options without launcher, input, output and dependency files."""
    words = shlex.split(entry["command"])
    while not words[0].startswith("-"):
        words.pop(0)
    options, skip = [], 0
    for word in words:
        if skip:
            skip -= 1
        elif word in ("-o", "-MF", "-MT", "-c"):
            skip = 1
        elif word != "-MD" and not word.startswith("-fsanitize"):
            options.append(word)
    return options


class Tidy:
    def __init__(self, build):
        self.stamps = build / "tidy"
        self.stamps.mkdir(exist_ok=True)
        version = subprocess.run([TIDY, "--version"], capture_output=True, check=True).stdout
        self.salt = version + (ROOT / ".clang-tidy").read_bytes() + pathlib.Path(__file__).read_bytes()

    def look(self, entry):
        """(file, what is wrong with it or '')."""
        file, options = entry["file"], options_of(entry)
        preprocessed = subprocess.run(["clang-19", "-E", "-CC", *options, file], cwd=entry["directory"], capture_output=True)
        if preprocessed.returncode != 0:
            return file, preprocessed.stderr.decode()
        key = hashlib.sha256(self.salt + " ".join(options).encode() + preprocessed.stdout).hexdigest()
        stamp = self.stamps / key
        if stamp.exists():
            return file, ""
        done = subprocess.run([TIDY, "--quiet", file, "--", *options], cwd=entry["directory"], capture_output=True, text=True)
        if done.returncode == 0 and not done.stdout.strip():
            stamp.touch()
            return file, ""
        return file, done.stdout + (done.stderr if done.returncode != 0 and not done.stdout.strip() else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    wanted = {str(pathlib.Path(f).resolve()) for f in arguments.files}
    entries = {}
    for entry in json.loads((arguments.build / "compile_commands.json").read_text()):
        below = entry["file"].startswith(f"{ROOT}/src/") and entry["file"].endswith(".c")
        if below and (not wanted or entry["file"] in wanted):
            entries[entry["file"]] = entry
    if not entries:
        print("tidy: no files", file=sys.stderr)
        return 1
    tidy, wrong = Tidy(arguments.build.resolve()), 0
    with concurrent.futures.ThreadPoolExecutor(arguments.j) as pool:
        for file, text in pool.map(tidy.look, entries.values()):
            if text:
                wrong += 1
                print(text.strip())
    print(f"{len(entries) - wrong} files clean, {wrong} not")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
