{{ select_tangle_types() }}
