"""A plugin of pytest for the array API standard's own tests: leaves out what is no part of this package.

Complex numbers and the extensions for linear algebra and Fourier transforms are not here. The suite skips most of
their tests by itself; some of its cases name them only in their ids.
"""


def pytest_collection_modifyitems(config, items):
    def absent(item):
        complex_case = "test_special_cases" in item.nodeid and "imag(x_i)" in item.nodeid
        return complex_case or "test_has_names[linalg-" in item.nodeid or "test_has_names[fft-" in item.nodeid

    left_out = [item for item in items if absent(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not absent(item)]
