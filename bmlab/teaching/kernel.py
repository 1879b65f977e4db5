"""Start the kernel that holds a student's code: python kernel.py CACHES TABLES -f CONNECTION_FILE, inside the wall.

Its home holds the caches and nothing else, its work folder the tables (either may be ""); IPython keeps no history. The
wall falls with the runner, so the kernel need not look after its parent, whose number means nothing in here.
"""

import shutil
import sys
from pathlib import Path

from ipykernel.kernelapp import launch_new_instance

if __name__ == "__main__":
    for target in (Path.home(), Path("tables")):
        if source := sys.argv.pop(1):
            shutil.copytree(source, target, dirs_exist_ok=True)
    launch_new_instance([*sys.argv[1:], "--HistoryManager.enabled=False", "--IPKernelApp.parent_handle=0"])
