-- Report, verdict: the missing message whose arrival makes the most messages members of tangles.
select
    missing_id as id,
    sum(unlocks)::bigint as n
from (
    select
        missing_id,
        root_id,
        max(unlocks) as unlocks
    from tangle_missing
    where (is_sealed or not is_in_log) and unlocks > 0
    group by missing_id, root_id
) as of_roots
group by missing_id
order by n desc, id
limit 1
