{#- For the keys of epochs, which are secret, their fingerprints stand. -#}
with messages as (
    select
        group_id,
        to_json(struct(*)) as message
    from {{ ref('int_group_messages') }}
),

{{ group_versions('messages', 'group_id', ['message']) }}
