"""Reads a drawing in lanes back."""

from dbt_tangles.cli.lanes import NODE

UP, DOWN, LEFT, RIGHT = "│├┤┼╰╯┴", "│├┤┼╭╮┬", "┤┼╯┴╮┬─", "├┼╰┴╭┬─"


def read(rows) -> tuple[set[tuple[str, str]], set[str]]:
    """Read a drawing as somebody does who looks at it: the links, and the nodes with a lane that goes on below."""
    links, going_on = set(), set()
    below: dict[int, set[str]] = {}  # Of each column that a line leaves downwards, whose line it is.
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
