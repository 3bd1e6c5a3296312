-- This project's own model of that name: what it says is its own business.
select
    author as writer,
    verified_length as written
from {{ ref('tangles', 'feeds') }}
