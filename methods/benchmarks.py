"""The benchmarks of the project, by name.

What belongs here: one line a benchmark. What a benchmark is says `methods/evaluation/benchmark.py`, its
protocol stands in the folder of its name.
"""

from collections.abc import Mapping

from methods.alignmmbench import Alignmmbench
from methods.convbench import Convbench
from methods.evaluation.benchmark import Benchmark
from methods.mmbench import Mmbench
from methods.mmdu import Mmdu
from methods.mmiu import Mmiu

Benchmarks = Mapping[str, Benchmark]
BENCHMARKS: Benchmarks = {
    benchmark.name: benchmark
    for benchmark in (Mmdu(), Mmbench(), Mmiu(), Alignmmbench(), Convbench())
}
