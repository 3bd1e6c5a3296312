"""Replays a log for several replicas under a model of delivery, and measures how their views change and differ.

`logs` and `bases` read the items of a log: events and messages, or the nodes of Autobase. `deliveries` gives each
replica an order of arrival, `timelines` and `bases` follow the replicas with the kernels of builds, and `measures` sums
up. The evaluation in `bench` uses the same deliveries.
"""
