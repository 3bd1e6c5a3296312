select
    to_json(
        named_struct(
            'timeline', room,
            'event', event,
            'after', if(after is null, cast(array() as array<string>), split(after, ' ')),
            'arrival', arrival
        )
    ) as raw
from {{ ref('room_events') }}
