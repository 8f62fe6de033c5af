#!/usr/bin/env python3
"""A Markdown table and SVG plots of the lines that main.rs and peers.py print."""
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
    ("numpy out=", "#3fb950"),
    ("pytorch cpu", "#f85149"),
]


def versions():
    import numpy
    import torch

    lock = pathlib.Path("benches/peers/Cargo.lock").read_text()
    # Of several versions the last is the one that is asked for here.
    found = {name: re.findall(rf'name = "{name}"\nversion = "([^"]+)"', lock) for name in ("burn", "ndarray", "candle-core")}
    listed = [f"{name} {all_of[-1]}" for name, all_of in found.items() if all_of]
    return ", ".join(listed + [f"NumPy {numpy.__version__}", f"PyTorch {torch.__version__}"])


def processor():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def plot(times):
    """Time relative to the fastest of each case, on a logarithmic scale."""
    row, left, width = 84, 110, 620
    height = row * len(times) + 60
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 40}" height="{height}" font-family="sans-serif" font-size="11">']
    text.append('<rect width="100%" height="100%" fill="white"/>')
    for i, (system, colour) in enumerate(SYSTEMS):
        x = 10 + i % 7 * 108
        text.append(f'<rect x="{x}" y="10" width="10" height="10" fill="{colour}"/><text x="{x + 14}" y="19">{system}</text>')
    for i, (case, of) in enumerate(times.items()):
        top = 40 + i * row
        fastest = min(of.values())
        text.append(f'<text x="10" y="{top + 40}" font-size="13">{case}</text>')
        for k, (system, colour) in enumerate(SYSTEMS):
            if system not in of:
                continue
            factor = of[system] / fastest
            length = 4 + (width - 60) * math.log2(factor) / 6
            y = top + k * 10
            text.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="8" fill="{colour}"/>')
            text.append(f'<text x="{left + length + 4:.1f}" y="{y + 8}" font-size="9">{factor:.2f}</text>')
    text.append("</svg>")
    return "\n".join(text) + "\n"


def roofline(bandwidths):
    """GB/s of the same shape against its elements, both on logarithmic scales."""
    left, top, width, height = 60, 50, 620, 360
    points = [(n, rate) for of in bandwidths.values() for n, rate in of.items()]
    low, high = min(n for n, _ in points), max(n for n, _ in points)
    ceiling = 2 ** math.ceil(math.log2(max(rate for _, rate in points)))
    floor = 2 ** math.floor(math.log2(min(rate for _, rate in points)))
    x = lambda n: left + width * math.log2(n / low) / math.log2(high / low)
    y = lambda rate: top + height * math.log2(ceiling / rate) / math.log2(ceiling / floor)
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 40}" height="{top + height + 50}" font-family="sans-serif" font-size="11">']
    text.append('<rect width="100%" height="100%" fill="white"/>')
    rate = floor
    while rate <= ceiling:
        text.append(f'<line x1="{left}" x2="{left + width}" y1="{y(rate):.1f}" y2="{y(rate):.1f}" stroke="#ddd"/><text x="8" y="{y(rate) + 4:.1f}">{rate:g} GB/s</text>')
        rate *= 2
    for n in sorted({n for n, _ in points}):
        text.append(f'<text x="{x(n) - 24:.1f}" y="{top + height + 20}">{n / 2**20:g} Mi</text>')
    text.append(f'<text x="{left}" y="{top + height + 40}">elements of a + b, f32 of one shape: two read, one written</text>')
    for i, (system, colour) in enumerate(SYSTEMS):
        if system not in bandwidths:
            continue
        line = " ".join(f"{x(n):.1f},{y(rate):.1f}" for n, rate in sorted(bandwidths[system].items()))
        text.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        text.append(f'<rect x="{10 + i * 100}" y="10" width="10" height="10" fill="{colour}"/><text x="{24 + i * 100}" y="19">{system}</text>')
    text.append("</svg>")
    return "\n".join(text) + "\n"


def main():
    adapter, lines = sys.argv[1], sys.argv[2]
    all_of, sizes = {}, {}
    for line in open(lines):
        row = json.loads(line)
        if row["case"] == "same":
            gbps = [12 * row["side"] ** 2 / ns for ns in row["ns"]]
            sizes.setdefault(row["system"], {}).setdefault(row["side"] ** 2, []).extend(gbps)
        if row["side"] != 4096:
            continue
        all_of.setdefault(row["case"], {}).setdefault(row["system"], []).extend(ns / 1e6 for ns in row["ns"])
    times = {case: {s: statistics.median(v) for s, v in of.items()} for case, of in all_of.items()}
    date = datetime.date.today().isoformat()
    name = f"{date}-peers-{re.sub('[^a-z0-9]+', '-', adapter.lower())}"
    text = f"# {date}, beside peers\n\n{os.cpu_count()} cores of {processor()}; adapter {adapter}. {versions()}.\n"
    text += "`scripts/bench-peers`: milliseconds, 4096 x 4096 f32, medians of rounds in turns. NumPy, PyTorch and ndarray\nwrite to memory that is there already; Burn fuses. Ratios to Burn and ndarray are medians of those of each round, as a\nlent machine's speed changes between rounds; NumPy's rounds are another process's, and its ratio is that of medians.\n\n"
    text += "| case | " + " | ".join(s for s, _ in SYSTEMS) + " | wgpu to burn | cpu to ndarray | cpu to numpy |\n"
    text += "|---" * (len(SYSTEMS) + 4) + "|\n"
    product, count = 1.0, 0
    for case, of in times.items():
        # Of a case that a peer lacks there is no ratio.
        in_turn = lambda a, b: statistics.median(x / y for x, y in zip(all_of[case][a], all_of[case][b])) if a in of and b in of else None
        ratios = [in_turn("zerostride wgpu", "burn wgpu"), in_turn("zerostride cpu", "ndarray rayon"), None]
        if "zerostride cpu" in of and "numpy out=" in of:
            ratios[2] = of["zerostride cpu"] / of["numpy out="]
        if ratios[0]:
            product, count = product * ratios[0], count + 1
        cells = [f"{of[s]:.2f}" if s in of else "-" for s, _ in SYSTEMS]
        text += f"| {case} | " + " | ".join(cells + [f"{r:.2f}" if r else "-" for r in ratios]) + " |\n"
    text += f"\nGeometric mean of the ratio to Burn: {product ** (1 / count):.2f}.\n\n![Time relative to the fastest]({name}.svg)\n"
    text += f"\nThe same shape at other sizes:\n\n![GB/s by size]({name}-sizes.svg)\n"
    folder = pathlib.Path("benches/results")
    bandwidths = {s: {n: statistics.median(v) for n, v in of.items()} for s, of in sizes.items()}
    (folder / f"{name}-sizes.svg").write_text(roofline(bandwidths))
    (folder / f"{name}.md").write_text(text)
    (folder / f"{name}.svg").write_text(plot(times))
    print(text)


main()
