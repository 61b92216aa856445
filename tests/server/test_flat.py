from pathlib import Path

from tests.soak.flat import run


def test_thirty_hostile_batches_leave_memory_threads_and_descriptors_flat(tmp_path: Path) -> None:
    report = run(30, tmp_path, warm_up=4)

    assert sum(report.outcomes.values()) == 150
    assert not report.outcomes["internal"]
    assert report.end.threads <= report.begin.threads + 1
    assert report.end.descriptors <= report.begin.descriptors + 4
    assert report.end.processes <= 5  # three workers, one of them maybe being replaced, below two of Python's own
    assert report.end.resident_mib < report.begin.resident_mib + 32
