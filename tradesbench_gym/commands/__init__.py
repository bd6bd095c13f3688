"""The commands of `tradesbench`, a module each: they talk to people and work nothing out."""
