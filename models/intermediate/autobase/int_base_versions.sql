{{ config(enabled=has_log('autobase_log')) }}

with lines as (
    select
        base_id,
        kind,
        writer,
        cast(length as string) as length,
        to_json(struct(heads, batch, value, is_ack, indexers, relayed, start)) as content
    from {{ ref('stg_autobase__lines') }}
    where reject_reason is null
),

{{ group_versions('lines', 'base_id', ['kind', 'writer', 'length', 'content']) }}
