{#- The query of a table of group versions: one row per group, with the digest of the group's rows and the version at which the
    digest last changed. A group that has lost its rows keeps its own row, with a null digest.

    rows: a relation or CTE with the rows of the groups. key: its column that names the group. columns: its columns that the
    digest covers.

    A group may be too large for one list of digests, so its rows are digested in 256 parts. -#}
{% macro group_versions(rows, key, columns) %}
digested as (
    select
        coalesce(cast({{ key }} as string), '') as group_key,
        {{ row_digest(columns) }} as row_digest
    from {{ rows }}
),

parts as (
    select
        group_key,
        sha2(array_join(sort_array(collect_list(row_digest)), ''), 256) as row_digest
    from digested
    group by group_key, substring(row_digest, 1, 2)
),

now as (
    select
        group_key,
        sha2(array_join(sort_array(collect_list(row_digest)), ''), 256) as digest
    from parts
    group by group_key
)

{% set plan = plan_node() -%}
{%- if plan.action == 'replace' -%}
select
    coalesce(now.group_key, earlier.group_key) as group_key,
    now.digest,
    if(now.digest <=> earlier.digest, earlier.version, {{ plan.since + 1 }}) as version,
    now.digest is null as is_gone
from now
full outer join {{ this }} as earlier on now.group_key = earlier.group_key
{%- else -%}
select
    group_key,
    digest,
    cast(1 as bigint) as version,
    false as is_gone
from now
{%- endif %}
{% endmacro %}


{#- The SHA-256 of some columns of a row, as a text. Each value is preceded by its length, so that different rows have
    different texts. -#}
{% macro row_digest(columns) -%}
    sha2(concat_ws(','
        {%- for column in columns -%}
        , coalesce(concat(length({{ column }}), ':', {{ column }}), '-')
        {%- endfor -%}
    ), 256)
{%- endmacro %}
