"""What tests share.

NumPy's linear algebra gets one thread in the processes of tests, as in those of commands: its threads look for work
without a rest, which slows the tests of other workers. This has to be said before NumPy is imported.
"""

from oclgenomics.app.stopping import without_algebra_threads

without_algebra_threads()
