{#- Runs before anything else: a wrong value is refused by the name of its var. -#}
{% macro check_vars() %}
    {% do refuse_jinja() %}
    {#- In a project of somebody else's, the schema is theirs as long as nothing of ours is in the command. -#}
    {%- if project_name == 'tangles' or (execute and is_selected()) -%}
        {% do check_schema() %}
    {%- endif -%}
    {%- if execute -%}
        {% do check_names() %}
    {%- endif -%}
    {%- if execute and is_selected() -%}
        {% do check_plugin() %}
        {% do check_values() %}
        {% do check_hmac_key() %}
        {% do check_materializations() %}
        {%- if flags.WHICH in ['build', 'retry', 'run'] -%}
            {% do check_python_models() %}
        {%- endif -%}
        {%- if flags.WHICH in ['build', 'test'] -%}
            {% do check_tested_tables() %}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}


{% macro check_plugin() %}
    {%- if adapter.published is not defined -%}
        {% do exceptions.raise_compiler_error(
            'the Python models of tangles need its dbt plugin, and this environment has none: pip install dbt-tangles'
        ) %}
    {%- endif -%}
{% endmacro %}


{% macro check_values() %}
    {%- for name in logs() -%}
        {%- set value = var(name) -%}
        {% do refuse_unless(
            value is none or (value is string and value | trim) or is_table(value), name, value, log_forms()
        ) %}
    {%- endfor -%}
    {% do refuse_unless(var('ssb_log_format') in ['lines', 'pretty'], 'ssb_log_format', var('ssb_log_format'),
        'lines or pretty') %}
    {% do refuse_unless(var('tangle_engine') in ['auto', 'sql', 'kernel'], 'tangle_engine', var('tangle_engine'),
        'auto, sql or kernel') %}
    {% do refuse_unless(var('consensus_rule') in ['autobase', 'design'], 'consensus_rule', var('consensus_rule'),
        'autobase or design') %}
    {%- for name in ['verify_signatures', 'log_timeline', 'count_changes'] -%}
        {% do refuse_unless(var(name) is boolean, name, var(name), 'true or false') %}
    {%- endfor -%}
    {%- for name in ['sql_round_budget', 'ancestor_limit', 'clock_limit', 'edit_batch_size', 'edit_limit'] -%}
        {% do refuse_unless(
            var(name) is integer and var(name) is not boolean and var(name) >= 0, name, var(name), 'an integer, 0 or more'
        ) %}
    {%- endfor -%}
    {%- for name in ['graph_limit', 'rows_in_memory', 'set_ghost_span', 'quorum_degrees'] -%}
        {% do refuse_unless(
            var(name) is integer and var(name) is not boolean and var(name) >= 1, name, var(name), 'an integer, 1 or more'
        ) %}
    {%- endfor -%}
    {%- set limit = var('max_previous') -%}
    {% do refuse_unless(
        limit is none or (limit is integer and limit is not boolean and limit >= 1), 'max_previous', limit,
        'none or an integer, 1 or more'
    ) %}
{% endmacro %}


{% macro refuse_unless(is_right, name, value, wanted) %}
    {%- if not is_right -%}
        {% do exceptions.raise_compiler_error(
            "var '" ~ name ~ "' is " ~ value | tojson ~ ", but must be " ~ wanted
            ~ ('; vars of tangles stand below vars: tangles:' if project_name != 'tangles' else '')
        ) %}
    {%- endif -%}
{% endmacro %}


{#- Spark makes a folder of the schema's name, and keeps names of schemas in lower case. -#}
{% macro check_schema() %}
    {%- if not modules.re.fullmatch('(?=.*[a-z_])[a-z0-9_]{1,128}', target.schema) -%}
        {% do exceptions.raise_compiler_error(
            "TANGLES_SCHEMA (the schema of the profile's target) is " ~ target.schema | tojson ~ ", but must be"
            ~ " lower-case letters, digits and _, at most 128 and not digits alone"
        ) %}
    {%- endif -%}
{% endmacro %}
