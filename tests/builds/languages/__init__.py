"""The program as source text of each language, its build and its run with a profiler."""

from languages.cpp import Cpp, CppText
from languages.go import Go
from languages.language import Missing
from languages.node import Node
from languages.python import Python
from languages.rust import Rust
from languages.stages import StagesGo, StagesNode, StagesPython

__all__ = ["Cpp", "CppText", "Go", "Missing", "Node", "Python", "Rust", "StagesGo", "StagesNode", "StagesPython"]
