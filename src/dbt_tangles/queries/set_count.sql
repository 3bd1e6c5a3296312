-- Report, sets: the number of sets.
select count(*) as n
from sets
