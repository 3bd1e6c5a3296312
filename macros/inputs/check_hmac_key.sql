{#- The network's key is a secret. dbt writes vars into its files, so the key is read from the environment. It is not read
    while dbt parses, because dbt stores the environment variables that parsing reads. -#}
{% macro check_hmac_key() %}
    {%- if var('ssb_hmac_key', none) is not none -%}
        {% do refuse_hmac_key('ssb_hmac_key') %}
    {%- endif -%}
    {%- if execute -%}
        {%- set key = env_var('TANGLES_SSB_HMAC_KEY', '') -%}
        {%- if key and not modules.re.fullmatch('[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=', key) -%}
            {% do exceptions.raise_compiler_error(
                'TANGLES_SSB_HMAC_KEY is not 32 bytes as canonical base64 (not shown here); correct or unset it'
            ) %}
        {%- endif -%}
    {%- endif -%}
{% endmacro %}


{% macro refuse_hmac_key(name) %}
    {% do exceptions.raise_compiler_error(
        "var '" ~ name ~ "' is not taken: dbt writes vars in clear into target/ and logs/. Set the environment "
        ~ "variable TANGLES_SSB_HMAC_KEY. target/ and logs/ now hold this key: delete them, and change the key"
    ) %}
{% endmacro %}
