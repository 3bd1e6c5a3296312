{#- CTEs, of which the last has the usable messages of the SSB log as arrivals of `ssb:log`, the timeline of the whole log. A
    message follows the signed previous of its feed, and the ids that its claims without a defect list. -#}
{% macro define_log_arrivals() -%}
{%- set limit = var('max_previous') -%}
log_claims as (
    select
        message_id,
        author,
        received_ms,
        array_compact(array(previous_id)) as latest,
        filter(tangle_claims, claim -> claim.defect is null) as claims
    from {{ ref('ssb_messages') }}
    where
        is_usable
        and {{ var('log_timeline') != false }}
        and 'ssb:log' in (select timeline_id from {{ ref('int_timeline_sizes') }} where not is_too_large)
        and {{ is_changed("'ssb:log'", ref('int_timeline_versions')) }}
),

log_causes as (
    select
        message_id,
        author,
        received_ms,
        latest,
        array_distinct(
            flatten(
                transform(
                    claims, claim -> array_compact(concat(array(claim.root_id), coalesce(claim.previous, array())))
                )
            )
        ) as listed,
        -- Every previous follows its root, so a root is a cause of its own only where it stands alone.
        array_distinct(
            flatten(
                transform(
                    claims,
                    claim -> if(
                        size(array_except(coalesce(claim.previous, array()), array(claim.root_id))) = 0,
                        array_compact(array(claim.root_id)),
                        array_except(claim.previous, array(claim.root_id))
                    )
                )
            )
        ) as counted
    from log_claims
),

log_limited as (
    select
        *,
        -- The backlink of the feed comes first, then the least ids that count, then roots that these imply. Its own id
        -- takes no place; the kernel leaves out that link.
        {% if limit is none -%}
        cast(array() as array<string>)
        {%- else -%}
        slice(
            array_remove(
                concat(
                    array_sort(array_except(counted, latest)),
                    array_sort(array_except(array_except(listed, counted), latest))
                ),
                message_id
            ),
            {{ limit }} + 1 - size(array_remove(latest, message_id)),
            size(listed)
        )
        {%- endif %} as beyond_limit
    from log_causes
),

log_arrivals as (
    select
        'ssb:log' as timeline_id,
        message_id as event_id,
        {{ merge_causes('array_except(listed, beyond_limit)', 'latest', "'unproven_feed'") }},
        array_intersect(beyond_limit, counted) as left_out_causes,
        author,
        cast(null as bigint) as arrival,
        received_ms,
        cast(null as string) as refusal,
        cast(null as string) as source_file,
        cast(null as bigint) as line
    from log_limited
)
{%- endmacro %}
