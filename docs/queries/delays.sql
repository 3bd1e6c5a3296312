-- One row per feed: seconds from the asserted time of a message to its receipt, and messages received before that time.
select
    author,
    count(*) as messages,
    median((received_ms - asserted_ms) / 1000) as p50,
    quantile_cont((received_ms - asserted_ms) / 1000, 0.95) as p95,
    max((received_ms - asserted_ms) / 1000) as latest,
    count_if(received_ms < asserted_ms)::int as early
from ssb_messages
where is_usable and received_ms is not null
group by all
order by messages desc, author
