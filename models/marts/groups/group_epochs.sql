{{ config(enabled=has_groups()) }}

with results as (
    select * from {{ ref('int_group_results') }}
    where row_kind = 'epoch'
),

inits as (
    select * from {{ ref('int_group_messages') }}
    where kind in ('root_init', 'epoch_init')
)

select
    results.group_id,
    results.epoch_id,
    inits.form,
    inits.key_fingerprint,
    coalesce(array_distinct(inits.previous_epochs), cast(array() as array<string>)) as previous_epochs,
    results.depth,
    results.is_tip,
    results.is_preferred,
    results.preference,
    -- Peers decide between two tips only if these share a member, and by a key if neither has all members of the other.
    results.preference not in ('disjoint', 'many_tips')
    and (inits.form = 'peers' or results.preference in ('single_tip', 'subset')) as is_decided_by_peers,
    results.tip_count,
    results.added_count,
    results.excluded_count,
    results.missing_count,
    results.returned_count,
    results.are_missing_listed,
    inits.author,
    inits.author_root,
    inits.group_uri
from results
inner join inits on results.epoch_id = inits.epoch_id
