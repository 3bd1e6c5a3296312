with blocks as (
    {{- line_blocks(ref('stg_events__lines')) }}
),

members as (
    select
        {{ tangle_timeline_id() }} as timeline_id,
        message_id as event_id,
        if(is_root, cast(array() as array<string>), array_distinct(previous)) as causes,
        author,
        cast(
            row_number() over (
                partition by tangle_name, root_id
                order by received_at asc nulls last, message_id asc
            ) as bigint
        ) as arrival,
        is_root
    from {{ ref('int_tangle_levels') }}
    where set_aside_reason is null
),

events as (
    select
        lines.timeline_id,
        lines.event_id,
        lines.causes,
        lines.author,
        lines.arrival,
        lines.source_file,
        lines.row_id + blocks.first_line as line
    from {{ ref('stg_events__lines') }} as lines
    inner join blocks on lines.source_file = blocks.source_file and lines.block_start = blocks.block_start
    -- A tangle's timeline takes nothing but its members.
    left anti join members on lines.timeline_id = members.timeline_id and members.is_root
    where lines.detail is null
)

select
    timeline_id,
    event_id,
    causes,
    author,
    arrival,
    false as is_tangle,
    {% if var('max_previous') is none -%}
    cast(null as string)
    {%- else -%}
    if(size(causes) > {{ var('max_previous') }}, 'too_many_previous', null)
    {%- endif %} as refusal,
    source_file,
    line
from events

union all

select
    timeline_id,
    event_id,
    causes,
    author,
    arrival,
    true as is_tangle,
    cast(null as string) as refusal,
    cast(null as string) as source_file,
    cast(null as bigint) as line
from members
