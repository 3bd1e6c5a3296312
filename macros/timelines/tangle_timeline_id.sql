{#- Names and roots may hold any text, so the first `:` ends the name: within a name `:` is written `%3A`, and `%` is
    written `%25` before `25` or `3A`. Only the tangle with the name `ssb` and the root `log` is
    written `%25ssb:log`, because `ssb:log` is the timeline of the whole log. -#}
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
