{% macro check_vars() %}
    {% do check_adapter() %}
    {% do refuse_jinja() %}
    {#- In another project, the schema is checked only if the command selects nodes of tangles. -#}
    {%- if project_name == 'tangles' or (execute and is_selected()) -%}
        {% do check_schema() %}
    {%- endif -%}
    {%- if execute -%}
        {#- A log may be a table of another package. -#}
        {% do adapter.check_graph(graph.nodes, 'tangles', ['stg_tables__lines', 'int_person_links']) %}
    {%- endif -%}
    {%- if execute and is_selected() -%}
        {% do check_hmac_key() %}
        {% do check_var_names() %}
        {% do check_values() %}
        {% do adapter.check_selected(graph.nodes, 'tangles', selected_resources) %}
    {%- endif -%}
{% endmacro %}


{% macro check_values() %}
    {%- set kinds, values = dict(settings()), {} -%}
    {% do kinds.pop('tangle_types') %}
    {%- for name in logs() -%}
        {% do kinds.update({name: 'log'}) %}
    {%- endfor -%}
    {%- for name in kinds -%}
        {% do values.update({name: var(name)}) %}
    {%- endfor -%}
    {% do refuse_values(adapter.find_wrong_vars(kinds, values) + find_type_faults(var('tangle_types'))) %}
{% endmacro %}


{% macro describe_wrong_value(name, value, wanted) %}
    {{ return("var '" ~ name ~ "' is " ~ value | tojson ~ ', but must be ' ~ wanted) }}
{% endmacro %}


{% macro refuse_values(problems) %}
    {%- if problems -%}
        {% do exceptions.raise_compiler_error(
            problems | join('; ')
            ~ ('; vars of tangles stand below vars: tangles:' if project_name != 'tangles' else '')
        ) %}
    {%- endif -%}
{% endmacro %}


{#- Spark names a folder after the schema, and stores schema names in lower case. -#}
{% macro check_schema() %}
    {%- if not modules.re.fullmatch('(?=.*[a-z_])[a-z0-9_]{1,128}', target.schema) -%}
        {% do exceptions.raise_compiler_error(
            "TANGLES_SCHEMA (the schema of the profile's target) is " ~ target.schema | tojson ~ ", but must be"
            ~ " lower-case letters, digits and _, at most 128 and not digits alone"
        ) %}
    {%- endif -%}
{% endmacro %}
