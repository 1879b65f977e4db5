"""Every notebook as a student meets it: opened in the JupyterLab of `make lab`, run to its end, and looked at."""
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
SCREENS = ROOT / "build" / "screens"        # to be looked at
CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === 'code' && cell.model.sharedModel.source.trim())
    .map(cell => [cell.model.executionCount, cell.model.executionState,
                  cell.model.outputs.toJSON().filter(output => output.output_type === 'error').map(e => e.evalue)])"""
FINISHED = f"""() => {{
    const context = window.jupyterapp.shell.currentWidget.sessionContext, cells = ({CELLS})();
    return context.session?.kernel?.status === 'idle' && (
        cells.every(([count]) => count !== null) || cells.some(([, , errors]) => errors.length > 0));
}}"""


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_to_its_end(notebook, name):
    notebook.open(f"notebooks/{name}")
    notebook.page.evaluate("() => window.jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    assert all(count is None for count, *_ in notebook.page.evaluate(CELLS))
    notebook.run()
    notebook.page.wait_for_function(FINISHED, timeout=300_000, polling=500)
    wrong = [errors for _, _, errors in notebook.page.evaluate(CELLS) if errors]
    assert not wrong and not notebook.errors and not notebook.outside
    SCREENS.mkdir(parents=True, exist_ok=True)
    notebook.page.screenshot(path=SCREENS / f"{Path(name).stem}.png")
