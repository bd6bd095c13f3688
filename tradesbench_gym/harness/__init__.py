"""Language models run the company: days, prompts, agents, gateway, isolation, results.

The harness drives a run through the company's HTTP API and the driver's socket. It decides nothing
about the business, and it tells an agent nothing that the API would not.
"""
