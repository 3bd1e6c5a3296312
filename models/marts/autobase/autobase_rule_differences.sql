{{ config(enabled=has_log('autobase_log')) }}

select
    base_id,
    position_from,
    autobase_order,
    design_order
from {{ ref('int_autobase_rule_differences') }}
