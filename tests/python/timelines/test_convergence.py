"""Model checking of convergence: every graph of up to six events, in every delivery."""

import numpy as np
import pytest

from convergence_model import PROPERTIES, find_violation, list_dags

#: The numbers of acyclic graphs on labelled events (OEIS A003024).
DAGS = {1: 1, 2: 3, 3: 25, 4: 543, 5: 29_281, 6: 3_781_503}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, pytest.param(6, marks=pytest.mark.long)])
def test_every_delivery_leads_to_one_state(count):
    """The state depends on the set alone, one visit settles all ranks, ranks only rise, and causes come first."""
    graphs = list_dags(count)
    assert len(graphs) == len(np.unique(graphs, axis=0)) == DAGS[count]
    graph, violated = find_violation(graphs)
    assert graph == -1, (graphs[graph], PROPERTIES[violated])


@pytest.mark.parametrize("causes", [[0b10, 0b01], [0b10, 0b01, 0b11], [0b100, 0b001, 0b010]])
def test_a_cycle_is_a_violation(causes):
    graph, violated = find_violation(np.array([causes], np.int8))
    assert graph == 0 and PROPERTIES[violated] == "one visit leaves a rank unsettled"
