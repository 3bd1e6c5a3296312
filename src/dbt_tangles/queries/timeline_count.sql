-- Report, timelines: the number of timelines.
select count(*) as n
from timeline_stats
