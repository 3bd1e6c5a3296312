{% macro is_sealed(messages) -%}
({{ messages }}.is_usable and {{ messages }}.is_encrypted and not {{ messages }}.is_decrypted)
{%- endmacro %}
