{{ config(enabled=has_groups()) }}

with epochs as (
    select
        group_id,
        epoch_id,
        key_fingerprint
    from {{ ref('group_epochs') }}
),

-- A key that several epochs share does not identify an epoch.
epochs_by_key as (
    select
        group_id,
        key_fingerprint,
        min(epoch_id) as epoch_id
    from epochs
    group by group_id, key_fingerprint
    having count(*) = 1
),

-- Peers write one feed per epoch, which begins with the init if they started the epoch, and one feed for all adds.
group_feeds as (
    select
        messages.author,
        if(
            any_value(feeds.status = 'complete' and feeds.opaque_count = 0)
            and count_if(messages.kind in ('root_init', 'epoch_init')) = 1,
            max(if(messages.kind in ('root_init', 'epoch_init') and messages.sequence = 1, messages.epoch_id, null)),
            null
        ) as epoch_id,
        count_if(messages.kind = 'add') = any_value(feeds.message_count - feeds.opaque_count) as has_only_adds,
        any_value(feeds.status = 'complete' and feeds.opaque_count = 0) as is_whole
    from {{ ref('int_group_messages') }} as messages
    inner join {{ ref('feeds') }} as feeds on messages.author = feeds.author
    group by messages.author
)

select
    messages.message_id,
    messages.author,
    messages.sequence,
    messages.kind,
    case
        when messages.invalid_reason is not null then messages.invalid_reason
        when epochs.epoch_id is not null then null
        when messages.kind in ('root_init', 'epoch_init') then 'unconnected_epoch'
        else 'unknown_epoch'
    end as set_aside_reason,
    messages.form,
    messages.group_id,
    messages.epoch_id,
    messages.is_connected,
    messages.group_uri,
    messages.group_root,
    messages.previous_epochs,
    messages.key_fingerprint,
    messages.feeds,
    messages.author_root,
    messages.unchecked_count,
    coalesce(epochs_by_key.epoch_id, epochs_by_feed.epoch_id) as published_in,
    case
        when epochs_by_key.epoch_id is not null or epochs_by_feed.epoch_id is not null then 'epoch'
        when group_feeds.is_whole and group_feeds.has_only_adds then 'additions'
        else 'unknown'
    end as published_in_kind,
    group_feeds.has_only_adds as is_on_feed_of_adds
from {{ ref('int_group_messages') }} as messages
left join epochs on messages.epoch_id = epochs.epoch_id
left join epochs_by_key
    on messages.group_id = epochs_by_key.group_id and messages.sealed_with = epochs_by_key.key_fingerprint
left join group_feeds on messages.author = group_feeds.author
left join epochs as epochs_by_feed on group_feeds.epoch_id = epochs_by_feed.epoch_id
