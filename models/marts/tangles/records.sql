with types as (
    {{ select_tangle_types() }}
),

tangles as (
    select
        tangle_name,
        root_id,
        member_count
    from {{ ref('tangles') }}
    where {{ is_changed('root_id', ref('int_tangle_versions')) }}
)

select
    tangles.tangle_name,
    tangles.root_id,
    case
        when records.status is not null then records.status
        when tangles.member_count = 0 then 'missing_root'
        else 'too_large'
    end as status,
    coalesce(exists(records.fields, field -> field.is_conflict), false) as is_conflicted,
    coalesce(
        transform(filter(records.fields, field -> field.is_conflict), field -> field.field),
        cast(array() as array<string>)
    ) as conflicting_fields,
    coalesce(records.tips, cast(array() as array<string>)) as tips,
    coalesce(records.malformed_messages, cast(array() as array<string>)) as malformed_messages,
    coalesce(records.unresolved_merges, cast(array() as array<string>)) as unresolved_merges,
    coalesce(records.left_out_count, 0) as left_out_count
from tangles
inner join types on tangles.tangle_name = types.tangle_name
left join {{ ref('int_records') }} as records
    on tangles.tangle_name = records.tangle_name and tangles.root_id = records.root_id
where types.reducer is not null
