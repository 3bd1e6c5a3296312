-- Report, tangles: the list of tangles, those with the most messages set aside first, then the largest.
with counted as (
    select
        tangle_name,
        root_id,
        root_status,
        candidate_count,
        member_count,
        set_aside_count,
        invalid_claim_count,
        author_count,
        depth,
        fork_count,
        merge_count,
        len(tips) as tip_count,
        misordered_pairs,
        set_aside_count + invalid_claim_count as trouble
    from tangles
    where tangle_name <> 'ssb:feed'
),

ranked as (
    select
        *,
        count(*) over () as total,
        row_number() over (order by candidate_count desc, depth desc, tangle_name, root_id) as size_rank,
        case when trouble > 0 then row_number() over (order by trouble desc, tangle_name, root_id) end as trouble_rank
    from counted
)

select
    total,
    tangle_name,
    root_id,
    root_status,
    {
        'members': member_count,
        'set aside': set_aside_count,
        'malformed claims': invalid_claim_count,
        'depth': depth,
        'authors': author_count,
        'tangle forks': fork_count,
        'merges': merge_count,
        'tips': tip_count,
        'links back in time': misordered_pairs,
        'root': root_status
    } as facts,
    {
        'key': tangle_name || ':' || root_id,
        'id': root_id,
        'size': candidate_count,
        'trouble': trouble,
        'facts': format('{:,}', coalesce(member_count, 0)) || if(member_count = 1, ' member', ' members')
            || ', depth ' || format('{:,}', coalesce(depth, 0))
    } as entry
from ranked
where size_rank <= $subjects or trouble_rank <= $subjects
order by case when trouble_rank <= $subjects then trouble_rank else $subjects + size_rank end
