"""The Arrow columns that `reduce_sets` reads and returns."""

import pyarrow as pa

STRINGS = pa.list_(pa.string())
#: One row per set and message of it; null means false, and an empty list:
#: set_id, message_id  together unique.
#: account, domain     those of the message; additions and deletions count in set domains only.
#: depth, prev         as declared; both are ignored for the root.
#: is_moot             the message is the root of the set. A set without its root lacks an order and items, and all its
#:                     messages are needed.
#: has_data            the data is present.
#: is_set_shape        the data is an object with three arrays; otherwise `add` and `del` are ignored.
#: add, del            item tokens (`formats.pzp.items`).
#: supersedes          the iterable entries of that field of the data, whatever the shape of the other fields.
INPUT_SCHEMA = pa.schema(
    [
        ("set_id", pa.string()),
        ("message_id", pa.string()),
        ("account", pa.string()),
        ("domain", pa.string()),
        ("depth", pa.int64()),
        ("prev", STRINGS),
        ("is_moot", pa.bool_()),
        ("has_data", pa.bool_()),
        ("is_set_shape", pa.bool_()),
        ("add", STRINGS),
        ("del", STRINGS),
        ("supersedes", STRINGS),
    ]
)
ITEM_TYPE = pa.struct(
    [("item_position", pa.int32()), ("item", pa.string()), ("position_left", pa.int32()), ("kept_by", STRINGS)]
)
NEXT_TYPE = pa.struct(
    [("item", pa.string()), ("is_string", pa.bool_()), ("deepest", STRINGS), ("open_deletions", STRINGS)]
)
FAULT_TYPE = pa.struct([("item", pa.string()), ("rule", pa.string()), ("left_out_ids", STRINGS)])
#: The result of each message:
#: position                  from 0, null in a set without root.
#: is_item_root              whether all later messages leave the message standing.
#: is_item_root_by_document  whether all other messages leave it standing.
#: purpose                   see `purposes`.
#: is_tip                    not listed as previous by any message; false in a set without root.
#: is_oldest_standing        the oldest live message of its set, see `oldest_live_message`.
#: items                     the present items that the message inserted, in set order, with `item_position`, the
#:                           position after pruning (`position_left`), and the messages that hold them (`kept_by`, see
#:                           `find_reachability`).
#: writer_faults             items and the messages omitted from `supersedes`, by rule; see `writer_faults`.
#: are_writers_checked       false in a set that exceeds the bounds of that check, and then without faults.
#: action                    see `pruning_actions`.
#: is_pruning_safe           the set keeps its items if only item roots remain.
#: backlink_depth            the depth of the lipmaa backlink, null at a depth without one.
#: is_next_prev              a message on top of all others must list it; false in a set without root.
#: next_items                the shared items that the message decides, each with the equally deep messages on it
#:                           (`deepest`) and those of them that delete it and are not superseded.
OUTPUT_SCHEMA = pa.schema(
    [
        ("position", pa.int32()),
        ("is_item_root", pa.bool_()),
        ("is_item_root_by_document", pa.bool_()),
        ("purpose", pa.string()),
        ("is_tip", pa.bool_()),
        ("is_oldest_standing", pa.bool_()),
        ("items", pa.list_(ITEM_TYPE)),
        ("writer_faults", pa.list_(FAULT_TYPE)),
        ("are_writers_checked", pa.bool_()),
        ("action", pa.string()),
        ("is_pruning_safe", pa.bool_()),
        ("backlink_depth", pa.int64()),
        ("is_next_prev", pa.bool_()),
        ("next_items", pa.list_(NEXT_TYPE)),
    ]
)
