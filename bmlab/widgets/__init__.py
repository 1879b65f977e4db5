"""Live views of machines in the notebook; needs the extra [lab].  Imported by name only: from bmlab import widgets.

A view is imported when it is first named: matplotlib takes most of a second, and whoever grades needs no picture.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from warnings import warn

from ..checking.validation import not_installed
from ..exercises.student_copy import blank, variant

if TYPE_CHECKING:
    from .beliefs import ConditionalView, MeanFieldView, MessageView
    from .chains import ChainsView
    from .drawing import DrawView
    from .exploring import explore
    from .learning import LearningView
    from .machine import MachineView
    from .painting import PaintView
    from .predicting import predict
    from .states import StatesView
    from .update import UpdateView
    from .visited import VisitedView

__all__ = [
    "ChainsView",
    "ConditionalView",
    "DrawView",
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
HOMES = {name: name.removesuffix("View").lower() for name in __all__ if name.endswith("View")} | {
    **dict.fromkeys(("ConditionalView", "MeanFieldView", "MessageView"), "beliefs"),
    **{"DrawView": "drawing", "PaintView": "painting", "explore": "exploring", "predict": "predicting"},
}

for library in ("traitlets", "IPython", "matplotlib"):
    if find_spec(library) is None:
        raise not_installed("bmlab.widgets", library, "anywidget matplotlib", ModuleNotFoundError(name=library))
if find_spec("anywidget") is None:
    warn("Live views are still pictures here: anywidget is missing; pip install anywidget", stacklevel=2)
if missing := [name for name in ("numba", "tqdm", "sklearn", "pandas") if find_spec(name) is None]:
    install = " ".join(missing).replace("sklearn", "scikit-learn")
    warn(f"Some notebooks need {', '.join(missing)}, not installed here; pip install {install}", stacklevel=2)


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
