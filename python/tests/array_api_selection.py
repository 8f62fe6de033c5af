"""A plugin of pytest for the array API standard's own tests: leaves out parts that this package does not have.

Complex numbers and Fourier transforms are not here, nor eigenvalues that may be complex. The suite skips most of their tests by
itself; some of its cases name them only in their ids.
"""

COMPLEX = "eig eigvals".split()


def pytest_collection_modifyitems(config, items):
    complex_results = [form.format(name) for name in COMPLEX for form in (
        "test_linalg.py::test_{}", "test_has_names[linalg-{}]", "test_extension_func_signature[linalg.{}]"
    )]  # fmt: skip

    def absent(item):
        complex_case = "test_special_cases" in item.nodeid and "imag(x_i)" in item.nodeid
        complex_case |= item.nodeid.endswith("test_vecdot_conj")
        return complex_case or item.nodeid.endswith(tuple(complex_results)) or "test_has_names[fft-" in item.nodeid

    left_out = [item for item in items if absent(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not absent(item)]
