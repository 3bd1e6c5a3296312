-- Report, over time: the middle 99% of the times between 1970 and 2100, and the number of messages without such a time.
with timed as (select coalesce(received_ms, asserted_ms) as written from tangle_messages)

select
    quantile_disc(written, 0.005) filter (where written >= 1000 and written < 4102444800000) as first,
    quantile_disc(written, 0.995) filter (where written >= 1000 and written < 4102444800000) as last,
    count(*) filter (where written >= 1000 and written < 4102444800000) as n,
    count(*) - n as without_time
from timed
