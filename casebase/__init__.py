"""Automatic Case Elicitation: an agent that gathers its own cases in play (theory.md 1, 2).

ratings       how well a case has done: DecayingMemory, GeneralPositiveMemory, UpperConfidenceMemory
library       CaseLibrary: retrieve the cases of a position, retain a finished game
elicitation   ChebrPlayer: reuses cases, explores where it has none
decision      AceRlPlayer: cases, then experience rules, then an identity that guides the exploration
schema        the tables of a library that lives in a database

>>> from casebase.library import CaseLibrary
>>> from casebase.ratings import rating_named
>>> from checkers import Colour, Position
>>> from checkers.players import Why
>>> library = CaseLibrary(None, "a friend", rating_named("gpm"))
>>> start = Position.start()
>>> for points in (1.0, 0.5, 0.5):
...     library.retain([(start, start.move("11-15").code, Why.EXPLORED)], points, colour=Colour.BLACK)
1
2
3
>>> [(str(case.move), round(case.rating, 3)) for case in library.retrieve(start)]
[('11-15', 0.667)]
"""
