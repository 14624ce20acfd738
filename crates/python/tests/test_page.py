"""Runs the code of docs/python.md, in order."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "python.md"


def test_the_page_runs():
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 6
    names = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
