"""Timelines of SSB logs, where feeds and tangles merge: links, ranks and orders against a few plain lines.

Source: ScuttleSort 2022-05-09, sections 1 and 1.1.
"""

import random
from collections import defaultdict

import pytest

import timeline_oracle as oracle
from fixtures.ssb.author import Author, Message, to_line

LOG = "ssb:log"
WIDEST = 16
TABLES = ("timeline_events", "timeline_links", "timeline_edits", "timeline_stats", "timeline_updates")
SELECTED = ("--select", *(f"+{table}" for table in (*TABLES, "timeline_rejects", "tangle_messages", "tangle_edges")))
MOST = 2


def expected_links(built) -> dict[str, dict[str, dict[str, str]]]:
    """Compute the links of each event of each timeline from messages and tangles, without a limit."""
    messages = [row for row in built.rows("ssb_messages") if row["is_usable"]]
    sequence = {row["message_id"]: row["sequence"] for row in messages}
    members, listed = defaultdict(list), defaultdict(lambda: defaultdict(set))
    for row in built.rows("tangle_messages"):
        if row["is_member"]:
            timeline = f"{row['tangle_name']}:{row['root_id']}"
            members[timeline].append(row | {"sequence": sequence[row["message_id"]]})
    for row in built.rows("tangle_edges"):
        listed[f"{row['tangle_name']}:{row['root_id']}"][row["message_id"]].add(row["previous_id"])
    links = {name: oracle.tangle_links(rows, listed[name], WIDEST) for name, rows in members.items()}
    return {LOG: oracle.log_links(messages), **links}


def built_links(built, left_out: bool = True) -> dict[str, dict[str, dict[str, str]]]:
    """Read from the tables the kind of each link of each event, including links that are left out to break cycles."""
    links = defaultdict(dict)
    for row in built.rows("timeline_events"):
        if row["message_id"] is not None:
            causes = dict.fromkeys(row["cyclic_causes"], "feed") if left_out else {}
            links[row["timeline_id"]][row["event_id"]] = causes
    for row in built.rows("timeline_links"):
        if row["timeline_id"] in links:
            assert row["is_known"] == (row["cause_id"] in links[row["timeline_id"]])
            links[row["timeline_id"]][row["event_id"]][row["cause_id"]] = row["kind"]
        else:
            assert row["kind"] == "given"
    return dict(links)


def check_orders(built) -> None:
    places = defaultdict(dict)
    for row in built.rows("timeline_events"):
        places[row["timeline_id"]][row["event_id"]] = (row["rank"], row["position"])
    for timeline, links in built_links(built, left_out=False).items():
        known = {event: set(causes) for event, causes in links.items()}
        rank = oracle.ranks(known)
        order = sorted(known, key=lambda event, rank=rank: (rank[event], event))
        assert places[timeline] == {event: (rank[event], position) for position, event in enumerate(order)}


def test_links_of_the_fixtures(fixtures):
    assert built_links(fixtures) == expected_links(fixtures)
    check_orders(fixtures)
    rows = [row for row in fixtures.rows("timeline_links")]
    assert {(row["timeline_id"] == LOG, row["kind"]) for row in rows if row["kind"] != "given"} == {
        (is_log, kind) for is_log in (True, False) for kind in ("feed", "tangle", "both")
    }
    assert {row["is_known"] for row in rows if row["timeline_id"] == LOG} == {True, False}


def test_contents_of_the_fixtures(fixtures):
    """Each event refers to its content: a message or a line of the event log."""
    usable = {row["message_id"] for row in fixtures.rows("ssb_messages") if row["is_usable"]}
    lines = {(row["source_file"], row["line"]) for row in fixtures.rows("fixture_log") if row["log"] == "event_log"}
    places = defaultdict(set)
    for row in fixtures.rows("timeline_events"):
        if row["message_id"] is None:
            assert (row["source_file"], row["line"]) in lines
            places[row["timeline_id"]].add(row["line"])
        else:
            assert row["message_id"] == row["event_id"] and row["message_id"] in usable
            assert row["source_file"] is row["line"] is None
    assert len(places["figure_2"]) == 12


# ---------------------------------------------------------------------------------------------------------------------
# Hostile feeds


def hostile() -> tuple[list[Message], dict[str, str]]:
    """Sign a log: a feed that contradicts a tangle, a wide fork, a gap; and names of some messages."""
    alice, mallory, forky, time = Author.from_seed("a"), Author.from_seed("m"), Author.from_seed("f"), 0
    log, names = [], {}

    def write(name: str, by: Author, tangle: str = "", root: str = "", after: str = "", **place) -> str:
        nonlocal time
        time += 1
        entry = {"root": names[root], "previous": [names[p] for p in after.split()]} if root else None
        links = {tangle: entry or {"root": None, "previous": None}} if tangle else {}
        message = by.publish({"type": "post", "text": name, "tangles": links}, time, **place)
        log.append(message)
        names[name] = message["key"]
        return message["key"]

    write("root", alice, "chat")
    for number in range(1, 5):
        write(f"m{number}", mallory)
    write("late", mallory, "chat", "root", "root")
    write("b", alice, "chat", "root", "late")
    # It follows b, but its sequence is below that of `late`, which b follows.
    write("early", mallory, "chat", "root", "b", sequence=2, previous=names["m1"])
    write("c", alice, "chat", "root", "root")

    write("start", forky, "fork")
    for number in range(20):
        write(f"side{number}", forky, "fork", "start", "start", sequence=2, previous=names["start"])
    write("after", forky, "fork", "start", "start", sequence=3, previous=names["side0"])
    # m2 is lost.
    return [message for message in log if message["key"] != names["m2"]], names


def wide() -> list[Message]:
    """Sign messages that take turns and list, in a tangle, the root and up to four earlier messages."""
    by = {name: Author.from_seed(f"wide {name}") for name in "abc"}
    log = [by["a"].publish({"type": "post", "text": "root", "tangles": {"w": {"root": None, "previous": None}}}, 1)]
    rng = random.Random(3)
    for time, name in enumerate("abcabcacbbcacabcbacb", start=2):
        previous = sorted({message["key"] for message in rng.choices(log, k=rng.randint(1, 4))})
        entry = {"root": log[0]["key"], "previous": previous}
        log.append(by[name].publish({"type": "post", "text": str(time), "tangles": {"w": entry}}, time))
    return log


@pytest.fixture(scope="module")
def deliveries(project):
    """Build both logs in two opposite orders of receipt, with other vars for the log's timeline and for edits.

    The third build has the order of receipt of the first.
    """
    log, names = hostile()
    log += wide()
    names["wide"] = log[-21]["key"]
    found = []
    order = {"max_previous": MOST}
    each = (order | {"log_timeline": "full"}, {"log_timeline": False, "edit_limit": 5}, order)
    for number, variables in enumerate(each):
        received = [message | {"timestamp": (1, -1, 1)[number] * place} for place, message in enumerate(log)]
        made = project(f"merged{number}", **variables).given(ssb_log=list(map(to_line, received)))
        found.append(made.run(*SELECTED))
    return names, found


def test_hostile_links(deliveries):
    """Only the contradicting links of the feed are left out; the order of the others is unchanged."""
    names, (built, *_) = deliveries
    check_orders(built)
    left_out = {row["event_id"]: row["cyclic_causes"] for row in built.rows("timeline_events") if row["cyclic_causes"]}
    assert left_out == {names["late"]: [names["early"]]}
    links = built_links(built, left_out=False)
    chat, fork = links[f"chat:{names['root']}"], links[f"fork:{names['start']}"]
    assert chat[names["c"]] == {names["root"]: "tangle", names["b"]: "feed"}
    assert len(fork[names["after"]]) == WIDEST + 1
    missing = {row["event_id"]: row["missing_causes"] for row in built.rows("timeline_events") if row["missing_causes"]}
    assert missing == {names["m3"]: [names["m2"]]}


def test_deliveries_agree(deliveries):
    """Messages that arrive in the opposite order get the same links and places."""
    _, (first, second, _) = deliveries
    places = [
        {
            (row["timeline_id"], row["event_id"]): (row["rank"], row["position"], row["is_tip"], row["cyclic_causes"])
            for row in built.rows("timeline_events")
            if row["timeline_id"] != LOG
        }
        for built in (first, second)
    ]
    assert places[0] == places[1]
    assert {name: links for name, links in built_links(first).items() if name != LOG} == built_links(second)


def test_an_order_only(deliveries):
    """By default the log's timeline has the same order, but neither links nor scripts; the other timelines have all."""
    _, (full, _, order) = deliveries

    def sorted_rows(built, table: str, *without: str) -> list[str]:
        rows = [row for row in built.rows(table) if row["timeline_id"] not in without]
        return sorted(map(repr, rows))

    assert sorted_rows(order, "timeline_events") == sorted_rows(full, "timeline_events")
    for table in ("timeline_links", "timeline_edits", "timeline_updates"):
        of_tangles = sorted_rows(full, table, LOG)
        assert sorted_rows(order, table) == of_tangles and len(of_tangles) < len(sorted_rows(full, table))
    stats, of_log = ({row["timeline_id"]: row for row in built.rows("timeline_stats")} for built in (order, full))
    assert stats.pop(LOG) == of_log.pop(LOG) | {
        **{"edit_count": 0, "edits_per_event": 0.0, "limit_reason": "order_only"},
        **dict.fromkeys(("edits_p50", "edits_p95", "edits_p99", "edits_max")),
    }
    assert stats == of_log


@pytest.mark.long
def test_a_new_limit_publishes_the_log_again(project):
    """The publication of the tangle stays, whatever the order of receipt."""
    built, found = project("merged_limit", log_timeline="full"), []
    for direction, limit in ((1, None), (-1, 1)):
        built.vars["max_previous"] = limit
        lines = [to_line(row | {"timestamp": direction * n}) for n, row in enumerate(wide())]
        built.given(ssb_log=lines).run(*SELECTED)
        found.append({row["timeline_id"]: row["publication"] for row in built.rows("timeline_stats")})
    assert [name for name in found[0] if found[0][name] != found[1][name]] == [LOG] and len(found[1]) == 2


@pytest.mark.long
def test_from_all_rows_to_an_order_and_back(project):
    """The script from the order before is written for the log's timeline whenever the var asks for it."""
    built, lines, found = project("merged_var"), list(map(to_line, wide())), []
    for count, value in ((-2, "full"), (-1, "order"), (None, "full")):
        built.vars["log_timeline"] = value
        built.given(ssb_log=lines[:count]).run(*SELECTED)
        (stats,) = (row for row in built.rows("timeline_stats") if row["timeline_id"] == LOG)
        updates = [row for row in built.rows("timeline_updates") if row["timeline_id"] == LOG]
        found.append((stats["publication"], {row["previous_publication"] for row in updates}, stats["limit_reason"]))
    assert [found[0][1:], found[1][1:], found[2][1:]] == [({None}, None), (set(), "order_only"), ({found[1][0]}, None)]
    assert built_links(built) == expected_links(built)


def test_no_log_timeline_and_few_edits(deliveries):
    names, (first, second, _) = deliveries
    chat, fork, wide = f"chat:{names['root']}", f"fork:{names['start']}", f"w:{names['wide']}"
    assert {row["timeline_id"] for row in first.rows("timeline_edits")} == {LOG, chat, fork, wide}
    assert {row["timeline_id"] for row in second.rows("timeline_events")} == {chat, fork, wide}
    assert {row["timeline_id"] for row in second.rows("timeline_edits")} == {chat}
    counts = {row["timeline_id"]: (row["event_count"], row["edit_count"]) for row in second.rows("timeline_stats")}
    assert counts[fork] == (22, 0) and counts[chat][1] >= counts[chat][0] == 5
