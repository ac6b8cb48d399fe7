"""Runs that people start: matches, the demo, the run store, statistics, reports, and the command line.

experiments.players.build_player   a player from its specification
experiments.tournament.play_match  games between two players
experiments.demo.Demo              the main job on a small scale
experiments.store.RunStore         what was run, unit by unit
experiments.report.write_report    results as one page
experiments.cli.main               the ace-checkers command

Importing this package loads none of them.
"""
