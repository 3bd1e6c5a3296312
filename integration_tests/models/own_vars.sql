select
    '{{ var("edit_limit") }}' as edit_limit,
    '{{ var("ancestor_limit", "none") }}' as ancestor_limit
