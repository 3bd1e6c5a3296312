{{ config(enabled=has_groups()) }}

with announced as (
    select
        message_id,
        author,
        content_type,
        get_json_object(content, '$.metafeed') as metafeed,
        get_json_object(content, '$.subfeed') as subfeed
    from {{ ref('ssb_messages') }}
    where is_usable and content_type in ('metafeed/announce', 'metafeed/add/existing', 'metafeed/add/derived')
),

links as (
    select
        if(content_type = 'metafeed/announce', author, subfeed) as feed,
        metafeed as person,
        'announcement' as person_source,
        message_id
    from announced
    -- A feed announces its own metafeed; a metafeed adds its own subfeeds.
    where content_type = 'metafeed/announce' or author = metafeed
    {%- set identities = resolve_identities() %}
    {%- if identities is not none %}

    union all

    select
        cast(feed as string) as feed,
        cast(person as string) as person,
        'identities' as person_source,
        cast(null as string) as message_id
    from {{ identities }}
    {%- endif %}
)

select distinct *
from links
where
    (person_source = 'identities' and feed is not null and person is not null)
    -- Other values are no feeds: numbers, lists and objects as text.
    or (feed <> person and substring(feed, 1, 4) rlike '^(@|ssb:)' and substring(person, 1, 4) rlike '^(@|ssb:)')
