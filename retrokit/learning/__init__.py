"""Learning: PPO, training, evaluation. The one place that imports torch, the extra ``train``."""
