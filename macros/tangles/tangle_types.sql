{#- The types of tangles: the defaults, replaced and extended by the var `tangle_types`, by name. A var with a fault counts as
    empty, so that a project with a wrong value can be parsed and `check_vars` can refuse it. -#}
{% macro tangle_types() %}
    {%- set types = {} -%}
    {%- set given = var('tangle_types') -%}
    {%- for type in default_tangle_types() + (given if find_type_faults(given) | length == 0 else []) -%}
        {% do types.update({type.tangle_name: type}) %}
    {%- endfor -%}
    {{ return(types) }}
{% endmacro %}


{% macro list_restricted_types() %}
    {%- set names = [] -%}
    {%- for name, type in tangle_types() | dictsort(true) if type.writers in ['root_author', 'root_field'] and type.previous_rule != 'feed' -%}
        {% do names.append(name) %}
    {%- endfor -%}
    {{ return(names) }}
{% endmacro %}


{% macro text_array(texts) -%}
    cast(
    {%- if texts is none or texts is not defined -%}
        null
    {%- else -%}
        array({% for text in texts %}{{ string_literal(text) }}{{ ', ' if not loop.last }}{% endfor %})
    {%- endif %} as array<string>)
{%- endmacro %}


{% macro find_type_faults(types) %}
    {%- if types is string or types is mapping or types is not sequence -%}
        {{ return([describe_wrong_value('tangle_types', types, 'a list of types')]) }}
    {%- endif -%}
    {%- set faults, names = [], [] -%}
    {%- for type in types -%}
        {%- if type is not mapping or not is_text(type.tangle_name) -%}
            {% do faults.append("var 'tangle_types' has " ~ type | tojson ~ ', but must have types with a tangle_name') %}
        {%- else -%}
            {%- for fault in find_faults_of_type(type) -%}
                {% do faults.append("var 'tangle_types': the type " ~ type.tangle_name | tojson ~ ' ' ~ fault) %}
            {%- endfor -%}
            {%- if type.tangle_name in names -%}
                {% do faults.append("var 'tangle_types' has the type " ~ type.tangle_name | tojson ~ ' twice: give it once') %}
            {%- endif -%}
            {% do names.append(type.tangle_name) %}
        {%- endif -%}
    {%- endfor -%}
    {{ return(faults) }}
{% endmacro %}


{% macro find_faults_of_type(type) %}
    {%- set faults = [] -%}
    {%- set keys = [
        'tangle_name', 'content_types', 'root_content_types', 'previous_rule', 'writers', 'writers_field', 'reducer', 'description'
    ] -%}
    {%- for key in type if key not in keys -%}
        {% do faults.append('has the unknown key ' ~ key | tojson ~ ': the keys are ' ~ keys | join(', ')) %}
    {%- endfor -%}
    {%- if type.tangle_name.startswith('ssb:') and not type.tangle_name.startswith('ssb:ssb:') -%}
        {% do faults.append('has a name of the tangles that do not use content.tangles: choose another name; '
            ~ 'for a key of content.tangles that begins with ssb: write one more ssb: before it') %}
    {%- endif -%}
    {%- for key in ['content_types', 'root_content_types'] if type.get(key) is not none -%}
        {%- if not is_text_list(type[key]) -%}
            {% do faults.append('has the ' ~ key ~ ' ' ~ type[key] | tojson ~ ', but must have a list of content types') %}
        {%- endif -%}
    {%- endfor -%}
    {%- if type.get('previous_rule') not in [none, 'members', 'one_member'] -%}
        {% do faults.append('has the previous_rule ' ~ type.previous_rule | tojson ~ ', but must have members or one_member') %}
    {%- endif -%}
    {%- if type.get('writers') not in [none, 'anyone', 'root_author', 'root_field'] -%}
        {% do faults.append('has the writers ' ~ type.writers | tojson ~ ', but must have anyone, root_author or root_field') %}
    {%- elif type.get('writers') == 'root_field' and not is_text(type.get('writers_field')) -%}
        {% do faults.append('has the writers root_field, but must name the field of the root in writers_field') %}
    {%- elif type.get('writers') != 'root_field' and type.get('writers_field') is not none -%}
        {% do faults.append('has a writers_field, but must have the writers root_field') %}
    {%- endif -%}
    {%- if type.get('description') is not none and type.description is not string -%}
        {% do faults.append('has the description ' ~ type.description | tojson ~ ', but must have a text') %}
    {%- endif -%}
    {%- set reducer = type.get('reducer') -%}
    {%- set strategies = ['overwrite', 'simple_set', 'complex_set'] -%}
    {%- if reducer is not none and (reducer is not mapping or reducer | length not in range(1, 101)) -%}
        {% do faults.append('has the reducer ' ~ reducer | tojson ~ ', but must have a map of 1 to 100 fields to strategies') %}
    {%- elif reducer is not none -%}
        {%- for field, strategy in reducer.items() if not is_text(field) or strategy not in strategies -%}
            {% do faults.append('has the strategy ' ~ strategy | tojson ~ ' of the field ' ~ field | tojson
                ~ ', but must have overwrite, simple_set or complex_set') %}
        {%- endfor -%}
    {%- endif -%}
    {{ return(faults) }}
{% endmacro %}


{% macro is_text(value) %}
    {{ return(value is string and value | length > 0) }}
{% endmacro %}


{% macro is_text_list(value) %}
    {{ return(
        value is sequence and value is not string and value is not mapping
        and value | length > 0 and value | select('string') | select | list | length == value | length
    ) }}
{% endmacro %}
