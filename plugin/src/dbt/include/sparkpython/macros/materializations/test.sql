{#- dbt's `test`, skipped in a build if it has passed on the same tables. -#}
{% materialization test, adapter='sparkpython' %}
    {%- set plan = plan_node() -%}
    {%- if plan.action == 'reuse' -%}
        {% do store_raw_result(
            'main', message='unchanged', code='unchanged', rows_affected=0, agate_table=adapter.passing_result()
        ) %}
        {{ return({'relations': []}) }}
    {%- endif -%}
    {{ return(dbt.materialization_test_default()) }}
{% endmaterialization %}
