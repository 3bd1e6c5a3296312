-- The tangle of a feed has the verified chain for its members, and the latest message for its only tip.
select
    feeds.author,
    tangles.root_id
from {{ ref('feeds') }} as feeds
full join (
    select
        tangles.*,
        edges.edge_count as edges_listed
    from {{ ref('tangles') }} as tangles
    left join (
        select
            root_id,
            count(*) as edge_count
        from {{ ref('tangle_edges') }}
        where tangle_name = 'ssb:feed'
        group by root_id
    ) as edges on tangles.root_id = edges.root_id
    where tangles.tangle_name = 'ssb:feed'
) as tangles on feeds.latest_message_id = tangles.tips[0]
where
    (feeds.verified_length > 0 or tangles.root_id is not null)
    and not (
        feeds.verified_length <=> tangles.member_count
        and feeds.message_count <=> tangles.candidate_count
        and feeds.verified_length - 1 <=> coalesce(tangles.edges_listed, 0)
    )
