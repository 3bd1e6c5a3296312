{{ config(enabled=has_log('ssb_log')) }}

{% for name, type in tangle_types() | dictsort(true) %}
select
    {{ string_literal(name) }} as tangle_name,
    {{ text_array(type.content_types) }} as content_types,
    {{ text_array(type.root_content_types or type.content_types) }} as root_content_types,
    {{ string_literal(type.previous_rule or 'members') }} as previous_rule,
    {{ string_literal(type.writers or 'anyone') }} as writers_rule,
    cast({{ string_literal(type.writers_field or none) }} as string) as writers_field,
    cast({{ string_literal(tojson(type.reducer, sort_keys=true) if type.reducer else none) }} as string) as reducer,
    cast({{ string_literal(type.description) }} as string) as description
{% if not loop.last %}
union all
{% endif %}
{% endfor %}
