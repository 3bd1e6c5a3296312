{#- Rows of a table are unordered, so lines are numbered by their content: by one of 256 blocks, so that several tasks
    sort them, and by the digest within it.

    A view where a table is given: its rows may hold the secrets of groups and are not copied. -#}
{%- set tables = list_log_tables() -%}
{{ config(materialized='view' if tables else 'incremental_groups') }}

with lines as (
    select
        cast(null as string) as log,
        cast(null as string) as source_file,
        cast(null as bigint) as line,
        cast(null as binary) as raw
    where false
    {%- if is_fixture_run() %}

    union all

    select
        log,
        source_file,
        cast(line as bigint) as line,
        unbase64(coalesce(raw_base64, '')) as raw
    from {{ ref('fixture_log') }}
    {%- endif %}
    {%- for name, table in tables.items() %}
    {%- set given %}
        select
            raw,
            sha2(raw, 256) as digest,
            pmod(crc32(raw), 256) as block
        from (select coalesce(cast(raw as binary), cast('' as binary)) as raw from {{ table }})
    {%- endset %}

    union all

    select
        '{{ name }}' as log,
        {{ string_literal(table.render()) }} as source_file,
        blocks.lines_before + row_number() over (partition by blocks.block order by given.digest) as line,
        given.raw
    from ({{ given }}) as given
    inner join (
        select
            block,
            coalesce(
                sum(count(*)) over (order by block rows between unbounded preceding and 1 preceding), 0
            ) as lines_before
        from ({{ given }})
        group by block
    ) as blocks on given.block = blocks.block
    {%- endfor %}
)

select
    log,
    source_file,
    line,
    raw,
    cast(null as bigint) as raw_length,
    cast(null as string) as fault,
    cast(null as string) as fault_detail
from lines
