"""The company as the outside meets it: scenario, `Simulation`, commands, events, errors."""
