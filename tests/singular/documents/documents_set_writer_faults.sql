-- Every example of a set: what writers left out of the messages they supersede.
{{ config(enabled=var('verify_signatures') is true) }}

with lists as (
    select
        stated.example,
        stated.letter,
        stated.item,
        stated.rule,
        sort_array(collect_list(struct(stated.place, names.message_id))) as placed
    from (
        select
            *,
            posexplode(split(left_out, ' ')) as (place, left_out_letter)
        from {{ ref('expected_set_writer_faults') }}
    ) as stated
    {{ by_letter('names', 'left_out_letter', 'pzp_fixture_letters') }}
    group by stated.example, stated.letter, stated.item, stated.rule
),

expected as (
    select
        roots.message_id as set_id,
        letters.message_id,
        stated.item,
        stated.rule,
        transform(stated.placed, name -> name.message_id) as left_out
    from lists as stated
    {{ by_letter('letters', 'letter', 'pzp_fixture_letters') }}
    inner join {{ ref('pzp_fixture_letters') }} as roots on stated.example = roots.example and roots.letter = 'R'
),

built as (
    select
        set_id,
        message_id,
        item,
        rule,
        left_out
    from {{ ref('set_writer_faults') }}
)

{{ differences('expected', 'built') }}
