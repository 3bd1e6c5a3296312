{#- The types of tangles that this project knows, as data. The var `tangle_types` adds types, or replaces these by their names.
    A tangle without a type takes messages of any content type, and is not a record.

    The private groups' documents restrict `epoch` and `group`; the fields of records are those of the modules ssb-profile and
    ssb-gathering. -#}
{% macro default_tangle_types() %}
    {{ return([
        {
            'tangle_name': 'epoch',
            'content_types': ['group/init'],
            'description': 'The epochs of a private group.',
        },
        {
            'tangle_name': 'ssb:feed',
            'previous_rule': 'feed',
            'writers': 'root_author',
            'description': "The verified chain of an author's feed.",
        },
        {
            'tangle_name': 'gathering',
            'reducer': {
                'title': 'overwrite',
                'description': 'overwrite',
                'location': 'overwrite',
                'startDateTime': 'overwrite',
                'image': 'overwrite',
                'attendees': 'simple_set',
                'tombstone': 'overwrite',
            },
            'description': 'A gathering that people edit and attend.',
        },
        {
            'tangle_name': 'group',
            'root_content_types': ['group/init'],
            'description': 'The messages of a private group.',
        },
        {
            'tangle_name': 'ssb:legacy_thread',
            'previous_rule': 'branch',
            'description': 'A thread of the older fields `root` and `branch`.',
        },
        {
            'tangle_name': 'members',
            'description': 'The members of an epoch of a private group.',
        },
        {
            'tangle_name': 'profile',
            'reducer': {
                'preferredName': 'overwrite',
                'legalName': 'overwrite',
                'description': 'overwrite',
                'avatarImage': 'overwrite',
                'headerImage': 'overwrite',
                'altNames': 'simple_set',
                'tombstone': 'overwrite',
            },
            'description': 'A profile of a person or community.',
        },
        {
            'tangle_name': 'wiki',
            'reducer': {
                'title': 'overwrite',
                'body': 'overwrite',
                'tags': 'simple_set',
                'tombstone': 'overwrite',
            },
            'description': 'A page that several people edit.',
        },
    ]) }}
{% endmacro %}
