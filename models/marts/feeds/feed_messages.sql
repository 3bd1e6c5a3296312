{{ config(enabled=has_log('ssb_log')) }}

select
    links.message_id,
    links.author,
    links.sequence,
    chain.message_id is not null as in_chain,
    case
        when chain.message_id is not null then null
        when links.sequence <= feeds.verified_length then 'off_chain'
        when links.sequence > feeds.verified_length + 1 then 'after_' || feeds.status
        when links.previous_id <=> feeds.latest_message_id then 'forked'
        else 'bad_link'
    end as reason
from {{ ref('int_feed_links') }} as links
inner join {{ ref('feeds') }} as feeds on links.author = feeds.author
left join {{ ref('int_feed_chain') }} as chain on links.message_id = chain.message_id
