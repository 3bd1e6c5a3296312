{#- The rows that two relations do not share, each with the side it is on. -#}
{% macro differences(expected, actual) -%}
select
    'expected' as side,
    *
from (select * from {{ expected }} except all select * from {{ actual }}) as lacking

union all

select
    'built' as side,
    *
from (select * from {{ actual }} except all select * from {{ expected }}) as surplus
{%- endmacro %}
