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
    {%- if model.resource_type not in ['test', 'unit_test'] -%}
        {% do tangles.tell_changes() %}
        {{ return(adapter.stands(
            this, tangles.recipe(), none if unknown else inputs, tangles.what_is_read(), should_full_refresh(), tangles.way()
        )) }}
    {%- elif unknown -%}
        {{ return(false) }}
    {%- endif -%}
    {{ return(adapter.passes(model.schema, model.unique_id, tangles.recipe(), inputs, should_full_refresh())) }}
{% endmacro %}


{#- All of a node that decides what comes of it, as text. -#}
{% macro recipe() %}
    {{ return(tojson([
        model.resource_type, model.get('compiled_code'), model.config, model.get('columns'), model.get('contract')
    ])) }}
{% endmacro %}


{#- Of the recipe what does not tell what a node is made of, as text: its code without the names of tables in it (of a Python
    model, which is as written), its settings without the paths of logs. -#}
{% macro way() %}
    {%- set settings, meta = {}, {} -%}
    {%- set paths = (config.meta_get('reads') or {}).get('paths', []) -%}
    {%- for name, value in (model.config.get('meta') or {}).items() if name not in paths -%}
        {% do meta.update({name: value}) %}
    {%- endfor -%}
    {% do settings.update(model.config) %}
    {% do settings.update({'meta': meta}) %}
    {{ return(tojson([
        model.resource_type, model.raw_code if model.language == 'python' else model.get('compiled_code'), settings,
        model.get('columns'), model.get('contract')
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
