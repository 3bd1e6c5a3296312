-- Report, bases: the list of bases, incomplete ones and those with the most unsettled nodes first, then the largest.
with counted as (
    select
        base_id,
        node_count,
        confirmed_length,
        lag,
        indexer_count,
        majority,
        head_count,
        status,
        status not in ('ok', 'empty') as is_broken,
        status not in ('ok', 'empty') or lag > 0 as is_troubled
    from autobase_bases
),

ranked as (
    select
        *,
        count(*) over () as total,
        row_number() over (order by node_count desc, base_id) as size_rank,
        case
            when is_troubled
                then row_number() over (partition by is_troubled order by is_broken desc, lag desc, base_id)
        end as trouble_rank
    from counted
)

select
    total,
    base_id,
    {
        'nodes': node_count,
        'settled': confirmed_length,
        'not settled': lag,
        'indexing writers': indexer_count,
        'majority': majority,
        'heads': head_count,
        'status': status
    } as facts,
    {
        'key': base_id,
        'title': base_id,
        'name': 'base',
        'id': status,
        'size': node_count,
        'trouble': if(is_broken, lag, 0),
        'facts': format('{:,}', coalesce(node_count, 0)) || if(node_count = 1, ' node', ' nodes')
            || ', ' || format('{:,}', coalesce(confirmed_length, 0)) || ' settled'
    } as entry
from ranked
where size_rank <= $subjects or trouble_rank <= $subjects
order by case when trouble_rank <= $subjects then trouble_rank else $subjects + size_rank end
