-- The log's timeline holds every usable message, once; without it, none.
with messages as (
    select message_id
    from {{ ref('ssb_messages') }}
    where is_usable and {{ var('log_timeline') }}
),

events as (
    select message_id
    from {{ ref('timeline_events') }}
    where timeline_id = 'ssb:log' and line is null
)

{{ differences('messages', 'events') }}
