select
    base_id,
    position_from,
    autobase_order,
    design_order
from {{ ref('int_autobase_rule_differences') }}
