"""What several tests share. Real data is found by RAGSTONE_DATA; what is skipped for lack of it is printed."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DATA = Path(os.environ.get("RAGSTONE_DATA", ROOT.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real benchmark samples."""
    if not DATA.is_dir():
        pytest.skip(f"needs the real data samples, and {DATA} is not there; set RAGSTONE_DATA")
    return DATA
