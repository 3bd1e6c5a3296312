{#- Whether the running command selects a node of this project; otherwise the hooks skip their work. -#}
{% macro is_selected() %}
    {%- for id in selected_resources if id.split('.')[1] == 'tangles' -%}
        {{ return(true) }}
    {%- endfor -%}
    {{ return(false) }}
{% endmacro %}
