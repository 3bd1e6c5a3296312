-- The lines of the Autobase log that cannot be used, and why.
{{ config(enabled=is_fixture_run()) }}

with expected as (
    select
        source_file,
        line,
        reason
    from {{ ref('expected_autobase_rejects') }}
),

built as (
    select
        source_file,
        line,
        reason
    from {{ ref('autobase_rejects') }}
)

{{ differences('expected', 'built') }}
