{#- Length limit of the array that the fold below walks along. -#}
{% set longest_walk = 50000 -%}

with linked as (
    select
        author,
        sequence,
        message_id,
        previous_id
    from {{ ref('int_feed_links') }}
    where is_linked
),

-- The candidates for the chain at each sequence of a feed, counted.
sequences as (
    select
        author,
        sequence,
        count(*) as candidate_count,
        min(message_id) as message_id,
        min(previous_id) as previous_id
    from linked
    group by author, sequence
),

numbered_sequences as (
    select
        *,
        row_number() over (partition by author order by sequence) as step_number,
        lag(message_id) over (partition by author order by sequence) as message_before
    from sequences
),

-- The prefix: sequences 1, 2, 3, … without a hole, one candidate each, each following the one before.
prefixed as (
    select
        author,
        sequence,
        message_id,
        candidate_count,
        min(
            candidate_count = 1 and sequence = step_number and previous_id <=> message_before
        ) over (partition by author order by sequence) as is_in_prefix
    from numbered_sequences
),

-- If several candidates come after the prefix and only one of them follows it, the others belong to a fork, and the
-- first message of the fork is missing from the log. A walk along the previous ids continues the chain between them.
walkable as (
    select
        prefixes.author,
        prefixes.prefix_length,
        prefixes.prefix_tip
    from (
        select
            author,
            max(sequence) as prefix_length,
            max_by(message_id, sequence) as prefix_tip
        from prefixed
        where is_in_prefix
        group by author
    ) as prefixes
    inner join prefixed as ends
        on prefixes.author = ends.author and prefixes.prefix_length + 1 = ends.sequence
    where ends.candidate_count > 1
),

later_sequences as (
    select
        linked.author,
        linked.sequence,
        any_value(walkable.prefix_length) as prefix_length,
        any_value(walkable.prefix_tip) as prefix_tip,
        collect_list(named_struct('previous_id', linked.previous_id, 'message_id', linked.message_id)) as candidates
    from linked
    inner join walkable
        on
            linked.author = walkable.author
            and linked.sequence > walkable.prefix_length
            and linked.sequence <= walkable.prefix_length + {{ longest_walk }}
    group by linked.author, linked.sequence
),

walks as (
    select
        author,
        any_value(prefix_length) as prefix_length,
        aggregate(
            array_sort(collect_list(named_struct('sequence', sequence, 'candidates', candidates))),
            named_struct('chain', cast(array() as array<string>), 'tip', any_value(prefix_tip), 'is_open', true),
            (walk, level) -> if(
                walk.is_open
                and level.sequence = any_value(prefix_length) + size(walk.chain) + 1
                and size(filter(level.candidates, c -> c.previous_id = walk.tip)) = 1,
                named_struct(
                    'chain', array_append(
                        walk.chain, filter(level.candidates, c -> c.previous_id = walk.tip)[0].message_id
                    ),
                    'tip', filter(level.candidates, c -> c.previous_id = walk.tip)[0].message_id,
                    'is_open', true
                ),
                named_struct('chain', walk.chain, 'tip', walk.tip, 'is_open', false)
            ),
            walk -> walk.chain
        ) as chain
    from later_sequences
    group by author
)

select
    author,
    sequence,
    message_id
from prefixed
where is_in_prefix

union all

select
    walks.author,
    cast(walks.prefix_length + walked.place + 1 as int) as sequence,
    walked.message_id
from walks
    lateral view posexplode(walks.chain) walked as place, message_id
