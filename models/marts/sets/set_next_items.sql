{{ config(enabled=has_log('pzp_log')) }}

select
    messages.set_id,
    touched.item,
    touched.is_string,
    sort_array(touched.deepest) as must_supersede,
    sort_array(touched.open_deletions) as should_supersede
from {{ ref('int_set_messages') }} as messages
    lateral view explode(messages.next_items) exploded as touched
