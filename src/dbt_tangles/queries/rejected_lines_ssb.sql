-- Report, rejected lines: the first 100 rejected lines of each reason in the SSB log.
select
    source_file,
    line,
    reason,
    detail,
    message_id as id,
    line_count,
    sum(greatest(line_count, 1)) over ()::bigint as lines,
    count(*) over () as n
from ssb_rejects
qualify row_number() over (partition by reason order by source_file, line, detail) <= 100
order by source_file, line, reason
