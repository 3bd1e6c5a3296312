{#- Names and roots may hold any text, so the first `:` ends the name: within a name `:` is written `%3A`, and `%` is
    written `%25` before `25` or `3A`. The ids that begin with `ssb:` are those of this project's own tangles, and the
    timeline `ssb:log`: a key `ssb` of `content.tangles` is written `%25ssb`. -#}
{% macro format_tangle_id(tangle_name='tangle_name', root_id='root_id') -%}
concat(
        case {{ tangle_name }}
            when 'ssb:legacy_thread' then 'ssb:legacy_thread'
            when 'ssb:feed' then 'ssb:feed'
            when 'ssb' then '%25ssb'
            else replace(replace(replace({{ tangle_name }}, '%25', '%2525'), '%3A', '%253A'), ':', '%3A')
        end,
        ':',
        {{ root_id }}
    )
{%- endmacro %}
