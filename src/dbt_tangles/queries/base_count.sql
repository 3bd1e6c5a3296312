-- Report, bases: the number of bases.
select count(*) as n
from autobase_bases
