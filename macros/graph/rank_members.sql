{% macro rank_members(time) -%}
    if(
        set_aside_reason is null,
        cast(
            row_number() over (
                partition by tangle_name, root_id, set_aside_reason is null
                order by {{ time }} asc nulls last, message_id asc
            ) - 1 as int
        ),
        null
    )
{%- endmacro %}
