select
    people.person,
    people.note,
    {{ beside.logs() }} as answer
from {{ ref('people') }} as people
