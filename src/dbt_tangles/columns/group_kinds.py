"""The kinds of messages of private groups."""

ROOT_INIT, EPOCH_INIT, ADD, EXCLUDE = "root_init", "epoch_init", "add", "exclude"
