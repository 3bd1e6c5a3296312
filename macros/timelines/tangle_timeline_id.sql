{#- Names and roots may hold anything, so the first `:` always ends the name: one within it is written `%3A`. A `%` is
    written `%25` where it would be read as either, and stays as it is elsewhere. So `%25ssb` stands for no name: it is
    what the one tangle gets whose timeline would be that of the log. -#}
{% macro tangle_timeline_id(tangle_name='tangle_name', root_id='root_id') -%}
concat(
        if(
            {{ tangle_name }} = 'ssb' and {{ root_id }} = 'log',
            '%25ssb',
            replace(replace(replace({{ tangle_name }}, '%25', '%2525'), '%3A', '%253A'), ':', '%3A')
        ),
        ':',
        {{ root_id }}
    )
{%- endmacro %}
