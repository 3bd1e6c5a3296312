{#- Whether the command that runs has anything of this project to do: where it has not, the hooks do nothing. -#}
{% macro is_selected() %}
    {%- for id in selected_resources if id.split('.')[1] == 'tangles' -%}
        {{ return(true) }}
    {%- endfor -%}
    {{ return(false) }}
{% endmacro %}
