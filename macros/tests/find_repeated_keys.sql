{% macro find_repeated_keys(relation, columns, where) -%}
select
    {{ string_literal('unique: ' ~ columns | join(', ')) }} as broken_rule,
    to_json(named_struct({% for column in columns %}'{{ column }}', {{ column }}, {% endfor %}'row_count', count(*))) as failing_row
from {{ relation }}
where
    {%- if where %}
    ({{ where }}) and
    {%- endif %} xxhash64({{ columns | join(', ') }}) in (
        select xxhash64({{ columns | join(', ') }})
        from {{ relation }}
        {%- if where %}
        where {{ where }}
        {%- endif %}
        group by xxhash64({{ columns | join(', ') }})
        having count(*) > 1
    )
group by {{ columns | join(', ') }}
having count(*) > 1
{%- endmacro %}
