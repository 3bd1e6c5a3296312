-- The lines of the pzp log that give no usable message, and why.
{{ config(enabled=var('verify_signatures') is true) }}
with stated as (
    select
        source_file,
        line,
        reason
    from {{ ref('expected_pzp_rejects') }}
),

built as (
    select
        source_file,
        line,
        reason
    from {{ ref('pzp_rejects') }}
)

{{ differences('stated', 'built') }}
