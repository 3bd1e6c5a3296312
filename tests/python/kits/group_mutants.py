"""Makes group messages with junk in each field, with their expected results."""

from group_kit import add, epoch_init, exclude, feed, key_of, place, root_init, uri

REMOVED = object()
JUNK = [REMOVED, None, 7, True, 1.5, "", "x", "\ud800", [], [None], {}, {"root": None}, [[]]]
TEXTS = ("", "x", "\ud800")
G, E, M = (("tangles", name) for name in ("group", "epoch", "members"))


HEADER = {("type",): None, ("version",): "bad_version", ("secret",): "bad_secret"}
ROOT = place(uri("mutants/R"), uri("mutants/R"))


def unless(reason, *harmless):
    """Return the reason of all junk except some values."""
    return lambda junk: (
        None if any(junk is one or (junk == one and type(junk) is type(one)) for one in harmless) else reason
    )


def unless_removed(removed, reason):
    """Return one reason for a removed field, another for other junk."""
    return lambda junk: removed if junk is REMOVED else reason


def fields(path, reason):
    """Return the fields of a tangle with a required root and previous."""
    return {
        path: unless_removed("bad_tangles", reason),
        (*path, "root"): reason,
        (*path, "previous"): reason,
        (*path, "previous", 0): reason,
    }


def nulls(path, reason):
    """Return the fields of a tangle whose root and previous must be null."""
    return {
        path: unless_removed("bad_tangles", reason),
        (*path, "root"): unless(reason, None),
        (*path, "previous"): unless(reason, None),
    }


def group_of_root(junk):
    """Return kind and reason of a root with junk as its group tangle; an object counts as the tangle of a root."""
    return ("root_init", "bad_group_tangle") if type(junk) is dict else ("epoch_init", "bad_recps_count")


def group_of_epoch(junk):
    """Return kind and reason of an epoch with junk as its group tangle."""
    if type(junk) is dict:
        return "root_init", "unknown_key"
    return "epoch_init", "bad_tangles" if junk is REMOVED else "bad_group_tangle"


def root_of_root(junk):
    """Return kind and reason of a root with junk as the root of its group tangle."""
    if junk is None:
        return "root_init", None
    return ("root_init", "bad_group_tangle") if junk is REMOVED else ("epoch_init", "bad_recps_count")


def root_of_epoch(junk):
    """Return kind and reason of an epoch with junk as the root of its group tangle."""
    return ("root_init", "unknown_key") if junk in (None, REMOVED) else ("epoch_init", "bad_group_tangle")


def mutated():
    """Return the valid contents, their kinds, and the expected result of junk by field.

    The result is a reason, or a function of the junk that returns kind and reason. It is None for the field `type`.
    """
    yield from mutated_inits()
    yield from mutated_changes()


def mutated_inits():
    """Return `mutated` of inits."""
    yield (
        "root_init",
        root_init(key_of("mutant")),
        HEADER
        | nulls(E, "bad_epoch_tangle")
        | nulls(M, "bad_members_tangle")
        | {
            ("tangles",): lambda junk: ("epoch_init", "bad_recps_count"),
            G: group_of_root,
            (*G, "root"): root_of_root,
            (*G, "previous"): unless("bad_group_tangle", None),
        },
    )
    yield (
        "epoch_init",
        epoch_init(key_of("mutant"), ROOT, ROOT),
        HEADER
        | fields(E, "bad_epoch_tangle")
        | nulls(M, "bad_members_tangle")
        | fields(G, "bad_group_tangle")
        | {
            ("recps",): "bad_recps_count",
            ("recps", 0): unless_removed("bad_recps_count", "bad_recps"),
            ("recps", 1): unless_removed("bad_recps_count", "bad_recps"),
            ("tangles",): "bad_tangles",
            G: group_of_epoch,
            (*G, "root"): root_of_epoch,
        },
    )


def mutated_changes():
    """Return `mutated` of adds and excludes."""
    yield (
        "add",
        add(key_of("mutants"), ROOT, ROOT, [feed("a"), feed("b")], text="", oldSecrets=[key_of("old")]),
        HEADER
        | fields(G, "bad_group_tangle")
        | fields(M, "bad_members_tangle")
        | {
            ("oldSecrets",): unless("bad_old_secrets", REMOVED, []),
            ("oldSecrets", 0): unless("bad_old_secrets", REMOVED),
            ("root",): "bad_root",
            ("creator",): "bad_creator",
            ("text",): unless("bad_text", REMOVED, *TEXTS),
            ("recps",): "bad_recps_count",
            ("recps", 0): "bad_recps",
            ("recps", 1): unless("bad_recps", REMOVED),
            ("recps", 2): unless("bad_recps", REMOVED),
            ("tangles",): "bad_tangles",
        },
    )
    yield (
        "exclude",
        exclude(ROOT, ROOT, [feed("a"), feed("b")]),
        fields(G, "bad_group_tangle")
        | fields(M, "bad_members_tangle")
        | {
            ("type",): None,
            ("excludes",): "bad_excludes",
            ("excludes", 0): unless("bad_excludes", REMOVED),
            ("excludes", 1): lambda junk: None,
            ("recps",): lambda junk: "bad_recps" if junk in ([None], [[]]) else "bad_recps_count",
            ("recps", 0): unless_removed("bad_recps_count", "bad_recps"),
            ("tangles",): "bad_tangles",
        },
    )
