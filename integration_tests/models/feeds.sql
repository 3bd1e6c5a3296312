-- A model of this project with the name of a model of tangles.
select
    author as writer,
    verified_length as written
from {{ ref('tangles', 'feeds') }}
