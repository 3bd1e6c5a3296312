"""Opens the Spark session of a dbt command and watches the models that run on it.

The adapter and `python_model.submit` ask `connection` for the one session of a command. Before it opens the session,
`connection` prepares the process: `environment` sets the workers' interpreter and logging, `jvm` finds Java, and
`small_run_profile` adds settings for small inputs. `found_input` finds the files of an input. `progress` logs how far a
run is, `timeout` ends models that run too long, and `error_translation` and `memory` turn engine errors into dbt errors
with a remedy. `engine` tests whether any engine is installed; without one, the plugin registers an adapter that only
explains this.
"""
