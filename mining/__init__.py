"""Experience rules from archives: what experts played in a position, and how it went (theory.md 3).

archive.Archive         PDN files in tables: games, states, signed sequences, duplicates; added once, filtered
filters.GameFilter      which games are wanted
files.read_blocks       files, and parts of large ones, to blocks of games by several processes
sequences.extract       game records to numbered board states and signed sequences, in memory
cbss.PairCounter        consecutive binary subsequences counted with PrefixSpan, batch by batch
tree.ers_mining         the same weights by the sequence tree with node unification
lines.frequent_lines    longer consecutive sequences, frequent and closed
lines.plans             moves of one side in order with gaps, by PrefixSpan's top-k
miner.mine_files        files to the pairs that are kept, with weight, support, confidence and rating
miner.mine_archive      the same from an archive
rules.RuleBase          mines, stores and loads rules; what the players ask
evaluation.HeldOut      rules on games they were not mined from: coverage, hit rates, effects of options, sizes
rule_export.export      rules as JSON, CSV, the text of an opening book, PDN
statistics              opening tree, a player's repertoire, ballots, shared lines, novelties
"""
