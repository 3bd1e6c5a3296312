-- Report, groups: the list of groups, those with the most findings first, then those with the most epochs.
with counted as (
    select
        group_id,
        count(*) as epochs,
        max(depth) as depth,
        max(tip_count) as tips,
        max(preference) as preference,
        bool_and(is_decided_by_peers) as is_decided
    from group_epochs
    group by group_id
),

found as (
    select
        group_id,
        count(*) as findings
    from group_findings
    group by group_id
),

ranked as (
    select
        *,
        count(*) over () as total,
        row_number() over (order by epochs desc, group_id) as size_rank,
        case
            when findings > 0 then row_number() over (order by findings desc nulls last, epochs desc, group_id)
        end as trouble_rank
    from counted left join found using (group_id)
)

select
    total,
    group_id,
    {
        'epochs': epochs,
        'depth': depth,
        'tips': tips,
        'preference': preference,
        'decided by peers': if(is_decided, 'yes', 'no')
    } as facts,
    {
        'key': group_id,
        'name': 'private group',
        'id': group_id,
        'size': epochs,
        'trouble': coalesce(findings, 0),
        'facts': format('{:,}', coalesce(epochs, 0)) || if(epochs = 1, ' epoch', ' epochs')
    } as entry
from ranked
where size_rank <= $subjects or trouble_rank <= $subjects
order by case when trouble_rank <= $subjects then trouble_rank else $subjects + size_rank end
