from dataclasses import dataclass
@dataclass
class Exactly:
    proved: bool = False
    reason: str = "todo"
    seconds: float = 0.0
    def text(self): return ""
def decide(*a): return Exactly()
