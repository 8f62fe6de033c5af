#!/usr/bin/env python3
"""Markdown tables and SVG plots of the lines that main.rs and peers.py print."""
import datetime
import json
import math
import os
import pathlib
import platform
import re
import statistics
import sys

SYSTEMS = [
    ("zerostride wgpu", "#1f6feb"),
    ("burn wgpu", "#d29922"),
    ("zerostride cpu", "#56a0ff"),
    ("ndarray rayon", "#8957e5"),
    ("candle cpu", "#f778ba"),
    ("numpy", "#3fb950"),
    ("pytorch cpu", "#f85149"),
]
# Whose rounds are those of the same process, and may be held against each other one by one.
INTERLEAVED = {system for system, _ in SYSTEMS} - {"numpy", "pytorch cpu"}
CPU_PEERS = ["ndarray rayon", "candle cpu", "numpy", "pytorch cpu"]

TEXT = """`{command}`: milliseconds, 4096 x 4096 f32, medians of {rounds} rounds in turns. Elementwise results of NumPy,
PyTorch and ndarray go to memory that is there already; Burn fuses and tunes. Every result was compared with a loop in 64 bits
before and after it was timed, and is *wrong* where one element of it is off by more than 0.001 of its and the mean magnitude.
*Best peer* is the fastest of ndarray, candle, NumPy and PyTorch in the case. Ratios to Burn, ndarray and candle are medians of those
of each round, as a lent machine's speed changes between rounds; NumPy's and PyTorch's rounds are another process's, and their
ratios are those of medians. Below 1 this crate is faster. What takes more than ten seconds is run once.
"""


def versions():
    import numpy

    lock = pathlib.Path("benches/peers/Cargo.lock").read_text()
    # Of several versions the last is the one that is asked for here.
    found = {name: re.findall(rf'name = "{name}"\nversion = "([^"]+)"', lock) for name in ("burn", "ndarray", "candle-core")}
    listed = [f"{name} {all_of[-1]}" for name, all_of in found.items() if all_of] + [f"NumPy {numpy.__version__}"]
    try:
        import torch

        listed.append(f"PyTorch {torch.__version__} with {torch.get_num_threads()} threads")
    except ImportError:
        listed.append("PyTorch left out, as it is not installed")
    return ", ".join(listed)


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


class Case:
    """Milliseconds of each round of each system, and who was wrong."""

    def __init__(self):
        self.rounds, self.wrong = {}, set()

    def medians(self):
        return {system: statistics.median(ms) for system, ms in self.rounds.items()}

    def ratio(self, own, other):
        """How long one takes of what the other takes; nothing where one of them was not timed."""
        if own not in self.rounds or other not in self.rounds:
            return None
        if other in INTERLEAVED:
            return statistics.median(a / b for a, b in zip(self.rounds[own], self.rounds[other]))
        return statistics.median(self.rounds[own]) / statistics.median(self.rounds[other])

    def ran_once(self, system):
        return len(self.rounds.get(system, [])) == 1

    def best_peer(self):
        of = self.medians()
        return min((system for system in CPU_PEERS if system in of), key=of.get, default=None)


def geometric_mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def table(cases):
    text = "| case | " + " | ".join(system for system, _ in SYSTEMS) + " | wgpu to Burn | cpu to best peer | best peer |\n"
    text += "|---" * (len(SYSTEMS) + 4) + "|\n"
    to_burn, to_best = [], []
    for name, case in cases.items():
        of, best = case.medians(), case.best_peer()
        cells = [f"{of[s]:.2f}" if s in of else "wrong" if s in case.wrong else "-" for s, _ in SYSTEMS]
        ratios = case.ratio("zerostride wgpu", "burn wgpu"), case.ratio("zerostride cpu", best)
        for all_of, ratio, other in zip((to_burn, to_best), ratios, ("burn wgpu", best)):
            all_of.extend([ratio] if ratio and not case.ran_once(other) else [])
        cells += [f"{ratio:.2f}" if ratio else "-" for ratio in ratios] + [(best or "-").split()[0]]
        text += f"| {name} | " + " | ".join(cells) + " |\n"
    means = [f"{of} {geometric_mean(ratios):.2f}, at most {max(ratios):.2f}" for of, ratios in (("to Burn", to_burn), ("to the best peer", to_best)) if ratios]
    return text + f"\nGeometric means of the ratios, without what ran once: {'; '.join(means)}.\n"


def legend(text, per_row=7):
    for i, (system, colour) in enumerate(SYSTEMS):
        x = 10 + i % per_row * 108
        text.append(f'<rect x="{x}" y="10" width="10" height="10" fill="{colour}"/><text x="{x + 14}" y="19">{system}</text>')


def plot(cases):
    """Time relative to the fastest of each case, on a logarithmic scale."""
    row, left, width = 84, 130, 620
    times = {name: case.medians() for name, case in cases.items()}
    height = row * len(times) + 60
    scale = (width - 60) / max(math.log2(max(of.values()) / min(of.values())) for of in times.values())
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 40}" height="{height}" font-family="sans-serif" font-size="11">']
    text.append('<rect width="100%" height="100%" fill="white"/>')
    legend(text)
    for i, (case, of) in enumerate(times.items()):
        top = 40 + i * row
        fastest = min(of.values())
        text.append(f'<text x="10" y="{top + 40}" font-size="13">{case}</text>')
        for k, (system, colour) in enumerate(SYSTEMS):
            y = top + k * 10
            if system in cases[case].wrong:
                text.append(f'<text x="{left + 4}" y="{y + 8}" font-size="9" fill="{colour}">{system}: wrong</text>')
            if system not in of:
                continue
            factor = of[system] / fastest
            length = 4 + scale * math.log2(factor)
            text.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="8" fill="{colour}"/>')
            text.append(f'<text x="{left + length + 4:.1f}" y="{y + 8}" font-size="9">{factor:.2f}</text>')
    text.append("</svg>")
    return "\n".join(text) + "\n"


def roofline(bandwidths):
    """GB/s of the same shape against its elements, both on logarithmic scales."""
    left, top, width, height = 60, 50, 720, 360
    points = [(n, rate) for of in bandwidths.values() for n, rate in of.items()]
    low, high = min(n for n, _ in points), max(n for n, _ in points)
    ceiling = 2 ** math.ceil(math.log2(max(rate for _, rate in points)))
    floor = 2 ** math.floor(math.log2(min(rate for _, rate in points)))
    x = lambda n: left + width * math.log2(n / low) / math.log2(high / low)
    y = lambda rate: top + height * math.log2(ceiling / rate) / math.log2(ceiling / floor)
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 40}" height="{top + height + 50}" font-family="sans-serif" font-size="11">']
    text.append('<rect width="100%" height="100%" fill="white"/>')
    legend(text)
    rate = floor
    while rate <= ceiling:
        text.append(f'<line x1="{left}" x2="{left + width}" y1="{y(rate):.1f}" y2="{y(rate):.1f}" stroke="#ddd"/><text x="8" y="{y(rate) + 4:.1f}">{rate:g} GB/s</text>')
        rate *= 2
    for n in sorted({n for n, _ in points}):
        text.append(f'<text x="{x(n) - 24:.1f}" y="{top + height + 20}">{n / 2**20:g} Mi</text>')
    text.append(f'<text x="{left}" y="{top + height + 40}">elements of a + b, f32 of one shape: two read, one written</text>')
    for system, colour in SYSTEMS:
        if system not in bandwidths:
            continue
        line = " ".join(f"{x(n):.1f},{y(rate):.1f}" for n, rate in sorted(bandwidths[system].items()))
        text.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
    text.append("</svg>")
    return "\n".join(text) + "\n"


def main():
    adapter, command, lines = sys.argv[1:]
    kinds, sizes, used = {"elementwise": {}, "reductions": {}, "products": {}}, {}, {}
    for line in open(lines):
        row = json.loads(line)
        if "adapter" in row:
            used = row
            continue
        if row["case"] == "same" and "ns" in row:
            gbps = [12 * row["side"] ** 2 / ns for ns in row["ns"]]
            sizes.setdefault(row["system"], {}).setdefault(row["side"] ** 2, []).extend(gbps)
        if row["side"] != 4096:
            continue
        case = kinds[row["kind"]].setdefault(row["case"], Case())
        if "off" in row:
            case.wrong.add(row["system"])
        else:
            case.rounds.setdefault(row["system"], []).extend(ns / 1e6 for ns in row["ns"])
    for cases in kinds.values():
        for case in cases.values():
            # One wrong answer is enough.
            case.rounds = {system: ms for system, ms in case.rounds.items() if system not in case.wrong}
    date = datetime.date.today().isoformat()
    name = f"{date}-peers-{re.sub('[^a-z0-9]+', '-', adapter.lower())}"
    rounds = max(len(ms) for cases in kinds.values() for case in cases.values() for ms in case.rounds.values())
    text = f"# {date}, beside peers\n\n{os.cpu_count()} cores of {processor()}; this crate on {used['adapter']}, Burn on {used['burn']}.\n{versions()}.\n\n"
    text += TEXT.format(command=command, rounds=rounds)
    folder = pathlib.Path("benches/results")
    for kind, cases in kinds.items():
        suffix = "" if kind == "elementwise" else f"-{kind}"
        text += f"\n## {kind.capitalize()}\n\n{table(cases)}\n![Time relative to the fastest, {kind}]({name}{suffix}.svg)\n"
        (folder / f"{name}{suffix}.svg").write_text(plot(cases))
    text += f"\n## Sizes\n\nThe same shape at other sizes:\n\n![GB/s by size]({name}-sizes.svg)\n"
    bandwidths = {s: {n: statistics.median(v) for n, v in of.items()} for s, of in sizes.items()}
    (folder / f"{name}-sizes.svg").write_text(roofline(bandwidths))
    (folder / f"{name}.md").write_text(text)
    print(text)


main()
