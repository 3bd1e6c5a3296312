-- Report, feeds: the number of feeds.
select count(*) as n
from feeds
