{{ config(enabled=has_log('ssb_log')) }}

with
{{ define_claimed_tangles() }},

{{ define_feed_tangles() }}

select * from claimed_tangles
union all
select * from feed_tangles
