{#- The rejects of a log: one row for each line, but a single row for many lines of a file with the same bytes and reason.
    The lines are counted before the join, because copies of one line can be most of a file. They are counted and joined by
    text, because Sail (0.7.2) fails where a table is joined with groups of its own binary values. -#}
{% macro merge_equal_rejects(rejects, columns) %}
    {%- set most_rows = 100 -%} {#- Equal lines up to this number keep a row each, so that ordinary damage has one row per line. -#}
    select
        {%- for column in columns %}
        rejects.{{ column }},
        {%- endfor %}
        coalesce(alike.line_count, 1) as line_count
    from {{ rejects }} as rejects
    left join (
        select
            source_file,
            reason,
            hex(line_digest) as line_digest,
            min(line) as first_line,
            count(*) as line_count
        from {{ rejects }}
        where line_digest is not null
        group by source_file, reason, hex(line_digest)
        having count(*) > {{ most_rows }}
    ) as alike
        on
            rejects.source_file = alike.source_file
            and rejects.reason = alike.reason
            and hex(rejects.line_digest) = alike.line_digest
    where alike.first_line is null or rejects.line = alike.first_line
{% endmacro %}
