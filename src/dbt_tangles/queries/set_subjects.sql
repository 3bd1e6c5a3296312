-- Report, sets: the list of sets, those with the most invalid messages first, then the largest.
with counted as (
    select
        set_id,
        account,
        domain,
        root_status,
        message_count,
        invalid_count,
        max_depth,
        len(items) as item_count,
        len(item_roots) as item_root_count,
        len(tips) as tip_count,
        invalid_count > 0 or root_status <> 'present' as is_troubled
    from sets
),

ranked as (
    select
        *,
        count(*) over () as total,
        row_number() over (order by message_count desc, set_id) as size_rank,
        case
            when is_troubled then row_number() over (partition by is_troubled order by invalid_count desc, set_id)
        end as trouble_rank
    from counted
)

select
    total,
    set_id,
    domain,
    item_count,
    {
        'messages': message_count,
        'not valid': invalid_count,
        'items': item_count,
        'item roots': item_root_count,
        'greatest depth': max_depth,
        'tips': tip_count,
        'root': root_status
    } as facts,
    {
        'key': set_id,
        'title': coalesce(nullif(domain, ''), 'domain not known'),
        'name': 'set',
        'id': set_id,
        'size': message_count,
        'trouble': coalesce(invalid_count, 0),
        'facts': format('{:,}', coalesce(message_count, 0)) || if(message_count = 1, ' message', ' messages')
            || ', ' || format('{:,}', coalesce(item_count, 0)) || if(item_count = 1, ' item', ' items')
    } as entry
from ranked
where size_rank <= $subjects or trouble_rank <= $subjects
order by case when trouble_rank <= $subjects then trouble_rank else $subjects + size_rank end
