"""Turns the files of a log into lines that a verifier can check.

The Python models `stg_*__lines` call `log_lines.check_lines`. It finds the files (the plugin's `found_input`), reads
their lines and reuses the results of unchanged lines (`line_cache`). `unpack` reads the files of this machine on the
workers, large ones in the blocks of `file_blocks`, with the decoders of `decompress`, and reports the faults of files.
Spark itself reads plain files on other machines. `line_format` has the schema of the lines. `shuffle_key` extracts the
key that brings copies of a message together.

The verifiers in `dbt_tangles.formats` call `line_checks`, which runs a check over batches of lines.
"""
