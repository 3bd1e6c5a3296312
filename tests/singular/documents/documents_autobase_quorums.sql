-- Every example of a base: where each degree over each node is reached, and through whom.

with through as (
    select
        stated.example,
        stated.node,
        stated.degree,
        sort_array(collect_list(writers.writer)) as writers
    from (
        select
            example,
            node,
            degree,
            explode(split(writers, ' ')) as letter
        from {{ ref('expected_autobase_quorums') }}
    ) as stated
    {{ by_letter('writers', 'letter', 'autobase_fixture_writers') }}
    group by stated.example, stated.node, stated.degree
),

stated as (
    select
        example,
        node,
        substr(node, 1, 1) as letter,
        degree,
        reached_at,
        substr(reached_at, 1, 1) as reached_at_letter
    from {{ ref('expected_autobase_quorums') }}
    where degree <= {{ var('quorum_degrees') }}
),

expected as (
    select
        stated.example as base_id,
        concat(node_writers.writer, ':', cast(substr(stated.node, 2) as int) + 1) as node_id,
        stated.degree,
        concat(at_writers.writer, ':', cast(substr(stated.reached_at, 2) as int) + 1) as reached_at,
        through.writers
    from stated
    inner join through
        on stated.example = through.example and stated.node = through.node and stated.degree = through.degree
    {{ by_letter('node_writers', 'letter', 'autobase_fixture_writers') }}
    {{ by_letter('at_writers', 'reached_at_letter', 'autobase_fixture_writers') }}
),

built as (
    select
        base_id,
        node_id,
        degree,
        reached_at,
        writers
    from {{ ref('autobase_quorums') }}
)

{{ differences('expected', 'built') }}
