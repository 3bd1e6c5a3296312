{#- The rows of a relation, with `is_repeated`: whether another has the same key. Where hardly any row is, whoever compares
    those that share a key sorts a few rows, and not all of them with all their columns. -#}
{% macro mark_repeated(rows, key) -%}
{#- The few are on the left: there are engines that hold the left side of a join in memory. -#}
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
