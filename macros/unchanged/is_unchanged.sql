{#- Whether the node being made is one whose table, or whose success as a test, stands already: made in the same way from
    the same. Only in builds, and not with --full-refresh: `dbt test` looks at everything. -#}
{% macro is_unchanged() %}
    {%- if flags.WHICH not in ['build', 'run', 'seed', 'retry'] -%}
        {{ return(false) }}
    {%- endif -%}
    {%- set inputs, unknown = [], [] -%}
    {#- A unit test brings its rows, and its context has no graph. -#}
    {%- for id in model.depends_on.nodes if model.resource_type != 'unit_test' -%}
        {%- set node = graph.nodes.get(id) -%}
        {%- if node is none or node.config.materialized in ['view', 'ephemeral'] -%}
            {% do unknown.append(id) %}
        {%- else -%}
            {% do inputs.append([node.schema, node.alias]) %}
        {%- endif -%}
    {%- endfor -%}
    {%- if unknown -%}
        {{ return(false) }}
    {%- endif -%}
    {%- if model.resource_type in ['test', 'unit_test'] -%}
        {{ return(adapter.passes(model.schema, model.unique_id, tangles.recipe(), inputs, should_full_refresh())) }}
    {%- endif -%}
    {{ return(adapter.stands(this, tangles.recipe(), inputs, tangles.what_is_read(), should_full_refresh())) }}
{% endmacro %}


{#- All of a node that decides what comes of it, as text. -#}
{% macro recipe() %}
    {{ return(tojson([
        model.resource_type, model.get('compiled_code'), model.config, model.get('columns'), model.get('contract')
    ])) }}
{% endmacro %}


{#- What a node reads besides tables: a seed its file; a Python model the code of packages, and what `meta: reads` says: the
    names under which `meta` has paths, and names of environment variables. -#}
{% macro what_is_read() %}
    {%- if model.resource_type == 'seed' -%}
        {{ return({'files': {model.name: model.root_path ~ '/' ~ model.original_file_path}}) }}
    {%- endif -%}
    {%- set declared, files = config.meta_get('reads') or {}, {} -%}
    {%- for name in declared.get('paths', []) -%}
        {% do files.update({name: config.meta_get(name)}) %}
    {%- endfor -%}
    {{ return({
        'files': files,
        'variables': declared.get('variables', []),
        'packages': config.meta_get('ship_packages') or [] if model.language == 'python' else [],
    }) }}
{% endmacro %}
