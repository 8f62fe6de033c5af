"""``python -m zerostride``: the devices of this machine, and which is the default."""

from . import Device, _core


def main():
    rows = [("name", "interface", "kind", "driver")]
    for name, interface, index, kind, driver in _core.adapters():
        rows.append((name, interface if interface == "cpu" else f"{interface}:{index}", kind, driver))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, [*widths, 0])).rstrip())
    print(f"default: {Device().name}  ({_core.device_variable()} names another)")


if __name__ == "__main__":
    main()
