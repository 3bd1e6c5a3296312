{% macro check_vars() %}
    {% do check_adapter() %}
    {% do refuse_jinja() %}
    {#- In another project, the schema is checked only if the command selects nodes of tangles. -#}
    {%- if project_name == 'tangles' or (execute and is_selected()) -%}
        {% do check_schema() %}
    {%- endif -%}
    {%- if execute -%}
        {% do check_names() %}
        {% do check_access() %}
    {%- endif -%}
    {%- if execute and is_selected() -%}
        {% do check_hmac_key() %}
        {% do check_var_names() %}
        {% do check_values() %}
        {%- if flags.WHICH in ['build', 'retry', 'run'] -%}
            {% do check_python_models() %}
        {%- endif -%}
        {%- if flags.WHICH in ['build', 'test'] -%}
            {% do check_tested_tables() %}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}


{% macro check_values() %}
    {%- set problems = [] -%}
    {%- for name in logs() -%}
        {%- set value = var(name) -%}
        {%- if not (value is none or (value is string and value | trim) or is_table_reference(value)) -%}
            {% do problems.append(describe_wrong_value(name, value, describe_log_forms())) %}
        {%- elif value is string and modules.re.match('[^/@]*://[^/@:]*:[^/@]*@', value) -%}
            {% do problems.append(
                "var '" ~ name ~ "' has a password before the @ of its path (not shown here): remove it, give credentials in"
                ~ " the environment, and change the password, because dbt's logs name all vars"
            ) %}
        {%- endif -%}
    {%- endfor -%}
    {%- for name, kind in settings().items() -%}
        {%- set value = var(name) -%}
        {%- set number = value if value is integer and value is not boolean else -1 -%}
        {%- if kind == 'tangle types' -%}
            {% do problems.extend(find_type_faults(value)) %}
            {%- set is_right = true -%}
        {%- elif kind is not string -%}
            {#- 0 equals false. -#}
            {%- set is_right = value in kind and (value is string or value is boolean) -%}
            {%- set wanted = kind[:-1] | join(', ') ~ ' or ' ~ kind[-1] | lower -%}
        {%- elif kind == 'boolean' -%}
            {%- set is_right, wanted = value is boolean, 'true or false' -%}
        {%- elif kind == 'count' -%}
            {%- set is_right, wanted = number >= 0, 'an integer, 0 or more' -%}
        {%- elif kind == 'positive' -%}
            {%- set is_right, wanted = number >= 1, 'an integer, 1 or more' -%}
        {%- else -%}
            {%- set is_right, wanted = value is none or number >= 1, 'none or an integer, 1 or more' -%}
        {%- endif -%}
        {%- if not is_right -%}
            {% do problems.append(describe_wrong_value(name, value, wanted)) %}
        {%- endif -%}
    {%- endfor -%}
    {% do refuse_values(problems) %}
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
