-- Report, records: the numbers of records, of those in conflict, and of those with messages that do not count.
select
    count(*) as total,
    count(*) filter (where is_conflicted) as conflicted,
    count(*) filter (where left_out_count > 0 or status <> 'reduced') as faulty
from records
