"""Reads the links of a drawing in lanes."""

from dbt_tangles.cli.lanes import NODE

UP, DOWN, LEFT, RIGHT = "│├┤┼╰╯┴", "│├┤┼╭╮┬", "┤┼╯┴╮┬─", "├┼╰┴╭┬─"


def read(rows) -> tuple[set[tuple[str, str]], set[str]]:
    """Return the links of a drawing, and the nodes with a lane that continues below it."""
    links, going_on = set(), set()
    below: dict[int, set[str]] = {}  # For each column with a line below, the nodes of that line.
    last = None
    for row in rows:
        cells = row.cells[::2]
        if row.node is not None:
            column = cells.index(NODE)
            links |= {(child, row.node) for child in below.pop(column, ())}
            assert all(at in below for at, cell in enumerate(cells) if cell == "│")
            below = {at: whose for at, whose in below.items() if at < len(cells) and cells[at] == "│"}
            below[column] = {row.node}
            last = column, row.node
        elif "⋮" in cells:
            for at, cell in enumerate(cells):
                if cell == "⋮":
                    going_on |= below[at]
            below = {}
        else:
            column, node = last
            for at, cell in enumerate(cells):
                linked = cell not in "│─ "
                if at == column:
                    assert linked
                    if cell not in DOWN:
                        del below[at]
                elif linked:
                    assert cell in DOWN and (cell in UP) == (at in below)
                    below.setdefault(at, set()).add(node)
            gaps = row.cells[1::2].ljust(len(cells), " ")
            for at, cell in enumerate(cells):
                if cell not in "│ ":
                    assert (gaps[at] == "─") == (cell in RIGHT)
                    assert (at > 0 and gaps[at - 1] == "─") == (cell in LEFT)
    return links, going_on
