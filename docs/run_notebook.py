"""Run the notebook and keep its outputs: `python docs/run_notebook.py [OUT]`, as `make notebook` does.

The cells do not need Jupyter, so they run here one after another, in one namespace. The outputs are those that Jupyter
keeps: the printed text, the value of the last expression, and the figures, as PNG.
"""

import ast
import base64
import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")


def code_cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the code cells, in order."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def execute(notebook: dict[str, Any]) -> dict[str, Any]:
    """Run all code cells and put their outputs into them.

    Args:
        notebook: The notebook, whose cells get new outputs.

    Returns:
        The names that the cells have set.
    """
    import matplotlib
    import pandas

    matplotlib.use("agg")
    space: dict[str, Any] = {"__name__": "__main__"}
    # As in Jupyter, the width of tables does not depend on the terminal.
    tables = pandas.option_context("display.max_columns", 20, "display.width", 80)
    with tables, matplotlib.rc_context(matplotlib.rcParamsDefault | {"backend": "agg"}), _folder_of_notebook():
        for number, cell in enumerate(code_cells(notebook), 1):
            cell["execution_count"] = number
            cell["outputs"] = _outputs("".join(cell["source"]), number, space)
    return space


@contextlib.contextmanager
def _folder_of_notebook() -> Iterator[None]:
    """Work in the notebook's folder, as Jupyter does."""
    before = Path.cwd()
    os.chdir(NOTEBOOK.parent)
    try:
        yield
    finally:
        os.chdir(before)


def texts(notebook: dict[str, Any]) -> list[str]:
    """Return the printed texts and answers of a notebook, without its pictures."""
    outputs = [output for cell in code_cells(notebook) for output in cell["outputs"]]
    return ["".join(output["text"] if "text" in output else output["data"]["text/plain"]) for output in outputs]


def _outputs(source: str, number: int, space: dict[str, Any]) -> list[dict[str, Any]]:
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    name = f"cell {number}"
    printed = io.StringIO()
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec"), space)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data = {"text/html": _lines(value._repr_html_()), **data}
        kept = {"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        outputs.append(kept)
    return outputs + [{"data": data, "metadata": {}, "output_type": "display_data"} for data in _figures()]


def _figures() -> list[dict[str, Any]]:
    """Return the open figures, and close them."""
    import matplotlib.pyplot as plt

    found = []
    for number in plt.get_fignums():
        figure, picture = plt.figure(number), io.BytesIO()
        figure.savefig(picture, format="png", bbox_inches="tight", dpi=90, metadata={"Software": None})
        png = base64.b64encode(picture.getvalue()).decode() + "\n"
        found.append({"image/png": png, "text/plain": [f"<Figure with {len(figure.axes)} Axes>"]})
    plt.close("all")
    return found


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    """Run the notebook over the warehouse in TANGLES_WAREHOUSE; write it with its outputs, to OUT if that is given."""
    out = Path(sys.argv[1]) if sys.argv[1:] else NOTEBOOK
    notebook = json.loads(NOTEBOOK.read_text())
    execute(notebook)
    out.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
