"""Drawings in lanes: what is drawn can be read back, and says what the graph does."""

from hypothesis import given
from hypothesis import strategies as st

from dbt_tangles.ask.lanes import NODE, draw, order

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


@st.composite
def graphs(draw_):
    """Nodes, each with some of those before it as parents, and some that are nowhere."""
    size = draw_(st.integers(1, 14))
    parents = {}
    for number in range(size):
        known = draw_(st.lists(st.integers(0, number - 1), max_size=5)) if number else []
        lost = draw_(st.lists(st.sampled_from(["x", "y"]), max_size=1))
        parents[f"n{number}"] = [f"n{each}" for each in known] + lost
    return parents


@given(graphs())
def test_what_is_drawn_is_the_graph(parents):
    keys = {node: (0, node) for node in parents}
    nodes = order(keys, parents)
    assert sorted(nodes) == sorted(parents)
    place = {node: at for at, node in enumerate(nodes)}
    links = {(node, parent) for node in parents for parent in parents[node]}
    within = {link for link in links if link[1] in parents}
    assert all(place[child] < place[parent] for child, parent in within)
    drawn, going_on = read(list(draw(nodes, parents)))
    # A node that nothing follows and that follows nothing has no line; all other lines end where they must.
    assert drawn == within
    assert going_on == {child for child, parent in links if parent not in parents}


@given(st.dictionaries(st.sampled_from("abcde"), st.lists(st.sampled_from("abcde"), max_size=3)))
def test_cycles_are_drawn_somehow(parents):
    nodes = order({node: (node,) for node in parents}, parents)
    assert sorted(nodes) == sorted(parents)
    assert [row.node for row in draw(nodes, parents) if row.node] == nodes


def picture(parents: dict[str, str]) -> str:
    """Draw a graph given as strings of letters."""
    keys = {node: (node,) for node in parents}
    rows = draw(order(keys, parents), parents)
    return "\n".join(f"{row.cells} {row.node}" if row.node else row.cells for row in rows)


def test_a_fork_and_a_merge():
    assert picture({"a": "", "b": "a", "c": "a", "d": "bc"}) == "\n".join(
        ["● d", "├─╮", "● │ b", "│ ● c", "├─╯", "● a"],
    )


def test_lines_that_pass():
    assert picture({"a": "", "b": "a", "c": "", "d": "c", "e": "cba"}).splitlines()[:2] == ["● e", "├─┬─╮"]


def test_who_has_nothing_below_stands_aside():
    """One upon the other they would look linked."""
    assert picture({"a": "", "b": "", "c": ""}) == "● c\n  ● b\n● a"


def test_what_is_left_out_goes_on():
    assert picture({"a": "xy"}) == "● a\n├─╮\n⋮ ⋮"
