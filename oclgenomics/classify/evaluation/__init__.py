"""How well reads were classified, whoever classified them."""

from oclgenomics.classify.evaluation.calls_file import read_calls
from oclgenomics.classify.evaluation.evaluate import Evaluation, RankMeasures, evaluate
from oclgenomics.classify.evaluation.truth import Truth, read_truth

__all__ = ["Evaluation", "RankMeasures", "Truth", "evaluate", "read_calls", "read_truth"]
