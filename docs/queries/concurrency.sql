-- One row per tangle of at least two messages, feeds excluded: pairs of messages of which neither follows the other, and
-- neighbours in the order of the tangle of which neither follows the other.
select
    tangle_name,
    root_id,
    count(*) as messages,
    count(distinct author) as authors,
    (sum(concurrent_count) / 2)::bigint as concurrent_pairs,
    100 * sum(concurrent_count) / (count(*) * (count(*) - 1)) as percent_of_pairs,
    count(tie_broken_with) as ties
from tangle_messages
where is_member and tangle_name <> 'ssb:feed'
group by tangle_name, root_id
having count(*) > 1 and count(concurrent_count) = count(*)
order by messages desc, tangle_name, root_id
