-- Report, records: the first 100 records, those in conflict first, then those with messages that do not count.
select
    tangle_name,
    root_id,
    status,
    is_conflicted,
    conflicting_fields,
    left_out_count,
    count(*) over () as total,
    count(*) filter (where is_conflicted) over () as conflicted,
    count(*) filter (where left_out_count > 0 or status <> 'reduced') over () as faulty,
    tips[1:20] as tips,
    len(tips) as tips_total,
    malformed_messages[1:20] as malformed_messages,
    len(malformed_messages) as malformed_messages_total,
    unresolved_merges[1:20] as unresolved_merges,
    len(unresolved_merges) as unresolved_merges_total
from records
order by is_conflicted desc, left_out_count desc, status, tangle_name, root_id
limit 100
