"""The Arrow columns that `reduce_sets` reads and returns."""

import pyarrow as pa

STRINGS = pa.list_(pa.string())
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
FAULT_TYPE = pa.struct([("item", pa.string()), ("rule", pa.string()), ("left_out", STRINGS)])
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
