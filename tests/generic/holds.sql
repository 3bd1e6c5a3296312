{#- Every row satisfies `expression`; an expression that is null fails too. -#}
{% test holds(model, expression) %}

select *
from {{ model }}
where not coalesce({{ expression }}, false)

{% endtest %}
