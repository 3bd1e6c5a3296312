{% macro mark_repeated(rows, key) -%}
{#- The few repeated keys are on the left, because some engines hold the left side of a join in memory. -#}
select
    {{ rows }}.*,
    repeated.{{ key }} is not null as is_repeated
from (
    select {{ key }}
    from {{ rows }}
    group by {{ key }}
    having count(*) > 1
) as repeated
right join {{ rows }} on repeated.{{ key }} = {{ rows }}.{{ key }}
{%- endmacro %}
