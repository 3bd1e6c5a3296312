{{ config(enabled=has_log('ssb_log')) }}

-- A new message on a forked feed would be one more branch of the fork.
select
    author,
    verified_length + 1 as sequence,
    latest_message_id as previous_id,
    status
from {{ ref('feeds') }}
where status <> 'forked'
