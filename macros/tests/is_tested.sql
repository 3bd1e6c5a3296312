{#- Whether the test that is parsed runs: tests of private models of tangles do in a run on the fixtures, and by a var; all others
    always do. -#}
{% macro is_tested() %}
    {{ return(
        model.package_name != 'tangles' or 'marts' in model.fqn or is_fixture_run() or var('test_private_models')
    ) }}
{% endmacro %}
