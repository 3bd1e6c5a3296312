-- Report, records: the first 100 fields of each record that messages have set, those in conflict first.
select
    tangle_name,
    root_id,
    field,
    strategy,
    left(value, 300) as value,
    is_conflict,
    len(value) > 300 as is_cut,
    set_by[1:20] as set_by,
    len(set_by) as set_by_total,
    conflicting_values[1:10] as conflicting_values,
    len(conflicting_values) as value_total
from record_fields
where root_id in (select unnest($roots)) and len(set_by) > 0
qualify row_number() over (partition by tangle_name, root_id order by is_conflict desc, field) <= 100
order by is_conflict desc, field
