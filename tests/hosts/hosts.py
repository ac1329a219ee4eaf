# SPDX-License-Identifier: GPL-3.0-or-later
"""Owns which machines there are and what is kept of each: synthetic ones and captures, with their expected outputs."""
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent
sys.path[:0] = [str(HERE), str(TOP / "tests/lib")]

import make_host  # noqa: E402
from harness import hvtune  # noqa: E402

# What is compared byte for byte: file of the expected output -> arguments.
OUTPUTS = {
    "check.txt": ["check", "--all"],
    "show.txt": ["show"],
    "topology.txt": ["show", "topology"],
}
# The same for some machines only: what is asked there.
MORE_OUTPUTS = {
    "epyc-9354p": {"place.txt": ["place", "--new", "8vcpu,32G,threads=2,pages=1G,name=web,count=3", "--new",
                                 "16vcpu,32G,threads=2,pages=1G,name=db"]},
    "2x-epyc-9654-nps4": {"place.txt": ["place", "--new", "16vcpu,32G,pages=4K,name=web,count=4", "--new",
                                        "64vcpu,256G,pages=4K,name=db", "--policy", "power"]},
}


def outputs_of(name):
    return {**OUTPUTS, **MORE_OUTPUTS.get(name, {})}


def names():
    """{"epyc-9354p": path of a description or of a capture}"""
    found = {path.name.removesuffix(".host"): path for path in (HERE / "machines").glob("*.host")}
    found.update({path.name.split(".tar")[0]: path for path in (HERE / "captures").glob("*.tar*")})
    return dict(sorted(found.items()))


def root_of(name, path):
    """What to give to --host. A synthetic tree is made below build/ when its description or its maker is newer."""
    if path.suffix != ".host":
        return path
    root, stamp = TOP / "build/hosts" / name, TOP / "build/hosts" / f"{name}.made"
    newest = max(path.stat().st_mtime, (HERE / "make_host.py").stat().st_mtime)
    if not stamp.exists() or stamp.stat().st_mtime < newest:
        shutil.rmtree(root, ignore_errors=True)
        make_host.make(path, root)
        stamp.touch()
    return root


def output_of(name, path, arguments):
    done = hvtune(*arguments, "--host", root_of(name, path), env={"LC_ALL": "C.UTF-8"})
    return done, f"exit code {done.code}\n{done.out}{done.err}".replace(str(root_of(name, path)), "HOST")
