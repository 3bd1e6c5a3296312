{{ config(enabled=has_log('ssb_log')) }}

with tangles as (
    select
        tangle_name,
        root_id,
        member_count
    from {{ ref('tangles') }}
    where {{ is_changed('root_id', ref('int_tangle_versions')) }}
),

records as (
    select
        tangles.tangle_name,
        tangles.root_id,
        case
            when records.status is not null then records.status
            when tangles.member_count = 0 then 'missing_root'
            else 'too_large'
        end as status,
        coalesce(
            transform(filter(records.fields, field -> field.is_conflict), field -> field.field),
            cast(array() as array<string>)
        ) as conflicting_fields,
        coalesce(records.tips, cast(array() as array<string>)) as tips,
        coalesce(
            records.left_out,
            cast(
                array() as array<struct<message_id: string, reason: string, fields: array<string>, cause_id: string>>
            )
        ) as left_out
    from tangles
    inner join {{ ref('tangle_types') }} as types on tangles.tangle_name = types.tangle_name
    left join {{ ref('int_records') }} as records
        on tangles.tangle_name = records.tangle_name and tangles.root_id = records.root_id
    where types.reducer is not null
)

select
    tangle_name,
    root_id,
    {{ format_tangle_id() }} as tangle_id,
    status,
    size(conflicting_fields) > 0 as is_conflicted,
    conflicting_fields,
    tips,
    transform(
        filter(left_out, message -> message.reason = 'malformed_field'), message -> message.message_id
    ) as malformed_messages,
    transform(
        filter(left_out, message -> message.reason = 'unresolved_merge'), message -> message.message_id
    ) as unresolved_merges,
    cast(size(left_out) as int) as left_out_count,
    left_out
from records
