{#- The table that a var names in place of a path. Each row is a line, in the column `raw`. -#}
{% macro resolve_log_table(name) %}
    {%- set given = var(name) -%}
    {% do refuse_values([] if adapter.is_log_table(given) else [describe_wrong_value(name, given, describe_log_forms())]) %}
    {{ return(resolve_table(given)) }}
{% endmacro %}


{#- `{ref: model}` is a model or seed of the running project, `{source: [name, table]}` one of its sources. -#}
{% macro resolve_table(given) %}
    {%- if 'source' in given -%}
        {{ return(source(given.source[0], given.source[1])) }}
    {%- elif given.ref is string -%}
        {{ return(ref(project_name, given.ref)) }}
    {%- endif -%}
    {{ return(ref(given.ref[0], given.ref[1])) }}
{% endmacro %}


{#- The table of the var `identities`, which may also be the plain name of a model or seed; none without one. -#}
{% macro resolve_identities() %}
    {% do refuse_jinja() %}
    {%- set given = var('identities') -%}
    {%- if given is string and given | trim -%}
        {{ return(ref(project_name, given)) }}
    {%- endif -%}
    {%- if given is none -%}
        {{ return(none) }}
    {%- endif -%}
    {%- set forms = describe_log_forms() | replace('a path or glob', 'none, the name of a model or seed') -%}
    {% do refuse_values([] if adapter.is_log_table(given) else [describe_wrong_value('identities', given, forms)]) %}
    {{ return(resolve_table(given)) }}
{% endmacro %}


{% macro list_log_tables() %}
    {% do refuse_jinja() %}
    {%- set tables = {} -%}
    {%- for name in logs() if var(name) is mapping -%}
        {% do tables.update({name: resolve_log_table(name)}) %}
    {%- endfor -%}
    {{ return(tables) }}
{% endmacro %}


{% macro describe_log_forms() %}
    {{ return('a path or glob, {ref: model}, {ref: [package, model]} or {source: [name, table]}') }}
{% endmacro %}


{% macro format_log_name(name) %}
    {%- if var(name) is not mapping -%}
        {{ return(var(name)) }}
    {%- endif -%}
    {%- set kind, names = (var(name).items() | list)[0] -%}
    {{ return(kind ~ ':' ~ (names if names is string else names | join('.'))) }}
{% endmacro %}
