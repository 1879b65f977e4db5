"""Live views of machines in the notebook; needs the extra [lab].  Imported by name only: from bmlab import widgets."""

from .blanks import blank
from .drawing import DrawView
from .exploring import explore
from .lattice import LatticeView
from .learning import LearningView
from .machine import MachineView
from .painting import PaintView
from .predicting import predict

__all__ = ["DrawView", "LatticeView", "LearningView", "MachineView", "PaintView", "blank", "explore", "predict"]
