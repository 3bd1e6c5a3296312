{{ config(enabled=has_log('pzp_log')) }}

with entries as (
    select
        set_id,
        message_id,
        to_json(struct(*)) as entry
    from {{ ref('int_set_entries') }}
),

{{ group_versions('entries', 'set_id', ['message_id', 'entry']) }}
