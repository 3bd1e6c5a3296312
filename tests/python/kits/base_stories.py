"""Writes hostile bases as lines of a log, with the expected result of each line.

`fixtures/autobase` has an example of each rule, and `autobase/test_autobase_check.py` more lines that are refused.
"""

from autobase_lines import MAX, to_line
from autobase_oracle import Id, Node
from base_builds import HostileLog, key_of
from hostile_lines import MAX_LINE_BYTES, ODD, broken, random_bytes

A, B, C, D, E, F = (letter * 64 for letter in "abcdef")


def add_starts(log):
    """Add lengths settled before, huge lengths, and the limits of 32 bits."""
    log.base("started", start={A: 2, D: 0, E: 3})
    log.nodes("started", "before_start", "a1:c9,d9", "a1", "a2")
    log.nodes("started", None, "a3:e1,b3", "a4:e3", "b4:a1", "b5:a4,c7", "c8:a2")
    log.nodes("started", "hole", "d2", "e5")
    log.known["started"].floor |= {key_of("b"): 3, key_of("c"): 7}

    log.base("huge", start={A: MAX, B: MAX - 1, D: MAX})
    log.node("huge", f"a{MAX}", f"b{MAX}", reason="before_start")
    log.node("huge", "a1", reason="before_start")
    log.node("huge", f"b{MAX}", f"a{MAX} d{MAX}")
    log.node("huge", f"c{MAX - 1}", f"b{MAX - 1}")
    log.node("huge", f"c{MAX}", f"b{MAX}")
    log.known["huge"].floor[key_of("c")] = MAX - 2
    log.base("huge and fresh")
    log.node("huge and fresh", f"a{MAX}", reason="hole")
    log.node("huge and fresh", "b1", f"a{MAX}", reason="previous_set_aside")
    log.node("huge and fresh", "c1", f"a{MAX - 1}", reason="missing_head")


def add_conflicts(log):
    """Add conflicting statements about a base: the smallest counts, compared by indexers first."""
    log.base("conflict", "bc", reason="conflicting_base")
    log.base("conflict", "ab", relayed=[D], reason="conflicting_base")
    log.base("conflict", "ab", start={}, reason="conflicting_base")
    log.base("conflict", "ab", start={C: 0}, reason="conflicting_base")
    log.base("conflict", "ab")
    log.base("conflict", "ba", relayed=[])
    log.good("conflict", to_line({"base": "conflict", "indexers": [B.upper(), A, B, A.upper()]}, relayed=None, more=7))
    log.base("conflict", "abc", reason="conflicting_base")
    log.nodes("conflict", None, "a1", "b1:a1")


NAMES = dict.fromkeys([*filter(None, ODD), "all", "autobase", ":", "a:1", "*", "\uffff\U0010ffff", "a" * 100_000])


def add_names(log):
    """Add bases with names that SQL, Jinja, Python, a shell or a file system interprets; all stay distinct."""
    for name in NAMES:
        log.base(name, "ab")
        log.node(name, "a1", value={name: name})
        log.node(name, "b1", "a1", value=None)


VALUES = {
    '"\\ud800"': '"\\ud800"',
    "1e999": "1e999",
    "-1e400": "-1e999",
    "[" * 5000 + "1" + "]" * 5000: "[" * 5000 + "1" + "]" * 5000,
    '{"b": 1, "a": {"z": [], "": null}}': '{"a":{"":null,"z":[]},"b":1}',
    "false": "false",
    "0": "0",
    '""': '""',
    '"\\u0000"': '"\\u0000"',
    '"\\u0041{{ 1/0 }}"': '"A{{ 1/0 }}"',
    '"' + "x" * 1_500_000 + '"': '"' + "x" * 1_500_000 + '"',
}


def add_values(log):
    """Add values that printers or parsers often get wrong."""
    log.base("values", "a")
    for at, text in enumerate(VALUES, start=1):
        line = to_line({"base": "values", "writer": A, "length": at, "heads": []}, value=0)
        i = Id(key_of("a"), at)
        log.good(("values", i), line.replace(b'"value": 0', b'"value": ' + text.encode()))
        log.known["values"].nodes[i] = Node(i)


WIDE = [f"{number:064x}" for number in range(10_000)]


def add_wide(log):
    """Add nodes with many heads: unknown, settled before, and present; and bases with many indexers."""
    heads = [[key, 1] for key in WIDE]
    log.base("wide", "a", relayed=[F])
    log.node("wide", "a1")
    log.bad("unknown_writer", to_line({"base": "wide", "writer": A, "length": 2, "heads": heads}))
    log.bad(
        "missing_head", to_line({"base": "wide", "writer": B, "length": 1, "heads": [[key, 2] for key in WIDE[:500]]})
    )
    for key in reversed(WIDE[:500]):
        i = Id(bytes.fromhex(key), 1)
        log.good(("wide", i), to_line({"base": "wide", "writer": key, "length": 1, "heads": []}))
    i = Id(key_of("c"), 1)
    log.good(("wide", i), to_line({"base": "wide", "writer": C, "length": 1, "heads": heads[:500]}))

    log.base("wide start", "a", start=dict.fromkeys(WIDE, 1))
    i = Id(key_of("a"), 1)
    log.good(("wide start", i), to_line({"base": "wide start", "writer": A, "length": 1, "heads": heads}))
    log.known["wide start"].nodes[i] = Node(i)

    log.good("wide indexers", to_line({"base": "wide indexers", "indexers": [*WIDE, A]}))
    log.good(("wide indexers", i), to_line({"base": "wide indexers", "writer": A, "length": 1, "heads": []}))


def add_roles(log):
    """Add bases without nodes, without indexers, and with relayed writers."""
    log.base("empty")
    log.base("nobody", "")
    log.base("no indexers", "")
    log.nodes("no indexers", None, "b1", "a1", "a2:b1")
    log.base("one indexer", "b", relayed=[E, F.upper()])
    log.node("one indexer", "e1", is_relayed=True)
    log.nodes("one indexer", None, "a1:e1", "b1:a1")
    log.node("one indexer", "f1", "b1", is_relayed=True)
    log.node("one indexer", "c1", "f1")
    log.base("only relayed", "a", relayed=[E, F])
    log.node("only relayed", "e1", is_relayed=True)
    log.node("only relayed", "f1", "e1", is_relayed=True)
    log.base("capitals", "ab")
    log.node("capitals", "a1", writer=A.upper())
    log.node("capitals", "b1", heads=[[A.upper(), 1]])
    log.known["capitals"].nodes[Id(key_of("b"), 1)] = Node(Id(key_of("b"), 1), (Id(key_of("a"), 1),))
    log.node("capitals", "a2", "b1", writer="aA" * 32)


def add_lines(log):
    """Add long lines, and repeated statements."""
    log.base("lines", "a")
    at = ("lines", Id(key_of("a"), 1))
    log.node("lines", "a1")
    line = to_line({"base": "lines", "writer": A, "length": 1, "heads": [], "value": "a1"})
    log.good(
        at, line.ljust(MAX_LINE_BYTES), line + b"\r", b" \t" + line, line[:-1] + b',"x":[[{}],"; --"],"indexers":7}'
    )
    log.good(at, line.replace(b'"length": 1', b'"length":"x","length":1'), line.replace(b"lines", rb"l\u0069nes"))
    log.bad("bad_length", line.replace(b'"length": 1', b'"length":1,"length":0'))
    log.bad("too_long", line.ljust(MAX_LINE_BYTES + 1))


def hostile_log(folder):
    """Write the whole log, with some lines twice."""
    log = HostileLog(folder)
    broken(log)
    random_bytes(log)
    for add in (add_starts, add_conflicts, add_names, add_values, add_wide, add_roles, add_lines):
        add(log)
    log.repeat(5)
    return log
