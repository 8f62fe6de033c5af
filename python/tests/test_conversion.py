"""To and from NumPy, buffers, DLPack, pickles and text."""

import array
import pickle

import numpy as np
import pytest
from conftest import FLOATS, INTEGERS, same

import zerostride as zs
from zerostride import _core


@pytest.mark.parametrize("dtype", [zs.bool, *INTEGERS, *FLOATS])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 4)])
def test_there_and_back(dtype, shape):
    elements = np.arange(int(np.prod(shape))).reshape(shape).astype(dtype)
    x = zs.asarray(elements)
    same(x, elements)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        same(pickle.loads(pickle.dumps(x, protocol)), elements)


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16])
def test_layouts_of_numpy(dtype):
    elements = np.arange(24).reshape(2, 3, 4).astype(dtype)
    views = [elements.T, elements[::-1, ::2], np.asfortranarray(elements), elements[..., 1], np.broadcast_to(elements[0], (2, 3, 4))]
    unaligned = np.frombuffer(b"\0" + elements.tobytes(), dtype, offset=1)
    for view in (*views, unaligned, elements.astype(elements.dtype.newbyteorder(">"))):
        same(zs.asarray(view), view.astype(dtype))


@pytest.mark.parametrize("dtype", [zs.bool, *INTEGERS, *FLOATS])
def test_a_list_keeps_the_types_of_its_elements(dtype):
    one, two = np.ones(2, dtype), np.zeros(2, dtype)
    for elements in ([one[0]], [one, two], (one, two), [[one[0]], [two[0]]], [one[0], True]):
        same(zs.asarray(elements), np.asarray(elements))
    same(zs.asarray([zs.asarray(one), zs.asarray(two)]), np.asarray([one, two]))


def test_numbers_beside_elements_with_a_type():
    info = zs.__array_namespace_info__().default_dtypes()
    for elements in ([np.int8(1), 2], [np.uint16(1), np.int64(2)], [True, 3], range(3)):
        same(zs.asarray(elements), np.asarray(elements).astype(info["integral"]))
    for elements in ([np.float32(1), 2.0], [np.int8(1), 2.5], [np.float64(0.1)], [], [[], []]):
        same(zs.asarray(elements), np.asarray(elements).astype(info["real floating"]))


@pytest.mark.parametrize("value", [1 + 2j, [1 + 2j], np.asarray([1 + 2j]), np.complex64(1j)])
def test_an_imaginary_part_is_not_dropped(value):
    for dtype in (zs.float32, zs.int32):
        with pytest.raises(TypeError, match="complex"):
            zs.asarray(value, dtype=dtype)
    same(zs.asarray(value, dtype=zs.bool), np.asarray(value, dtype=bool))


def test_pickles_out_of_band():
    x = zs.asarray(np.arange(1000, dtype=np.float32))
    buffers = []
    data = pickle.dumps(x[100:] * 2, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 1000 and [len(buffer.raw()) for buffer in buffers] == [3600]
    same(pickle.loads(data, buffers=buffers), np.arange(100, 1000, dtype=np.float32) * 2)


def test_on_the_cpu_nothing_is_copied():
    x = zs.asarray(np.arange(10, dtype=np.float32), device="cpu")
    a, b = np.asarray(x), np.from_dlpack(x)
    assert a.__array_interface__["data"][0] == b.__array_interface__["data"][0]
    assert not a.flags.writeable and not b.flags.writeable
    x[0] = 7.0
    assert a[0] == 0.0 and float(x[0]) == 7.0
    writable = np.array(x)
    writable[0] = 8.0
    assert float(x[0]) == 7.0
    del x
    assert a.sum() == 45.0


def test_a_copy_can_be_written():
    x = zs.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    is_own = x.device.name == "cpu"
    for view in (x, x[1], x[:, 1], x.T):
        host = np.asarray(view)
        assert np.shares_memory(host, view) == is_own != host.flags.writeable
        assert np.array(view).flags.writeable
    if not is_own:
        np.asarray(x)[0, 0] = 9
        assert float(x[0, 0]) == 0


def test_numpy_asks_for_types_and_copies():
    x = zs.asarray([1, 2], dtype=zs.int32)
    assert np.asarray(x, dtype=np.float64).dtype == np.float64
    with pytest.raises(ValueError):
        np.asarray(x, dtype=np.float64, copy=False)
    with pytest.raises(ValueError):
        zs.asarray(np.ones(2), copy=False)


def test_floats_saturate():
    floats = np.array([np.nan, 3e9, -3e9, 300.7, -1.5, np.inf])
    for dtype, expected in [
        (np.int32, [0, 2**31 - 1, -(2**31), 300, -1, 2**31 - 1]),
        (np.uint8, [0, 255, 0, 255, 0, 255]),
    ]:
        same(zs.asarray(floats, dtype=dtype, device="cpu"), np.array(expected, dtype))
        same(zs.asarray(floats.tolist(), dtype=dtype), np.array(expected, dtype))
        same(zs.asarray(floats.astype(">f4"), dtype=dtype), np.array(expected, dtype))
        read = np.asarray(zs.asarray(floats.astype(np.float32)), dtype=dtype)
        assert read.dtype == dtype and read.tolist() == expected
    assert np.asarray(zs.asarray(np.float32([1.5])), dtype=">i4").dtype == np.dtype(">i4")


def test_integers_of_lists_are_in_range():
    for elements in ([300], [300, 1.5], [2**64 - 1, 2], [[-1], [0.5]], 2**64):
        with pytest.raises(OverflowError):
            zs.asarray(elements, dtype=zs.uint8)
    same(zs.asarray([[2, 2.5], [np.float32(300), True]], dtype=zs.uint8), np.uint8([[2, 2], [255, 1]]))
    # NumPy makes these floats on the way to a type.
    same(zs.asarray([[2**64 - 3], [2]], dtype=zs.uint64), np.uint64([[2**64 - 3], [2]]))


def test_dlpack():
    x = zs.asarray(np.arange(6, dtype=np.float32).reshape(2, 3))
    same(zs.from_dlpack(x), np.asarray(x))
    same(zs.from_dlpack(np.arange(3, dtype=np.int16)), np.arange(3, dtype=np.int16))
    assert x.__dlpack_device__() == (1, 0)
    # Before 1.0 a capsule may be written to, so it is a copy.
    capsule = x.__dlpack__()
    assert "dltensor" in repr(capsule)
    with pytest.raises(BufferError):
        x.__dlpack__(copy=False)
    with pytest.raises(BufferError):
        x.__dlpack__(dl_device=(2, 0))


def test_buffers():
    same(zs.asarray(array.array("h", [1, 2, 3])), np.int16([1, 2, 3]))
    same(zs.asarray(memoryview(b"\x01\x02")), np.uint8([1, 2]))
    same(zs.asarray(bytearray(b"\x01\x02"), dtype=zs.int32), np.int32([1, 2]))


def test_an_upload_reads_no_memory_that_others_may_write():
    x = np.arange(4, dtype=np.float32)
    for shared in (x, x.view(np.uint8), bytearray(16), memoryview(bytes(16))):
        with pytest.raises(TypeError):
            _core.upload(shared, x.dtype, x.shape)
    assert np.asarray(_core.upload(x.tobytes(), x.dtype, x.shape)).tolist() == [0, 1, 2, 3]


def test_numbers_have_the_default_types():
    integer, real = zs.__array_namespace_info__().default_dtypes()["integral"], zs.asarray(1.0).dtype
    assert zs.asarray([[1, 2], [3, 4]]).dtype == integer
    assert zs.asarray([1, 2.5]).dtype == real
    assert zs.asarray([True]).dtype == zs.bool
    assert zs.zeros(3).dtype == real and zs.arange(3).dtype == integer
    assert zs.asarray([zs.asarray(1, dtype=zs.int8), zs.asarray(2, dtype=zs.int8)], dtype=zs.int8).tolist() == [1, 2]


def test_text():
    x = zs.asarray(np.arange(6, dtype=np.float32).reshape(2, 3), device="cpu")
    assert str(x) == str(np.asarray(x))
    assert repr(x) == "Array([[0., 1., 2.],\n       [3., 4., 5.]], dtype=float32, device='cpu')"
    assert repr(zs.asarray(1, dtype=zs.int8, device="cpu")) == "Array(1, dtype=int8, device='cpu')"
    assert repr(zs.zeros((2, 0), dtype=zs.int8, device="cpu")) == "Array([], shape=(2, 0), dtype=int8, device='cpu')"
    assert repr(zs.zeros(0, dtype=zs.int8, device="cpu")) == "Array([], dtype=int8, device='cpu')"
    # The device's name takes no room from a row.
    with np.printoptions(linewidth=40):
        assert repr(x) == "Array([[0., 1., 2.],\n       [3., 4., 5.]], dtype=float32, device='cpu')"
        assert repr(zs.asarray(np.asarray(x))).startswith("Array([[0., 1., 2.],\n       [3., 4., 5.]], dtype=float32, device='")
    large = np.arange(4000, dtype=np.int32).reshape(2, 2000)
    assert str(zs.asarray(large)) == str(large)
    assert f"{zs.asarray(2.5, dtype=zs.float32):.2f}" == "2.50"


def test_python_numbers():
    assert int(zs.asarray(7, dtype=zs.uint8)) == 7 and [10, 20][zs.asarray(1, dtype=zs.int32)] == 20
    assert complex(zs.asarray(1.5, dtype=zs.float32)) == 1.5 + 0j
    assert list(zs.asarray([1, 2], dtype=zs.int8)[0:2].tolist()) == [1, 2]
    assert len(zs.zeros((3, 2), dtype=zs.float32)) == 3
    assert [row.tolist() for row in zs.asarray([[1], [2]], dtype=zs.int8)] == [[1], [2]]
    with pytest.raises(ValueError):
        int(zs.asarray(float("nan"), dtype=zs.float32))


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = zs.asarray(np.asarray([1, 2.5], dtype=ml_dtypes.bfloat16))
    assert x.dtype == zs.bfloat16 and (x * 2).tolist() == [2.0, 5.0]
    assert zs.finfo(zs.bfloat16).bits == 16 and zs.isdtype(zs.bfloat16, "real floating")
    assert pickle.loads(pickle.dumps(x)).tolist() == [1.0, 2.5]


def test_devices():
    x = zs.asarray([1.0, 2.0], dtype=zs.float32)
    there = x.to_device("cpu")
    assert there.device == zs.Device("cpu") and there.tolist() == [1.0, 2.0]
    assert x.to_device(x.device) is x
    if x.device != there.device:
        with pytest.raises(ValueError, match="bring one over by to_device"):
            x + there
