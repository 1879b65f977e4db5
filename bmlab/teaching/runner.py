"""Execute a notebook cell by cell and report each cell's outputs, a line of JSON each; a script of sandbox.py's.

It holds no student's code, which is in the kernel, behind the wall; of the messages that come from there it keeps a
bearable amount. Its limits (memory, processor time, size of a file) are its kernel's too.
"""

import json
import os
import resource
import sys
from pathlib import Path

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]  # jsonschema's grammar of addresses: two seconds

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import DeadKernelError
from traitlets.config import Config

MEGABYTE, LONGEST, PICTURES = 2**20, 10_000, 20
TOO_LONG = "stopped after {} seconds: is there an endless loop?"


def set_limits(seconds: float, gigabytes: float) -> None:
    """Limit this process and its children: memory, processor time, files."""
    for limit, value in (
        (resource.RLIMIT_AS, int(gigabytes * 2**30)),
        (resource.RLIMIT_CPU, int(seconds) + 1),
        (resource.RLIMIT_FSIZE, 100 * MEGABYTE),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        try:
            resource.setrlimit(limit, (value, value))
        except (OSError, ValueError):  # macOS does not limit a process's memory
            continue


class Client(NotebookClient):
    """A client that keeps 10,000 characters of what a cell prints, and 2 MB of what it shows.

    It cuts a message before nbclient sees it, whose search for carriage returns takes the square of a line's length.
    """

    room = -1, 0, 0  # of which cell, characters, bytes

    def process_message(self, msg, cell, cell_index):
        """Cut a message to the room that is left, and drop it where there is none."""
        kind, content = msg["msg_type"], msg["content"]
        _, text, bytes_ = self.room if self.room[0] == cell_index else (cell_index, LONGEST, 2 * MEGABYTE)
        if kind == "stream":
            content["text"] = content["text"][:text]
            text -= len(content["text"])
        elif kind in ("display_data", "execute_result", "update_display_data"):
            bytes_ -= len(str(content))
        self.room = cell_index, text, bytes_
        if bytes_ < 0 or (kind == "stream" and not content["text"]):
            return None
        return super().process_message(msg, cell, cell_index)


def execute(notebook, seconds: int, sockets: Path, work: str, report) -> None:
    """Run every cell in order; a cell that fails or takes too long costs itself only."""
    late = {"ename": "CellTimeoutError", "evalue": TOO_LONG.format(seconds), "traceback": [TOO_LONG.format(seconds)]}
    channel = {"transport": "ipc", "ip": str(sockets / "k"), "connection_file": str(sockets / "k.json")}
    client = Client(
        notebook,
        kernel_name="student",
        timeout=seconds,
        allow_errors=True,
        interrupt_on_timeout=True,
        error_on_timeout=late,
        coalesce_streams=True,
        store_widget_state=False,
        record_timing=False,
        shutdown_kernel="immediate",
        config=Config(ConnectionFileMixin=channel),
        resources={"metadata": {"path": work}},
    )
    client.on_cell_executed = lambda cell, execute_reply, **_: keep_error(cell, execute_reply["content"])
    with client.setup_kernel():
        for index, cell in enumerate(notebook.cells):
            try:
                client.execute_cell(cell, index)
            except DeadKernelError:
                return report(index, [error("DeadKernelError", "this cell ended the process (memory?)")])
            report(index, [kept for output in cell.get("outputs", [])[:PICTURES] if (kept := short(output))])


def short(output):
    """Return an output of bearable size; None if it is a picture or a page beyond any use."""
    output.pop("metadata", None) if output["output_type"] in ("stream", "error") else None
    return output if len(json.dumps(output)) < 2 * MEGABYTE else None


def keep_error(cell, reply):
    """Store an error that the reply tells of and the outputs do not: a cell that was interrupted."""
    names = [output.get("ename") for output in cell.outputs]
    if reply["status"] == "error" and reply["ename"] not in names:
        cell.outputs.append(error(reply["ename"], reply["evalue"]))


def error(name: str, text: str):
    """Return an error as a notebook stores it."""
    return nbformat.v4.new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])


def main() -> None:
    """Read the order from stdin, execute, and write one line of JSON for each cell."""
    order = json.load(sys.stdin)
    pipe = os.fdopen(os.dup(1), "w", buffering=1)  # a copy that no child inherits
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    set_limits(order["seconds"], order["gigabytes"])

    def report(index, outputs):
        print(json.dumps({"index": index, "outputs": outputs}), file=pipe)

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in order["cells"]])
    try:
        execute(notebook, max(1, round(order["seconds"] / 5)), Path(order["sockets"]), order["work"], report)
    except Exception as problem:  # whatever it is, it is this notebook's
        print(json.dumps({"complaint": f"{type(problem).__name__}: {problem}"}), file=pipe)


if __name__ == "__main__":
    main()
