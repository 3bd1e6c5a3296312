{#- A file is read in one or more blocks, and the rows of each have numbers. The number of a line in its file is its number in the block
    plus the lines of all earlier blocks. -#}
{% macro locate_line_blocks(lines) %}
    select
        source_file,
        block_start,
        coalesce(
            sum(count(*)) over (
                partition by source_file
                order by block_start
                rows between unbounded preceding and 1 preceding
            ), 0
        ) - min(row_id) + 1 as first_line
    from {{ lines }}
    group by source_file, block_start
{% endmacro %}
