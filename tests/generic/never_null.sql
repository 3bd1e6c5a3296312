{#- None of `columns` is ever null: one scan of the table, where a test per column would be one each. -#}
{% test never_null(model, columns) %}

select {{ columns | join(', ') }}
from {{ model }}
where {{ columns | join(' is null or ') }} is null

{% endtest %}
