select
    chain.author,
    chain.sequence,
    chain.message_id,
    links.asserted_at,
    first_value(chain.message_id) over (partition by chain.author order by chain.sequence) as root_id,
    lag(chain.message_id) over (partition by chain.author order by chain.sequence) as previous_id,
    coalesce(
        links.asserted_at < lag(links.asserted_at) over (partition by chain.author order by chain.sequence), false
    ) as is_misordered
from {{ ref('int_feed_chain') }} as chain
inner join {{ ref('int_feed_links') }} as links on chain.message_id = links.message_id
