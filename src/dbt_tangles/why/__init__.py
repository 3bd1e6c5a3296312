"""The answers of `tangles why`, for a terminal, for programs and for the report.

Each kind of id has a module `KIND.py` that collects an answer as a dict, with the queries of `KIND.sql` (a feed has
those of `message.sql`); `KIND.txt` is the Jinja template of its text.
"""
