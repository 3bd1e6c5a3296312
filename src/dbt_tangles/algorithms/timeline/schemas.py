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
        ("received_ms", pa.float64()),
        ("refusal", pa.string()),
        ("source_file", pa.string()),
        ("line", pa.int64()),
    ]
)
#: The columns of an arrival in the output; its receive time ends in its place.
KEPT_SCHEMA = INPUT_SCHEMA.remove(INPUT_SCHEMA.get_field_index("received_ms"))
#: The columns that the kernel adds to an arrival.
PLACE_SCHEMA = pa.schema(
    [
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
OUTPUT_SCHEMA = pa.schema([*KEPT_SCHEMA, *PLACE_SCHEMA])
