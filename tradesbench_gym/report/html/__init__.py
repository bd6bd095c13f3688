"""A self-contained page about runs: facts out of world files, figures of them, HTML around."""
