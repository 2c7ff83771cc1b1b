"""How the defaults of translation/rules.py were chosen: sweeps over the simulation, printed into docs/defaults.md."""
