{#- The rows hold fingerprints instead of the keys of epochs, which are secret. -#}
with messages as (
    select
        group_id,
        to_json(struct(*)) as message
    from {{ ref('int_group_messages') }}
),

{{ group_versions('messages', 'group_id', ['message']) }}
