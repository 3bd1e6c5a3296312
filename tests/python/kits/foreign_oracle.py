"""Finds foreign excludes by direct search: excludes of a previous epoch from which an epoch's init does not descend."""

from collections import defaultdict


def naive_foreign(rows: list[dict]) -> dict:
    """Return the sorted foreign excludes by group and epoch."""
    groups: dict[str, dict[str, dict]] = defaultdict(dict)
    for row in rows:
        groups[row["group_id"]][row["message_id"]] = row
    found = {}
    for group_id, messages in groups.items():
        epochs = {name for name, row in messages.items() if row["previous_epochs"] is not None}
        for epoch_id in epochs:
            if not messages[epoch_id]["is_member"]:
                continue
            charged = {
                name
                for name, row in messages.items()
                if row["excluded_epoch"] in epochs and row["excluded_epoch"] in messages[epoch_id]["previous_epochs"]
            }
            ancestors, waiting = set(), [epoch_id]
            while waiting:
                for name in messages[waiting.pop()]["previous"] or []:
                    if name in messages and messages[name]["is_member"] and name not in ancestors:
                        ancestors.add(name)
                        waiting.append(name)
            if charged - ancestors:
                found[group_id, epoch_id] = sorted(charged - ancestors)
    return found
