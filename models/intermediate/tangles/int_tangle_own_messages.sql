{{ config(enabled=has_log('ssb_log')) }}

with members as (
    select
        tangle_name,
        root_id,
        message_id,
        author,
        sequence,
        count(*) over (partition by tangle_name, root_id) > {{ var('ancestor_limit') }} as has_clocks,
        -- The author's latest earlier member.
        max(named_struct('sequence', sequence, 'message_id', message_id)) over (
            partition by tangle_name, root_id, author
            order by cast(sequence as bigint)
            range between unbounded preceding and 1 preceding
        ) as own,
        if(is_root, null, previous) as previous,
        redundant_previous
    from {{ ref('int_tangle_levels') }}
    where set_aside_reason is null
)

select
    members.tangle_name,
    members.root_id,
    members.message_id,
    members.author,
    members.sequence,
    members.has_clocks,
    members.own.message_id as own_id,
    members.own.sequence as own_sequence,
    if(members.own is null, null, members.previous) as previous,
    members.redundant_previous
from members
