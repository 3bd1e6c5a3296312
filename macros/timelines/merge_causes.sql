{#- The columns `causes` and `cause_kinds` of a message, from the ids that its claims list and the messages before it in its
    feed. `feed_kind` is the kind of those that only the feed gives. -#}
{% macro merge_causes(listed, latest, feed_kind) -%}
concat(
            array_except({{ listed }}, {{ latest }}),
            array_intersect({{ latest }}, {{ listed }}),
            array_except({{ latest }}, {{ listed }})
        ) as causes,
        concat(
            array_repeat('tangle', size(array_except({{ listed }}, {{ latest }}))),
            array_repeat('both', size(array_intersect({{ latest }}, {{ listed }}))),
            array_repeat({{ feed_kind }}, size(array_except({{ latest }}, {{ listed }})))
        ) as cause_kinds
{%- endmacro %}
