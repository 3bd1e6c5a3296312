-- Every example of a set: the set as a whole.
{{ config(enabled=var('verify_signatures') is true and var('set_ghost_span') == 32) }}

with item_roots as (
    select
        stated.example,
        sort_array(collect_list(struct(stated.place, letters.message_id))) as placed
    from (
        select
            example,
            posexplode(split(item_roots, ' ')) as (place, letter)
        from {{ ref('expected_sets') }}
    ) as stated
    {{ by_letter('letters', 'letter', 'pzp_fixture_letters') }}
    group by stated.example
),

tips as (
    select
        stated.example,
        sort_array(collect_list(letters.message_id)) as tips
    from (
        select
            example,
            explode(split(tips, ' ')) as letter
        from {{ ref('expected_sets') }}
    ) as stated
    {{ by_letter('letters', 'letter', 'pzp_fixture_letters') }}
    group by stated.example
),

expected as (
    select
        roots.message_id as set_id,
        stated.root_status,
        stated.message_count,
        stated.invalid_count,
        stated.max_depth,
        from_json(stated.items, 'array<string>') as items,
        coalesce(transform(item_roots.placed, name -> name.message_id), array()) as item_roots,
        stated.min_required_depth,
        stated.min_ghost_depth,
        stated.squeeze_potential,
        coalesce(tips.tips, array()) as tips
    from {{ ref('expected_sets') }} as stated
    inner join {{ ref('pzp_fixture_letters') }} as roots on stated.example = roots.example and roots.letter = 'R'
    left join item_roots on stated.example = item_roots.example
    left join tips on stated.example = tips.example
),

built as (
    select
        set_id,
        root_status,
        message_count,
        invalid_count,
        max_depth,
        items,
        item_roots,
        min_required_depth,
        min_ghost_depth,
        squeeze_potential,
        tips
    from {{ ref('sets') }}
)

{{ differences('expected', 'built') }}
