-- autobase_nodes: The nodes of the bases of `within`.
select * from autobase_nodes where base_id in (select id from within)
-- autobase_rejects: Their rejected lines.
select * from autobase_rejects where base_id in (select id from within)
-- autobase_links: Their links.
select * from autobase_links where base_id in (select id from within)
-- autobase_next: What their next nodes need.
select * from autobase_next where base_id in (select id from within)
-- autobase_unsettled: What their nodes wait for.
select * from autobase_unsettled where base_id in (select id from within)
-- autobase_views: Their order for an observer of all nodes.
select * from autobase_views where base_id in (select id from within) and observer = 'all'
-- autobase_confirmations: The nodes that settle or delay nodes of this order.
select * from autobase_confirmations where base_id in (select id from within) and observer = 'all'
-- expected: The values of the queries about some nodes.
select distinct node_id as id, node_id as value, base_id as base from (
    select node_id, base_id from autobase_nodes union all select node_id, base_id from autobase_rejects
) where node_id in (select unnest($ids))
