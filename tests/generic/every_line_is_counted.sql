{#- A table of rejects: lines of the log = the lines behind usable messages + those that rejects stand for. -#}
{% test every_line_is_counted(model, lines, messages) %}

with counted as (
    select
        (select count(*) from {{ lines }}) as line_count,
        (select coalesce(sum(line_count), 0) from {{ messages }} where is_usable) as usable_count,
        (select coalesce(sum(line_count), 0) from {{ model }}) as rejected_count
)

select *
from counted
where line_count <> usable_count + rejected_count

{% endtest %}
