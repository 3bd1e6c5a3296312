{{ config(enabled=has_log('pzp_log')) }}

with rows_of_accounts as (
    select
        account_id,
        to_json(struct(*)) as row_text
    from {{ ref('int_pzp_account_rows') }}
),

{{ group_versions('rows_of_accounts', 'account_id', ['row_text']) }}
