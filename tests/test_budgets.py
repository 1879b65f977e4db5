"""The memory and cores that a process may take: the least that control groups allow, of version 1 and 2."""

import math

import pytest

from bmlab.checking import budgets
from bmlab.running.parallel import cores

GIB = 2**30
MACHINES = {
    "no control groups": ({}, math.inf, math.inf),
    "version 2, a container": (
        {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": f"{GIB}", "sys/fs/cgroup/cpu.max": "150000 100000"},
        GIB,
        2,
    ),
    "version 2, no limit": (
        {"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "max", "sys/fs/cgroup/cpu.max": "max 100000"},
        math.inf,
        math.inf,
    ),
    "version 2, the group above allows less": (
        {
            "proc/self/cgroup": "0::/user/me",
            "sys/fs/cgroup/user/me/memory.max": f"{4 * GIB}",
            "sys/fs/cgroup/user/memory.max": f"{3 * GIB}",
            "sys/fs/cgroup/user/me/cpu.max": "50000 100000",
        },
        3 * GIB,
        1,
    ),
    "version 1, as Docker mounts it": (
        {
            "proc/self/cgroup": "5:memory:/docker/12ab\n4:cpu,cpuacct:/docker/12ab\n1:name=systemd:/docker/12ab",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{2 * GIB}",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "300000",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
        2 * GIB,
        3,
    ),
    "version 1, no limit": (
        {
            "proc/self/cgroup": "5:memory:/\n4:cpu,cpuacct:/",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
        },
        9223372036854771712,
        math.inf,
    ),
}


@pytest.mark.parametrize(("files", "memory", "most_cores"), MACHINES.values(), ids=MACHINES)
def test_control_groups_are_obeyed(files, memory, most_cores, tmp_path, monkeypatch):
    """Half of the least of the memory that exists and is allowed, and no more cores."""
    there, had = budgets.memory_to_spend(), cores()
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text + "\n")
    monkeypatch.setattr(budgets, "ROOT", tmp_path)
    assert (budgets.allowed_memory(), budgets.allowed_cores()) == (memory, most_cores)
    assert budgets.memory_to_spend() <= memory / 2 and cores() <= most_cores
    if memory / 2 <= there:
        assert budgets.memory_to_spend() == memory / 2
    if most_cores <= had:
        assert cores() == most_cores
