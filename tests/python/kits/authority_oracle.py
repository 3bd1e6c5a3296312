"""Judges authority by the words of its definition: sets of ids, and a search for each question."""

RANK = ["member", "excluded", "not_yet", "never"]


def oracle(rows: list[dict], is_rule: bool = False) -> dict[str, tuple]:
    """Return the person, kind, epochs, verdict, evidence and refusal of each message of one group without circles."""
    acts = {row["message_id"]: dict(row) for row in rows}
    epochs = _epochs(acts)
    if not epochs:
        return {}
    for row in acts.values():
        if row["epoch_id"] not in epochs:
            row |= {"kind": "post", "persons": None, "epoch_id": None}
    named = {person for row in acts.values() for person in row["persons"] or ()}
    started = {row["author"] for row in acts.values() if row["kind"].endswith("init")}
    for row in acts.values():
        row["is_named"] = row["person_source"] is not None or row["author"] in named
        if row["person_source"] is None and row["author"] in named | started:
            row |= {"person": row["author"], "person_source": "itself"}
    past = {message_id: _past(acts, message_id) for message_id in acts}
    refused: set[str] = set()
    statements = [message_id for message_id, row in acts.items() if is_rule and row["kind"] != "post"]
    for message_id in sorted(statements, key=lambda each: len(past[each])):
        if _answer(acts, past, message_id, refused, epochs)[1] in RANK[1:]:
            refused.add(message_id)
    # What stands after a message is known only now.
    found = {}
    for message_id, row in acts.items():
        answer = _answer(acts, past, message_id, refused, epochs)
        if row["kind"] != "post" or row["is_in_tangle"]:
            is_known = row["is_named"] or answer[1] == "member"
            person = (row["person"], row["person_source"]) if is_known else (None, None)
            found[message_id] = row["kind"], *person, *answer, message_id in refused
    return found


def _epochs(acts: dict) -> dict[str, list]:
    inits = {name: row for name, row in acts.items() if row["kind"].endswith("init")}
    found: dict[str, list] = {}
    while True:
        new = {
            name: [*{*(row["previous_epochs"] or [])}]
            for name, row in inits.items()
            if name not in found
            and (
                (name == row["group_id"] and row["kind"] == "root_init")
                or (name != row["group_id"] and row["previous_epochs"] and {*row["previous_epochs"]} <= found.keys())
            )
        }
        if not new:
            return found
        found |= new


def _past(acts: dict, message_id: str) -> set[str]:
    past, waiting = set(), [message_id]
    while waiting:
        row = acts[waiting.pop()]
        for other in [*(row["previous"] or []), *(row["previous_epochs"] or []), row["epoch_id"], row["group_id"]]:
            if other in acts and other not in past | {message_id}:
                past.add(other)
                waiting.append(other)
    return past


def _earlier(epochs: dict, epoch: str) -> set[str]:
    return {*epochs[epoch]}.union(*(_earlier(epochs, other) for other in epochs[epoch]))


def _answer(acts: dict, past: dict, message_id: str, refused: set[str], epochs: dict) -> tuple:
    row, before = acts[message_id], past[message_id]
    valid = {epoch for epoch in epochs if not ({epoch} | _earlier(epochs, epoch)) & refused}
    statements = {
        name
        for name, other in acts.items()
        if other["kind"] != "post" and other["epoch_id"] in valid and name not in refused
    }
    epoch = row["epoch_id"]
    if row["kind"] == "root_init":
        return [message_id], "member", [message_id]
    if row["kind"] == "post":
        seen = {other for other in valid if other in before}
        places = {other for other in seen if not any(other in _earlier(epochs, later) for later in seen)}
    else:
        places = {"epoch_init": {*epochs[epoch]}, "add": {epoch, *epochs[epoch]}, "exclude": {epoch}}[row["kind"]]
    if row["person"] is None:
        return sorted(places), "unknown_person", []
    if row["kind"] == "add":
        verdict, names = _about(acts, past, message_id, epoch, statements, epochs)
        if verdict == "excluded" and {acts[one]["epoch_id"] for one in names} == {epoch}:
            return sorted(places), verdict, sorted(names)
    found = [_about(acts, past, message_id, place, statements, epochs) for place in places]
    best = min((verdict for verdict, _ in found), key=RANK.index, default="never")
    if best != "member" and not row["is_named"]:
        return sorted(places), "unknown_person", []
    return sorted(places), best, sorted({name for verdict, names in found if verdict == best for name in names})


def _about(acts: dict, past: dict, message_id: str, epoch: str, statements: set[str], previous: dict) -> tuple:
    person, before = acts[message_id]["person"], past[message_id]

    def names(other: str, excluding: bool) -> bool:
        row = acts[other]
        if (row["kind"] == "exclude") != excluding:
            return False
        return person == row["person"] if row["kind"].endswith("init") else person in (row["persons"] or ())

    def last(found: set[str]) -> set[str]:
        return {one for one in found if not any(one in past[other] for other in found)}

    here = {one for one in statements if acts[one]["epoch_id"] == epoch}
    decisive = last({one for one in here & before if names(one, True) or names(one, False)})
    barring = {one for one in decisive if names(one, True)}
    if barring:
        return "excluded", barring
    if decisive:
        return "member", decisive
    earlier = _earlier(previous, epoch)
    barring = last({one for one in statements & before if acts[one]["epoch_id"] in earlier and names(one, True)})
    if barring:
        return "excluded", barring
    pending = {one for one in here - before - {message_id} if names(one, False)}
    return ("not_yet", pending) if pending else ("never", set())
