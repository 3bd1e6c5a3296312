"""Judges and reduces whole pzp sets: the kernel of `int_set_messages`."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dbt_tangles.algorithms.set.reduction import reduce_rows
from dbt_tangles.algorithms.set.schemas import SetEntry, SetMessage
from dbt_tangles.algorithms.set.validity import validity
from dbt_tangles.columns.arrays import flags
from dbt_tangles.kernel_runtime.kernel import kernel
from dbt_tangles.reasons import PzpReason, SetReason

_COPIED = ("set_id", "message_id", "account", "domain", "is_moot", "depth", "has_data", "awaited_ids")


@kernel(keys=["set_id"], reads=SetEntry, writes=SetMessage)
def reduce_entries(table: pa.Table, ghost_span: int, is_trusted: bool) -> dict[str, Any]:
    """Validate the messages of whole sets, and reduce each set to its valid and held messages.

    Args:
        table: The rows.
        ghost_span: As in `reduce_rows`.
        is_trusted: Whether the log is a replica's own. The replica validated its messages at arrival, so every readable
            message is in its set.
    """
    verdicts = _accept_all_readable(table) if is_trusted else validity(table)
    # A valid message whose data the set does not read is held: peers link to it, and it changes no item.
    is_unread = pa.array(verdicts["is_valid"].to_numpy() & flags(table, "has_data") & ~flags(table, "is_set_shape"))
    is_valid = pc.and_not(verdicts["is_valid"], is_unread)
    is_held = pc.or_(verdicts["is_held"], is_unread)
    reason = pc.if_else(is_unread, pa.scalar(SetReason.BAD_SET_DATA.value), verdicts["reject_reason"])
    is_in = np.asarray(pc.or_(is_valid, is_held))
    judged = {"is_valid": is_valid, "reject_reason": reason, "is_held": is_held}
    return {name: table[name] for name in _COPIED} | judged | reduce_rows(table, is_in, ghost_span)


def _accept_all_readable(table: pa.Table) -> pa.Table:
    """Accept every readable message, but none of a set whose root is no moot; hold those of sets without their root."""
    reasons = pc.coalesce(table["reject_reason"], table["defect"])
    is_no_feed = pc.and_not(pc.equal(table["message_id"], table["set_id"]), table["is_moot"].fill_null(False))
    no_feeds = table["set_id"].filter(pc.and_(reasons.is_null(), is_no_feed))
    of_no_feed = pc.and_(reasons.is_null(), pc.is_in(table["set_id"], value_set=no_feeds.combine_chunks()))
    reasons = pc.if_else(of_no_feed, pa.scalar(PzpReason.NOT_A_FEED.value), reasons)
    is_read = reasons.is_null()
    has_root = table["has_root"].fill_null(False)
    is_held = pc.and_not(is_read, has_root)
    reasons = pc.if_else(is_held, pa.scalar(PzpReason.MISSING_ROOT.value), reasons)
    return pa.table({"is_valid": pc.and_(is_read, has_root), "reject_reason": reasons, "is_held": is_held})
