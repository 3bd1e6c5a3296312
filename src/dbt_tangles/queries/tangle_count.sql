-- Report, tangles: the number of tangles other than feeds.
select count(*) as n
from tangles
where tangle_name <> 'ssb:feed'
