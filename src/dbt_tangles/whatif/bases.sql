-- nodes: The consistent nodes of all bases, with at most $most indexers, in the order of their lines.
select
    nodes.base_id, nodes.node_id, nodes.writer, nodes.length::int as length,
    [id for id in walked.previous if id <> ''] as previous, nodes.batch::int as batch,
    list_contains(bases.relayed, nodes.writer) and not list_contains(bases.indexers, nodes.writer) as is_relayed,
    if(is_first, bases.indexers[:$most], null) as indexers, if(is_first, start_lengths.start, null) as start
from (
    select *, row_number() over (partition by graph_id order by node_id) = 1 as is_first
    from walked where set_aside_reason is null and node_id <> ''
) as walked
inner join nodes on walked.graph_id = nodes.base_id and walked.node_id = nodes.node_id
inner join bases on walked.graph_id = bases.base_id
left join (
    select base_id, list(struct_pack(writer := starts.writer, length := start_length::int)) as start
    from starts inner join bases using (base_id) where list_contains(indexers[:$most], starts.writer) group by base_id
) as start_lengths on walked.graph_id = start_lengths.base_id
inner join (
    select base_id, node_id, min(rowid) as place from lines where kind = 'node' and reject_reason is null group by all
) as firsts on walked.graph_id = firsts.base_id and walked.node_id = firsts.node_id
order by place
