"""The two rules that settle nodes."""

from dbt_tangles.algorithms.autobase import consensus, design

AUTOBASE, DESIGN = "autobase", "design"
RULES = {AUTOBASE: consensus.order_views, DESIGN: design.order_views}
