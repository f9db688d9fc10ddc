#!/usr/bin/env python3
"""Compare what ramsearch wrote with the truth of the build: `judge.py FOUND.yaml TRUTH.toml`.

The truth judges; no search reads it. Exit code 1 when a fact differs.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from retrokit import Integration


def judge(found: Path, truth: Path) -> list[str]:
    """Return one line for every fact that differs."""
    integration = Integration.load(found)
    facts = tomllib.loads(truth.read_text(encoding="utf-8"))
    score, lives = integration.variables["score"], integration.variables.get("lives")
    over = -1 if facts["lives_base"] == 255 else facts["lives_base"]
    pairs = {
        "score_addrs": (
            [f"{a:#x}" for a in score.addrs],
            [f"{a:#x}" for a in facts["score_addrs"]],
        ),
        "score_encoding": (score.encoding, facts["score_encoding"]),
        "score_scale": (score.scale, facts["score_scale"]),
        "lives_addr": (lives and hex(lives.addrs[0]), hex(facts["lives_addr"])),
        "terminated": (integration.terminated, f"lives == {over}"),
        "rotate": (integration.rotate, facts["rotate"]),
    }
    return [f"{key}: found {a}, the truth is {b}" for key, (a, b) in pairs.items() if a != b]


def main() -> int:
    """Judge one file; prints what differs, or that nothing does."""
    found, truth = map(Path, sys.argv[1:3])
    different = judge(found, truth)
    for line in different:
        print(f"{found.name}: {line}")
    if not different:
        print(f"{found.name} equals the truth in {truth}: score, lives, game over, rotation.")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
