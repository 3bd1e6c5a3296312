{{ config(enabled=has_log('ssb_log')) }}

{#- A feed is a tangle too: its chain, with the first message as root. -#}
with roots as (
    select
        author,
        message_id as root_id
    from {{ ref('feed_messages') }}
    where in_chain and sequence = 1 and {{ is_changed('message_id', ref('int_tangle_versions')) }}
)

select
    chain.author,
    chain.sequence,
    chain.message_id,
    roots.root_id,
    lag(chain.message_id) over (partition by chain.author order by chain.sequence) as previous_id,
    coalesce(
        messages.asserted_ms < lag(messages.asserted_ms) over (partition by chain.author order by chain.sequence), false
    ) as is_misordered,
    coalesce(
        messages.received_ms < lag(messages.received_ms) over (partition by chain.author order by chain.sequence), false
    ) as is_received_misordered
from {{ ref('feed_messages') }} as chain
inner join roots on chain.author = roots.author
inner join {{ ref('ssb_messages') }} as messages on chain.message_id = messages.message_id
where chain.in_chain
