-- Every example of a base: the base as a whole.
{{ config(enabled=var('consensus_rule') == 'autobase') }}

with expected as (
    select
        example as base_id,
        indexer_count,
        majority,
        node_count,
        confirmed_length,
        head_count,
        lag,
        status
    from {{ ref('expected_autobase_bases') }}
),

built as (
    select
        base_id,
        indexer_count,
        majority,
        node_count,
        confirmed_length,
        head_count,
        lag,
        status
    from {{ ref('autobase_bases') }}
)

{{ differences('expected', 'built') }}
