-- Report, bases: the observers of a base, and the lengths of their orders and of their settled prefixes.
select
    observer,
    count(*) as total,
    count(*) filter (where is_confirmed) as settled
from autobase_views
where base_id = $base
group by observer
order by observer <> 'all', observer
limit 20
