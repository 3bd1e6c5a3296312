{% macro check_adapter() %}
    {%- if adapter is defined and target.type != 'sparkpython' -%} {#- linters run without an adapter -#}
        {% do exceptions.raise_compiler_error(
            "tangles needs a target of type sparkpython, and the target '" ~ target.name ~ "' has the type " ~ target.type
            ~ ": pip install 'dbt-tangles[spark]' (Spark and a JVM) or 'dbt-tangles[sail]' (Sail, without a JVM), and say"
            ~ ' type: sparkpython in profiles.yml. Other settings of a target of type spark stay; for Sail, add host: sail, and'
            ~ ' spark.dbt.engine: sail in server_side_parameters'
        ) %}
    {%- endif -%}
{% endmacro %}
