"""How an evaluator comes to be: networks over feature sets, TD(λ) self-play, evolution of feature sets.

learners.network.Network             a multilayer perceptron over NET-FEATUREMAP, its gradient, its file
learners.td.TDLearner                trains one by self-play against its clone
learners.evolution.FeatureEvolution  evolves the features it sees
learners.featuremap.NetFeatureMap    positions to inputs, as a scikit-learn transformer

Importing this package loads none of them.
"""
