{#- No two rows share the values of `columns`; nulls count as values. The rows that share a hash are few, or none, and only
    they are compared: names are long, and grouping by them moves all of them. -#}
{% test unique_combination(model, columns) %}

with hashed as (
    select
        {{ columns | join(', ') }},
        xxhash64({{ columns | join(', ') }}) as row_hash
    from {{ model }}
),

shared as (
    select row_hash
    from hashed
    group by row_hash
    having count(*) > 1
)

select
    {{ columns | join(', ') }},
    count(*) as row_count
from hashed
where row_hash in (select row_hash from shared)
group by {{ columns | join(', ') }}
having count(*) > 1

{% endtest %}
