{{ config(enabled=has_log('autobase_log')) }}

{%- set place_hash = "sha2(concat(cast(position as string), ' ', node_id), 256)" -%}

with orders as (
    select
        base_id,
        position,
        node_id
    from {{ ref('int_autobase_results') }}
    where row_kind = 'view' and observer = 'all' and {{ is_changed('base_id', ref('int_base_versions')) }}
),

-- The digest is a sum over hashes of places, so that no task has to hold an order.
current_orders as (
    select
        base_id,
        cast(count(*) as int) as length,
        sha2(
            concat_ws(
                ' ',
                cast(count(*) as string),
                cast(sum(cast(conv(substring({{ place_hash }}, 1, 15), 16, 10) as decimal(38, 0))) as string),
                cast(sum(cast(conv(substring({{ place_hash }}, 16, 15), 16, 10) as decimal(38, 0))) as string)
            ),
            256
        ) as publication
    from orders
    group by base_id
),

published as (
    {%- if has_earlier_rows() %}
    select * from {{ this }}
    {%- else %}
    select
        *,
        cast(null as string) as previous_publication,
        cast(null as string) as publication,
        0 as kept,
        0 as undone,
        0 as appended
    from orders
    where false
    {%- endif %}
),

-- The first row of a base has its publication and the change that led to it.
published_orders as (
    select
        base_id,
        cast(count(*) as int) as length,
        max(previous_publication) as previous_publication,
        max(publication) as publication,
        max(kept) as kept,
        max(undone) as undone,
        max(appended) as appended
    from published
    group by base_id
),

first_differences as (
    select
        orders.base_id,
        min(orders.position) as position
    from orders
    inner join published on orders.base_id = published.base_id and orders.position = published.position
    where orders.node_id <> published.node_id
    group by orders.base_id
),

compared as (
    select
        current_orders.base_id,
        current_orders.publication,
        current_orders.length,
        coalesce(published_orders.length, 0) as earlier_length,
        coalesce(
            first_differences.position, least(current_orders.length, coalesce(published_orders.length, 0))
        ) as same,
        published_orders.publication as earlier_publication,
        published_orders.previous_publication,
        published_orders.kept,
        published_orders.undone,
        published_orders.appended
    from current_orders
    left join published_orders on current_orders.base_id = published_orders.base_id
    left join first_differences on current_orders.base_id = first_differences.base_id
),

-- An order that is equal to the published one keeps its change.
updates as (
    select
        base_id,
        publication,
        if(same = length and same = earlier_length, previous_publication, earlier_publication) as previous_publication,
        if(same = length and same = earlier_length, kept, same) as kept,
        if(same = length and same = earlier_length, undone, earlier_length - same) as undone,
        if(same = length and same = earlier_length, appended, length - same) as appended
    from compared
)

select
    orders.base_id,
    orders.position,
    orders.node_id,
    updates.previous_publication,
    updates.publication,
    updates.kept,
    updates.undone,
    updates.appended
from orders
left join updates on orders.base_id = updates.base_id and orders.position = 0
