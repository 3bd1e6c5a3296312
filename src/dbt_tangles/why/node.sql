-- nodes: The rows of a node in each base.
select base_id, role, is_ack, depth, is_head, votes from autobase_nodes where node_id = $id
-- rejects: The rejected lines of a node.
select base_id, reason, detail, source_file, line from autobase_rejects where node_id = $id
-- bases: The bases in which a node has links.
select distinct base_id from autobase_links where node_id = $id
-- links: The links from a node of a base, and to it.
select node_id, head_id, kind, is_known, is_before_start from autobase_links
where base_id = $base and (node_id = $id or head_id = $id) order by all limit 200
-- view: The position of a node for an observer of all nodes.
select position, is_confirmed, value from autobase_views
where base_id = $base and observer = 'all' and node_id = $id
-- settled: The nodes that settle or delay a node.
select confirmed_by, contender from autobase_confirmations
where base_id = $base and observer = 'all' and node_id = $id
-- unsettled: What a node waits for.
select reason, contender, awaited_merge, missing_writers from autobase_unsettled
where base_id = $base and node_id = $id
-- next: What the next node of a writer needs.
select length, batch, heads from autobase_next where base_id = $base and writer = $writer
-- reasons: The rejected nodes of a base.
select node_id, min(reason) as reason from autobase_rejects
where base_id = $base and node_id is not null group by node_id order by node_id limit 200000
-- links_of: The links from some nodes.
select node_id, head_id, is_known, is_before_start from autobase_links
where base_id = $base and node_id in (select unnest($ids)) order by all limit 200000
