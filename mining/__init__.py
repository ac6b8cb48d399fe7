"""Experience rules from archives: what experts played in a position, and how it went (theory.md 3).

archive.extract     game records to numbered board states and signed sequences
cbss.count_pairs    consecutive binary subsequences counted with PrefixSpan
cbss.mine           the pairs that are kept, with weight, support, confidence and rating
cbss.ers_mining     the same weights by the sequence tree with node unification
rules.RuleBase      mines, stores and loads rules; what the players ask
"""
