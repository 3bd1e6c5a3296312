-- The log's timeline holds every usable message, once; without it, or where it is too large, none.
with usable as (
    select message_id
    from {{ ref('ssb_messages') }}
    where is_usable and {{ var('log_timeline') != false }}
),

sizes as (
    select count(*) as message_count
    from usable
),

messages as (
    select usable.message_id
    from usable
    cross join sizes
    where sizes.message_count <= {{ var('graph_limit') }}
),

events as (
    select message_id
    from {{ ref('timeline_events') }}
    where timeline_id = 'ssb:log' and line is null
)

{{ compare_rows('messages', 'events', ['message_id']) }}
