{#- dbt accepts vars of any name. Where this project is installed in another, vars of other packages stand beside those of
    tangles. There this macro refuses an unknown name below `vars: tangles:`, and a near miss, unless
    code of another package reads it. -#}
{% macro check_var_names() %}
    {%- set codes = graph.nodes.values() | rejectattr('package_name', 'equalto', 'tangles') | map(attribute='raw_code') -%}
    {%- set known = logs() | list + settings() | list + ['ssb_hmac_key'] -%}
    {%- set faults = [] -%}
    {%- for unknown in adapter.find_unknown_vars('tangles', known, codes | list) -%}
        {%- if unknown.nearest == 'ssb_hmac_key' -%}
            {% do refuse_hmac_key(unknown.name) %}
        {%- elif unknown.name == 'tangles' -%}
            {% do faults.append("--vars has 'tangles', but --vars cannot have scopes: give the vars of tangles by themselves") %}
        {%- else -%}
            {% do faults.append(unknown.place ~ ' has ' ~ unknown.name | tojson ~ ', but tangles lacks a var of that name:'
                ~ " write '" ~ unknown.nearest ~ "', the nearest name, or remove it") %}
        {%- endif -%}
    {%- endfor -%}
    {%- if faults -%}
        {%- if project_name != 'tangles' -%}
            {% do faults.append('vars of tangles stand below vars: tangles:, and those of this project below vars: '
                ~ project_name ~ ':') %}
        {%- endif -%}
        {% do exceptions.raise_compiler_error(faults | join('. ')) %}
    {%- endif -%}
{% endmacro %}
