{% macro is_selected() %}
    {%- for id in selected_resources if id.split('.')[1] == 'tangles' -%}
        {{ return(true) }}
    {%- endfor -%}
    {{ return(false) }}
{% endmacro %}
