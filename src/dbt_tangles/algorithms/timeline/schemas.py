"""The Arrow schemas of the timeline kernel: arrivals and published rows as input, places as output."""

import pyarrow as pa

EDIT_TYPE = pa.struct(
    [
        ("batch", pa.int64()),
        ("step", pa.int32()),
        ("from_position", pa.int32()),
        ("to_position", pa.int32()),
    ]
)
#: The columns of a published row, besides its timeline and event.
PUBLISHED_SCHEMA = pa.schema(
    [
        ("reason", pa.string()),
        ("position", pa.int32()),
        ("publication", pa.string()),
        ("previous_publication", pa.string()),
        ("update_step", pa.int32()),
        ("update_from_position", pa.int32()),
        ("update_to_position", pa.int32()),
    ]
)
INPUT_SCHEMA = pa.schema(
    [
        ("timeline_id", pa.string()),
        ("event_id", pa.string()),
        ("causes", pa.list_(pa.string())),
        ("cause_kinds", pa.list_(pa.string())),
        ("left_out_causes", pa.list_(pa.string())),
        ("author", pa.string()),
        ("arrival", pa.int64()),
        ("is_tangle", pa.bool_()),
        ("refusal", pa.string()),
        ("source_file", pa.string()),
        ("line", pa.int64()),
    ]
)
#: The columns that the kernel adds to an arrival.
PLACE_SCHEMA = pa.schema(
    [
        ("edit_batch_size", pa.int32()),
        ("edit_command_limit", pa.int64()),
        ("edits_left_out", pa.string()),
        ("ordinal", pa.int64()),
        ("reason", pa.string()),
        ("rank", pa.int32()),
        ("position", pa.int32()),
        ("is_tip", pa.bool_()),
        ("is_tie_broken", pa.bool_()),
        ("missing_causes", pa.list_(pa.string())),
        ("cyclic_causes", pa.list_(pa.string())),
        ("edits", pa.list_(EDIT_TYPE)),
        ("publication", pa.string()),
        ("previous_publication", pa.string()),
        ("update_step", pa.int32()),
        ("update_from_position", pa.int32()),
        ("update_to_position", pa.int32()),
    ]
)
OUTPUT_SCHEMA = pa.schema([*INPUT_SCHEMA, *PLACE_SCHEMA])
