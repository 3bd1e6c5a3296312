with candidates as (
    select
        *,
        count(*) over (partition by tangle_name, root_id) as candidate_count
    from {{ ref('int_tangle_candidates') }}
    where claim_error is null
),

-- A graph is routed before the first round: each round settles a message or ends, so the count bounds the rounds.
routed as (
    select
        tangle_name,
        root_id,
        message_id,
        is_root,
        array_distinct(previous) as previous
    from candidates
    where {{ uses_sql_rounds() }} and {{ is_routed_to_sql('candidate_count') }}
)

select
    tangle_name,
    root_id,
    message_id,
    is_root,
    if(is_root, 0, size(previous)) as previous_count,
    previous_id
from routed
    lateral view outer explode(if(is_root, array(), previous)) edge as previous_id
