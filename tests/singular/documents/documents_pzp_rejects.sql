-- The lines of the pzp log that give no usable message, and why.
{{ config(
    enabled=var('verify_signatures')
    and var('ssb_log') is none and var('pzp_log') is none and var('event_log') is none
) }}
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
