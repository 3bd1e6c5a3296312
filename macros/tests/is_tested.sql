{#- Whether the test that is parsed runs: tests of public models do; tests of private models in a run on the fixtures, and by a var. -#}
{% macro is_tested() %}
    {{ return('marts' in model.fqn or is_fixture_run() or var('test_private_models')) }}
{% endmacro %}
