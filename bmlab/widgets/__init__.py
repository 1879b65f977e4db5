"""Live views of machines in the notebook; needs the extra [lab].  Imported by name only: from bmlab import widgets."""

from importlib.util import find_spec
from warnings import warn

from ..validation import not_installed

try:
    from .beliefs import ConditionalView, MeanFieldView, MessageView
    from .chains import ChainsView
    from .drawing import DrawView
    from .exercises import blank, variant
    from .exploring import explore
    from .lattice import LatticeView
    from .learning import LearningView
    from .machine import MachineView
    from .painting import PaintView
    from .predicting import predict
    from .states import StatesView
    from .update import UpdateView
    from .visited import VisitedView
except ModuleNotFoundError as missing:
    raise not_installed("bmlab.widgets", missing.name or "traitlets", '"bmlab[lab]"', missing) from None


__all__ = [
    "ChainsView",
    "ConditionalView",
    "DrawView",
    "LatticeView",
    "LearningView",
    "MachineView",
    "MeanFieldView",
    "MessageView",
    "PaintView",
    "StatesView",
    "UpdateView",
    "VisitedView",
    "blank",
    "explore",
    "predict",
    "variant",
]

if missing := [name for name in ("numba", "tqdm", "sklearn", "pandas") if find_spec(name) is None]:
    warn(f'Some notebooks need {", ".join(missing)}, not installed here; pip install "bmlab[lab]"', stacklevel=2)
